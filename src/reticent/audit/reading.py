"""The rows to compare with: a path, a frame, or a `Source` that says how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import ComparisonFailed, listed, some
from reticent.release.manifest import ColumnEntry
from reticent.release.sound import COPIES, LITTLE, WIDTH
from reticent.table.opened import opened
from reticent.table.several import CSV, PARQUET, files_of
from reticent.table.sized import size_of
from reticent.table.source import Source, collect, scan
from reticent.table.written import Table, as_stated


def read_source(source: Any, missing: Sequence[str] = ()) -> pl.DataFrame:
    if isinstance(source, Source):
        return collect(scan(source), "Reading the source")
    if isinstance(source, str | Path):
        return collect(scan(Source(path=str(source), missing=tuple(missing))), "Reading the source")
    return collect(scan(Source(missing=tuple(missing)), source), "Reading the source")


def read_alike(rows: Table, columns: Sequence[ColumnEntry]) -> Table:
    """Dates and numbers read as the release's maker read them: as the manifest says that the source writes them."""
    return as_stated(rows, {entry.name: entry for entry in columns}, {entry.name: entry.dtype for entry in columns})


def refuse_absent(names: Sequence[str], present: Sequence[str]) -> None:
    """Every published column must be one of the source's."""
    absent = [name for name in names if name not in present]
    if absent:
        raise ComparisonFailed(f"{some(len(absent), 'published column', 'is', 'are')} not in the source: {listed(absent)}.",
                          why="A release publishes columns of its source under their own names.", attempt="the source it was made from, read as it was (--job).")  # fmt: skip


def is_little(source: Source, frame: Any = None) -> bool:
    """Whether a source can be read whole without a thought of memory; a larger one is read as a stream."""
    if frame is not None or source.url is not None or source.path is None:
        return True
    files = files_of(source.path)
    return COPIES * sum(_in_memory(path, files.suffix) for path in files.paths) <= LITTLE


def _in_memory(path: Path, suffix: str) -> float:
    """About how many bytes the rows of a file take when they are read; of other files than Parquet and CSV, none is large."""
    size = size_of(path)
    if suffix in PARQUET:
        import pyarrow.parquet as pq

        try:
            found = pq.read_metadata(path)
        except (OSError, ValueError):
            return 0  # whoever reads it says why it cannot be read
        held = sum(found.row_group(group).total_byte_size for group in range(found.num_row_groups))
        return held + WIDTH * found.num_columns * found.num_rows
    if suffix not in CSV or size * (2 + WIDTH) * COPIES <= LITTLE:
        return 2 * size if suffix in CSV else 0
    with opened(path) as handle:
        begin = handle.read(1 << 20)
    fields = 1 + max(begin[: begin.find(b"\n")].count(mark) for mark in (b",", b";", b"\t", b"|"))
    return 2 * size + WIDTH * fields * size / (len(begin) / max(begin.count(b"\n"), 1))
