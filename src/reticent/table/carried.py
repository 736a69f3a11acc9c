"""Insensitive columns are not harmless: they are published beside each record, as they are or rounded.

Who knows a value that one row has knows the row.  So their uniqueness is measured before anything is published, and one
that singles out too many rows is refused unless the steward acknowledges it; so is, on request, their association with
each sensitive column (Cramer's V, 0 to 1: the mean square contingency over the most it can be).

Rounding: rint(x / step) * step in double precision, ties to even.  Only the multiple is published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum, sqrt
from typing import Any

import polars as pl

from reticent.errors import ColumnError, some
from reticent.table import written
from reticent.table.parsing import beyond_calendar, dates, is_beyond_calendar, numbers
from reticent.table.repeats import Repeats
from reticent.table.roles import Column, Role, with_role
from reticent.table.source import collect, is_text

EXACT = 2**53  # whole numbers up to here are exact in double precision
NEAR_UNIQUE = 10  # per cent of the rows that may have a value of their own


@dataclass(frozen=True, slots=True)
class Carried:
    """One column: how many distinct values, how many rows have one of their own, how it goes with each sensitive column."""

    column: str
    rows: int
    distinct: int
    unique: int
    association: Mapping[str, float] = field(default_factory=dict)

    @property
    def near_unique(self) -> bool:
        return self.unique * 100 > NEAR_UNIQUE * self.rows

    def to_dict(self) -> dict[str, Any]:
        found = {
            "column": self.column,
            "distinct": self.distinct,
            "unique": self.unique / self.rows if self.rows else 0.0,
        }
        return found | ({"association": dict(self.association)} if self.association else {})

    def __str__(self) -> str:
        ties = "".join(f", association with {name!r} {value:.2f}" for name, value in self.association.items())
        return (
            f"The insensitive column {self.column!r} has {self.distinct:,} distinct values in {self.rows:,} rows; "
            f"{some(self.unique, 'value', 'occurs', 'occur')} only once{ties}."
        )


def read_as_declared(dtype: pl.DataType, column: Column) -> bool:
    """Whether a column is carried text that is declared to be numbers or dates."""
    declared = column.role is Role.INSENSITIVE and column.type in ("numeric", "date") and column.round_to is None
    return declared and is_text(dtype)


def as_declared(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
    """The rows with carried text as the numbers or dates that it is declared to be; what does not read as one is refused."""
    schema = lazy.collect_schema()
    asked = {name: column.type for name, column in columns.items()
             if read_as_declared(schema[name], column)}  # fmt: skip
    if not asked:
        return lazy
    distinct = collect(
        lazy.select(pl.col(name).cast(pl.String).unique().implode() for name in asked), "Reading carried values"
    )
    found = []
    for name, kind in asked.items():
        values = distinct[name].explode().drop_nulls()
        text = pl.col(name).cast(pl.String).str.strip_chars()
        if kind == "numeric":
            found.append(text.cast(numbers(name, values).dtype).alias(name))
        else:
            dates(name, values)
            found.append(text.str.to_date("%Y-%m-%d").alias(name))
    return lazy.with_columns(found)


def rounded(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
    """The rows with carried numbers rounded as declared."""
    steps = {name: column.round_to for name, column in columns.items() if column.round_to is not None}
    if not steps:
        return lazy
    schema = lazy.collect_schema()
    for name in steps:
        if schema[name].is_temporal():
            raise ColumnError(
                f"Column {name!r} has the type {schema[name]} and is to be rounded; only numbers can be.",
                attempt="a column of years, months or hours, or leaving round_to out.",
            )
    _refuse_unreadable(lazy, {name: _number(name, schema[name]) for name in steps})
    return lazy.with_columns(_multiple(_number(name, schema[name]), step).alias(name) for name, step in steps.items())


@dataclass(frozen=True, slots=True)
class CarriedCounts:
    """How many rows hold a number other than 0 that rounding makes 0, and a date that no program reads, by column; none where 0."""

    rounded_to_zero: Mapping[str, int] = field(default_factory=dict)
    beyond_calendar: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def added(cls, parts: Iterable[CarriedCounts]) -> CarriedCounts:
        """The counts of all parts of a table."""
        zeros: Counter[str] = Counter()
        beyond: Counter[str] = Counter()
        for part in parts:
            zeros.update(part.rounded_to_zero)
            beyond.update(part.beyond_calendar)
        return cls(dict(zeros), dict(beyond))

    def refuse_beyond_calendar(self) -> None:
        for name, rows in self.beyond_calendar.items():
            raise beyond_calendar(name, some(rows, "row"))


def counted_columns(schema: Mapping[str, pl.DataType], columns: Mapping[str, Column]) -> dict[str, Column]:
    """The carried columns that `count_carried` reads: those that are rounded, and those of dates."""
    return {
        name: column
        for name, column in columns.items()
        if column.round_to is not None
        or (column.role is Role.INSENSITIVE and isinstance(schema[name], pl.Date | pl.Datetime))
    }


def count_carried(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> CarriedCounts:
    """Of rows as their source has them, which are not rounded yet."""
    wanted = counted_columns(lazy.collect_schema(), columns)
    if not wanted:
        return CarriedCounts()
    lazy = written.as_declared(lazy, {name: column for name, column in wanted.items() if column.round_to is not None})
    schema = lazy.collect_schema()
    asked = []
    for name, column in wanted.items():
        if isinstance(schema[name], pl.Date | pl.Datetime):
            asked.append(is_beyond_calendar(pl.col(name), schema[name]).sum().alias(name))
        elif not schema[name].is_temporal():
            number = _number(name, schema[name])
            multiple = (number / column.round_to).round(mode="half_to_even")
            asked.append(((number != 0) & multiple.eq(0)).sum().alias(name))
    if not asked:
        return CarriedCounts()
    counts = collect(lazy.select(asked), "Reading carried numbers", "streaming").row(0, named=True)
    held = {name: int(count) for name, count in counts.items() if count}
    dated = {name for name in held if isinstance(schema[name], pl.Date | pl.Datetime)}
    return CarriedCounts(
        {name: count for name, count in held.items() if name not in dated},
        {name: count for name, count in held.items() if name in dated},
    )


def describe_rounded_to_zero(counts: Mapping[str, int], columns: Mapping[str, Column], rows: int) -> list[str]:
    return [
        f"Column {name!r}: {count:,} of {rows:,} rows hold a number other than 0 that is rounded to 0 (round_to = "
        f"{columns[name].round_to}), so that sums and averages of it come out too near 0. A smaller round_to keeps them."
        for name, count in counts.items()
    ]


def _number(name: str, dtype: pl.DataType) -> pl.Expr:
    """A column as double precision: null where it is missing, not a number where it is none."""
    if is_text(dtype):
        text = pl.col(name).cast(pl.String).str.strip_chars()
        return pl.when(text.is_not_null()).then(text.cast(pl.Float64, strict=False).fill_null(float("nan")))
    found = pl.col(name).cast(pl.Float64, strict=False)
    return found.fill_nan(None) if dtype.is_float() else found


def _multiple(number: pl.Expr, step: int | float) -> pl.Expr:
    count = (number / step).round(mode="half_to_even")
    return count.cast(pl.Int64) * step if isinstance(step, int) else count * step


def _refuse_unreadable(lazy: pl.LazyFrame, numbers: Mapping[str, pl.Expr]) -> None:
    asked = [number.is_finite().not_().sum().alias(f"unread {name}") for name, number in numbers.items()]
    asked += [
        (number.is_finite() & (number.abs() > EXACT)).sum().alias(f"beyond {name}") for name, number in numbers.items()
    ]
    counted = collect(lazy.select(asked), "Reading carried numbers").row(0, named=True)
    for name in numbers:
        if rows := counted[f"unread {name}"]:
            raise ColumnError(
                f"Column {name!r} is to be rounded, but {rows} of its values are no numbers.",
                attempt='missing = ["?"] in [source] if they stand for nothing, or leaving round_to out.',
            )
        if rows := counted[f"beyond {name}"]:
            raise ColumnError(
                f"Column {name!r} is to be rounded, but {rows} of its values are beyond 2^53.",
                why="Double precision does not hold such numbers exactly.",
                attempt="smaller numbers, or leaving round_to out.",
            )


def answered(columns: Mapping[str, Column], rows: int, repeats: Mapping[str, Repeats]) -> tuple[Carried, ...]:
    """What was counted of each carried column; a missing value is a value like another."""
    found = []
    for name in with_role(columns, Role.INSENSITIVE):
        held = repeats[name]
        found.append(Carried(name, rows, held.distinct + (held.missing > 0), held.once + (held.missing == 1)))
    return tuple(found)


def refuse_near_unique(carried: Iterable[Carried], columns: Mapping[str, Column]) -> None:
    for one in carried:
        if one.near_unique and not columns[one.column].acknowledge:
            raise ColumnError(
                f"The insensitive column {one.column!r} is near-unique: {one.unique:,} of {one.rows:,} rows have a value of their own.",
                why="It is published as it is, and who knows it knows the row, whatever is promised.",
                attempt='role = "quasi-identifying", round_to = ... for a number, leaving it out, or acknowledge = true.',
            )


def cramers_v(pairs: pl.DataFrame) -> float:
    """sqrt((sum n_ij^2 / (n_i n_j) - 1) / (min(r, c) - 1)) of pairs and their counts; 0 where a column holds one value."""
    pairs = pairs.rename(dict(zip(pairs.columns, ("one", "other", "n"), strict=True)))
    n, over = pl.col("n").cast(pl.Float64), pl.col("n").sum().cast(pl.Float64)
    shares = pairs.select(n * n / (over.over("one") * over.over("other"))).to_series()
    square = fsum(shares.to_numpy())  # exactly rounded: pairs come in any order
    least = min(pairs["one"].n_unique(), pairs["other"].n_unique())
    return min(sqrt(max(square - 1, 0.0) / (least - 1)), 1.0) if least > 1 else 0.0
