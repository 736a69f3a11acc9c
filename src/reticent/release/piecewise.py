"""The tables of a release as whoever hands them on reads them: a piece of rows at a time, checked as tables read whole are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from reticent.release.data import scan_data, stored_pieces
from reticent.release.kind import data_files, reader, schemas_of
from reticent.release.manifest import Manifest

PIECE = 122_880  # rows that are read at once: as many as DuckDB packs together, to which other numbers cost half as much again


@dataclass(frozen=True, eq=False)
class Table:
    """`empty` has the columns and their types; `pieces` reads the rows in their order, whenever it is called."""

    empty: pl.DataFrame
    pieces: Callable[[], Iterator[pl.DataFrame]]

    @classmethod
    def of_frame(cls, frame: pl.DataFrame) -> Table:
        return cls(frame.head(0), lambda: iter([frame]))


def tables_in_pieces(folder: Path, manifest: Manifest, *, bounds: bool = False) -> dict[str, Table]:
    """Every data file by its name; with `bounds`, typed ends beside the columns of the one that people are in."""
    people = reader(manifest.kind).files[0]
    return {
        name: _table(folder, manifest, name, bounds=bounds and name == people) for name in reader(manifest.kind).files
    }


def _table(folder: Path, manifest: Manifest, name: str, *, bounds: bool) -> Table:
    kind = reader(manifest.kind)
    file, schema = data_files(folder, manifest)[name], schemas_of(manifest)[name]

    def shown(piece: pl.DataFrame) -> pl.DataFrame:
        return kind.frame({name: piece}, manifest, bounds=True) if bounds else piece

    def pieces() -> Iterator[pl.DataFrame]:
        for piece in stored_pieces(file, schema, PIECE):
            kind.check_tables({name: piece}, manifest)
            yield shown(piece)

    return Table(shown(pl.DataFrame(schema=scan_data(file, schema).collect_schema())), pieces)
