"""Advice about databases is followed: their rows are then read, or a release is written to them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from reticent.data import database
from reticent.data.database import read_database
from reticent.errors import ReticentError, SourceError, SourceUnreachable
from tests.advice.coverage import Trial, follows
from tests.advice.small_jobs import make_people, publish
from tests.support.database_server import server as server

SQLITE = "sqlite:///people.db"
DUCKDB = "duckdb:///people.duckdb"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An own folder with the table `people` in a file of SQLite and in one of DuckDB."""
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("people.db") as connection:
        connection.execute("CREATE TABLE people (name TEXT, age INTEGER, city TEXT, illness TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", make_people().iter_rows())
    connection.close()
    with duckdb.connect("people.duckdb") as connection:
        connection.register("given", make_people().to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM given")


def read(url: str, table: str | None = "people", query: str | None = None) -> None:
    """Publish the people of a database, or read rows that a job of other columns would publish."""
    if table == "people" and query is None:
        publish(source={"url": url, "table": table})
    else:
        assert len(read_database(url, table, query)) > 0


def ask(query: str, url: str = SQLITE) -> None:
    read(url, None, query)


DECLARED = "data/database.py"
REFUSED = "data/database_errors.py"


@pytest.mark.parametrize(
    "trial",
    [
        Trial(
            DECLARED,
            'query = "SELECT age, illness FROM people".',
            lambda: ask("DELETE FROM people"),
            lambda: ask("SELECT age, illness FROM people"),
        ),
        Trial(
            DECLARED,
            "a view or a WITH clause in place of the first ones.",
            lambda: ask("SELECT 1; SELECT age FROM people"),
            lambda: ask("WITH old AS (SELECT * FROM people WHERE age > 30) SELECT age FROM old"),
        ),
        Trial(DECLARED, "{suggest(name, SCHEMES)}", lambda: read("sqllite:///people.db"), lambda: read(SQLITE)),
        Trial(DECLARED, 'table = "people".', lambda: read(SQLITE, None), lambda: read(SQLITE, "people")),
        Trial(
            DECLARED,
            "…:////absolute/path.db (four slashes).",
            lambda: read("sqlite:///tmp/nowhere/people.db"),
            lambda: read(f"sqlite:////{Path('people.db').absolute().relative_to('/')}"),
        ),
        Trial(DECLARED, "the path of a file.", lambda: read("sqlite:///."), lambda: read(SQLITE)),
        Trial(
            REFUSED,
            "the name as the database's own client lists it, schema.table if need be; case counts.",
            lambda: read(DUCKDB, "peple"),
            lambda: [read(DUCKDB, "people"), read(DUCKDB, "main.people")],
        ),
        Trial(
            REFUSED,
            "the schema's name as the database's own client lists it; case counts.",
            lambda: read(DUCKDB, "mine.people"),
            lambda: read(DUCKDB, "main.people"),
        ),
        Trial(
            REFUSED,
            "the same query in the database's own client, which names the column.",
            lambda: ask("SELECT weight FROM people"),
            lambda: follow_client("SELECT weight FROM people", "weight", "SELECT age FROM people"),
        ),
        Trial(
            REFUSED,
            "the same query in the database's own client, which shows the place.",
            lambda: ask("SELECT age FRM people WHERE age > 3"),
            lambda: follow_client("SELECT age FRM people WHERE age > 3", "people", "SELECT age FROM people"),
        ),
        Trial(
            REFUSED,
            "the same query in the database's own client.",
            lambda: ask("SELECT age FROM people WHERE"),
            lambda: follow_client("SELECT age FROM people WHERE", "incomplete", "SELECT age FROM people"),
        ),
        Trial(
            REFUSED,
            "the same query in the database's own client, which shows the value.",
            lambda: ask("SELECT city::INT AS city FROM people", DUCKDB),
            lambda: follow_duckdb_client("SELECT city::INT AS city FROM people", "Ulm", "SELECT city FROM people"),
        ),
        Trial(
            REFUSED,
            "the path of a database file, and the scheme that fits it: sqlite:// or duckdb://.",
            lambda: read("sqlite:///people.duckdb"),
            lambda: [read(SQLITE), read(DUCKDB)],
        ),
    ],
    ids=str,
)
def test_addresses_and_queries(trial):
    trial.run()


def follow_client(query: str, named: str, mended: str) -> None:
    """Ask the client of SQLite, whose message names what is wrong, and mend it."""
    with sqlite3.connect("people.db") as connection, pytest.raises(sqlite3.Error, match=named):
        connection.execute(query)
    connection.close()
    ask(mended)


def follow_duckdb_client(query: str, named: str, mended: str) -> None:
    with duckdb.connect("people.duckdb", read_only=True) as connection, pytest.raises(duckdb.Error, match=named):
        connection.execute(query)
    ask(mended, DUCKDB)


@follows(DECLARED, "export …=...")
def test_a_variable_that_is_not_set(monkeypatch):
    monkeypatch.delenv("PEOPLE_FILE", raising=False)
    with pytest.raises(SourceError, match="PEOPLE_FILE"):
        read("sqlite:///${PEOPLE_FILE}")
    monkeypatch.setenv("PEOPLE_FILE", "people.db")
    read("sqlite:///${PEOPLE_FILE}")


@follows(DECLARED, "pip install 'reticent[…]'.")
def test_a_driver_that_is_not_installed(monkeypatch):
    with monkeypatch.context() as machine:
        machine.setitem(sys.modules, "duckdb", None)
        with pytest.raises(SourceError, match="is not installed"):
            read(DUCKDB)
    read(DUCKDB)


@follows(DECLARED, "CAST(... AS TEXT) in a query.")
def test_numbers_that_a_double_does_not_hold():
    with sqlite3.connect("people.db") as connection:
        connection.execute("CREATE TABLE amounts (amount)")
        connection.executemany(
            "INSERT INTO amounts VALUES (?)",
            [*((2**53 + row,) for row in range(6)), *((row + 0.5,) for row in range(6))],
        )
    connection.close()
    with pytest.raises(SourceError, match="too many digits"):
        read(SQLITE, "amounts")
    ask("SELECT CAST(amount AS TEXT) AS amount FROM amounts")


@follows(REFUSED, "closing it there, then again; or a copy of the file.")
def test_a_file_that_another_process_writes():
    program = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, "people.duckdb"]
    Path("copy.duckdb").write_bytes(Path("people.duckdb").read_bytes())
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline().strip() == b"open"
        with pytest.raises(SourceUnreachable, match="in use"):
            read(DUCKDB)
        read("duckdb:///copy.duckdb")
    finally:
        holder.communicate(b"")
    read(DUCKDB)


@follows(REFUSED, "the same address in the database's own client.")
def test_a_file_that_cannot_be_read(monkeypatch):
    open_file = database.open_sqlite_readonly
    with monkeypatch.context() as disk:

        def fail(path):
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = 10
            raise error

        disk.setattr(database, "open_sqlite_readonly", fail)
        with pytest.raises(SourceUnreachable, match="cannot be read"):
            read(SQLITE)
    assert database.open_sqlite_readonly is open_file
    with sqlite3.connect("people.db") as client:
        assert client.execute("SELECT COUNT(*) FROM people").fetchone() == (60,)
    client.close()
    read(SQLITE)


@follows(REFUSED, "another name.")
@pytest.mark.parametrize("url", [SQLITE, DUCKDB])
def test_a_table_that_is_there(url):
    release = publish()
    with pytest.raises(ReticentError, match="people"):
        release.to_database(url, "people")
    release.to_database(url, "released")
    assert len(read_database(url, "released")) == 60


@follows(REFUSED, "GRANT SELECT ON the table TO this user, or another user in the address.")
def test_a_role_that_may_not_read(server):
    url = server.make_role()
    with pytest.raises(SourceError, match="refuses access"):
        read_database(url, "people")
    role = url.split("//")[1].split(":")[0]
    server.run(f"GRANT SELECT ON people TO {role}")
    assert len(read_database(url, "people")) == 40
    assert len(read_database(server.url, "people")) == 40


@follows(REFUSED, "another user, or its password in PGPASSWORD.")
def test_a_role_that_may_not_log_in(server):
    with pytest.raises(SourceError, match="refuses the login"):
        read_database(server.make_role(options="NOLOGIN"), "people")
    assert len(read_database(server.make_role("GRANT SELECT ON people TO {role}"), "people")) == 40


@follows(REFUSED, "the name after the last slash of the address, as the database's own client lists it.")
@follows(REFUSED, "the same address in the database's own client; then again.")
def test_a_database_that_is_not_there_and_a_server_that_does_not_answer(server):
    with pytest.raises(SourceUnreachable, match="no such database"):
        read_database(server.url.replace(server.name, f"{server.name}_not"), "people")
    with pytest.raises(SourceUnreachable, match="does not answer"):
        read_database(f"postgresql://owner@127.0.0.1:1/{server.name}", "people")
    assert len(read_database(server.url, "people")) == 40


@follows(REFUSED, "a longer statement_timeout, or a query that reads less.")
def test_a_query_that_takes_too_long(server):
    url = server.make_role("GRANT SELECT ON people TO {role}", "ALTER ROLE {role} SET statement_timeout = '40ms'")
    with pytest.raises(SourceUnreachable, match="cancelled"):
        read_database(url, query="SELECT pg_sleep(0.1), age FROM people")
    assert len(read_database(url, query="SELECT age FROM people")) == 40
    role = url.split("//")[1].split(":")[0]
    server.run(f"ALTER ROLE {role} SET statement_timeout = '60s'")
    assert len(read_database(url, query="SELECT pg_sleep(0.1)::text, age FROM people LIMIT 1")) == 1


@follows(REFUSED, "a query that only reads.")
def test_a_query_that_writes(server):
    with pytest.raises(SourceError, match="reading only"):
        read_database(server.url, query="WITH x AS (DELETE FROM people RETURNING *) SELECT * FROM x")
    assert len(read_database(server.url, query="WITH x AS (SELECT * FROM people) SELECT * FROM x")) == 40


@follows(REFUSED, "again, when the other transaction has ended.")
def test_a_table_that_another_transaction_locks(server):
    import adbc_driver_postgresql.dbapi as dbapi

    server.run(f"ALTER DATABASE {server.name} SET lock_timeout = '40ms'")
    with dbapi.connect(server.url) as other, other.cursor() as cursor:
        cursor.execute("LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(SourceUnreachable, match="another transaction"):
            read_database(server.url, "people")
        other.rollback()
    assert len(read_database(server.url, "people")) == 40


@follows(
    REFUSED,
    "GRANT USAGE, CREATE ON SCHEMA ... TO this user, or another user in the address.",
    "CREATE SCHEMA first, or --table with a schema that is there.",
    "a server and a transaction that may be written to, or another disk.",
)
def test_a_release_that_may_not_be_written(server):
    release = publish()
    url = server.make_role()
    with pytest.raises(SourceError, match="refuses access"):
        release.to_database(url, "released")
    role = url.split("//")[1].split(":")[0]
    server.run(f"GRANT USAGE, CREATE ON SCHEMA public TO {role}")
    release.to_database(url, "released")
    release.to_database(server.url, "released_by_the_owner")
    with pytest.raises(SourceError, match="no such schema"):
        release.to_database(server.url, "lake.released")
    release.to_database(server.url, "public.released_in_public")
    server.run("CREATE SCHEMA lake")
    release.to_database(server.url, "lake.released")
    server.run(f"ALTER DATABASE {server.name} SET default_transaction_read_only = on")
    with pytest.raises(SourceError, match="reading only"):
        release.to_database(server.url, "again")
    read_write = f"{server.url}&options=-c%20default_transaction_read_only%3Doff"
    release.to_database(read_write, "again")
    release.to_database(SQLITE, "released")
    assert os.path.getsize("people.db") > 0
