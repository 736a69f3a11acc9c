"""Stub."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from reticent.release.manifest import ColumnEntry
from reticent.table.types import dtype_named


def as_published(source: pl.DataFrame, columns: Sequence[ColumnEntry]) -> pl.DataFrame:
    return source.select(pl.col(c.name).cast(dtype_named(c.dtype), strict=False) for c in columns)
