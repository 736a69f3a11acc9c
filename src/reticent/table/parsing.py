"""A column's raw values as numbers, dates or texts, whatever the source wrote them as; no message quotes one."""

from __future__ import annotations

import polars as pl

from reticent.errors import ColumnError

_WHOLE = r"^[+-]?\d{1,18}$"
_CANONICAL = r"^-?(0|[1-9]\d*)(\.\d+)?$"


def comparable(name: str, series: pl.Series) -> pl.Series:
    dtype = series.dtype
    if dtype.is_float():
        if series.is_infinite().any():
            raise ColumnError(f"Column {name!r} holds an infinite number.", attempt="clipping or removing it.")
        return series.fill_nan(None)
    if dtype.is_numeric() or dtype in (pl.String, pl.Boolean, pl.Null, pl.Date, pl.Datetime, pl.Time):
        return series
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    raise ColumnError(
        f"Column {name!r} has the type {dtype}, which has no values to compare.",
        attempt="numbers, text, booleans or dates.",
    )


def guessed(raw: pl.Series) -> str:
    """Numbers and dates of a typed source are ranges; so is text where every value is a number as a number is written."""
    if raw.dtype.is_numeric():
        return "numeric"
    if raw.dtype in (pl.Date, pl.Datetime):
        return "date"
    if raw.dtype == pl.String and len(raw) and raw.str.contains(_CANONICAL).all():
        return "numeric"
    return "categorical"


def _unreadable(name: str, raw: pl.Series, bad: pl.Series, kind: str) -> ColumnError:
    return ColumnError(
        f"Column {name!r} is declared {kind}, but {int(bad.sum())} of its {len(raw)} distinct values do not read as one.",
        attempt='missing = ["?"] in [source] if they stand for nothing, or type = "categorical".',
    )


def numbers(name: str, raw: pl.Series) -> pl.Series:
    """Values as numbers: text where all of it reads as numbers, whole ones as integers."""
    if raw.dtype == pl.Boolean:
        return raw.cast(pl.Int64)
    if raw.dtype.is_numeric():
        return raw
    text = raw.cast(pl.String).str.strip_chars()
    whole = len(text) == 0 or text.str.contains(_WHOLE).all()
    found = text.cast(pl.Int64 if whole else pl.Float64, strict=False)
    bad = found.is_null() | (found.is_nan() | found.is_infinite() if not whole else False)
    if bad.any():
        raise _unreadable(name, raw, bad, "numeric")
    return found


def dates(name: str, raw: pl.Series) -> pl.Series:
    """Values as dates: text where all of it reads as YYYY-MM-DD."""
    if raw.dtype == pl.Null:
        return raw.cast(pl.Date)
    if raw.dtype == pl.String:
        found = raw.str.strip_chars().str.to_date("%Y-%m-%d", strict=False)
        if found.null_count():
            raise _unreadable(name, raw, found.is_null(), "a date (YYYY-MM-DD)")
        return found
    if not isinstance(raw.dtype, pl.Date | pl.Datetime):
        raise _unreadable(name, raw, pl.Series([True] * len(raw)), "a date")
    return raw
