"""`reticent export --bounds`: the ends of ranges as columns of their own."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

import reticent as rt
from reticent.catalogue import KINDS
from reticent.release.kind import reader_for


def columns(database: str, table: str) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


@pytest.fixture
def release(run, place) -> str:
    assert run("publish", "job.toml", "-o", "release", "--quiet").code == 0
    return "release"


def test_a_release_is_exported_without_ends_by_default(run, place, release):
    assert run("export", release, "sqlite:///people.db", "--table", "people").code == 0
    assert columns("people.db", "people") == ["age", "city", "illness"]


def test_bounds_are_numeric_columns_beside_each_range(run, place, release):
    assert run("export", release, "sqlite:///people.db", "--table", "people", "--bounds").code == 0
    assert columns("people.db", "people") == ["age", "age_lower", "age_upper", "city", "illness"]
    with closing(sqlite3.connect("people.db")) as connection:
        found = sorted(connection.execute("SELECT age_lower, age_upper FROM people"))
    assert found == sorted(rt.open(release).frame(bounds=True).select("age_lower", "age_upper").rows())
    assert all(isinstance(end, int) for ends in found for end in ends)


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_that_people_are_in_is_the_first_file_of_each_kind(kind):
    """Ends are added to it, whatever else a kind publishes."""
    assert reader_for(kind).files[0] in ("data", "quasi")


def test_a_database_that_does_not_answer_has_the_exit_code_of_what_is_unreachable(run, place, release):
    pytest.importorskip("adbc_driver_postgresql")
    ran = run(
        "export", "release", "postgresql://nobody:pw@127.0.0.1:9/x?connect_timeout=2", "--table", "people", "--json"
    )
    assert ran.code == 6
    assert json.loads(ran.out)["error"]["kind"] == "SourceUnreachable"
    assert "Nothing was written." in ran.err and "pw" not in ran.err


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_releases_are_appended_with_their_folders_names(run, place, database):
    url = f"{database}:///warehouse.db"
    for name in ("monday", "tuesday"):
        assert run("publish", "job.toml", "-o", name, "--again").code == 0
        ran = run("export", name, url, "--table", "people", "--append", "--json")
        assert ran.code == 0
        facts = json.loads(ran.out)
        assert (facts["batch"], facts["batch_column"]) == (name, "batch")
    ran = run("export", "monday", url, "--table", "people", "--append")
    assert ran.code == 1 and "--replace-batch" in ran.err
    ran = run("export", "monday", url, "--table", "people", "--append", "--replace-batch")
    assert ran.code == 0 and "as batch 'monday'" in ran.out


def test_options_of_a_batch_need_append(run, place):
    run("publish", "job.toml", "-o", "monday")
    for options in (("--batch", "x"), ("--replace-batch",)):
        ran = run("export", "monday", "sqlite:///warehouse.db", "--table", "people", *options)
        assert ran.code == 1 and "--append" in ran.err
    assert not (place / "warehouse.db").exists()
