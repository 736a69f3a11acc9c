"""Dictionary entries and statistics of a Parquet file that no row refers to: values of rows that were removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent.audit.compared import Compared
from reticent.audit.contents import dictionaries
from reticent.audit.kind import Recounted


@dataclass(frozen=True, slots=True)
class Leak:
    """So many distinct values of a source column stand in a file of the release where none should."""

    column: str
    file: str
    values: int


def unused(recounted: Recounted, source: Compared, file: Path) -> list[Leak]:
    """Of each column, values of its dictionaries and statistics that none of its rows has."""
    import pyarrow.parquet as pq

    rows = recounted.beside.get(file.stem, recounted.frame)
    beside = file.stem in recounted.beside
    known = rows.columns if beside else list(dict.fromkeys([*rows.columns, *source.columns]))
    entries: dict[str, set[Any]] = {}
    for page in dictionaries(file):
        if page.column in known:
            entries.setdefault(page.column, set()).update(page.entries())
    ends: dict[str, set[Any]] = {}
    metadata = pq.read_metadata(file)
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(at)
            if chunk.path_in_schema in known and chunk.statistics is not None and chunk.statistics.has_min_max:
                ends.setdefault(chunk.path_in_schema, set()).update({chunk.statistics.min, chunk.statistics.max})
    found = []
    for name in dict.fromkeys([*entries, *ends]):
        held = iter([rows[name]]) if name in rows.columns else source.pieces(name)
        if extra := _extra(entries.get(name, set()), ends.get(name, set()), held):
            found.append(Leak(name, file.name, len(extra)))
    return found


def _extra(entries: set[Any], ends: set[Any], held: Iterator[pl.Series]) -> set[Any]:
    """What is left of them when the values of all pieces of the column are taken away."""
    for piece in held:
        values = piece.drop_nulls().unique()
        entries = entries - ({text.encode() for text in values} if values.dtype == pl.String else _stored(values))
        ends = ends - set(values.to_list())
        if not entries and not ends:
            break
    return entries | ends


def _stored(values: pl.Series) -> set[Any]:
    """Values as Parquet stores them: whole numbers without a sign in the bits of those with one."""
    width = 32 if values.dtype == pl.UInt32 else 64 if values.dtype == pl.UInt64 else 0
    held = values.to_physical().to_list()
    return {value - (value >> (width - 1) << width) for value in held} if width else set(held)
