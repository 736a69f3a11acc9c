"""Are the bytes of a CSV those that the writer makes of its rows?

A CSV can quote a field or not, and say the same: a bit for every field.  So a CSV is written once more and compared.  Of a Parquet
file, chunks and a footer without texts of anybody's own is all there may be: `release/parquet_headers.py` refuses another.
"""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from reticent.release.files import write_csv
from reticent.release.kind import data_files, tables
from reticent.release.manifest import Manifest


def odd_bytes(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """The names of data files that hold more, or other, bytes than their rows need."""
    files = {name: path for name, path in data_files(folder, manifest).items() if path.suffix == ".csv"}
    rows = tables(folder, manifest) if files else {}
    return tuple(path.name for name, path in files.items() if not _same_csv(path, rows[name]))


def _same_csv(path: Path, rows: pl.DataFrame) -> bool:
    again = io.BytesIO()
    write_csv(again, rows)
    return again.getvalue() == path.read_bytes()
