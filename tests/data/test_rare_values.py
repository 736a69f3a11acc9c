"""Sensitive values that few rows hold are counted for the steward, and named on request alone."""

from __future__ import annotations

import json

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.data.source import Source
from reticent.job.draft import draft_job

CODES = ["flu"] * 60 + ["gout"] * 30 + ["zebra pox"] + ["dragon cough"] * 4 + ["mumps"] * 5
PEOPLE = pl.DataFrame({"age": [20 + index % 30 for index in range(100)], "disease": CODES})
JOB = """
[source]
path = "people.csv"
[columns]
age = "quasi-identifying"
disease = "sensitive"
[[promise]]
model = "k-anonymity"
k = 4
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path


def test_a_check_counts_rare_values_and_names_them_on_request_alone(place, capsys):
    assert main(["check", "job.toml"]) == 0
    out = capsys.readouterr().out
    assert "Column 'disease': 2 of its 5 values have at most 4 rows (5 rows in all)" in out
    assert "zebra" not in out and "dragon" not in out
    assert main(["check", "job.toml", "--show-values"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  'zebra pox' (1 row)" in lines and "  'dragon cough' (4 rows)" in lines


@pytest.mark.parametrize("show", [False, True])
def test_the_json_of_a_check_has_the_counts_and_on_request_the_values(place, capsys, show):
    assert main(["check", "job.toml", "--json", *(["--show-values"] if show else [])]) == 0
    text = capsys.readouterr().out
    (rare,) = json.loads(text)["rare"]
    assert (rare["column"], rare["distinct"], rare["rare"], rare["rows"]) == ("disease", 5, 2, 5)
    assert ("zebra" in text) == show
    assert rare.get("values") == ([["zebra pox", 1], ["dragon cough", 4]] if show else None)


def test_values_that_few_people_hold_in_many_rows_are_counted_and_named_on_request(place, capsys):
    people = [*range(60), *range(60, 90), 90, *range(91, 95), *[95, 95, 95, 96, 96]]
    PEOPLE.with_columns(person=pl.Series(people)).write_csv("people.csv")
    role = '[columns]\nperson = { role = "identifying", rows_per_person = 3 }'
    (place / "job.toml").write_text(JOB.replace("[columns]", role))
    command = ["check", "job.toml", "--methods", "mondrian"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert (
        "2 of its 5 values have at most 4 rows (5 rows in all), and 1 with more rows is held by at most 4 people."
        in out
    )
    assert "mumps" not in out
    assert main([*command, "--show-values"]) == 0
    assert "  'mumps' (5 rows of 2 people)" in capsys.readouterr().out.splitlines()


def test_numbers_are_no_rare_values():
    job = rt.Job(columns={"age": rt.quasi(), "disease": rt.sensitive(type="numeric")}, promises=[rt.KAnonymity(4)])
    frame = PEOPLE.with_columns(disease=pl.Series(range(100)))
    assert rt.check(job, frame=frame, methods=[]).rare == ()


def test_a_draft_counts_them_and_names_none(place):
    text = draft_job(Source(path="people.csv")).to_toml()
    assert "2 values have at most 4 rows (5 in all)" in " ".join(text.replace("#", "").split())
    assert "zebra" not in text
