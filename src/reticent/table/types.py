"""Data types by name, so that a manifest can say them and a CSV can be read back as what it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, cast

import polars as pl

_DATETIME = re.compile(r"Datetime\(time_unit='(ms|us|ns)', time_zone=(?:None|'([^']*)')\)")
_DECIMAL = re.compile(r"Decimal\(precision=(\d+), scale=(\d+)\)")
_SIMPLE = {
    str(t): t
    for t in (
        pl.Int8,
        pl.Int16,
        pl.Int32,
        pl.Int64,
        pl.Int128,
        pl.UInt8,
        pl.UInt16,
        pl.UInt32,
        pl.UInt64,
        pl.Float32,
        pl.Float64,
        pl.String,
        pl.Boolean,
        pl.Date,
        pl.Time,
        pl.Null,
    )
}


def dtype_named(name: str) -> pl.DataType:
    if name in _SIMPLE:
        return _SIMPLE[name]()
    if found := _DATETIME.fullmatch(name):
        return pl.Datetime(cast("Literal['ms', 'us', 'ns']", found[1]), found[2])
    if found := _DECIMAL.fullmatch(name):
        return pl.Decimal(int(found[1]), int(found[2]))
    return pl.String()


def typed(texts: Sequence[str | None] | pl.Series, dtype: str, *, strict: bool = True) -> pl.Series:
    """Texts as values of a named type; the inverse of printing them.  Unless strict, a text that is no number of the type is null."""
    series = texts if isinstance(texts, pl.Series) else pl.Series(texts, dtype=pl.String)
    kind = dtype_named(dtype)
    if kind == pl.Date:
        return series.str.to_date("%Y-%m-%d")
    if isinstance(kind, pl.Datetime):
        return (
            series.str.replace(" ", "T", literal=True)
            .str.to_datetime(  # Polars prints a space, ISO 8601 has a T
                "%+" if kind.time_zone else "%Y-%m-%dT%H:%M:%S%.f", time_unit=kind.time_unit
            )
            .cast(kind)
        )
    if kind == pl.Boolean:
        return series.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
    if kind == pl.Time:
        return series.str.to_time("%H:%M:%S%.f")
    return series.cast(kind, strict=strict)
