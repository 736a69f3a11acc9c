"""Are the bytes of a CSV those that the writer makes of its rows?

A CSV can quote a field or not, and say the same: a bit for every field.  So a CSV is written once more and compared.  Of a Parquet
file, chunks and a footer without texts of anybody's own is all there may be: `release/parquet_headers.py` refuses another.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from reticent.release.bundle import MANIFEST
from reticent.release.files import write_csv
from reticent.release.formulas import PRESENT, QUOTED, any_formula
from reticent.release.kind import data_files, tables
from reticent.release.manifest import Manifest


def odd_bytes(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """The names of data files that hold more, or other, bytes than their rows need."""
    files = data_files(folder, manifest)
    rows = tables(folder, manifest) if any(path.suffix == ".csv" for path in files.values()) else {}
    unsaid = [MANIFEST] if rows and manifest.formulas != QUOTED and _formulas(rows) != manifest.formulas else []
    return (
        *unsaid,
        *(
            path.name
            for name, path in files.items()
            if path.suffix == ".csv" and not _same_csv(path, rows[name], manifest.formulas == QUOTED)
        ),
    )


def _formulas(rows: Mapping[str, pl.DataFrame]) -> str | None:
    """What the manifest must say of texts that look like formulas."""
    return PRESENT if any(any_formula(frame.get_columns()) for frame in rows.values()) else None


def _same_csv(path: Path, rows: pl.DataFrame, quote: bool) -> bool:
    again = io.BytesIO()
    write_csv(again, rows, quote=quote)
    return again.getvalue() == path.read_bytes()
