"""Parses a column's raw values as numbers, dates or texts, however the source wrote them; no message quotes a value.

`parse_dtype` and `parse_texts` handle data types by name, so that a manifest can state them and a CSV can be read
back with the types it was written from.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Literal, cast

import numpy as np
import polars as pl

from reticent.errors import ColumnError

_INTEGER_PATTERN = r"^[+-]?\d{1,20}$"
MAX_MAGNITUDE = 1e150
_LONG_DIGITS_PATTERN = r"\d\D?(\d\D?){15}"  # 16 digits: more than any double holds for certain
_DECIMAL_PATTERN = r"^[+-]?\d+(\.\d+)?$"
MAX_DECIMAL_DIGITS = 38
FIRST_DAY = -719_162  # 0001-01-01, in days from 1970-01-01
LAST_DAY = 2_932_896  # 9999-12-31
CANONICAL_NUMBER_PATTERN = r"^-?(0|[1-9]\d*)(\.\d+)?$"
_DATETIME_DTYPE_PATTERN = re.compile(r"Datetime\(time_unit='(ms|us|ns)', time_zone=(?:None|'([^']*)')\)")
_DECIMAL_DTYPE_PATTERN = re.compile(r"Decimal\(precision=(\d+), scale=(\d+)\)")
_SIMPLE_DTYPES = {
    str(dtype): dtype
    for dtype in (
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


def to_comparable(name: str, series: pl.Series) -> pl.Series:
    """Return values that can be compared and printed: categories as texts, NaN as null; refuse other types."""
    dtype = series.dtype
    if dtype.is_float():
        series = series.fill_nan(None)
        if (series.abs() > MAX_MAGNITUDE).any():
            raise ColumnError(
                f"Column {name!r} holds a number beyond {MAX_MAGNITUDE:g}, or an infinite one.",
                why="Distances between such numbers cannot be computed with.",
                attempt="a smaller number in the source, or none.",
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


def guess_type(raw: pl.Series) -> str:
    """Guess a column's type.

    Numbers and dates of a typed source are ranges; so is text if every value spells a number in the usual way.
    """
    if raw.dtype.is_numeric():
        return "numeric"
    if raw.dtype in (pl.Date, pl.Datetime):
        return "date"
    if raw.dtype == pl.String and spells_numbers(raw):
        return "numeric"
    return "categorical"


def spells_numbers(texts: pl.Series) -> bool:
    """Tell whether there are texts, and each spells a number in the usual way, with no more digits than one holds."""
    return (
        len(texts) > 0
        and texts.str.contains(CANONICAL_NUMBER_PATTERN).all()
        and not _find_inexact(texts, _cast_numbers(texts)).any()
    )


def parse_numbers(name: str, raw: pl.Series) -> pl.Series:
    """Parse values as numbers: text where all of it reads as numbers, whole ones as integers."""
    if raw.dtype == pl.Boolean:
        return raw.cast(pl.Int64)
    if raw.dtype.is_decimal():
        _require_exact(name, raw, raw.cast(pl.String), raw.cast(pl.Float64))
    if raw.dtype.is_numeric():
        return raw
    text = raw.cast(pl.String).str.strip_chars()
    numbers = _cast_numbers(text)
    is_bad = numbers.is_null()
    if numbers.dtype.is_float():
        is_bad |= numbers.is_nan() | (numbers.abs() > MAX_MAGNITUDE)
    if is_bad.any():
        raise _make_unreadable_error(name, raw, is_bad, "numeric")
    _require_exact(name, raw, text, numbers)
    return numbers


def parse_exact_numbers(texts: pl.Series) -> pl.Series:
    """Parse decimal numbers exactly: as doubles or 64-bit integers where these hold all of them, else as decimals.

    Numbers that no type holds, of more than 38 digits, stay texts.
    """
    distinct = texts.drop_nulls().unique()
    if not _find_inexact(distinct, distinct.cast(pl.Float64)).any():
        return texts.cast(pl.Float64)
    if distinct.str.contains(_INTEGER_PATTERN).all():
        for dtype in (pl.Int64, pl.UInt64):
            if not distinct.cast(dtype, strict=False).null_count():
                return texts.cast(dtype)
    decimal_digits = _count_max_digits(distinct, r"\.(\d+)$")
    integer_digits = _count_max_digits(distinct, r"^[+-]?(\d+)")
    if distinct.str.contains(_DECIMAL_PATTERN).all() and integer_digits + decimal_digits <= MAX_DECIMAL_DIGITS:
        return texts.str.to_decimal(scale=decimal_digits).cast(pl.Decimal(MAX_DECIMAL_DIGITS, decimal_digits))
    return texts


def is_beyond_calendar(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Find days or moments before the year 1 or after 9999: Python, and most programs, have no such dates."""
    first = FIRST_DAY
    last = LAST_DAY
    if isinstance(dtype, pl.Datetime):
        day = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[dtype.time_unit]
        margin = 1 if dtype.time_zone else 0  # a zone may move a moment into another year
        first = (first + margin) * day
        last = (last + 1 - margin) * day - 1
    return (value.to_physical() < first) | (value.to_physical() > last)


def require_within_calendar(name: str, series: pl.Series) -> pl.Series:
    """Return the same values; refuse them if one lies before the year 1 or after 9999."""
    if not isinstance(series.dtype, pl.Date | pl.Datetime):
        return series
    values = series.drop_nulls().unique()
    is_beyond = is_beyond_calendar(pl.col("value"), values.dtype)
    beyond = int(values.to_frame("value").select(is_beyond.sum()).item())
    if beyond:
        raise make_calendar_error(name, f"{beyond:,} of its {len(values):,} distinct values")
    return series


def make_calendar_error(name: str, subject: str) -> ColumnError:
    """Make the error for dates beyond the calendar; `subject` is what lies there, in words."""
    return ColumnError(
        f"Column {name!r}: {subject} lie before the year 1 or after the year 9999.",
        why="No release with such dates could be read back: Python and most programs have none.",
        attempt="the right year, a missing value, or the year as a number.",
    )


def parse_dates(name: str, raw: pl.Series) -> pl.Series:
    """Parse values as dates: text where all of it reads as YYYY-MM-DD."""
    if raw.dtype == pl.Null:
        return raw.cast(pl.Date)
    if raw.dtype == pl.String:
        dates = raw.str.strip_chars().str.to_date("%Y-%m-%d", strict=False)
        if dates.null_count():
            raise _make_unreadable_error(name, raw, dates.is_null(), "a date (YYYY-MM-DD)")
        return require_within_calendar(name, dates)
    if not isinstance(raw.dtype, pl.Date | pl.Datetime):
        raise _make_unreadable_error(name, raw, pl.Series([True] * len(raw)), "a date")
    return raw


def categories_to_texts(series: pl.Series, counts: np.ndarray) -> tuple[pl.Series, np.ndarray]:
    """Turn categories into texts, each once and with the rows that hold it; return other columns as they are."""
    if not isinstance(series.dtype, pl.Categorical):
        return series, counts
    values = series.unique()
    category = values.to_physical().cast(pl.Int64)
    number = series.to_physical().cast(pl.Int64)
    missing = int(number.max() or 0) + 1  # type: ignore[arg-type]  # numbers of categories, or None
    rows = np.bincount(number.fill_null(missing).to_numpy(), weights=counts, minlength=missing + 1)
    return values.cast(pl.String), rows[category.fill_null(missing).to_numpy()].astype(np.int64)


def parse_dtype(name: str) -> pl.DataType:
    """Return the data type of this name, as Polars prints it; text if there is none."""
    if name in _SIMPLE_DTYPES:
        return _SIMPLE_DTYPES[name]()
    if match := _DATETIME_DTYPE_PATTERN.fullmatch(name):
        return pl.Datetime(cast("Literal['ms', 'us', 'ns']", match[1]), match[2])
    if match := _DECIMAL_DTYPE_PATTERN.fullmatch(name):
        return pl.Decimal(int(match[1]), int(match[2]))
    return pl.String()


def parse_texts(texts: Sequence[str | None] | pl.Series, dtype: str, *, strict: bool = True) -> pl.Series:
    """Parse texts as values of a named type; the inverse of printing them.

    Unless strict, a text that is no number of the type is null.
    """
    series = texts if isinstance(texts, pl.Series) else pl.Series(texts, dtype=pl.String)
    kind = parse_dtype(dtype)
    if kind == pl.Date:
        return series.str.to_date("%Y-%m-%d")
    if isinstance(kind, pl.Datetime):
        format = "%+" if kind.time_zone else "%Y-%m-%dT%H:%M:%S%.f"
        iso_texts = series.str.replace(" ", "T", literal=True)  # Polars prints a space, ISO 8601 has a T
        return iso_texts.str.to_datetime(format, time_unit=kind.time_unit).cast(kind)
    if kind == pl.Boolean:
        return series.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
    if kind == pl.Time:
        return series.str.to_time("%H:%M:%S%.f")
    return series.cast(kind, strict=strict)


def fold_spelling(text: str) -> str:
    """Return the form that texts spelled alike have in common."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).casefold()
        text = "".join(mark for mark in unicodedata.normalize("NFKC", text) if unicodedata.category(mark) != "Cf")
    return " ".join(text.lower().split())


def _find_inexact(text: pl.Series, numbers: pl.Series) -> pl.Series:
    """Find numbers that are not the texts they were read from, but their nearest double."""
    if not numbers.dtype.is_float():
        return pl.Series([False] * len(text), dtype=pl.Boolean)
    are_long = text.str.contains(_LONG_DIGITS_PATTERN).fill_null(False).to_list()
    pairs = zip(text.to_list(), numbers.to_list(), are_long, strict=True)
    return pl.Series(
        [is_long and number is not None and not _is_exact(digits, number) for digits, number, is_long in pairs],
        dtype=pl.Boolean,
    )


def _cast_numbers(text: pl.Series) -> pl.Series:
    """Cast texts to numbers, null where they are none; to 64-bit integers where all of them are whole and fit."""
    if len(text) == 0 or text.str.contains(_INTEGER_PATTERN).all():
        for dtype in (pl.Int64, pl.UInt64):
            if not (numbers := text.cast(dtype, strict=False)).null_count():
                return numbers
    return text.cast(pl.Float64, strict=False)


def _require_exact(name: str, raw: pl.Series, text: pl.Series, numbers: pl.Series) -> None:
    if (is_inexact := _find_inexact(text, numbers)).any():
        raise ColumnError(
            f"Column {name!r} is numeric, but {int(is_inexact.sum())} of its {len(raw)} distinct values have too many digits.",
            why="As numbers they would be rounded, and different values could become one.",
            attempt='fewer digits, or type = "categorical".',
        )


def _make_unreadable_error(name: str, raw: pl.Series, bad: pl.Series, kind: str) -> ColumnError:
    return ColumnError(
        f"Column {name!r} is declared {kind}, but {int(bad.sum())} of its {len(raw)} distinct values do not read as one.",
        attempt='missing = ["?"] in [source] if they stand for nothing, or type = "categorical".',
    )


def _count_max_digits(texts: pl.Series, pattern: str) -> int:
    """Return the most characters that a pattern's group matches in any text."""
    lengths = texts.str.extract(pattern).str.len_chars().fill_null(0).to_list()
    return max(lengths, default=0)


def _is_exact(text: str, number: float) -> bool:
    return isfinite(number) and Decimal(text) == Decimal(repr(number))
