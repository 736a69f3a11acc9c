"""The floor: what it costs to read a file, group it and write it back with the fastest engine there is.

Two passes over the columns that are published: a group-by of quasi-identifiers and sensitive column with counts; then
each row is joined with its group, and the same columns are written to Parquet.  Polars in memory, Polars streaming
and DuckDB each do it, with the compression our releases have; the one with the least CPU time is the floor.  The
columns must have no nulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from benchmarks.measure import Cost, measure

# `known` is the sensitive column as the group knows it: taking it from there keeps the join from being optimized away.
POLARS = """
rows = pl.read_parquet(path, columns=columns)
groups = rows.group_by(columns).len().with_columns(pl.col(columns[-1]).alias("known"))
joined = rows.join(groups, on=columns)
joined.select(*columns[:-1], pl.col("known").alias(columns[-1])).write_parquet(
    scratch / "out.parquet", compression=compression, statistics=False)
"""
STREAMING = """
rows = pl.scan_parquet(path).select(columns)
groups = rows.group_by(columns).len().with_columns(pl.col(columns[-1]).alias("known")).collect(engine="streaming")
joined = rows.join(groups.lazy(), on=columns)
joined.select(*columns[:-1], pl.col("known").alias(columns[-1])).sink_parquet(
    scratch / "out.parquet", compression=compression, statistics=False, engine="streaming")
"""
DUCKDB = """
listed = ", ".join(f'"{name}"' for name in columns)
quasi = ", ".join(f'r."{name}"' for name in columns[:-1])
with duckdb.connect() as connection:
    connection.execute(f"create temp table groups as select {listed}, \\"{columns[-1]}\\" as known, count(*) as size "
                       f"from read_parquet('{path}') group by {listed}")
    connection.execute(f"copy (select {quasi}, g.known as \\"{columns[-1]}\\" from read_parquet('{path}') r "
                       f"join groups g using ({listed})) to '{scratch / 'out.parquet'}' "
                       f"(format parquet, compression {compression})")
"""
ENGINES = {
    "polars": ("import polars as pl", POLARS),
    "polars streaming": ("import polars as pl", STREAMING),
    "duckdb": ("import duckdb", DUCKDB),
}


COMPRESSION = "lz4"


def costs(path: str | Path, columns: Sequence[str]) -> dict[str, Cost]:
    """Each engine's cost, measured once in a run of the benchmarks; the sensitive column comes last."""
    return measured(str(path), tuple(columns))


@cache
def measured(path: str, columns: tuple[str, ...]) -> dict[str, Cost]:
    given = {"path": path, "columns": list(columns), "compression": COMPRESSION}
    return {name: measure(body, setup=setup, given=given) for name, (setup, body) in ENGINES.items()}


def floor(path: str | Path, columns: Sequence[str]) -> dict[str, object]:
    """`cpu`, `wall` and `peak` of the engine that takes the least CPU time, and its name."""
    engine, cost = min(costs(path, columns).items(), key=lambda item: item[1].cpu)
    return {"cpu": cost.cpu, "wall": cost.wall, "peak": cost.peak, "engine": engine}
