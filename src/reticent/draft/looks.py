"""What a column looks like, by counts: distinct and missing values, numbers, dates and their format, codes, free text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import polars as pl

from reticent.table import source as sources
from reticent.table.roles import Column
from reticent.table.sentinels import find_far_values
from reticent.table.written import NUMBERS, expression, units_of

MARKS = (
    "?", "NA", "N/A", "na", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "none", "-", ".",
    "unknown", "Unknown", "UNKNOWN", "missing", "Missing", "not known",
)  # fmt: skip
"""What files use for "missing"."""

DATES = (
    "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%Y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%m/%d/%y", "%d.%m.%y", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%Y %I:%M %p",
    "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M:%S%z",
)  # fmt: skip
"""Formats that are recognised, the likelier first; ISO dates and times need none."""

NUMBER = r"^\s*[+-]?\d+(\.\d+)?\s*$"
_PADDED = r"^0\d"
_AMOUNT = r"[$€£¥,.]"
_NEARLY = 0.9  # of the distinct values must fit a format that is told of
_FREE_WORDS, _FREE_LENGTH, _FREE_VALUES = 4.0, 30.0, 50


@dataclass(frozen=True, eq=False)
class Look:
    """One column.  `misfit` is how many distinct values a format that fits most does not read; `other` fits as well."""

    name: str
    dtype: pl.DataType
    values: pl.Series  # distinct, without null and marks
    missing: int
    most: int  # rows that share a value
    marks: tuple[str, ...] = ()
    type: str | None = None
    format: str | None = None
    misfit: int = 0
    other: str | None = None
    free: bool = False
    codes: tuple[str, ...] = ()  # numbers that stand for "missing" by their looks, as they are written
    code_rows: int = 0  # that hold one of them
    far: int = 0  # rows that hold another value that stretches the range

    @property
    def distinct(self) -> int:
        return len(self.values)

    @property
    def declared(self) -> Column:
        """The column as a draft would declare it, to read its values by."""
        return Column("quasi-identifying", self.type, format=None if self.misfit else self.format)


def look(column: pl.Series, *, typed: bool = False) -> Look:
    """What a column looks like.  `typed`: its source says what is text, and text that spells numbers holds codes."""
    found = _look(column, typed=typed)
    return _without_codes(found, column) if found.type == "numeric" and found.format is None else found


def _without_codes(found: Look, column: pl.Series) -> Look:
    """The same without numbers that stand for "missing", which would stretch its range."""
    written = found.values.cast(pl.String)
    numbers = pl.DataFrame({"text": written, "number": written.str.strip_chars().cast(pl.Float64, strict=False)})
    numbers = numbers.filter(pl.col("number").is_finite()).unique("number", maintain_order=True).sort("number")
    if len(numbers) < 3:
        return found
    rows = column.cast(pl.String).value_counts(name="rows").rename({column.name: "text"})
    counts = numbers.join(rows, on="text", how="left", maintain_order="left")["rows"].fill_null(0).to_numpy()
    far = find_far_values(found.name, numbers["text"].to_list(), numbers["number"].to_numpy(), counts)
    if far is None:
        return found
    is_code = written.is_in(list(far.codes))
    held = int(rows.filter(pl.col("text").is_in(list(far.codes)))["rows"].sum())
    return replace(
        found,
        values=found.values.filter(~is_code),
        codes=far.codes,
        code_rows=held,
        missing=found.missing + held,
        far=far.rows - held,
    )


def _look(column: pl.Series, *, typed: bool) -> Look:
    column = column.cast(pl.String) if sources.is_text(column.dtype) else column
    counted = column.drop_nulls().value_counts(name="\x00rows")
    values = counted[column.name] if len(counted) else column.drop_nulls()
    most = cast("int", counted["\x00rows"].max() or 0) if len(counted) else 0
    found = Look(column.name, column.dtype, values, column.null_count(), most)
    if column.dtype != pl.String:
        dated = column.dtype in (pl.Date, pl.Datetime)
        return replace(found, type="numeric" if column.dtype.is_numeric() else "date" if dated else None)
    marked = counted.filter(pl.col(column.name).is_in(list(MARKS)))
    kept = counted.filter(~pl.col(column.name).is_in(list(MARKS)))
    found = replace(
        found,
        values=kept[column.name],
        missing=found.missing + int(marked["\x00rows"].sum()),
        most=cast("int", kept["\x00rows"].max() or 0),
        marks=tuple(marked[column.name].to_list()),
    )
    return _read_text(found, typed=typed) if found.distinct else found


def typed(found: Look) -> pl.Series:
    """The distinct values as the draft's declaration reads them."""
    if found.misfit or found.dtype != pl.String or (found.format is None and found.type != "date"):
        return found.values
    read = expression(found.values, found.declared)
    return found.values if read is None else found.values.to_frame().select(read)[found.name]


def _read_text(found: Look, *, typed: bool) -> Look:
    values = found.values
    if values.str.contains(NUMBER).all() and not values.str.contains(_PADDED).any():
        return found if typed else replace(found, type="numeric")
    if _unread(values, "date", None) == 0:
        return replace(found, type="date")
    amounts = values.str.contains(_AMOUNT).any() and values.str.contains(r"^[^A-Za-z]*\d").all()
    for format in NUMBERS if amounts and len(units_of(values)) < 2 else ():
        if _unread(values, None, format) == 0 and not values.str.contains(_PADDED).any():
            return replace(found, type="numeric", format=format)
    if values.str.contains(r"\d").mean() or 0:
        found = _dated(found)
    words = cast("float", values.str.count_matches(r"\S+").mean() or 0.0)
    length = cast("float", values.str.len_chars().mean() or 0.0)
    several = found.distinct >= _FREE_VALUES and found.type is None
    return replace(found, free=several and (words >= _FREE_WORDS or length > _FREE_LENGTH))


def _dated(found: Look) -> Look:
    """The format that reads most values, if it reads nearly all; of two that do, the other is named."""
    sample = found.values if found.distinct <= 200 else found.values.sample(200, seed=1)
    likely = [format for format in DATES if _unread(sample, None, format) <= (1 - _NEARLY) * len(sample)]
    counts = {format: _unread(found.values, None, format) for format in likely}
    if not counts:
        return found
    best = min(counts, key=lambda format: counts[format])
    if counts[best] > (1 - _NEARLY) * found.distinct:
        return found
    other = next((format for format in counts if format != best and counts[format] == counts[best]), None)
    return replace(found, type=None if counts[best] else "date", format=best, misfit=counts[best], other=other)


def _unread(values: pl.Series, type: str | None, format: str | None) -> int:
    """How many distinct values do not read so."""
    read = expression(values, Column("quasi-identifying", type, format=format))
    if read is None:  # ISO days
        return int(values.str.to_date("%Y-%m-%d", strict=False).null_count())
    return int(values.to_frame().select(read.is_null().sum()).item())
