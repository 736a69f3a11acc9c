"""The rows to compare with: a path, a frame, or a `Source` that says how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import ComparisonFailed, listed
from reticent.release.manifest import ColumnEntry
from reticent.table.source import Source, collect, scan
from reticent.table.written import as_stated


def read_source(source: Any, missing: Sequence[str] = ()) -> pl.DataFrame:
    if isinstance(source, Source):
        return collect(scan(source), "Reading the source")
    if isinstance(source, str | Path):
        return collect(scan(Source(path=str(source), missing=tuple(missing))), "Reading the source")
    return collect(scan(Source(missing=tuple(missing)), source), "Reading the source")


def read_alike(rows: pl.DataFrame, columns: Sequence[ColumnEntry]) -> pl.DataFrame:
    """Dates and numbers read as the release's maker read them: as the manifest says that the source writes them."""
    return as_stated(rows, {entry.name: entry for entry in columns}, {entry.name: entry.dtype for entry in columns})


def refuse_absent(names: Sequence[str], rows: pl.DataFrame) -> None:
    """Every published column must be one of the source's."""
    absent = [name for name in names if name not in rows.columns]
    if absent:
        raise ComparisonFailed(f"{len(absent)} published column(s) are not in the source: {listed(absent)}.",
                          why="A release publishes columns of its source under their own names.", attempt="the source it was made from, read as it was (--job).")  # fmt: skip
