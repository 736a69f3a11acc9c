"""A source's columns as a kind with exact values publishes them: in the manifest's types, clipped and rounded.

What is compared are values, not their spellings: `1.20` in a CSV is the number 1.2 where the manifest says that the
column holds numbers, and `007` stays the text it is where it says text.  A value beyond a declared `top` or `bottom` is
the bound; a number of a column with `round_to` is the nearest multiple, ties to the even one.  A source value that is
none of the published type becomes null and is counted: no honest release publishes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl

from reticent.audit.reading import refuse_absent
from reticent.errors import BundleDamaged
from reticent.release.manifest import ColumnEntry
from reticent.table.roles import Role
from reticent.table.types import dtype_named

_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, eq=False)
class Brought:
    """`frame` has the manifest's columns.

    `unread` counts the values of each column that are none of its type, and `whole` marks the rows without any.
    """

    frame: pl.DataFrame
    unread: Mapping[str, int]
    whole: pl.Series


def as_published(source: pl.DataFrame, columns: Sequence[ColumnEntry]) -> Brought:
    """The source's columns, one for each entry of a manifest, as an exact kind would publish them."""
    refuse_absent([entry.name for entry in columns], source.columns)
    found, unread = {}, {}
    whole = pl.repeat(True, len(source), eager=True)
    for entry in columns:
        given = _present(source[entry.name], entry)
        found[entry.name] = series = _published(given, entry)
        lost = given.is_not_null() & series.is_null()
        if count := int(lost.sum()):
            unread[entry.name] = count
            whole &= ~lost
    return Brought(pl.DataFrame(found), unread, whole)


def _present(series: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Categories as their texts; what is not a number is missing, except in a column that is carried as it was."""
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    carried = entry.role == Role.INSENSITIVE and entry.round_to is None
    return series.fill_nan(None) if series.dtype.is_float() and not carried else series


def _published(series: pl.Series, entry: ColumnEntry) -> pl.Series:
    wanted = dtype_named(entry.dtype)
    try:
        if entry.round_to is not None:
            return _multiples(_number(series, pl.Float64()), entry.round_to).cast(wanted, strict=False)
        read = _read(series, wanted)
    except pl.exceptions.PolarsError:  # no value of this type is one of that type
        return pl.Series(series.name, [None] * len(series), dtype=wanted)
    return _within(read, entry)


def _read(series: pl.Series, wanted: pl.DataType) -> pl.Series:
    """Each value as one of the type that is published, null where it is none."""
    if series.dtype == wanted:
        return series
    if series.dtype == pl.Null:
        return series.cast(wanted)
    if wanted == pl.Null:
        return pl.Series(series.name, [None] * len(series), dtype=pl.Null)
    if wanted.is_numeric():
        return _number(series, wanted)
    if wanted == pl.Date or isinstance(wanted, pl.Datetime):
        return _moment(series, wanted)
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        if wanted == pl.Boolean:
            return text.str.to_lowercase().replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)
        return text.str.to_time("%H:%M:%S%.f", strict=False) if wanted == pl.Time else text.cast(wanted, strict=False)
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.to_string("iso").cast(wanted)
    return series.cast(wanted, strict=False)


def _number(series: pl.Series, wanted: pl.DataType) -> pl.Series:
    """Numbers, written as text or held in another type; one that the published type cannot hold is none of it."""
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    elif not series.dtype.is_numeric() and series.dtype != pl.Boolean:
        return pl.Series(series.name, [None] * len(series), dtype=wanted)
    found = series.cast(wanted, strict=False)
    near = series.cast(pl.Float64, strict=False)
    if wanted.is_float():
        return found.set(~near.is_finite().fill_null(True), None) if series.dtype == pl.String else found
    if wanted.is_integer() and series.dtype == pl.String:  # a whole number may be written 25.0
        found = found.fill_null(near.cast(wanted, strict=False))
    return found.set((found.cast(pl.Float64) != near).fill_null(False), None)


def _moment(series: pl.Series, wanted: pl.DataType) -> pl.Series:
    """Days and moments; a moment is a day where it is a midnight, and a day is its midnight."""
    if series.dtype == pl.String:
        text = series.str.strip_chars().str.replace(" ", "T", literal=True)
        day = text.str.to_date("%Y-%m-%d", strict=False)
        zone = getattr(wanted, "time_zone", None)
        unit: Any = getattr(wanted, "time_unit", "us")
        written = "%+" if zone else "%Y-%m-%dT%H:%M:%S%.f"
        read = text.str.to_datetime(written, time_unit=unit, strict=False)
        series = read if zone else read.fill_null(day.cast(read.dtype))
    if not (series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime)):
        return pl.Series(series.name, [None] * len(series), dtype=wanted)
    if (getattr(series.dtype, "time_zone", None) is None) != (getattr(wanted, "time_zone", None) is None):
        return pl.Series(series.name, [None] * len(series), dtype=wanted)
    found = series.cast(wanted, strict=False)
    return found.set((found.cast(series.dtype) != series).fill_null(False), None)


def _within(values: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Values beyond a declared top or bottom as the bound."""
    if entry.top is None and entry.bottom is None:
        return values
    try:
        ends = [_end(end, values.dtype) for end in (entry.bottom, entry.top)]
        return values.clip(*ends)
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
        raise BundleDamaged(
            f"The manifest gives column {entry.name!r} a top or a bottom that its type cannot hold."
        ) from None


def _end(end: Any, dtype: pl.DataType) -> pl.Expr | None:
    if end is None:
        return None
    if isinstance(end, str) != dtype.is_temporal():
        raise TypeError
    if isinstance(end, str):
        end = date.fromisoformat(end[:10]) if dtype == pl.Date else datetime.fromisoformat(end)
    return pl.lit(end, dtype)


def _multiples(numbers: pl.Series, step: Any) -> pl.Series:
    """The nearest multiple of the step, ties to the even one, in double precision."""
    if isinstance(step, bool) or not isinstance(step, int | float) or not step > 0:
        raise BundleDamaged("The manifest rounds a column to something that is no step.")
    count = (numbers / step).round(mode="half_to_even")
    return count.cast(pl.Int64, strict=False) * step if isinstance(step, int) else count * step
