"""Engines: `stream` against the floor and against `local`, by method, with and without a carried column, and its memory.

5M census rows, or as many as ENGINES_ROWS says (50000000 takes 15 GB of disk for the floor's and our own output), and a table
of ENGINES_COLUMNS (800) columns by as many rows as ENGINES_WIDE says (none: its row is left out).  One run of each, the floor's
too: at these sizes a second changes little.  The floor in memory is tried up to 20M rows; beyond, those that stream.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.data import census_file
from benchmarks.floor import COMPRESSION, ENGINES
from benchmarks.measure import Cost, measure
from benchmarks.row import Row

QUASI = ("age", "gender", "education", "marital_status", "work_class")
SENSITIVE = "salary_class"
CARRIED = "visits"
ROWS_ASKED = int(os.environ.get("ENGINES_ROWS", "5000000"))
WIDE = int(os.environ.get("ENGINES_WIDE", "0"))
COLUMNS = int(os.environ.get("ENGINES_COLUMNS", "800"))
MEMORY = 4 << 30  # bytes that a run of `stream` may take
IN_MEMORY = 20_000_000  # rows up to which the floor in memory is tried
PROMISES = {
    "mondrian": "rt.KAnonymity(10)",
    "burel": "rt.BetaLikeness(4)",
    "anatomy": "rt.ProbabilisticLDiversity(4)",
    "beta-perturbation": "rt.BetaLikeness(4)",
}
SETUP = """
import polars, pyarrow.parquet, pyarrow.ipc, randomgen
import reticent as rt
import reticent.publish, reticent.audit.audit, reticent.engines.stream
columns = {name: rt.quasi() for name in quasi} | {sensitive: rt.sensitive()} | {name: rt.insensitive() for name in carried}
job = rt.Job(source=path, columns=columns, promises=[eval(promise)], method=method,
             release=rt.Output(undeclared="drop"))
"""
BODY = 'rt.publish(job, to=scratch / "release", engine=engine)'
MAKE = """
import polars as pl
rows = pl.scan_parquet(path).with_row_index("row")
rows.with_columns((pl.col("row").cast(pl.Int64) * 7919 % 97).cast(pl.Int16).alias(name)).drop("row").sink_parquet(made)
"""
TABLE = """
import numpy as np, polars as pl, pyarrow.parquet as pq
from reticent.datasets.census import iterate_census
writer = None
for at, piece in enumerate(iterate_census(rows, 0)):
    piece = piece.cast({pl.Enum: pl.String})
    drawn = np.random.default_rng(at).integers(0, 4, (columns - piece.width, len(piece)), np.int8)
    table = pl.concat([piece, pl.DataFrame({f"answer_{i}": column for i, column in enumerate(drawn)})], how="horizontal").to_arrow()
    writer = writer or pq.ParquetWriter(made, table.schema, compression="lz4")
    writer.write_table(table, row_group_size=1 << 18)
writer.close()
"""
TO_CSV = "import polars as pl\npl.scan_parquet(path).sink_csv(made)"


@cache
def source(kind: str) -> Path:
    """The census, with a carried column beside it, or as CSV: made once."""
    plain = census_file(ROWS_ASKED)
    if kind == "plain":
        return plain
    made = plain.with_name(f"{plain.stem}-{kind}.{'csv' if kind == 'csv' else 'parquet'}")
    if not made.exists():
        body = TO_CSV if kind == "csv" else MAKE
        measure(body, given={"path": str(plain), "made": str(made), "name": CARRIED}, runs=0)
    return made


@cache
def wide() -> Path:
    made = census_file(1000).with_name(f"wide-{WIDE}-{COLUMNS}.parquet")
    if not made.exists():
        measure(TABLE, given={"made": str(made), "rows": WIDE, "columns": COLUMNS}, runs=0)
    return made


@cache
def least(kind: str) -> tuple[Cost, str]:
    """The floor of a file: the engine that takes the least CPU time, from CSV too."""
    columns = (*QUASI, CARRIED, SENSITIVE) if kind == "carried" else (*QUASI, SENSITIVE)
    given = {"path": str(source(kind)), "columns": list(columns), "compression": COMPRESSION}
    found = []
    for name, (setup, body) in ENGINES.items():
        if name == "polars" and ROWS_ASKED > IN_MEMORY:
            continue
        for parquet, csv in (("_parquet(path", "_csv(path"), ("read_parquet('", "read_csv('")) if kind == "csv" else ():
            body = body.replace(parquet, csv)
        found.append((measure(body, setup=setup, given=given, runs=0), name))
    return min(found, key=lambda one: one[0].cpu)


def published_from(path: Path, method: str, carried: list[str], engine: str) -> Cost:
    given: dict[str, object] = {
        "path": str(path),
        "quasi": list(QUASI),
        "sensitive": SENSITIVE,
        "carried": carried,
        "promise": PROMISES[method],
        "method": method,
        "engine": engine,
    }
    return measure(BODY, setup=SETUP, given=given, runs=0)


@cache
def published(method: str, kind: str, engine: str) -> Cost:
    return published_from(source(kind), method, [CARRIED] if kind == "carried" else [], engine)


def against_floor(method: str, kind: str, at_most: float | None, engine: str = "stream") -> Callable[[], Row]:
    def row() -> Row:
        reference, name = least(kind)
        cost = published(method, kind, engine)
        note = f"wall {cost.wall:.1f} s, peak {cost.peak / 2**20:,.0f} MiB, {ROWS_ASKED:,} rows"
        return Row(ours=cost.cpu, reference=reference.cpu, against=f"floor ({name})", at_most=at_most, note=note)

    return row


def memory(method: str, kind: str) -> Callable[[], Row]:
    def row() -> Row:
        cost = published(method, kind, "stream")
        return Row(
            ours=cost.peak / 2**20,
            reference=MEMORY / 2**20,
            unit="MiB",
            against="4 GiB",
            at_most=1,
            note=f"{ROWS_ASKED:,} rows",
        )

    return row


def memory_wide() -> Row:
    """`mondrian` of a wide table whose other columns are all carried by a glob."""
    cost = published_from(wide(), "mondrian", ["answer_*"], "stream")
    note = f"{cost.cpu:.1f} CPU s, wall {cost.wall:.1f} s, {WIDE:,} rows by {COLUMNS} columns"
    return Row(
        ours=cost.peak / 2**20,
        reference=MEMORY / 2**20,
        unit="MiB",
        against="4 GiB",
        at_most=1,
        note=note,
    )


def against_local(method: str, kind: str) -> Callable[[], Row]:
    def row() -> Row:
        ours = published(method, kind, "stream")
        local = published(method, kind, "local")
        note = f"peak {ours.peak / 2**20:,.0f} and {local.peak / 2**20:,.0f} MiB, {ROWS_ASKED:,} rows"
        return Row(ours=ours.cpu, reference=local.cpu, against="local", note=note)

    return row


ROWS = [
    *((f"stream against the floor: {method}", against_floor(method, "plain", 1.5)) for method in PROMISES),
    *((f"stream's memory: {method}", memory(method, "plain")) for method in PROMISES),
    *((f"stream against the floor: {method}, carried", against_floor(method, "carried", 2.5)) for method in PROMISES),
    *((f"stream's memory: {method}, carried", memory(method, "carried")) for method in PROMISES),
    ("stream against the floor: mondrian, from CSV", against_floor("mondrian", "csv", 1.5)),
    ("stream's memory: mondrian, from CSV", memory("mondrian", "csv")),
    ("local against the floor: mondrian, nothing carried", against_floor("mondrian", "plain", None, "local")),
    *((f"stream against local: {method}, carried", against_local(method, "carried")) for method in PROMISES),
    ("stream against local: mondrian", against_local("mondrian", "plain")),
    *([("stream's memory: mondrian, a wide table", memory_wide)] if WIDE else []),
]
