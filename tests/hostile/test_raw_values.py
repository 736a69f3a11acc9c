"""Values of a plain table are never parsed as labels: every command that takes one counts them as they are written."""

from __future__ import annotations

import json

import polars as pl
import pytest

import reticent as rt
from tests.hostile.raw_values import VALUES
from tests.support.command_line import run  # noqa: F401  # the fixture

ROWS = 48
COLUMNS = {"age": rt.quasi(), "town": rt.quasi(), "illness": rt.sensitive()}


def people(value):
    """Four people of each combination; a fourth of the towns and of the illnesses is the value."""
    towns = [value, "Ulm", "Jena", "a"]
    return pl.DataFrame(
        {
            "age": [str(20 + at // 16) for at in range(ROWS)],
            "town": [towns[at // 4 % 4] for at in range(ROWS)],
            "illness": [["flu", value, "cold", "gout"][at % 4] for at in range(ROWS)],
        }
    )


def write(frame, path):
    (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(path)
    return str(path)


JOB = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(4), rt.TCloseness("0.9")])


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("what", VALUES)
def test_a_plain_table_is_counted_whatever_its_values_look_like(what, ending, tmp_path):
    frame = people(VALUES[what])
    path = write(frame, tmp_path / f"people{ending}")
    found = rt.risk(path, columns=COLUMNS, population=path)
    assert (found.rows, found.groups, found.prosecutor.highest) == (ROWS, 12, 0.25)
    assert found.journalist.highest <= 0.25
    if what != "a star":  # which covers everybody
        assert (found.journalist.highest, found.population_uniques) == (0.25, 0)
    shuffled = write(frame.sample(ROWS, seed=1, shuffle=True), tmp_path / f"source{ending}")
    judged = rt.audit(path, job=JOB, source=shuffled)
    assert judged.kept
    assert rt.audit(path, job=JOB).kept


@pytest.mark.parametrize("what", VALUES)
def test_a_release_of_such_values_is_audited_and_attacked(what, tmp_path):
    frame = people(VALUES[what])
    release = rt.publish(JOB, frame=frame, seed=1)
    assert rt.audit(release.folder, source=frame).kept
    assert rt.risk(release.folder, population=frame).rows == ROWS


def test_commands_that_take_a_plain_file_do_not_fail_at_such_values(run, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    values = list(VALUES.values())
    frame = pl.concat([people(value) for value in values])
    frame.write_csv("people.csv")
    (tmp_path / "job.toml").write_text(rt.Job(source="people.csv", columns=COLUMNS, promises=JOB.promises).to_toml())
    assert run("publish", "job.toml", "-o", "release", "--seed", "1").code == 0
    for words in (
        ("risk", "people.csv"),
        ("audit", "people.csv", "--job", "job.toml"),
        ("audit", "people.csv", "--job", "job.toml", "--source", "people.csv"),
        ("init", "people.csv", "-o", "-"),
        ("check", "job.toml"),
        ("report", "release", "--internal", "--source", "people.csv"),
    ):
        ran = run(*words)
        assert ran.code in (0, 3, 4), (words, ran.err)  # a table in the order of its source is judged, and condemned
    assert json.loads(run("risk", "people.csv", "--json").out)["rows"] == ROWS * len(values)
