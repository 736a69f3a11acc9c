"""Hostile files of other kinds: packed CSV, Parquet and Arrow, folders and patterns of them, sheets, statistics and databases."""

from __future__ import annotations

import gzip
import os
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.hostile.jobs import SOURCE
from tests.support.hostile_cases import CANARY, Case, csv_text, job, people

PUBLISH = ("publish", "job.toml", "-o", "out")
HEAD = ["person", "age", "city", "illness"]
GOOD = csv_text(people()).encode()
BOMB = (300 if os.environ.get("HOSTILE") == "all" else 40) << 20  # bytes
Spoil = Callable[[Path], object]


def frame(rows: int = 60) -> pl.DataFrame:
    return pl.DataFrame(people(rows), schema=HEAD, orient="row").with_columns(pl.col("age").cast(pl.Int64))


def zst(content: bytes) -> bytes:
    return pa.Codec("zstd").compress(content, asbytes=True)


def named(path: str, *steps: Spoil) -> Spoil:
    """The job reads this path."""
    return lambda folder: [step(folder) for step in (job((SOURCE, f"path = '{path}'")), *steps)]


def at(path: str, content: bytes | Callable[[], bytes]) -> Spoil:
    def write(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content() if callable(content) else content)

    return write


def one(path: str, content: bytes | Callable[[], bytes]) -> Spoil:
    return named(path, at(path, content))


def parquet(table: Callable[[], pl.DataFrame] = frame, **how: object) -> Callable[[], bytes]:
    def made() -> bytes:
        held = pa.BufferOutputStream()
        pq.write_table(table().to_arrow(), held, **how)
        return held.getvalue().to_pybytes()

    return made


def arrow() -> bytes:
    held = pa.BufferOutputStream()
    table = frame().to_arrow()
    with pa.ipc.new_file(held, table.schema) as writer:
        writer.write_table(table)
    return held.getvalue().to_pybytes()


def cut(content: Callable[[], bytes], share: float = 0.5) -> Callable[[], bytes]:
    return lambda: content()[: int(len(content()) * share)]


def spoiled(content: Callable[[], bytes], every: int = 37) -> Callable[[], bytes]:
    """Every so many bytes are others."""
    return lambda: bytes(byte ^ 0x5A if at % every == every - 1 else byte for at, byte in enumerate(content()))


def linked(name: str, target: str) -> Spoil:
    return lambda folder: os.symlink(target, folder / name)


def zipped(size: int) -> Callable[[], bytes]:
    def made() -> bytes:
        import io

        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", "<Types/>")
            archive.writestr("xl/workbook.xml", "<workbook>" + " " * size + "</workbook>")
        return held.getvalue()

    return made


def repeated() -> bytes:
    """A Parquet file with one name twice."""
    table = frame().to_arrow()
    held = pa.BufferOutputStream()
    pq.write_table(pa.table(table.columns, names=["person", "age", "age", "illness"]), held)
    return held.getvalue().to_pybytes()


def long_runs() -> bytes:
    """Forty million rows in a few bytes: one value, by run lengths."""
    rows = 40_000_000
    held = pa.BufferOutputStream()
    values = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([CANARY]))
    pq.write_table(pa.table(dict.fromkeys(HEAD, values)), held, row_group_size=rows)
    return held.getvalue().to_pybytes()


def database(*statements: str) -> Spoil:
    def make(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "p.db")) as held:
            held.execute("CREATE TABLE people (person TEXT, age INTEGER, city TEXT, illness TEXT)")
            held.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people())
            for statement in statements:
                held.execute(statement)
            held.commit()

    return make


def asked(more: str, *steps: Spoil) -> Spoil:
    """The job reads a database."""
    return lambda folder: [step(folder) for step in (job((SOURCE, f'url = "sqlite:///p.db"\n{more}')), *steps)]


PACKED = {
    f"a packed file ({ending}): {what}": Case(one(f"p.csv.{ending}", content), expected)
    for ending, pack in (("gz", gzip.compress), ("zst", zst))
    for what, content, expected in (
        ("good", pack(GOOD), 0),
        ("cut off", pack(GOOD)[:-20], 1),
        ("cut off at its head", pack(GOOD)[:8], 1),
        ("damaged", spoiled(lambda pack=pack: pack(GOOD)), 1),
        ("not packed", GOOD, 1),
        ("packed twice", pack(pack(GOOD)), 1),
        ("packed by another", zst(GOOD) if ending == "gz" else gzip.compress(GOOD), 1),
        ("nothing in it", pack(b""), 1),
        ("a header alone", pack(b"person,age,city,illness\n"), 1),
        ("in two members", pack(GOOD[:400]) + pack(GOOD[400:]), 0),
        ("with something behind it", pack(GOOD) + b"Ann,1,Ulm,flu\n", None),
        ("one long line", lambda pack=pack: pack(b"x" * BOMB), 1),
        ("nothing but line ends", lambda pack=pack: pack(GOOD + b"\n" * BOMB), 1),
        ("much in a quote that is not closed", lambda pack=pack: pack(GOOD + b'"' + b"x\n" * (BOMB // 2)), 1),
        ("much in one field", lambda pack=pack: pack(GOOD + b"p,30,Ulm," + b"x" * BOMB + b"\n"), None),
        ("NULs", pack(b"\x00" * 10_000), 1),
        ("no UTF-8", pack(GOOD + b"p,30,Ulm,\xff\n"), 1),
    )
}
PARTS = {"p/a.parquet": parquet(), "p/b.parquet": parquet()}


def folder_of(*more: Spoil, parts: dict[str, Callable[[], bytes]] = PARTS) -> Spoil:
    return named("p", *(at(name, content) for name, content in parts.items()), *more)


def changed(**columns: pl.Expr) -> Callable[[], bytes]:
    return parquet(lambda: frame().with_columns(**columns))


FOLDERS = {
    "a folder of Parquet files": Case(folder_of(), 0),
    "a folder with a file that lacks a column": Case(
        folder_of(at("p/c.parquet", parquet(lambda: frame().drop("city")))), 1
    ),
    "a folder with a file of another type": Case(folder_of(at("p/c.parquet", changed(age=pl.lit(CANARY)))), 1),
    "a folder with a file of another order": Case(
        folder_of(at("p/c.parquet", parquet(lambda: frame().select(reversed(HEAD))))), 1
    ),
    "a folder with a file that is cut off": Case(folder_of(at("p/c.parquet", cut(parquet()))), 1),
    "a folder with a file that is damaged": Case(folder_of(at("p/c.parquet", spoiled(parquet()))), 1),
    "a folder with an empty file": Case(folder_of(at("p/c.parquet", b"")), 1),
    "a folder with a file without rows": Case(folder_of(at("p/c.parquet", parquet(lambda: frame().head(0)))), 0),
    "a folder with a CSV": Case(folder_of(at("p/c.csv", GOOD)), 1),
    "a folder with other files": Case(folder_of(at("p/_SUCCESS", b""), at("p/.hidden", b"x")), 0),
    "a folder with a note beside": Case(folder_of(at("p/note.txt", b"x")), 1),
    "a folder with nothing": Case(named("p", lambda folder: (folder / "p").mkdir()), 1),
    "a folder of hidden files": Case(named("p", at("p/.a.parquet", parquet())), 1),
    "a folder with a pipe": Case(folder_of(lambda folder: os.mkfifo(folder / "p/c.parquet")), None),
    "a folder with a link to itself": Case(folder_of(linked("p/again", "../p")), None),
    "a folder with a link to nothing": Case(folder_of(linked("p/c.parquet", "nowhere")), None),
    "a folder that ends in .parquet": Case(named("p.parquet", at("p.parquet/part-0", b"x")), 1),
    "a folder that is a link": Case(folder_of(linked("q", "p")), 0),
    "partitions": Case(
        named("p", at("p/day=1/a.parquet", parquet()), at("p/day=2/a.parquet", parquet()), lambda folder: None), 1
    ),
    "partitions named like a column": Case(
        named("p", at("p/age=1/a.parquet", parquet()), at("p/age=2/a.parquet", parquet())), None
    ),
    "partitions of missing values": Case(named("p", at("p/day=__HIVE_DEFAULT_PARTITION__/a.parquet", parquet())), 1),
    "partitions of two depths": Case(
        named("p", at("p/day=1/a.parquet", parquet()), at("p/b.parquet", parquet())), None
    ),
    "partitions with terminal escapes": Case(named("p", at("p/\x1b[2J=1/a.parquet", parquet())), None),
    "a partition without a name": Case(named("p", at("p/=1/a.parquet", parquet())), None),
    "a pattern of nothing": Case(named("none-*.csv"), 6),
    "a pattern that is a bracket": Case(named("["), None),
    "a pattern of everything below": Case(named("**/*.csv"), 1),
    "a pattern of CSV files": Case(named("day-*.csv", at("day-1.csv", GOOD), at("day-2.csv", GOOD)), 0),
    "a pattern of files with other columns": Case(
        named("day-*.csv", at("day-1.csv", GOOD), at("day-2.csv", b"a,b\n1,2\n")), 1
    ),
    "a pattern of packed and plain files": Case(
        named("day-*", at("day-1.csv", GOOD), at("day-2.csv.gz", gzip.compress(GOOD))), 0
    ),
    "a pattern of files of two kinds": Case(named("day-*", at("day-1.csv", GOOD), at("day-2.parquet", parquet())), 1),
    "a pipe that nobody writes to": Case(named("pipe.csv", lambda folder: os.mkfifo(folder / "pipe.csv")), 1),
    "a link to a device that never ends": Case(named("p.csv", linked("p.csv", "/dev/zero")), 1),
    "a Parquet file that is a device": Case(named("p.parquet", linked("p.parquet", "/dev/zero")), 1),
    "a link to itself": Case(named("p.csv", linked("p.csv", "p.csv")), None),
    "a link to the file": Case(named("p.csv", linked("p.csv", "people.csv")), 0),
}
NESTED = {"a list": pl.lit([1, 2]), "a structure": pl.struct(pl.lit(1).alias("a")), "bytes": pl.lit(b"\xff")}
TABLES = {
    "a Parquet file": Case(one("p.parquet", parquet()), 0),
    "a Parquet file that is cut off": Case(one("p.parquet", cut(parquet())), 1),
    "a Parquet file of its head": Case(one("p.parquet", b"PAR1"), 1),
    "a Parquet file of its marks": Case(one("p.parquet", b"PAR1" + bytes(100) + b"PAR1"), 1),
    "a Parquet file whose footer lies": Case(one("p.parquet", lambda: parquet()()[:-8] + b"\xff\xff\xff\x7fPAR1"), 1),
    **{
        f"a Parquet file of which every {every}th byte is another": Case(
            one("p.parquet", spoiled(parquet(), every)), None
        )
        for every in (7, 61, 211, 499)
    },
    **{
        f"a Parquet file with {what} in an undeclared column": Case(one("p.parquet", changed(more=given)), 1)
        for what, given in NESTED.items()
    },
    **{
        f"a Parquet file with {what} for ages": Case(one("p.parquet", changed(age=given)), 1)
        for what, given in NESTED.items()
    },
    "a Parquet file with one name twice": Case(one("p.parquet", repeated), 1),
    "a Parquet file with terminal escapes for a name": Case(
        one("p.parquet", parquet(lambda: frame().rename({"illness": "\x1b[2J"}))), 1
    ),
    "a Parquet file without rows": Case(one("p.parquet", parquet(lambda: frame().head(0))), 1),
    "a Parquet file without columns": Case(one("p.parquet", parquet(lambda: pl.DataFrame())), 1),
    "a Parquet file of forty million rows in a few bytes": Case(one("p.parquet", long_runs), None),
    "a Parquet file that is packed": Case(one("p.parquet.gz", lambda: gzip.compress(parquet()())), 1),
    "a CSV that is called Parquet": Case(one("p.parquet", GOOD), 1),
    "an Arrow file": Case(one("p.arrow", arrow), 0),
    "an Arrow file that is cut off": Case(one("p.arrow", cut(arrow)), 1),
    "an Arrow file of its marks": Case(one("p.arrow", b"ARROW1\x00\x00" + bytes(50) + b"ARROW1"), 1),
    **{
        f"an Arrow file of which every {every}th byte is another": Case(one("p.arrow", spoiled(arrow, every)), None)
        for every in (7, 61, 211)
    },
    **{
        f"a file of {ending} that is none": Case(one(f"p.{ending}", GOOD), 1)
        for ending in ("xlsx", "xls", "xlsb", "ods", "sav", "zsav", "por", "dta", "sas7bdat", "xpt")
    },
    **{
        f"a file of {ending} of zeros": Case(one(f"p.{ending}", bytes(5_000)), 1)
        for ending in ("xlsx", "sav", "zsav", "por", "dta", "sas7bdat", "xpt")
    },
    "a workbook without sheets": Case(one("p.xlsx", zipped(1)), 1),
    "a workbook that unpacks to much more": Case(one("p.xlsx", zipped(BOMB)), 1),
    "an ending that is unknown": Case(one("p.exe", GOOD), 1),
    "no ending": Case(one("p", GOOD), 1),
    "an ending of an ending": Case(one(".csv", GOOD), None),
}
DATABASES = {
    "a database": Case(asked('table = "people"', database()), 0),
    "a table that is not there": Case(asked('table = "nobody"', database()), 1),
    "a table with a quote in its name": Case(asked("table = 'people\"; DROP TABLE people; --'", database()), 1),
    "a query of two statements": Case(asked('query = "SELECT * FROM people; DELETE FROM people"', database()), 1),
    "a query that deletes": Case(asked('query = "DELETE FROM people RETURNING *"', database()), 1),
    "a query that attaches": Case(asked("query = \"ATTACH 'evil.db' AS evil\"", database()), 1),
    "a query that writes a file": Case(asked("query = \"VACUUM INTO 'evil.db'\"", database()), 1),
    "a query that loads a library": Case(asked("query = \"SELECT load_extension('evil')\"", database()), 1),
    "a query of a comment": Case(asked('query = "-- nothing"', database()), 1),
    "a query of 100,000 brackets": Case(asked(f'query = "SELECT {"(" * 50_000}1{")" * 50_000}"', database()), 1),
    "a query with terminal escapes": Case(asked(r'query = "SELECT \u001b[2J"', database()), 1),
    "a query that names a column twice": Case(
        asked('query = "SELECT person, age, age, city, illness FROM people"', database()), 1
    ),
    "a view over a table that is gone": Case(asked('table = "v"', database("CREATE VIEW v AS SELECT * FROM gone")), 1),
    "a view of itself": Case(
        asked('table = "v"', database("CREATE VIEW v AS SELECT * FROM w", "CREATE VIEW w AS SELECT * FROM v")), 1
    ),
    "ages of texts in one column": Case(
        asked('table = "people"', database(f"UPDATE people SET age = '{CANARY}' WHERE rowid = 3")), 1
    ),
    "bytes in one column": Case(
        asked('table = "people"', database("UPDATE people SET illness = x'fffe' WHERE rowid = 3")), None
    ),
    "a huge number in one column": Case(
        asked('table = "people"', database("UPDATE people SET age = 9e300 WHERE rowid = 3")), None
    ),
    "a database that is cut off": Case(
        asked('table = "people"', database(), lambda folder: os.truncate(folder / "p.db", 5_000)), 1
    ),
    "a database that is a CSV": Case(asked('table = "people"', at("p.db", GOOD)), 1),
    "a database that is a folder": Case(asked('table = "people"', lambda folder: (folder / "p.db").mkdir()), None),
    "a database that is a pipe": Case(asked('table = "people"', lambda folder: os.mkfifo(folder / "p.db")), None),
    "a database that is not there": Case(asked('table = "people"'), 6),
}
CASES = PACKED | FOLDERS | TABLES | DATABASES
BY_STREAM = {
    f"{name}, by stream": Case(
        case.spoil, None if case.expected == 0 else case.expected, (*PUBLISH, "--engine", "stream")
    )
    for name, case in (PACKED | FOLDERS | TABLES).items()
    if "forty million" not in name
}
READERS = {"init": ("init", "-o", "new.toml"), "risk": ("risk", "--quasi", "age,city")}
