"""Advice about sources and frames is followed: their rows are then published."""

from __future__ import annotations

import datetime
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent.data import passthrough
from reticent.data.parsing import to_comparable
from reticent.errors import ColumnError, SourceError
from reticent.job.parse import parse_job
from tests.advice.coverage import Trial, follows
from tests.advice.small_jobs import COLUMNS, ROWS, make_people, publish, publish_file, write_people

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
READ = "data/source.py"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people("people.csv")


def write(path: str, content: bytes | str) -> str:
    Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_database() -> str:
    with sqlite3.connect("people.db") as connection:
        connection.execute("CREATE TABLE people (name TEXT, age INTEGER, city TEXT, illness TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", make_people().iter_rows())
    connection.close()
    return "sqlite:///people.db"


def read_csv_text() -> str:
    return Path("people.csv").read_text()


def divide_by_zero(rows: pl.DataFrame) -> pl.DataFrame:
    raise ZeroDivisionError


def make_arrow(age: Any) -> Any:
    table = make_people().to_arrow()
    return table.set_column(table.schema.get_field_index("age"), "age", age)


TRIALS = [
    Trial(
        READ,
        "{missing_field.attempt}",
        lambda: rt.Source(path="people.csv", missing=5),
        lambda: rt.Source(path="people.csv", missing=["?", "N/A"]),
    ),
    Trial(
        READ,
        "url = ... in [source], with a table or a query.",
        lambda: publish_file("sqlite:///people.db"),
        lambda: [
            publish(source={"url": write_database(), "table": "people"}),
            publish(source={"url": "sqlite:///people.db", "query": "SELECT * FROM people"}),
        ],
    ),
    Trial(
        READ,
        "{field.attempt}",
        lambda: rt.Source(path="people.csv", empty="null"),
        lambda: [rt.Source(path="people.csv", empty=choice) for choice in ("missing", "value")],
    ),
    Trial(READ, "a file with a header line.", lambda: publish(pl.DataFrame()), lambda: publish_file("people.csv")),
    Trial(
        READ,
        "a file with a header line and rows.",
        lambda: publish_file(write("empty.csv", "")),
        lambda: publish_file("people.csv"),
    ),
    Trial(
        READ,
        "one type per column.",
        lambda: publish(pd.DataFrame({**make_people().to_dict(as_series=False), "age": [1, "two"] * 30})),
        lambda: publish(pd.DataFrame(make_people().to_dict(as_series=False))),
    ),
    Trial(
        READ,
        "a pandas or Polars frame, or a pyarrow table.",
        lambda: publish([1, 2, 3]),
        lambda: [publish(make_people()), publish(make_people().to_pandas()), publish(make_people().to_arrow())],
    ),
    Trial(
        READ,
        "renaming one of each.",
        lambda: publish(pd.concat([make_people().to_pandas()] * 2, axis=1)),
        lambda: publish(make_people().to_pandas()),
    ),
    Trial(
        READ,
        "renaming one of each.",
        lambda: publish(make_people().to_arrow().rename_columns(["name", "age", "age", "illness"])),
        lambda: publish(make_people().to_arrow()),
    ),
    Trial(
        READ,
        "a frame that collects by itself.",
        lambda: publish(make_people().lazy().select("nobody")),
        lambda: publish(make_people().lazy().select("name", "age", "city", "illness")),
    ),
    Trial(
        READ,
        "a path in [source], or frame=.",
        lambda: publish(source={}),
        lambda: [publish(source={"path": "people.csv"}), publish(frame=make_people())],
    ),
    Trial(
        READ,
        "the right file type, delimiter and encoding.",
        lambda: publish_file(write("people.parquet", read_csv_text())),
        lambda: publish_file("people.csv", delimiter=",", encoding="utf-8"),
    ),
    Trial(
        READ,
        'its encoding, e.g. encoding = "latin-1".',
        lambda: publish_file(write("latin.csv", read_csv_text().replace("Ulm", "Köln").encode("latin-1"))),
        lambda: publish_file("latin.csv", encoding="latin-1"),
    ),
    Trial(
        READ,
        "collecting the frame before it is handed over.",
        lambda: publish(make_people().lazy().map_batches(divide_by_zero)),
        lambda: publish(make_people().lazy().collect()),
    ),
    Trial(
        READ,
        "collecting the frame before it is handed over.",
        lambda: publish(make_people().lazy().with_columns(pl.col("city").cast(pl.Int64))),
        lambda: publish(make_people().lazy().with_columns(pl.col("city").cast(pl.Int64, strict=False)).collect()),
    ),
    Trial(
        READ,
        "the delimiter, quoting and encoding of [source].",
        lambda: publish_file(write("quoted.csv", read_csv_text().replace("Ulm", '"Ulm"x'))),
        lambda: publish_file("quoted.csv", quote=""),
    ),
    Trial(
        READ,
        "decimals of 128 bits, or text.",
        lambda: publish(make_arrow(pa.array([Decimal(row) for row in range(ROWS)], pa.decimal256(40, 0)))),
        lambda: [
            publish(make_arrow(pa.array([Decimal(row) for row in range(ROWS)], pa.decimal128(20, 0)))),
            publish(make_arrow(pa.array([str(row) for row in range(ROWS)]))),
        ],
    ),
    Trial(
        READ,
        ".csv, .parquet or .arrow.",
        lambda: publish_file(write("people.dat", read_csv_text())),
        lambda: [publish_file(path) for path in write_each_kind()],
    ),
    Trial(
        READ,
        "saving it as CSV.",
        lambda: publish_file(write("people.xlsx", "no sheet")),
        lambda: publish_file("people.csv"),
    ),
    Trial(
        "data/parsing.py",
        "numbers, text, booleans or dates.",
        lambda: to_comparable("city", pl.Series([[1]])),
        lambda: [
            to_comparable("city", pl.Series(values))
            for values in ([1], ["a"], [True], pl.Series(["2001-01-01"]).str.to_date())
        ],
    ),
]


def write_each_kind() -> list[str]:
    make_people().write_parquet("people.parquet")
    make_people().write_ipc("people.arrow")
    return ["people.csv", "people.parquet", "people.arrow"]


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_sources_and_frames(trial):
    trial.run()


@follows("data/passthrough.py", "publishing when nobody writes to it, or a copy of it.")
def test_a_source_that_changes_meanwhile(monkeypatch):
    write_people("people.csv", visits=[row % 3 for row in range(ROWS)])
    carried = {"visits": "insensitive"}
    with monkeypatch.context() as somebody:
        write_cells = passthrough.ChangeStamp.require_unchanged

        def write_meanwhile(self):
            write("people.csv", read_csv_text() + "p99,20,Ulm,flu,1\n")
            write_cells(self)

        somebody.setattr(passthrough.ChangeStamp, "require_unchanged", write_meanwhile)
        with pytest.raises(SourceError, match="changed while it was published"):
            publish_file(columns=carried)
        write("copy.csv", read_csv_text())
    publish_file("copy.csv", columns=carried)
    publish_file(columns=carried)


@follows("data/population.py", "{suggest_column(lacking[0], present, lazy)}", "the same type in both.")
def test_a_population_of_other_columns():
    rows = make_people(day=[datetime.datetime(2001, 1, 1 + row % 28, 8) for row in range(ROWS)]).drop("age")
    columns = {"age": None, "day": "quasi-identifying"}

    def publish_with(population: pl.DataFrame) -> None:
        promise = [{"model": "k-map", "k": 3, "population": population}]
        publish(rows, columns, promise=promise)

    with pytest.raises(ColumnError, match="lacks 1 quasi-identifying column: 'day'") as refused:
        publish_with(rows.rename({"day": "days"}))
    assert refused.value.attempt == "'days' instead."
    with pytest.raises(ColumnError, match="in one table and"):
        publish_with(rows.with_columns(pl.col("day").cast(pl.Date)))
    publish_with(pl.concat([rows, rows]))


@follows("data/cells.py", "{suggest(str(name), names)}")
def test_a_sensitive_column_that_is_not_there():
    job = parse_job({"columns": COLUMNS, "promise": [{"model": "k-anonymity", "k": 3}]})
    cells = rt.count(job, frame=make_people())
    with pytest.raises(ColumnError) as refused:
        cells.find_sensitive("ilness")
    assert refused.value.attempt.startswith("'illness' instead")
    assert cells.find_sensitive("illness") == 0
