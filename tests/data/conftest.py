"""Databases that hold the table `people`: a real PostgreSQL server, and files of DuckDB and SQLite."""

from __future__ import annotations

import sqlite3

import duckdb
import polars as pl
import pytest

from tests.support.database_tables import people


@pytest.fixture(params=["postgresql", "duckdb", "sqlite"])
def database(request, tmp_path):
    """The address of a database that holds the table `people`, and how its cells come back."""
    frame = people()
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres")
        import adbc_driver_postgresql.dbapi as dbapi

        with dbapi.connect(url) as connection, connection.cursor() as cursor:
            for statement in ("DROP SCHEMA public CASCADE", "CREATE SCHEMA public"):
                cursor.execute(statement)
            cursor.adbc_ingest("people", frame.to_arrow(), mode="create")
            connection.commit()
    elif request.param == "duckdb":
        url = f"duckdb:///{tmp_path}/people.duckdb"
        with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
            connection.register("given", frame.to_arrow())
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
    else:
        url = f"sqlite:///{tmp_path}/people.db"
        with sqlite3.connect(tmp_path / "people.db") as connection:
            connection.execute(
                "CREATE TABLE people (age INTEGER, weight REAL, born TEXT, city TEXT, smokes INTEGER, illness TEXT)"
            )
            plain = frame.with_columns(pl.col("born").cast(pl.String), pl.col("smokes").cast(pl.Int64))
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", plain.iter_rows())
        connection.close()
    return request.param, url
