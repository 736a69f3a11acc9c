"""A source is read and nothing else: whatever a job's query says, no file appears and no row changes."""

from __future__ import annotations

import pytest

import reticent as rt
from reticent.data.database import read_database, require_single_query
from reticent.errors import SourceError

WRITES = [
    "ATTACH DATABASE '{folder}/evil.db' AS evil",
    "ATTACH '{folder}/evil.db' AS evil; CREATE TABLE evil.x AS SELECT * FROM people; SELECT * FROM people",
    "SELECT * FROM people; DROP TABLE people",
    "SELECT * FROM people;; DELETE FROM people",
    "CREATE TABLE evil AS SELECT * FROM people",
    "DELETE FROM people RETURNING *",
    "UPDATE people SET age = 1 RETURNING age",
    "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
    "COPY people TO '{folder}/evil.csv'",
    "COPY (SELECT * FROM people) TO '{folder}/evil.csv'",
    "EXPORT DATABASE '{folder}/evil'",
    "VACUUM INTO '{folder}/evil.db'",
    "PRAGMA journal_mode = WAL",
    "PRAGMA query_only = 0",
    "SELECT * INTO evil FROM people",
    "/* SELECT */ CREATE TABLE evil (a INTEGER)",
    "-- SELECT\nCREATE TABLE evil (a INTEGER)",
    "INSTALL httpfs",
    "SET threads = 1",
    "SELECT load_extension('{folder}/evil.so')",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "COMMIT",
]


@pytest.mark.parametrize("query", WRITES)
def test_a_query_that_does_more_than_read_is_refused_and_leaves_nothing(database, tmp_path, query):
    _, url = database
    before = sorted(path.name for path in tmp_path.iterdir()), read_database(url, table="people").rows()
    with pytest.raises(SourceError):
        read_database(url, query=query.format(folder=tmp_path))
    assert (sorted(path.name for path in tmp_path.iterdir()), read_database(url, table="people").rows()) == before
    with pytest.raises(SourceError):
        read_database(url, table="evil")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT age FROM people",
        " -- all of them;\n /* two; */ ( SELECT age FROM people ) ;\n",
        "WITH young AS (SELECT age FROM people WHERE city <> ';' OR city IS NULL) SELECT age FROM young",
        "select age from people -- the end;",
    ],
)
def test_a_question_is_answered_whatever_its_layout(database, query):
    kind, url = database
    if kind == "sqlite" and query.split("*/")[-1].strip()[:1] == "(":
        pytest.skip("SQLite has no statement in parentheses")
    assert len(read_database(url, query=query)) in (40, 60)


def test_a_file_of_this_machine_is_not_read_through_a_database(tmp_path):
    import duckdb

    (tmp_path / "other.csv").write_text("secret\n1\n")
    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    with pytest.raises(SourceError):
        read_database(f"duckdb:///{tmp_path}/a.duckdb", query=f"SELECT * FROM '{tmp_path}/other.csv'")


def test_a_path_cannot_ask_sqlite_to_write(tmp_path):
    (tmp_path / "a?mode=rwc").write_bytes(b"")
    with pytest.raises(SourceError):
        read_database(f"sqlite:///{tmp_path}/a?mode=rwc", table="people")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("query", ["", ";", "SELEC 1", "EXPLAIN SELECT 1", "select 1; select 2", "VALUES (1); x"])
def test_what_is_no_single_question_is_refused_before_a_database_is_opened(query):
    with pytest.raises(SourceError):
        require_single_query(query)


def test_a_job_with_a_writing_query_writes_nothing(tmp_path):
    import sqlite3

    sqlite3.connect(tmp_path / "a.db").close()
    source = rt.Source(url=f"sqlite:///{tmp_path}/a.db", query=f"ATTACH '{tmp_path}/evil.db' AS evil")
    with pytest.raises(SourceError, match="does not ask for rows"):
        rt.publish(rt.Job(source=source, columns={"a": rt.quasi()}, promises=[rt.KAnonymity(2)]), to=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
