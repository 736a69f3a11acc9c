"""Hostile exports: names that no table can have, and databases that cannot be written."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.support.hostile_cases import Case

DRIVERS = {"sqlite": "sqlite:///out.db", "duckdb": "duckdb:///out.duckdb"}
NAMES = {
    "an empty name": "",
    "a dot": ".",
    "a dotted name": "a.b",
    "a name that ends with a dot": "people.",
    "a name that begins with a dot": ".people",
    "three names": "a.b.c",
    "a reserved name of SQLite": "sqlite_people",
    "a reserved name of SQLite, in capitals": "SQLITE_MASTER",
    "a name of DuckDB's own": "duckdb_tables",
    "a schema of the system": "information_schema.tables",
    "blanks": "   ",
    "a NUL": "a\x00b",
    "a line end": "a\nb",
    "a terminal escape": "a\x1b[31mb",
    "10,000 characters": "a" * 10_000,
    "half a letter": "a\ud800b",
}
FINE = {
    "a plain name": "people",
    "a reserved word": "select",
    "a quoted name": 'a"b',
    "a name with a quote": "a'b; DROP TABLE x; --",
    "a name with blanks": "the people",
    "other letters": "люди",
    "a digit first": "2024",
}


def words(url: str, table: str, release: str = "release") -> tuple[str, ...]:
    return ("export", release, url, "--table", table)


def nothing(folder: Path) -> None:
    pass


def existing(folder: Path) -> None:
    """A database that has tables of both names."""
    with sqlite3.connect(folder / "out.db") as connection:
        connection.execute("CREATE TABLE people_manifest (a)")
    connection.close()


def existing_duckdb(folder: Path) -> None:
    import duckdb

    with duckdb.connect(str(folder / "out.duckdb")) as connection:
        connection.execute("CREATE TABLE people_manifest (a INTEGER)")


CASES = {
    f"{driver}: {what}": Case(nothing, 1, words(url, name))
    for driver, url in DRIVERS.items()
    for what, name in NAMES.items()
}
CASES |= {
    f"{driver}: {what}": Case(nothing, 0, words(url, name))
    for driver, url in DRIVERS.items()
    for what, name in FINE.items()
}
CASES |= {
    "an existing table": Case(existing, 1, words(DRIVERS["sqlite"], "people")),
    "an existing table of DuckDB": Case(existing_duckdb, 1, words(DRIVERS["duckdb"], "people")),
    "an unknown database": Case(nothing, 1, words("oracle:///x", "people")),
    "no URL": Case(nothing, 1, words("", "people")),
    "a URL without a path": Case(nothing, 1, words("sqlite:///", "people")),
    "a URL of a scheme alone": Case(nothing, 1, words("sqlite:", "people")),
    "a URL of a folder": Case(nothing, 1, words("sqlite:///.", "people")),
    "a URL in a folder that is not there": Case(nothing, None, words("sqlite:///nowhere/x.db", "people")),
    "a DuckDB URL in a folder that is not there": Case(nothing, None, words("duckdb:///nowhere/x.db", "people")),
    "a file that is no database": Case(nothing, 1, words("sqlite:///people.csv", "people")),
    "a file that is no DuckDB database": Case(nothing, 1, words("duckdb:///people.csv", "people")),
    "a URL of 10,000 characters": Case(nothing, None, words("sqlite:///" + "x" * 10_000, "people")),
    "a URL with a NUL": Case(nothing, 1, words("sqlite:///a\x00b.db", "people")),
    "a DuckDB URL with a NUL": Case(nothing, 1, words("duckdb:///a\x00b.db", "people")),
    "a URL with a terminal escape": Case(nothing, None, words("sqlite:///\x1b[31m.db", "people")),
    "a database in memory": Case(nothing, 1, words("sqlite:///:memory:", "people")),
    "a DuckDB database in memory": Case(nothing, 1, words("duckdb:///:memory:", "people")),
    "a database on a full disk": Case(nothing, None, words("sqlite:////dev/full", "people")),
    "a database that may not be written": Case(nothing, None, words("sqlite:////proc/x.db", "people")),
    "a PostgreSQL that is not there": Case(nothing, 6, words("postgresql://nobody@127.0.0.1:1/x", "people")),
    "a release that is not there": Case(nothing, 1, words("sqlite:///out.db", "people", "nowhere")),
    "a release that is a file": Case(nothing, 1, words("sqlite:///out.db", "people", "people.csv")),
    "a release that is any folder": Case(nothing, 3, words("sqlite:///out.db", "people", ".")),
}
