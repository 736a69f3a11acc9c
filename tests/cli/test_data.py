"""`reticent data`: files of generated and recorded data."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from reticent import datasets


def test_the_names_are_listed(run, place):
    assert run("data").out.split() == list(datasets.names())
    assert json.loads(run("data", "--json").out) == {"names": list(datasets.names())}


def test_the_census_is_written_as_csv_and_parquet(run, place):
    assert run("data", "census", "--rows", 300, "--seed", 2).code == 0
    found = json.loads(run("data", "census", "--rows", 300, "--seed", 2, "-o", "c.parquet", "--json").out)
    assert found["rows"] == 300
    frame = datasets.load("census", 300, 2).cast({pl.Enum: pl.String})
    assert pl.read_csv("census.csv", schema=frame.schema).equals(frame)
    assert pl.read_parquet("c.parquet").cast({pl.Enum: pl.String}).equals(frame)


def test_hierarchies_are_saved_beside_the_data(run, place):
    found = json.loads(run("data", "census", "--rows", 10, "--hierarchies", "trees", "--json").out)
    assert sorted(found["hierarchies"]) == sorted(
        str(Path("trees") / f"{name}.csv") for name in datasets.hierarchies("census")
    )
    assert all(Path(path).exists() for path in found["hierarchies"])


def test_wrong_requests_write_nothing(run, place):
    before = place.contents()
    for words in (("cansus",), ("census", "-o", "c.xml"), ("census", "--rows", -1), ("census", "-o", "people.csv")):
        assert run("data", *words).code == 1
    assert place.contents() == before


def test_adult_without_a_connection_is_a_clear_error(run, place, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    ran = run("data", "adult")
    assert ran.code == 6
    assert ran.err.splitlines()[1].startswith("DataUnavailable: ")
    assert not Path("adult.csv").exists()
