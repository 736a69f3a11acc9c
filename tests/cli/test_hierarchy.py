"""`reticent hierarchy`: building, showing, checking and saving; what `init` proposes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.data.hierarchy_builders import build
from reticent.data.hierarchy_proposal import propose_builder
from tests.support.command_line import CANARY, CITIES


def test_a_file_is_shown_as_a_tree(run, place):
    ran = run("hierarchy", "city.csv")
    assert ran.code == 0
    assert "4 values in 3 levels" in ran.out
    assert "├─ south" in ran.out
    assert "└─ Ulm" in ran.out


def test_a_file_is_checked_against_data(run, place):
    ran = run("hierarchy", "city.csv", "--data", "people.csv", "--column", "city", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["rows"], found["missing"], found["unused"]) == (0, 200, 0, 0)
    assert found["groups"] == [4, 4, 1]
    assert found["smallest"][-1] == 200
    assert found["table"] == [[city, part, "*"] for city, part in CITIES.items()]


def test_values_that_it_lacks_are_counted_and_listed_only_on_request(run, place):
    place.edit("city.csv", "Ulm;south;*\n", "")
    ran = run("hierarchy", "city.csv", "--data", "people.csv", "--column", "city")
    assert ran.code == 1
    assert "no rule for 1 of the 4 distinct values of 'city'" in ran.err
    assert "Ulm" not in ran.out + ran.err
    assert "Ulm" in run("hierarchy", "city.csv", "--data", "people.csv", "--column", "city", "--show-values").err


def test_one_is_built_from_a_column_shown_and_saved(run, place):
    words = ("--data", "people.csv", "--column", "age", "--build", "intervals", "--with", "width=[5,10]")
    ran = run("hierarchy", *words, "-o", "age.csv")
    assert ran.code == 0
    assert "[20, 24]" in ran.out
    assert 'hierarchy = { build = "intervals", width = [5, 10] }' in ran.out
    assert run("hierarchy", "age.csv", "--data", "people.csv", "--column", "age").code == 0
    place.job(('type = "numeric" }', 'type = "numeric", hierarchy = "age.csv" }'))
    assert run("publish", "job.toml", "-o", "release").code == 0
    assert run("hierarchy", *words, "-o", "age.csv").code == 1
    assert run("hierarchy", *words, "-o", "age.csv", "--force").code == 0


def test_of_one_built_from_data_values_are_shown_only_on_request(run, place):
    words = ("hierarchy", "--data", "people.csv", "--column", "person", "--build", "balanced")
    ran = run(*words)
    assert ran.code == 0
    assert CANARY not in ran.out + ran.err
    assert "p0001" not in ran.out
    assert "table" not in json.loads(run(*words, "--json").out)
    assert "p0001" in run(*words, "--show-values").out


def test_without_a_builder_the_one_that_suits_is_taken(run, place):
    found = json.loads(run("hierarchy", "--data", "people.csv", "--column", "age", "--json").out)
    assert found["hierarchy"]["build"] == "intervals"
    assert "numbers" in found["why"]
    ran = run("hierarchy", "--data", "people.csv", "--column", "city")
    assert ran.code == 1
    assert "needs no hierarchy" in ran.err


def test_amnesia_s_files_are_read_and_saved_as_arx_s(run, place):
    Path("city.txt").write_text(
        "distinct\nname city\ntype string\nheight 2\n\n* has south north\nsouth has Ulm Bonn\nnorth has Kiel Jena\n"
    )
    assert run("hierarchy", "city.txt", "-o", "other.csv").code == 0
    assert Path("other.csv").read_text().splitlines()[0] == "Ulm;south;*"
    Path("city.json").write_text(
        '{"name": "*", "children": [{"name": "south", "children": [{"name": "Ulm"}]}, {"name": "Bonn"}]}'
    )
    assert "└─ Bonn" in run("hierarchy", "city.json").out


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--data", "people.csv"),
        ("--column", "age"),
        ("nowhere.csv",),
        ("city.csv", "--build", "balanced"),
        ("people.csv",),
        ("--data", "people.csv", "--column", "agee"),
        ("--data", "people.csv", "--column", "age", "--build", "intervall"),
        ("--data", "people.csv", "--column", "age", "--build", "intervals", "--with", "width"),
        ("--data", "people.csv", "--column", "age", "--build", "intervals", "--with", "wdth=3"),
        ("--data", "people.csv", "--column", "illness", "--build", "intervals"),
    ],
)
def test_a_wrong_request_ends_with_1_and_quotes_no_value(run, place, words):
    before = place.contents()
    ran = run("hierarchy", *words)
    assert ran.code == 1
    assert CANARY not in ran.out + ran.err
    assert place.contents() == before


COLUMNS = {
    "dates": (pl.Series([f"2001-0{m}-1{d}" for m in range(1, 9) for d in range(9)]), "dates"),
    "wide numbers": (pl.Series(list(range(17, 91))), "intervals"),
    "fractions": (pl.Series([i / 100 for i in range(300)]), "intervals"),
    "numbers as text": (pl.Series([str(i) for i in range(1000, 90_000, 700)]), "intervals"),
    "codes": (pl.Series([f"{i:05}" for i in range(0, 3000, 7)]), "prefixes"),
    "diagnoses": (pl.Series([f"{c}{i:02}" for c in "ABC" for i in range(20)]), "prefixes"),
    "names": (pl.Series([f"town {'x' * (i % 7)}{i}" for i in range(40)]), "balanced"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_proposed_builds_and_publishes(name):
    series, kind = COLUMNS[name]
    asked, why = propose_builder(series)
    assert asked["build"] == kind
    assert "distinct values" in why
    tree = build(asked, series)
    assert 1 < len(set(tree.paths[:, 1].tolist())) < len(tree.leaves)
    frame = pl.DataFrame({"q": pl.concat([series] * 3), "s": ["a", "b", "c"] * len(series)})
    release = rt.publish(
        rt.Job(columns={"q": rt.quasi(hierarchy=asked), "s": rt.sensitive()}, promises=[rt.KAnonymity(5)]), frame=frame
    )
    assert rt.audit(release, source=frame).kept


def test_few_values_need_no_hierarchy():
    assert propose_builder(pl.Series(["m", "f", None]))[0] == {}


def test_a_number_whose_name_is_that_of_a_code_is_one():
    zips = pl.Series(range(10_000, 10_400))
    assert propose_builder(zips)[0]["build"] == "intervals"
    assert propose_builder(zips, "zip code")[0]["build"] == "prefixes"


def test_init_proposes_a_hierarchy_for_each_quasi_identifier_and_says_why(run, place):
    assert run("init", "people.csv", "-o", "draft.toml").code == 0
    text = Path("draft.toml").read_text()
    assert '#   hierarchy = { build = "intervals"' in text
    assert "#   no hierarchy: 4 distinct values: a value or `*` is all there is to say" in text
    found = {c["name"]: c for c in json.loads(run("init", "people.csv", "-o", "-", "--json").out)["columns"]}
    assert found["age"]["hierarchy"]["build"] == "intervals"
    assert (found["city"]["hierarchy"], "hierarchy" in found["illness"]) == ({}, False)
    assert CANARY not in text
