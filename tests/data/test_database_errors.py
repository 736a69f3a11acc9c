"""What a database's error means is told by its own code; no password and no value is repeated.

Each test has a database and roles of its own: the server is one for the whole run, and other tests replace its schema
`public`, without which a role cannot see a table.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

import reticent as rt
from reticent.data.database import read_database
from reticent.data.database_errors import DatabaseFault, classify_database_error, translate_writing_error
from reticent.errors import DiskError, OutOfMemory, OutputExists, ReticentError, SourceError, SourceUnreachable
from tests.support.database_server import CANARY, SECRET_VALUE
from tests.support.database_server import server as server


@pytest.fixture
def release() -> rt.Release:
    frame = pl.DataFrame({"age": [20, 21, 22, 23] * 5, "illness": ["flu", "cold"] * 10})
    columns = {"age": rt.quasi(numeric=True), "illness": rt.sensitive()}
    return rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(4)]), frame=frame, seed=1)


@pytest.fixture
def duckdb_file(tmp_path) -> Path:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT 30 AS age, '{SECRET_VALUE}' AS illness")
    return path


def read_error(url: str, table: str | None = None, query: str | None = None) -> ReticentError:
    with pytest.raises(ReticentError) as caught:
        read_database(url, table, query)
    assert CANARY not in str(caught.value)
    assert SECRET_VALUE not in str(caught.value)
    return caught.value


def write_error(release: rt.Release, url: str, table: str = "released") -> ReticentError:
    with pytest.raises(ReticentError) as caught:
        release.to_database(url, table)
    assert CANARY not in str(caught.value)
    return caught.value


def test_a_table_that_postgresql_does_not_have_is_named_with_its_sqlstate(server):
    error = read_error(server.url, table="nobody")
    assert type(error) is SourceError and "has no table 'nobody': SQLSTATE 42P01" in error.what


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * FROM nobody", "has no such table: SQLSTATE 42P01"),
        ("SELECT weight FROM people", "does not know a column of the query: SQLSTATE 42703"),
        ("SELECT FROM WHERE", "does not understand the query: SQLSTATE 42601"),
        ("SELECT illness::int FROM people", "a value does not fit: SQLSTATE 22P02"),
        ("SELECT 1 / (age - age) FROM people", "a value does not fit: SQLSTATE 22012"),
        ("WITH x AS (DELETE FROM people RETURNING *) SELECT * FROM x", "allows reading only: SQLSTATE 25006"),
    ],
)
def test_a_wrong_query_of_postgresql_is_a_wrong_request_that_says_how(server, query, said):
    error = read_error(server.url, query=query)
    assert type(error) is SourceError and said in error.what and error.exit_code == 1


def test_a_role_without_rights_on_a_table_is_refused_access_to_it(server):
    error = read_error(server.make_role(), table="people")
    assert type(error) is SourceError
    assert "refuses access to 'people': SQLSTATE 42501" in error.what
    assert "GRANT SELECT" in error.attempt


def test_what_is_advised_for_refused_access_gives_it(server):
    assert read_database(server.make_role("GRANT SELECT ON people TO {role}"), "people").height == 40


def test_a_role_that_may_not_log_in_is_told_apart_from_a_server_that_does_not_answer(server):
    for url in (server.make_role(options="NOLOGIN"), server.url.replace("postgres:@", f"nobody_at_all:{CANARY}@")):
        error = read_error(url, table="people")
        assert type(error) is SourceError and "refuses the login" in error.what
    error = read_error(f"postgresql://owner:{CANARY}@127.0.0.1:1/x", table="people")
    assert type(error) is SourceUnreachable and "does not answer" in error.what


def test_a_database_that_the_server_does_not_have_is_unreachable_like_a_file_that_is_not_there(server):
    error = read_error(server.url.replace(server.name, f"{server.name}_not"), table="people")
    assert type(error) is SourceUnreachable and "has no such database" in error.what


def test_a_query_that_the_servers_time_limit_ends_is_cancelled(server):
    url = server.make_role("GRANT SELECT ON people TO {role}", "ALTER ROLE {role} SET statement_timeout = '40ms'")
    error = read_error(url, query="SELECT pg_sleep(5), age FROM people")
    assert type(error) is SourceUnreachable and "cancelled the query: SQLSTATE 57014" in error.what
    assert "statement_timeout" in error.attempt


def test_an_export_to_a_role_without_rights_says_access_and_not_that_a_table_exists(server, release):
    error = write_error(release, server.make_role())
    assert type(error) is SourceError and "refuses access to 'released'" in error.what
    assert "GRANT USAGE, CREATE" in error.attempt


def test_an_export_into_a_schema_that_is_not_there_says_so(server, release):
    error = write_error(release, server.url, "nowhere.released")
    assert type(error) is SourceError and "has no such schema" in error.what


def test_an_export_over_a_table_of_postgresql_says_that_it_exists(server, release):
    error = write_error(release, server.url, "people")
    assert type(error) is OutputExists and "people" in error.what


def test_an_export_to_a_database_that_only_reads_says_so(server, release):
    server.run(f"ALTER DATABASE {server.name} SET default_transaction_read_only = on")
    error = write_error(release, server.url)
    assert type(error) is SourceError and "allows reading only" in error.what


@pytest.mark.parametrize(
    ("sqlstate", "error_class"),
    [
        ("53100", DiskError),
        ("53200", OutOfMemory),
        ("53300", SourceUnreachable),
        ("53400", SourceError),
        ("57P01", SourceUnreachable),
        ("57P03", SourceUnreachable),
        ("08006", SourceUnreachable),
        ("28P01", SourceError),
        ("40P01", SourceUnreachable),
        ("42P07", OutputExists),
        ("XX000", SourceError),
    ],
)
def test_each_class_of_sqlstate_has_its_error_and_exit_code(sqlstate, error_class):
    class DriverError(Exception):
        pass

    error = DriverError(f"value {SECRET_VALUE}, password {CANARY}")
    error.sqlstate = sqlstate
    translated = translate_writing_error(error, "postgresql://x", "people")
    assert type(translated) is error_class
    assert CANARY not in str(translated) and SECRET_VALUE not in str(translated)


def test_a_duckdb_file_that_another_process_writes_is_in_use_and_no_full_disk(duckdb_file, release):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()",
            str(duckdb_file),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout.readline().strip() == b"open"
        url = f"duckdb:///{duckdb_file}"
        for error in (read_error(url, table="people"), write_error(release, url)):
            assert type(error) is SourceUnreachable and "is in use by another process" in error.what
    finally:
        holder.communicate(b"")
    assert read_database(url, "people").height == 1


def test_a_duckdb_file_that_this_process_has_open_otherwise_is_in_use(duckdb_file, release):
    with duckdb.connect(str(duckdb_file), read_only=True):
        error = write_error(release, f"duckdb:///{duckdb_file}")
    assert type(error) is SourceUnreachable and "is in use" in error.what


@pytest.mark.parametrize(
    ("table", "query", "said"),
    [
        ("nobody", None, "has no table 'nobody'"),
        ("there.people", None, "has no such schema"),
        (None, "SELECT weight FROM people", "does not know a column"),
        (None, "SELECT FROM", "does not understand the query"),
        (None, "SELECT illness::INT FROM people", "a value does not fit"),
    ],
)
def test_a_wrong_query_of_duckdb_says_how(duckdb_file, table, query, said):
    error = read_error(f"duckdb:///{duckdb_file}", table, query)
    assert type(error) is SourceError and said in error.what


def test_a_file_that_is_no_database_is_named_as_such(tmp_path, release):
    for scheme in ("duckdb", "sqlite"):
        path = tmp_path / f"notes.{scheme}"
        path.write_text(f"{SECRET_VALUE} " * 1000)
        for error in (read_error(f"{scheme}:///{path}", table="people"), write_error(release, f"{scheme}:///{path}")):
            assert type(error) is SourceError and "is no database file of that kind" in error.what


def test_a_full_disk_of_duckdb_is_a_disk_error():
    error = duckdb.IOException('Could not write file "x": No space left on device')
    assert classify_database_error(error).fault is DatabaseFault.DISK_FULL
    assert type(translate_writing_error(error, "duckdb:///x")) is DiskError


@pytest.mark.parametrize(
    ("table", "query", "said"),
    [
        ("nobody", None, "has no table 'nobody'"),
        (None, "SELECT weight FROM people", "does not know a column"),
        (None, "SELECT FROM WHERE", "does not understand the query"),
    ],
)
def test_a_wrong_query_of_sqlite_says_how(tmp_path, table, query, said):
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
    connection.close()
    error = read_error(f"sqlite:///{tmp_path}/people.db", table, query)
    assert type(error) is SourceError and said in error.what


def test_a_sqlite_file_that_another_connection_writes_is_in_use(tmp_path, release, monkeypatch):
    path = tmp_path / "people.db"
    connect = sqlite3.connect
    holder = connect(path, isolation_level=None)
    holder.execute("CREATE TABLE people (age INTEGER)")
    holder.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: connect(*given, **{**named, "timeout": 0.01}))
    for error in (read_error(f"sqlite:///{path}", table="people"), write_error(release, f"sqlite:///{path}")):
        assert type(error) is SourceUnreachable and "is in use" in error.what
    holder.close()
