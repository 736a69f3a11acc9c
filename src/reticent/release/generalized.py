"""The generalized kind as its recipient reads it: one data file, quasi-identifiers as labels, sensitive values as they were."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged
from reticent.release.bounds import bounds
from reticent.release.counting import distinct_rows
from reticent.table.types import dtype_named, typed

COUNT = "\x00count"


def read_data(path: Path, columns: list[dict[str, Any]], only: Collection[str] | None = None) -> pl.DataFrame:
    """The data file with the types that the manifest states, from CSV too; `only` some of its columns, where not all."""
    wanted = _among(columns, only)
    lazy = _scanned(path, columns).select(column["name"] for column in wanted)
    return _typed(_collected(lazy, path), wanted)


def count_data(
    path: Path, columns: list[dict[str, Any]], only: Collection[str] | None = None
) -> tuple[pl.DataFrame, np.ndarray]:
    """The distinct rows of the data file (in `only` some columns), and how often each occurs; rows are read as a stream and not kept."""
    wanted = _among(columns, only)
    names = [column["name"] for column in wanted]
    lazy = _scanned(path, columns)
    if path.suffix == ".parquet" and all(_plain(dtype) for dtype in lazy.select(names).collect_schema().dtypes()):
        try:
            frame, times = distinct_rows(path, names)
        except (OSError, ValueError):
            raise BundleDamaged(f"{path.name} cannot be read.") from None
        return _typed(frame, wanted), times
    counted = _collected(lazy.group_by(names).len(name=COUNT), path)
    return _typed(counted.drop(COUNT), wanted), counted[COUNT].to_numpy().astype(np.int64)


def _among(columns: list[dict[str, Any]], only: Collection[str] | None) -> list[dict[str, Any]]:
    return columns if only is None else [column for column in columns if column["name"] in only]


def _plain(dtype: pl.DataType) -> bool:
    """Whether Python has these values without loss: it has no nanoseconds."""
    return dtype in (pl.String, pl.Boolean, pl.Date) or dtype.is_integer() or dtype.is_float()


def _scanned(path: Path, columns: list[dict[str, Any]]) -> pl.LazyFrame:
    try:
        if path.suffix == ".parquet":
            lazy = pl.scan_parquet(path, glob=False)
        else:
            lazy = pl.scan_csv(path, infer_schema=False, empty_string_is_null=True, glob=False)
        found = lazy.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError):
        raise BundleDamaged(f"{path.name} cannot be read.") from None
    if found != [column["name"] for column in columns]:
        raise BundleDamaged(
            f"{path.name} has other columns than its manifest.",
            why=f"{len(found)} instead of {len(columns)}, or other names.",
        )
    return lazy


def _collected(lazy: pl.LazyFrame, path: Path) -> pl.DataFrame:
    try:
        return lazy.collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError):
        raise BundleDamaged(f"{path.name} cannot be read.") from None


def _typed(frame: pl.DataFrame, columns: list[dict[str, Any]]) -> pl.DataFrame:
    restored = {}
    for column in columns:
        series = frame[column["name"]]
        if column["role"] == "quasi-identifying":
            wanted: pl.DataType = pl.String()
        else:
            wanted = dtype_named(column["dtype"])
        if series.dtype == wanted:
            restored[column["name"]] = series
        elif series.dtype == pl.String:
            restored[column["name"]] = typed(series, column["dtype"]).alias(column["name"])
        else:
            restored[column["name"]] = series.cast(wanted)
    return pl.DataFrame(restored)


def with_bounds(frame: pl.DataFrame, columns: list[dict[str, Any]]) -> pl.DataFrame:
    """The frame with `age_lower` and `age_upper` after each range column."""
    parts: list[pl.Series] = []
    for column in columns:
        series = frame[column["name"]]
        parts.append(series)
        if column["role"] == "quasi-identifying" and column["type"] != "categorical":
            parts += bounds(series, column)
    return pl.DataFrame(parts)
