"""Dictionary entries and statistics of a Parquet file that no row refers to: values of rows that were removed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent.audit.compared import Compared
from reticent.audit.contents import dictionaries
from reticent.audit.kind import Recounted
from reticent.release.parts import DataFile

Values = dict[str, set[Any]]
"""Of each column, values as Parquet stores them."""


@dataclass(frozen=True, slots=True)
class Leak:
    """So many distinct values of a source column stand in a file of the release where none should."""

    column: str
    file: str
    values: int


def unused(recounted: Recounted, source: Compared, file: DataFile) -> list[Leak]:
    """Of each column, values of its dictionaries and statistics that none of its rows has."""
    rows = recounted.beside.get(file.name, recounted.frame)
    beside = file.name in recounted.beside
    known = rows.columns if beside else list(dict.fromkeys([*rows.columns, *source.columns]))
    entries, ends = _kept_beside(file.paths, known)
    found = []
    for name in dict.fromkeys([*entries, *ends]):
        held = iter([rows[name]]) if name in rows.columns else source.pieces(name)
        if extra := _extra(entries.get(name, set()), ends.get(name, set()), held):
            found += _by_path(file.paths, name, extra)
    return sorted(found, key=lambda leak: leak.file)


def _kept_beside(paths: Sequence[Path], known: Collection[str]) -> tuple[Values, Values]:
    """The entries of dictionaries, and the ends in statistics, by column."""
    import pyarrow.parquet as pq

    entries: Values = {}
    ends: Values = {}
    for path in paths:
        for page in dictionaries(path):
            if page.column in known:
                entries.setdefault(page.column, set()).update(page.entries())
        metadata = pq.read_metadata(path)
        for group in range(metadata.num_row_groups):
            for at in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(at)
                if chunk.path_in_schema in known and chunk.statistics is not None and chunk.statistics.has_min_max:
                    ends.setdefault(chunk.path_in_schema, set()).update({chunk.statistics.min, chunk.statistics.max})
    return entries, ends


def _by_path(paths: Sequence[Path], name: str, extra: set[Any]) -> list[Leak]:
    """In which files the values that no row has stand."""
    if len(paths) == 1:
        return [Leak(name, paths[0].name, len(extra))]
    found = []
    for path in paths:
        entries, ends = _kept_beside([path], [name])
        if here := extra & (entries.get(name, set()) | ends.get(name, set())):
            found.append(Leak(name, path.name, len(here)))
    return found


def _extra(entries: set[Any], ends: set[Any], held: Iterator[pl.Series]) -> set[Any]:
    """What is left of them when the values of all pieces of the column are taken away."""
    for piece in held:
        values = piece.drop_nulls().unique()
        if values.dtype == pl.String:  # labels; a plain table may hold them as numbers
            texts = set(values.to_list())
            entries = {entry for entry in entries if _text(entry) not in texts}
            ends = {end for end in ends if _text(end) not in texts}
        else:
            entries = entries - _stored(values)
            ends = ends - set(values.to_list())
        if not entries and not ends:
            break
    return entries | ends


def _text(stored: Any) -> str:
    return stored.decode(errors="replace") if isinstance(stored, bytes) else str(stored)


def _stored(values: pl.Series) -> set[Any]:
    """Values as Parquet stores them: whole numbers without a sign in the bits of those with one."""
    width = 32 if values.dtype == pl.UInt32 else 64 if values.dtype == pl.UInt64 else 0
    held = values.to_physical().to_list()
    return {value - (value >> (width - 1) << width) for value in held} if width else set(held)
