"""Are the bytes of the data files those that the writer makes of their rows?

A CSV can quote a field or not, and say the same: a bit for every field.  So a CSV is written once more and compared.  A Parquet
file must be nothing but its column chunks and its footer: no stretch that no page reads, no metadata of anybody's own.
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

_MAGIC, _TAIL = 4, 8  # PAR1 at both ends, and before the last the footer's length


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
            if (path.suffix == ".csv" and not _same_csv(path, rows[name], manifest.formulas == QUOTED))
            or (path.suffix != ".csv" and not _filled(path))
        ),
    )


def _formulas(rows: Mapping[str, pl.DataFrame]) -> str | None:
    """What the manifest must say of texts that look like formulas."""
    return PRESENT if any(any_formula(frame.get_columns()) for frame in rows.values()) else None


def _same_csv(path: Path, rows: pl.DataFrame, quote: bool) -> bool:
    again = io.BytesIO()
    write_csv(again, rows, quote=quote)
    return again.getvalue() == path.read_bytes()


def _filled(path: Path) -> bool:
    """Whether chunks and footer fill a Parquet file, and its footer says nothing beside them."""
    import pyarrow.parquet as pq

    raw = path.read_bytes()
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
    if metadata.metadata:
        return False
    chunks = []
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(at)
            start = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset:
                start = min(start, chunk.dictionary_page_offset)
            chunks.append((start, start + chunk.total_compressed_size))
    footer = len(raw) - _TAIL - int.from_bytes(raw[-_TAIL:-_MAGIC], "little")
    ends = [_MAGIC, *(end for _, end in sorted(chunks))]
    return [*(start for start, _ in sorted(chunks)), footer] == ends
