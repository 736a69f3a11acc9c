"""A table of very many rows is drafted from a part of them, evenly spread, and the draft says so."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import polars as pl
import pytest

from reticent.cli.main import main
from reticent.data.source import Source
from reticent.job.draft import draft_job

draft_from_few = partial(draft_job, max_rows=100, batch_rows=64)


def write_visits(path, rows: int = 1_000):
    """Each person has four rows, far from each other."""
    frame = pl.DataFrame(
        {
            "patient_id": [f"P{row % (rows // 4)}" for row in range(rows)],
            "age": np.arange(rows) % 90,
            "illness": [f"v{row % 7}" for row in range(rows)],
        }
    )
    frame.write_parquet(path, row_group_size=150) if path.suffix == ".parquet" else frame.write_csv(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_part_of_the_rows_is_looked_at_and_the_draft_says_how_many(tmp_path, ending):
    found = draft_from_few(Source(path=str(write_visits(tmp_path / f"visits.{ending}"))))
    assert (found.rows, found.looked_at) == (1_000, 100)
    text = found.to_toml()
    assert "A draft for 1,000 rows" in text and "Only 100 of the 1,000 rows were looked at" in text


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_of_a_person_are_counted_of_persons_with_all_of_their_rows(tmp_path, ending):
    """Among a tenth of the rows hardly anybody has two; k-anonymity must count persons all the same."""
    found = draft_from_few(Source(path=str(write_visits(tmp_path / f"visits.{ending}"))))
    person = next(column for column in found.columns if column.name == "patient_id")
    assert person.declared["rows_per_person"] == 4


def test_the_command_says_how_many_rows_were_looked_at(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("reticent.job.draft.draft_job", draft_from_few)
    monkeypatch.chdir(tmp_path)
    write_visits(tmp_path / "visits.csv")
    assert main(["init", "visits.csv"]) == 0
    assert "Only 100 of the 1,000 rows were looked at" in capsys.readouterr().out
    assert main(["init", "visits.csv", "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["looked_at"] == 100


def test_a_table_of_fewer_rows_is_looked_at_whole(tmp_path):
    found = draft_job(Source(path=str(write_visits(tmp_path / "visits.csv"))))
    assert found.looked_at is None and "Only" not in found.to_toml()
