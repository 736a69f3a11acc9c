"""Numbers with more digits than a double holds are read exactly from every typed source, or refused: none merge."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import reticent as rt
from reticent.data.database import read_database
from reticent.data.parsing import parse_exact_numbers
from reticent.errors import ColumnError, SourceError

WRITTEN = {
    "amounts": (["0.10", "12.5", None, "1000"], pl.Float64),
    "not a number": (["NaN", "1.5"], pl.Float64),
    "whole and long": (["9007199254740993", "9007199254740992", None], pl.Int64),
    "whole and beyond 2^63": (["18446744073709551615", "1"], pl.UInt64),
    "whole and beyond 2^64": (["18446744073709551617", "18446744073709551616"], pl.Decimal(38, 0)),
    "long and fractional": (["1234567890123456.78", "1234567890123456.79"], pl.Decimal(38, 2)),
    "of fifty digits": (["1" * 50, "1" * 49 + "2"], pl.String),
}


@pytest.mark.parametrize("what", WRITTEN)
def test_written_numbers_are_read_exactly_whatever_their_digits(what):
    texts, dtype = WRITTEN[what]
    found = parse_exact_numbers(pl.Series(texts, dtype=pl.String))
    assert found.dtype == dtype
    assert found.n_unique() == len(texts)
    for text, value in zip(texts, found.to_list(), strict=True):
        assert (value is None) == (text is None)
        if text not in (None, "NaN"):
            assert Decimal(repr(value) if isinstance(value, float) else str(value)) == Decimal(text)


def numeric_table(url, values):
    import adbc_driver_postgresql.dbapi as dbapi

    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        for statement in (
            "DROP SCHEMA public CASCADE",
            "CREATE SCHEMA public",
            "CREATE TABLE people (q numeric, s text)",
        ):
            cursor.execute(statement)
        for at, value in enumerate(values):
            cursor.execute(f"INSERT INTO people VALUES ({value}, '{'abc'[at % 3]}')")
        connection.commit()


COLUMNS = {"q": rt.quasi(), "s": rt.sensitive()}


def job(url, **column):
    return rt.Job(
        source=rt.Source(url=url, table="people"),
        columns={**COLUMNS, "q": rt.quasi(**column)},
        promises=[rt.KAnonymity(2)],
    )


def test_postgresqls_numeric_is_read_exactly_or_refused_as_a_csv_is(postgres):
    numeric_table(postgres, [2**53 + at for at in range(12)])
    assert read_database(postgres, "people")["q"].to_list() == [2**53 + at for at in range(12)]
    labels = rt.publish(job(postgres), seed=1).frame()["q"]
    assert labels.n_unique() > 1 and "9007199254740995" in " ".join(labels.to_list())
    numeric_table(postgres, [f"12345678901234567.{at:02d}" for at in range(12)])
    assert read_database(postgres, "people")["q"].n_unique() == 12
    with pytest.raises(ColumnError, match="have too many digits"):
        rt.publish(job(postgres))
    assert rt.publish(job(postgres, type="categorical"), seed=1).audited.kept
    numeric_table(postgres, [f"{at}.25" for at in range(12)])
    assert read_database(postgres, "people")["q"].dtype == pl.Float64


def test_whole_numbers_and_fractions_of_one_column_of_sqlite_do_not_merge(tmp_path):
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("CREATE TABLE people (q, s)")
        values = [*(2**53 + at for at in range(6)), *(at + 0.5 for at in range(6))]
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(value, "x") for value in values])
    connection.close()
    url = f"sqlite:///{tmp_path}/people.db"
    with pytest.raises(SourceError, match="5 whole numbers with too many digits"):
        rt.publish(job(url))
    found = read_database(url, query="SELECT CAST(q AS TEXT) AS q, s FROM people;")
    assert found["q"].n_unique() == 12


def test_wide_numbers_of_duckdb_keep_every_digit(tmp_path):
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT (9007199254740993 + range)::HUGEINT AS q, 'x' AS s FROM range(12)"
        )
    url = f"duckdb:///{tmp_path}/people.duckdb"
    assert read_database(url, "people")["q"].n_unique() == 12
    with pytest.raises(ColumnError, match="have too many digits"):
        rt.publish(job(url))


def test_decimals_of_parquet_keep_every_digit_or_are_refused(tmp_path):
    values = [Decimal(f"12345678901234567.{at:02d}") for at in range(12)]
    frame = pl.DataFrame({"q": pl.Series(values, dtype=pl.Decimal(30, 2)), "s": ["x", "y", "z"] * 4})
    frame.write_parquet(tmp_path / "people.parquet")
    made = rt.Job(source=str(tmp_path / "people.parquet"), columns=COLUMNS, promises=[rt.KAnonymity(2)])
    with pytest.raises(ColumnError, match="have too many digits"):
        rt.publish(made)
    release = rt.publish(made.at(columns={**COLUMNS, "q": rt.insensitive(acknowledge=True), "s": rt.quasi()}), seed=1)
    assert sorted(release.frame()["q"].to_list()) == values


def test_decimals_of_256_bits_are_refused_by_their_column(tmp_path):
    import pyarrow.parquet as pq

    table = pa.table({"q": pa.array([Decimal("1.5")] * 8, pa.decimal256(50, 2)), "s": ["x", "y"] * 4})
    made = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(2)])
    with pytest.raises(SourceError, match="decimals of 256 bits: 'q'"):
        rt.publish(made, frame=table)
    pq.write_table(table, tmp_path / "people.parquet")
    with pytest.raises(SourceError):
        rt.publish(made.at(source=str(tmp_path / "people.parquet")))
