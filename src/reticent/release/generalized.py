"""The generalized kind as its recipient reads it: one data file, quasi-identifiers as labels, sensitive values as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import BundleDamaged
from reticent.release.bounds import bounds
from reticent.table.types import dtype_named, typed


def read_data(path: Path, columns: list[dict[str, Any]]) -> pl.DataFrame:
    """The data file with the types that the manifest states, from CSV too."""
    names = [column["name"] for column in columns]
    try:
        if path.suffix == ".parquet":
            frame = pl.read_parquet(path)
        else:
            frame = pl.read_csv(path, infer_schema=False, empty_string_is_null=True)
    except (pl.exceptions.PolarsError, OSError):
        raise BundleDamaged(f"{path.name} cannot be read.") from None
    if frame.columns != names:
        raise BundleDamaged(
            f"{path.name} has other columns than its manifest.",
            why=f"{len(frame.columns)} instead of {len(names)}, or other names.",
        )
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
