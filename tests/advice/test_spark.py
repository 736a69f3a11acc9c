"""Advice that Spark gives is followed: what it refuses is then published by it, or by another engine."""

from __future__ import annotations

import datetime

import polars as pl
import pytest

import reticent as rt
from reticent.data.source import with_spellings
from reticent.engines.spark import session, sources
from reticent.errors import ColumnError, RequestError, SourceError
from reticent.job.parse import parse_job
from tests.advice.coverage import follows
from tests.advice.small_jobs import COLUMNS, ROWS, make_people, write_people
from tests.support.spark_session import spark

SOURCES = "engines/spark/sources.py"
ROWS_MODULE = "engines/spark/rows.py"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people("people.csv")


def count(frame=None, columns=None, engine=None, **parts) -> None:
    """Count the rows into cells, as every release begins."""
    job = parse_job({"columns": {**COLUMNS, **(columns or {})}, "promise": [{"model": "k-anonymity", "k": 3}], **parts})
    assert rt.count(job, frame=frame, engine=engine or spark()).rows == ROWS


@follows(ROWS_MODULE, 'a text or a number of seconds instead, undeclared = "drop", or --engine stream.')
def test_times_of_day_in_parquet():
    times = make_people(clock=[datetime.time(8, row % 4) for row in range(ROWS)])
    times.write_parquet("times.parquet")
    declared = {"clock": "quasi-identifying"}
    source = {"path": "times.parquet"}
    with pytest.raises(ColumnError, match="does not read from Parquet"):
        count(columns=declared, source=source)
    count(columns=declared, source=source, engine="stream")
    count(source=source, release={"undeclared": "drop"})
    seconds = pl.col("clock").dt.minute().cast(pl.Int64) * 60
    times.with_columns(pl.col("clock").cast(pl.String), seconds.alias("seconds")).write_parquet("times.parquet")
    count(columns={**declared, "seconds": "quasi-identifying"}, source=source)


@follows(
    ROWS_MODULE,
    "a column of texts, whole numbers or dates, or --engine stream.",
    "--engine stream, or leaving map out.",
)
def test_batches_of_spark():
    days = {"share": [0.5, 1.5] * 30, "day": ["mon", "tue"] * 30}
    columns = {**COLUMNS, "day": {"role": "insensitive", "map": {"mon": "Monday"}}}
    job = parse_job(
        {"columns": columns, "promise": [{"model": "k-anonymity", "k": 3}], "release": {"undeclared": "drop"}}
    )
    write_people("people.parquet", **days)
    rows = spark().scan(rt.Source(), make_people(**days)).rows
    with pytest.raises(ColumnError, match="makes no batches"):
        rows.filter_equal("share", 0.5, ["age"])
    rows = spark().scan(with_spellings(rt.Source(path="people.parquet"), job.source.spellings)).rows
    with pytest.raises(ColumnError, match="has a map"):
        rows.filter_equal("day", "Monday", ["age"])
    plain = make_people(**days, week=[1, 2] * 30, date=[datetime.date(2024, 3, 1 + row % 2) for row in range(ROWS)])
    rows = spark().scan(rt.Source(), plain).rows
    for by, value in (("day", "mon"), ("week", 1), ("date", datetime.date(2024, 3, 1))):
        assert rows.filter_equal(by, value, ["age"]) is not None
    stream = rt.publish_batches(
        job, "day", "batches", frame=make_people(**days), engine="stream", seed=1, ledger="ledger"
    )
    assert len(stream["batches"]) == 2


@follows(SOURCES, "a file with a header line.", "a path or a table in [source], or frame=.")
@follows(SOURCES, "Parquet files, or CSV files, or --engine stream.")
@follows("engines/spark/session.py", "leaving master out, or stopping that session first.")
def test_sources_of_spark():
    open_session = session.open_session(spark().master, spark().config)
    with pytest.raises(SourceError, match="no columns"):
        sources.scan_rows(open_session, rt.Source(), open_session.range(1).drop("id"), True)
    with pytest.raises(SourceError, match="names no source"):
        count()
    make_people().write_ipc("people.arrow")
    with pytest.raises(SourceError, match="does not read here"):
        count(source={"path": "people.arrow"})
    count(source={"path": "people.arrow"}, engine="stream")
    count(source={"path": "people.csv"})
    make_people().write_parquet("people.parquet")
    count(source={"path": "people.parquet"})
    open_session.createDataFrame(make_people().to_pandas()).write.saveAsTable("people")
    try:
        count(source={"table": "people"})
    finally:
        open_session.sql("DROP TABLE people")
    with pytest.raises(RequestError, match="is active"):
        count(frame=make_people(), engine=rt.Spark(master="local[7]"))
    count(frame=make_people(), engine=rt.Spark())
