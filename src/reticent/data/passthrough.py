"""Columns that are no part of cells: insensitive ones, published beside each record, and identifying ones.

Insensitive (carried) columns are not harmless: an adversary who knows a value that one row has knows the row. So
their uniqueness is measured before anything is published, and a column that singles out too many rows is refused
unless the steward acknowledges it. `describe_uncovered`, called on request, reports what a promise does not cover:
carried columns that single people out, or that disclose a sensitive value. It measures their association with each
sensitive column (Cramer's V, 0 to 1: the mean square contingency over the most it can be).

Rounding: rint(x / step) * step in double precision, ties to even. Only the multiple is published. What then lies beyond
a declared top or bottom is published as the bound.

Identifying columns are never published, but they show how many rows a person has. `rows_per_person` declares the
most: it is verified, and a group of k * rows_per_person rows then holds at least k persons.

`build_frequency_expressions` and `read_frequencies` count how often values occur, for columns of both roles and in
every engine; `profile_columns` computes all statistics in one pass. `cast_columns` returns rows with their columns as
declared: dates and numbers parsed, carried numbers rounded.

`ChangeStamp` detects a source that is written to while it is published, by the file system's data on its files before
and after: carried columns are read in an earlier pass than the one that publishes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import fsum, sqrt
from pathlib import Path
from typing import Any

import polars as pl

from reticent.data import text_formats
from reticent.data.columns import (
    Column,
    Role,
    build_clip_expression,
    find_columns_with_role,
    make_beyond_doubles_error,
)
from reticent.data.files import resolve_files
from reticent.data.parsing import is_beyond_calendar, make_calendar_error, parse_dates, parse_numbers
from reticent.data.source import Source, collect_frame, is_text
from reticent.data.text_formats import parse_declared
from reticent.errors import ColumnError, SourceError, pluralize
from reticent.exact_arithmetic import MAX_EXACT_INTEGER

MAX_UNIQUE_PERCENT = 10  # per cent of the rows that may have a value of their own
PairCounter = Callable[[list[str]], pl.DataFrame]
"""Returns the pairs of values of two columns, and the number of rows of each pair."""


@dataclass(frozen=True, slots=True)
class ValueFrequencies:
    """Counts of the values that are not missing: distinct ones, those that occur once, rows of the most frequent."""

    missing: int
    distinct: int
    once: int
    max_count: int


def build_frequency_expressions(names: Iterable[str]) -> list[pl.Expr]:
    """Build the expressions that count, in one pass, how often each value of each column occurs.

    `read_frequencies` reads their result.
    """
    expressions = []
    for name in names:
        times = pl.col(name).drop_nulls().alias("value").value_counts(name="times").struct.field("times")
        expressions += [pl.col(name).null_count().alias(f"missing {name}"), times.implode().alias(f"times {name}")]
    return expressions


def read_frequencies(names: Iterable[str], counted: pl.DataFrame) -> dict[str, ValueFrequencies]:
    """Read the frequencies of each column from the result of `build_frequency_expressions`."""
    frequencies = {}
    for name in names:
        times = counted[f"times {name}"].explode(empty_as_null=False)
        max_times: Any = times.max() or 0
        frequencies[name] = ValueFrequencies(
            counted[f"missing {name}"].item(), len(times), int((times == 1).sum()), int(max_times)
        )
    return frequencies


@dataclass(frozen=True, slots=True)
class PassthroughColumn:
    """One column: its distinct values, rows with a value of their own, and association with each sensitive column."""

    column: str
    rows: int
    distinct: int
    unique: int
    association: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_near_unique(self) -> bool:
        return self.unique * 100 > MAX_UNIQUE_PERCENT * self.rows

    def to_dict(self) -> dict[str, Any]:
        facts = {
            "column": self.column,
            "distinct": self.distinct,
            "unique": self.unique / self.rows if self.rows else 0.0,
        }
        return facts | ({"association": dict(self.association)} if self.association else {})

    def __str__(self) -> str:
        ties = "".join(f", association with {name!r} {value:.2f}" for name, value in self.association.items())
        return (
            f"The insensitive column {self.column!r} has {self.distinct:,} distinct values in {self.rows:,} rows; "
            f"{pluralize(self.unique, 'value', 'occurs', 'occur')} only once{ties}."
        )


def is_typed_by_declaration(dtype: pl.DataType, column: Column) -> bool:
    """Tell whether a column is carried text that is declared to be numbers or dates, by its type or by a bound."""
    if column.role is not Role.INSENSITIVE or column.round_to is not None or not is_text(dtype):
        return False
    return _find_declared_type(column) in ("numeric", "date")


def is_recoded(column: Column) -> bool:
    """Tell whether a carried column is published with other values than its own: rounded, or bounded."""
    options = (column.round_to, column.top, column.bottom)
    return column.role is Role.INSENSITIVE and any(option is not None for option in options)


def cast_passthrough(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
    """Parse carried text as the numbers or dates that it is declared to be; refuse what does not parse."""
    schema = lazy.collect_schema()
    types = {
        name: _find_declared_type(column)
        for name, column in columns.items()
        if is_typed_by_declaration(schema[name], column)
    }
    if not types:
        return lazy
    distinct = collect_frame(
        lazy.select(pl.col(name).cast(pl.String).unique().implode() for name in types), "Reading carried values"
    )
    expressions = []
    for name, kind in types.items():
        values = distinct[name].explode().drop_nulls()
        text = pl.col(name).cast(pl.String).str.strip_chars()
        if kind == "numeric":
            expressions.append(text.cast(parse_numbers(name, values).dtype).alias(name))
        else:
            parse_dates(name, values)
            expressions.append(text.str.to_date("%Y-%m-%d").alias(name))
    return lazy.with_columns(expressions)


def round_passthrough(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
    """Round carried numbers as declared."""
    steps = {
        name: column.round_to for name, column in columns.items() if is_recoded(column) and column.round_to is not None
    }
    if not steps:
        return lazy
    schema = lazy.collect_schema()
    for name in steps:
        if schema[name].is_temporal():
            raise ColumnError(
                f"Column {name!r} has the type {schema[name]} and is to be rounded; only numbers can be.",
                attempt="a column of years, months or hours, or leaving round_to out.",
            )
    _require_numbers(lazy, {name: _build_number_expr(name, schema[name]) for name in steps})
    return lazy.with_columns(
        _round_to_multiple(_build_number_expr(name, schema[name]), step).alias(name) for name, step in steps.items()
    )


def recode_passthrough(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
    """Round carried numbers as declared, then publish what lies beyond a top or bottom as the bound."""
    lazy = round_passthrough(lazy, columns)
    bounded = {
        name: column
        for name, column in columns.items()
        if is_recoded(column) and (column.top is not None or column.bottom is not None)
    }
    if not bounded:
        return lazy
    schema = lazy.collect_schema()
    return lazy.with_columns(build_clip_expression(name, column, schema[name]) for name, column in bounded.items())


@dataclass(frozen=True, slots=True)
class PassthroughCounts:
    """Rows with a number other than 0 that rounding makes 0, and with a date beyond the calendar, by column.

    A column without such rows is not listed.
    """

    rounded_to_zero: Mapping[str, int] = field(default_factory=dict)
    beyond_calendar: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def add_up(cls, parts: Iterable[PassthroughCounts]) -> PassthroughCounts:
        """Add up the counts of all parts of a table."""
        zeros: Counter[str] = Counter()
        beyond: Counter[str] = Counter()
        for part in parts:
            zeros.update(part.rounded_to_zero)
            beyond.update(part.beyond_calendar)
        return cls(dict(zeros), dict(beyond))

    def require_within_calendar(self) -> None:
        """Refuse rows with a date beyond the calendar, by the first column that has some."""
        for name, rows in self.beyond_calendar.items():
            raise make_calendar_error(name, pluralize(rows, "row"))


def select_counted_columns(schema: Mapping[str, pl.DataType], columns: Mapping[str, Column]) -> dict[str, Column]:
    """Select the carried columns that `count_passthrough` reads: those that are rounded, and those of dates."""
    return {
        name: column
        for name, column in columns.items()
        if (column.round_to is not None and is_recoded(column))
        or (column.role is Role.INSENSITIVE and isinstance(schema[name], pl.Date | pl.Datetime))
    }


def count_passthrough(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> PassthroughCounts:
    """Count rows whose number rounding makes 0 and rows with a date beyond the calendar, before anything is rounded."""
    counted = select_counted_columns(lazy.collect_schema(), columns)
    if not counted:
        return PassthroughCounts()
    lazy = text_formats.parse_declared(
        lazy, {name: column for name, column in counted.items() if column.round_to is not None}
    )
    schema = lazy.collect_schema()
    expressions = []
    for name, column in counted.items():
        if isinstance(schema[name], pl.Date | pl.Datetime):
            expressions.append(is_beyond_calendar(pl.col(name), schema[name]).sum().alias(name))
        elif not schema[name].is_temporal():
            number = _build_number_expr(name, schema[name])
            multiple = (number / column.round_to).round(mode="half_to_even")
            expressions.append(((number != 0) & multiple.eq(0)).sum().alias(name))
    if not expressions:
        return PassthroughCounts()
    counts = collect_frame(lazy.select(expressions), "Reading carried numbers", "streaming").row(0, named=True)
    row_counts = {name: int(count) for name, count in counts.items() if count}
    dates = {name for name in row_counts if isinstance(schema[name], pl.Date | pl.Datetime)}
    return PassthroughCounts(
        {name: count for name, count in row_counts.items() if name not in dates},
        {name: count for name, count in row_counts.items() if name in dates},
    )


def describe_rounded_to_zero(counts: Mapping[str, int], columns: Mapping[str, Column], rows: int) -> list[str]:
    """Describe, in sentences, columns with numbers that rounding makes 0."""
    return [
        f"Column {name!r}: {count:,} of {rows:,} rows hold a number other than 0 that is rounded to 0 (round_to = "
        f"{columns[name].round_to}), so that sums and averages of it come out too near 0. A smaller round_to keeps them."
        for name, count in counts.items()
    ]


def summarize_passthrough(
    columns: Mapping[str, Column], rows: int, repeats: Mapping[str, ValueFrequencies]
) -> tuple[PassthroughColumn, ...]:
    """Summarize the counts of each carried column; a missing value counts as a value."""
    summaries = []
    for name in find_columns_with_role(columns, Role.INSENSITIVE):
        frequencies = repeats[name]
        distinct = frequencies.distinct + (frequencies.missing > 0)
        unique = frequencies.once + (frequencies.missing == 1)
        summaries.append(PassthroughColumn(name, rows, distinct, unique))
    return tuple(summaries)


def require_not_near_unique(carried: Iterable[PassthroughColumn], columns: Mapping[str, Column]) -> None:
    """Refuse a carried column that singles out too many rows, unless the steward acknowledges it."""
    for column in carried:
        if column.is_near_unique and not columns[column.column].acknowledge:
            raise ColumnError(
                f"The insensitive column {column.column!r} is near-unique: {column.unique:,} of {column.rows:,} rows have a value of their own.",
                why="It is published as it is, and who knows it knows the row, whatever is promised.",
                attempt='role = "quasi-identifying", round_to = ... for a number, leaving it out, or acknowledge = true.',
            )


def compute_cramers_v(pairs: pl.DataFrame) -> float:
    """Compute sqrt((sum n_ij^2 / (n_i n_j) - 1) / (min(r, c) - 1)) of counted pairs.

    It is 0 if a column holds one value.
    """
    pairs = pairs.rename(dict(zip(pairs.columns, ("one", "other", "n"), strict=True)))
    n = pl.col("n").cast(pl.Float64)
    total = pl.col("n").sum().cast(pl.Float64)
    shares = pairs.select(n * n / (total.over("one") * total.over("other"))).to_series()
    square = fsum(shares.to_numpy())  # exactly rounded: pairs come in any order
    min_distinct = min(pairs["one"].n_unique(), pairs["other"].n_unique())
    return min(sqrt(max(square - 1, 0.0) / (min_distinct - 1)), 1.0) if min_distinct > 1 else 0.0


def check_rows_per_person(columns: Mapping[str, Column], counted: Mapping[str, ValueFrequencies]) -> int:
    """Return the declared maximum of rows per person, 1 if none is declared; refuse data in which a person has more."""
    declared = {name: column.rows_per_person for name, column in columns.items() if column.rows_per_person is not None}
    for name, max_rows in declared.items():
        missing = counted[name].missing
        most_rows = counted[name].max_count
        if missing:
            raise ColumnError(
                f"The identifying column {name!r} is missing in {pluralize(missing, 'row')}: whose rows these are cannot be counted.",
                attempt="a number for every person, or leaving rows_per_person out.",
            )
        if most_rows > max_rows:
            raise ColumnError(
                f"The identifying column {name!r} declares at most {max_rows} rows per person, and one has {most_rows:,}.",
                why="A group would hold fewer persons than is promised.",
                attempt=f'rows_per_person = {most_rows}, fewer rows of each person, or beyond = "withhold", which withholds '
                "as many as are too many.",
            )
    return max(declared.values(), default=1)


def describe_repeated_identifiers(columns: Mapping[str, Column], counted: Mapping[str, ValueFrequencies]) -> list[str]:
    """Describe identifying columns that repeat without a declaration.

    If one does not repeat, every row is a person's own.
    """
    most_rows = {name: counted[name].max_count for name in find_columns_with_role(columns, Role.IDENTIFYING)}
    alone = any(rows == 1 and not counted[name].missing for name, rows in most_rows.items())
    if alone or any(columns[name].rows_per_person is not None for name in most_rows):
        return []
    return [
        f"The identifying column {name!r} repeats, up to {rows:,} times: a person with several rows is protected in each row alone. "
        f"If it names persons, say rows_per_person = {rows} and k-anonymity counts persons."
        for name, rows in most_rows.items()
        if rows > 1
    ]


def describe_loose_limits(columns: Mapping[str, Column], counted: Mapping[str, ValueFrequencies]) -> list[str]:
    """Describe declared limits of rows per person that nobody reaches: every group is larger than it need be."""
    return [
        f"The identifying column {name!r} declares at most {limit:,} rows per person, and nobody has more than "
        f"{counted[name].max_count:,}: rows_per_person = {counted[name].max_count} keeps the same promise with smaller groups."
        for name in find_columns_with_role(columns, Role.IDENTIFYING)
        if (limit := columns[name].rows_per_person) is not None and 0 < counted[name].max_count < limit
    ]


@dataclass(frozen=True, slots=True)
class PassthroughProfile:
    """Statistics of the columns that are no part of cells; `notices` are for the steward and forbid nothing."""

    carried: tuple[PassthroughColumn, ...] = ()
    rows_per_person: int = 1
    notices: tuple[str, ...] = ()


def profile_columns(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> PassthroughProfile:
    """Compute the profile; refuse near-unique carried columns and persons with more rows than declared."""
    names = list_profiled_columns(columns)
    if not names:
        return PassthroughProfile()
    lazy = lazy.select(pl.len().alias("\x00rows"), *build_frequency_expressions(names))
    counted = collect_frame(lazy, "Counting identifying and carried values")
    return build_profile(columns, counted["\x00rows"].item(), read_frequencies(names, counted))


def list_profiled_columns(columns: Mapping[str, Column]) -> list[str]:
    """List the columns that are no part of cells."""
    return [*find_columns_with_role(columns, Role.INSENSITIVE), *find_columns_with_role(columns, Role.IDENTIFYING)]


def build_profile(
    columns: Mapping[str, Column], rows: int, counted: Mapping[str, ValueFrequencies]
) -> PassthroughProfile:
    """Build the profile from what was counted, or refuse it."""
    carried = summarize_passthrough(columns, rows, counted)
    require_not_near_unique(carried, columns)
    rows_per_person = check_rows_per_person(columns, counted)
    notices = (*describe_repeated_identifiers(columns, counted), *describe_loose_limits(columns, counted))
    return PassthroughProfile(carried, rows_per_person, notices)


def describe_uncovered(
    count_pairs: PairCounter, columns: Mapping[str, Column], carried: Iterable[PassthroughColumn]
) -> tuple[tuple[PassthroughColumn, ...], list[str]]:
    """Add each carried column's association with each sensitive one; also describe what the promise does not cover."""
    associated = []
    sentences = []
    for column in carried:
        associations = {}
        guesses = []
        for name in find_columns_with_role(columns, Role.SENSITIVE):
            pairs = count_pairs([column.column, name])
            associations[name] = compute_cramers_v(pairs)
            guesses.append(_describe_guess(pairs, name, column.rows))
        associated.append(replace(column, association=associations))
        sentences.append(f"{associated[-1]} It is published as it is{''.join(guesses)}.")
    return tuple(associated), sentences


def cast_columns(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
    """Return the rows with each column as it is declared: dates and numbers parsed, carried ones rounded and bounded."""
    return recode_passthrough(cast_passthrough(parse_declared(lazy, columns), columns), columns)


@dataclass(frozen=True)
class ChangeStamp:
    """File system data of a source's files.

    Carried columns are in no cell and are read in an earlier pass than the one that publishes them, so a change
    between the passes must be detected.
    """

    files: dict[Path, tuple[int, ...]]

    @classmethod
    def read(cls, source: Source | None) -> ChangeStamp:
        """Read the stamp of a source; it is empty for a frame, a database and a file that does not exist."""
        if source is None or source.path is None or source.url is not None:
            return cls({})
        try:
            return cls({path: _read_file_stamp(path) for path in resolve_files(source.path).paths})
        except (SourceError, OSError):
            return cls({})  # reading it reports what is wrong

    def require_unchanged(self) -> None:
        """Refuse a source of which a file has changed or is gone."""
        try:
            is_unchanged = all(_read_file_stamp(path) == stamp for path, stamp in self.files.items())
        except OSError:
            is_unchanged = False
        if not is_unchanged:
            raise make_source_changed_error()

    @contextmanager
    def guard_passthrough(self, columns: Mapping[str, Column]) -> Iterator[None]:
        """Run a block that reads carried columns again; require afterwards that the files have not changed."""
        yield
        if find_columns_with_role(columns, Role.INSENSITIVE):
            self.require_unchanged()


def make_source_changed_error() -> SourceError:
    """Make the error for a source whose rows are not those that were counted."""
    return SourceError(
        "The source changed while it was published, or is gone.",
        why="Its rows were counted first and read again to be published, and the two do not agree.",
        attempt="publishing when nobody writes to it, or a copy of it.",
    )


def _require_numbers(lazy: pl.LazyFrame, numbers: Mapping[str, pl.Expr]) -> None:
    expressions = [number.is_finite().not_().sum().alias(f"unread {name}") for name, number in numbers.items()]
    expressions += [
        (number.is_finite() & (number.abs() > MAX_EXACT_INTEGER)).sum().alias(f"beyond {name}")
        for name, number in numbers.items()
    ]
    counted = collect_frame(lazy.select(expressions), "Reading carried numbers").row(0, named=True)
    for name in numbers:
        if rows := counted[f"unread {name}"]:
            raise ColumnError(
                f"Column {name!r} is to be rounded, but {rows} of its values are no numbers.",
                attempt='missing = ["?"] in [source] if they stand for nothing, or leaving round_to out.',
            )
        if rows := counted[f"beyond {name}"]:
            raise make_beyond_doubles_error(name, rows)


def _find_declared_type(column: Column) -> str | None:
    """Return the type that a carried column declares: by its `type`, or by what its top or bottom is."""
    bound = column.bottom if column.top is None else column.top
    if column.type is not None or bound is None:
        return column.type
    return "date" if isinstance(bound, str) else "numeric"


def _build_number_expr(name: str, dtype: pl.DataType) -> pl.Expr:
    """Read a column in double precision: null where it is missing, NaN where it is no number."""
    if is_text(dtype):
        text = pl.col(name).cast(pl.String).str.strip_chars()
        return pl.when(text.is_not_null()).then(text.cast(pl.Float64, strict=False).fill_null(float("nan")))
    number = pl.col(name).cast(pl.Float64, strict=False)
    return number.fill_nan(None) if dtype.is_float() else number


def _round_to_multiple(number: pl.Expr, step: int | float) -> pl.Expr:
    count = (number / step).round(mode="half_to_even")
    return count.cast(pl.Int64) * step if isinstance(step, int) else count * step


def _describe_guess(pairs: pl.DataFrame, name: str, rows: int) -> str:
    """Describe how much better a sensitive value is guessed by someone who knows the carried one.

    The measure is Goodman and Kruskal's lambda, both sides.
    """
    carried, sensitive, count = pairs.columns
    guessed_with = pairs.group_by(carried).agg(pl.col(count).max())[count].sum()
    guessed_without = pairs.group_by(sensitive).agg(pl.col(count).sum())[count].max()
    shares = (float(rows_right or 0) / rows for rows_right in (guessed_with, guessed_without))  # type: ignore[arg-type]  # counts
    return "; who knows it guesses {!r} in {:.1%} of the rows, who does not in {:.1%}".format(name, *shares)


def _read_file_stamp(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
