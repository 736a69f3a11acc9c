"""Engines: `stream` against the floor and against `local`, by method, with and without a carried column, and its memory.

5M census rows, or as many as ENGINES_ROWS says (50000000 takes 15 GB of disk for the floor's and our own output).  One run of
each: at these sizes a second changes little.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import Cost, measure
from benchmarks.row import Row

QUASI = ("age", "gender", "education", "marital_status", "work_class")
SENSITIVE, CARRIED = "salary_class", "visits"
ROWS_ASKED = int(os.environ.get("ENGINES_ROWS", "5000000"))
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
job = rt.Job(source=path, columns=columns, promises=[eval(promise)], method=method, release=rt.Output(undeclared="drop"))
"""
BODY = 'rt.publish(job, to=scratch / "release", engine=engine)'
MAKE = """
import polars as pl
rows = pl.scan_parquet(path).with_row_index("row")
rows.with_columns((pl.col("row").cast(pl.Int64) * 7919 % 97).cast(pl.Int16).alias(name)).drop("row").sink_parquet(made)
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
def published(method: str, kind: str, engine: str) -> Cost:
    given: dict[str, object] = {
        "path": str(source(kind)),
        "quasi": list(QUASI),
        "sensitive": SENSITIVE,
        "carried": [CARRIED] if kind == "carried" else [],
        "promise": PROMISES[method],
        "method": method,
        "engine": engine,
    }
    return measure(BODY, setup=SETUP, given=given, runs=0)


def against_floor(method: str, kind: str, at_most: float | None) -> Callable[[], Row]:
    def row() -> Row:
        columns = (*QUASI, CARRIED, SENSITIVE) if kind == "carried" else (*QUASI, SENSITIVE)
        least = floor(source("carried" if kind == "carried" else "plain"), columns)
        cost = published(method, kind, "stream")
        note = f"wall {cost.wall:.1f} s, peak {cost.peak / 2**20:,.0f} MiB, {ROWS_ASKED:,} rows"
        return Row(
            ours=cost.cpu, reference=least["cpu"], against=f"floor ({least['engine']})", at_most=at_most, note=note
        )

    return row


def against_local(method: str, kind: str) -> Callable[[], Row]:
    def row() -> Row:
        ours, local = published(method, kind, "stream"), published(method, kind, "local")
        note = f"peak {ours.peak / 2**20:,.0f} and {local.peak / 2**20:,.0f} MiB, {ROWS_ASKED:,} rows"
        return Row(ours=ours.cpu, reference=local.cpu, against="local", note=note)

    return row


ROWS = [
    *((f"stream against the floor: {method}", against_floor(method, "plain", 1.5)) for method in PROMISES),
    *((f"stream against the floor: {method}, carried", against_floor(method, "carried", 2.5)) for method in PROMISES),
    ("stream against the floor: mondrian, from CSV", against_floor("mondrian", "csv", None)),
    *((f"stream against local: {method}, carried", against_local(method, "carried")) for method in PROMISES),
    ("stream against local: mondrian", against_local("mondrian", "plain")),
]
