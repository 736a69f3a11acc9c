"""A column's raw values as numbers, dates or texts, whatever the source wrote them as; no message quotes one."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite

import numpy as np
import polars as pl

from reticent.errors import ColumnError

_WHOLE = r"^[+-]?\d{1,20}$"
FURTHEST = 1e150
_LONG = r"\d\D?(\d\D?){15}"  # 16 digits: more than any double holds for certain
_CANONICAL = r"^-?(0|[1-9]\d*)(\.\d+)?$"


def comparable(name: str, series: pl.Series) -> pl.Series:
    dtype = series.dtype
    if dtype.is_float():
        series = series.fill_nan(None)
        if (series.abs() > FURTHEST).any():
            raise ColumnError(
                f"Column {name!r} holds a number beyond {FURTHEST:g}, or an infinite one.",
                why="Distances between such numbers cannot be computed with.",
                attempt="clipping or removing it.",
            )
        return series
    if dtype == pl.Time and (series.cast(pl.Int64) % 1_000_000_000 != 0).any():
        raise ColumnError(
            f"Column {name!r} holds times of day with fractions of a second, which are not compared.",
            attempt="whole seconds, or the time as text or a number.",
        )
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
    if (
        raw.dtype == pl.String
        and len(raw)
        and raw.str.contains(_CANONICAL).all()
        and not _inexact(raw, _read(raw)).any()
    ):
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
    if raw.dtype.is_decimal():
        _refuse_inexact(name, raw, raw.cast(pl.String), raw.cast(pl.Float64))
    if raw.dtype.is_numeric():
        return raw
    text = raw.cast(pl.String).str.strip_chars()
    found = _read(text)
    bad = found.is_null() | (found.is_nan() | (found.abs() > FURTHEST) if found.dtype.is_float() else False)
    if bad.any():
        raise _unreadable(name, raw, bad, "numeric")
    _refuse_inexact(name, raw, text, found)
    return found


def _refuse_inexact(name: str, raw: pl.Series, text: pl.Series, found: pl.Series) -> None:
    if (wide := _inexact(text, found)).any():
        raise ColumnError(
            f"Column {name!r} is numeric, but {int(wide.sum())} of its {len(raw)} distinct values have too many digits.",
            why="As numbers they would be rounded, and different values could become one.",
            attempt='fewer digits, or type = "categorical".',
        )


def _read(text: pl.Series) -> pl.Series:
    """Texts as numbers, null where they are none: whole ones as integers of 64 bits, where all of them are and fit."""
    if len(text) == 0 or text.str.contains(_WHOLE).all():
        for dtype in (pl.Int64, pl.UInt64):
            if not (found := text.cast(dtype, strict=False)).null_count():
                return found
    return text.cast(pl.Float64, strict=False)


def _inexact(text: pl.Series, found: pl.Series) -> pl.Series:
    """Which numbers are not the texts they were read from, but their nearest double."""
    if not found.dtype.is_float():
        return pl.Series([False] * len(text), dtype=pl.Boolean)
    long = text.str.contains(_LONG).fill_null(False).to_list()
    pairs = zip(text.to_list(), found.to_list(), long, strict=True)
    return pl.Series(
        [wide and number is not None and not _same(held, number) for held, number, wide in pairs], dtype=pl.Boolean
    )


def _same(text: str, number: float) -> bool:
    return isfinite(number) and Decimal(text) == Decimal(repr(number))


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


def as_texts(series: pl.Series, counts: np.ndarray) -> tuple[pl.Series, np.ndarray]:
    """Categories as texts, each once and with the rows that hold it; other columns as they are."""
    if not isinstance(series.dtype, pl.Categorical):
        return series, counts
    values = series.unique()
    held, number = (one.to_physical().cast(pl.Int64) for one in (values, series))
    missing = int(number.max() or 0) + 1  # type: ignore[arg-type]  # numbers of categories, or None
    rows = np.bincount(number.fill_null(missing).to_numpy(), weights=counts, minlength=missing + 1)
    return values.cast(pl.String), rows[held.fill_null(missing).to_numpy()].astype(np.int64)
