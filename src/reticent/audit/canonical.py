"""Are the bytes of a CSV those that the writer makes of its rows?

A CSV can quote a field or not, and say the same: a bit for every field.  So a CSV is written once more and compared.  Of a Parquet
file, chunks and a footer without texts of anybody's own is all there may be: `release/parquet_headers.py` refuses another.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from reticent.release.bundle import MANIFEST
from reticent.release.data import Schema, data_pieces
from reticent.release.files import write_csv
from reticent.release.formulas import PRESENT, QUOTED, any_formula
from reticent.release.kind import data_files, schemas_of
from reticent.release.manifest import Manifest
from reticent.release.parts import DataFile

PIECE = 1 << 18  # rows that are written once more at a time


def odd_bytes(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """The names of data files that hold more, or other, bytes than their rows need."""
    schemas = schemas_of(manifest)
    files = {file: schemas[name] for name, file in data_files(folder, manifest).items() if file.suffix == ".csv"}
    unsaid = [MANIFEST] if files and manifest.formulas != QUOTED and _formulas(files) != manifest.formulas else []
    quote = manifest.formulas == QUOTED
    odd = [part.shown for file, schema in files.items() for part in file.each() if not _same_csv(part, schema, quote)]
    return (*unsaid, *odd)


def _pieces(file: DataFile, schema: Schema) -> Iterator[pl.DataFrame]:
    return data_pieces(file, schema, PIECE)


def _formulas(files: dict[DataFile, Schema]) -> str | None:
    """What the manifest must say of texts that look like formulas."""
    pieces = (piece for file, schema in files.items() for piece in _pieces(file, schema))
    return PRESENT if any(any_formula(piece.get_columns()) for piece in pieces) else None


def _same_csv(part: DataFile, schema: Schema, quote: bool) -> bool:
    header = 0
    with open(part.paths[0], "rb") as handle:
        for piece in _pieces(part, schema):
            again = _written(piece, quote)[header:]
            if handle.read(len(again)) != again:
                return False
            header = header or len(_written(piece.head(0), quote))
        return not handle.read(1)


def _written(rows: pl.DataFrame, quote: bool) -> bytes:
    again = io.BytesIO()
    write_csv(again, rows, quote=quote)
    return again.getvalue()
