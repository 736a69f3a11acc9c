"""The file `data` of a release as its eyes read it: row by row, or each distinct row and how often it occurs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from reticent.audit.kind import reads_rows
from reticent.audit.subject import Subject
from reticent.errors import BundleDamaged
from reticent.release.data import count_data, read_data
from reticent.release.kind import data_files, schemas_of
from reticent.release.manifest import Manifest
from reticent.table.roles import Role


def data_rows(
    subject: Subject, manifest: Manifest, folder: Path, *, each_row: bool
) -> tuple[pl.DataFrame, np.ndarray | None]:
    """As many rows as the manifest says, and one at least; without how often, every row is there."""
    file, schema = data_files(folder, manifest)["data"], schemas_of(manifest)["data"]
    if reads_rows(subject, file, schema, each_row=each_row):
        frame, times = read_data(file, schema), None
    else:
        shown = [entry.name for entry in subject.columns if entry.role != Role.INSENSITIVE]
        frame, times = count_data(file, schema, shown)
    rows = len(frame) if times is None else int(times.sum())
    if rows != manifest.rows:
        raise BundleDamaged(f"The data has {rows} rows, the manifest says {manifest.rows}.")
    if not rows:
        raise BundleDamaged("The release has no rows.")
    return frame, times
