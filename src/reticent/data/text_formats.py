"""Parses dates and numbers as people write them into typed values; publish and audit use the same functions.

A column's `format` declares how its text is written: `%m/%d/%Y` and similar for days and moments (chrono's
directives; with `%z` a moment is read in UTC), `1,234.5` or `1.234,5` for numbers, with or without a currency sign.
Without a format a column of type `date` may be written `2020-01-31`, `2020-01-31 13:45:00`, `2020-01-31T13:45Z` or
`2020-01-31T13:45+02:00`. Moments that are all midnights are days: that is how pandas holds days.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import polars as pl

from reticent.data.source import collect_frame, is_text
from reticent.errors import ColumnError, JobError

NUMBER_FORMATS = {"1,234.5": (",", "."), "1.234,5": (".", ",")}
"""How numbers are written: the marks of thousands and of decimals."""
_UNIT_PATTERN = r"([$€£¥]|\b(?:USD|EUR|GBP|CHF)\b)"
_MONEY_PATTERN = rf"\s|{_UNIT_PATTERN}"
_ZONED_PATTERN = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$"
_DAY_PATTERN = r"^\d{4}-\d{2}-\d{2}$"
Table = TypeVar("Table", pl.DataFrame, pl.LazyFrame)


class ColumnDeclaration(Protocol):
    """The fields that are read of a column declaration, a job's or a manifest's."""

    @property
    def role(self) -> str: ...

    @property
    def type(self) -> str | None: ...

    @property
    def format(self) -> str | None: ...

    @property
    def hierarchy(self) -> Any: ...


def parse_format_type(format: str, type: str | None) -> str:
    """Return the type that a format gives a column: "date" or "numeric"."""
    format_type = None
    if format in NUMBER_FORMATS:
        format_type = "numeric"
    elif isinstance(format, str) and "%" in format:
        format_type = "date"
    if format_type is None or type not in (None, format_type):
        raise JobError(
            f"format = {format!r} does not say how a {type or 'date or number'} is written.",
            attempt='format = "%m/%d/%Y" for dates, or "1,234.5" or "1.234,5" for numbers.',
        )
    return format_type


def parse_declared(lazy: pl.LazyFrame, columns: Mapping[str, ColumnDeclaration]) -> pl.LazyFrame:
    """Parse these columns; refuse, by column and count, values that do not parse as declared."""
    schema = lazy.collect_schema()
    faults = []
    expressions = []
    for name, column in columns.items():
        if not needs_parsing(schema[name], column):
            continue
        distinct = collect_frame(lazy.select(pl.col(name).drop_nulls().unique()), f"Reading column {name!r}")[name]
        distinct = distinct.cast(pl.String) if is_text(distinct.dtype) else distinct
        expression = build_parse_expression(distinct, column)
        if expression is None:
            continue
        if column.format in NUMBER_FORMATS and len(units := count_units(distinct)) > 1:
            raise _make_mixed_units_error(name, len(distinct), units)
        if unread := distinct.to_frame().select(expression.is_null().sum()).item():
            suffix = f" written {column.format!r}" if column.format else " (YYYY-MM-DD, or an ISO date and time)"
            kind = "a number" if column.format in NUMBER_FORMATS else "a date"
            faults.append(
                f"Column {name!r} is declared {kind}{suffix}, but {unread:,} of its {len(distinct):,} distinct "
                "values do not read as one."
            )
        expressions.append(expression.alias(name))
    if faults:
        raise ColumnError(
            "\n".join(faults),
            attempt='the format it is written in, missing = ["?"] in [source] if they stand for nothing, '
            'or type = "categorical".',
        )
    return lazy.with_columns(expressions) if expressions else lazy


def count_units(texts: pl.Series) -> dict[str, int]:
    """Count the texts that are written with each unit of amounts; a text with two units counts for both."""
    signs = texts.str.extract_all(_UNIT_PATTERN).list.unique().explode(empty_as_null=False).drop_nulls()
    counted = signs.value_counts(sort=True)
    return dict(sorted(zip(counted[texts.name].to_list(), counted["count"].to_list(), strict=True)))


def parse_stated(rows: Table, columns: Mapping[str, ColumnDeclaration], types: Mapping[str, str]) -> Table:
    """Parse a table's columns as a manifest states them; a column that does not parse stays as it is."""
    schema = rows.collect_schema()
    for name, column in columns.items():
        if name not in schema or not needs_parsing(schema[name], column):
            continue
        distinct = collect_frame(
            rows.lazy().select(pl.col(name).drop_nulls().unique()), f"Reading column {name!r}", "streaming"
        )[name]
        distinct = distinct.cast(pl.String) if is_text(distinct.dtype) else distinct
        expression = build_parse_expression(distinct, column, day=types[name] == "Date")
        if expression is not None and not distinct.to_frame().select(expression.is_null().any()).item():
            rows = rows.with_columns(expression.alias(name))
    return rows


def needs_parsing(dtype: pl.DataType, column: ColumnDeclaration) -> bool:
    """Tell whether a column's values are to be parsed.

    They are not if they are only counted, carried as they are, or leaves of a given hierarchy in their spelling.
    """
    built = column.hierarchy is None or isinstance(column.hierarchy, Mapping) or column.format in NUMBER_FORMATS
    if column.role == "identifying" or not built:
        return False
    if is_text(dtype):
        return column.format is not None or (column.type == "date" and column.role != "insensitive")
    return isinstance(dtype, pl.Datetime) and column.role == "quasi-identifying" and column.type in (None, "date")


def build_parse_expression(
    distinct: pl.Series, column: ColumnDeclaration, *, day: bool | None = None
) -> pl.Expr | None:
    """Build the expression that parses a column's values, null where they do not parse.

    It is None if values are left as they are. `day` selects days or moments; without it, moments that are all
    midnights are days, and so are those that a calendar is built over.
    """
    value = pl.col(distinct.name)
    text = value.cast(pl.String).str.strip_chars()
    if column.format in NUMBER_FORMATS:
        return _parse_number(text, *NUMBER_FORMATS[column.format])
    parsed: pl.Expr | None
    if isinstance(distinct.dtype, pl.Datetime):
        parsed = value
    elif column.format is None:
        parsed = _parse_iso(distinct.str.strip_chars(), text)
    else:
        parsed = _parse_formatted(text, column.format)
    if parsed is None:
        return None
    moments = distinct.to_frame().select(parsed.alias("read"))["read"]
    if day is None:
        built = isinstance(column.hierarchy, Mapping) and column.hierarchy.get("build") == "dates"
        day = built or _are_midnights(moments)
    if day and moments.dtype != pl.Date:
        return parsed.dt.date()
    return None if parsed is value else parsed


def _make_mixed_units_error(name: str, distinct: int, units: Mapping[str, int]) -> ColumnError:
    counts = ", ".join(f"{count:,} in {unit}" for unit, count in units.items())
    return ColumnError(
        f"Column {name!r} is declared a number, and its values are in {len(units)} units: of {distinct:,} distinct ones {counts}.",
        why="Read as one unit, amounts would be compared and added that are not alike.",
        attempt='one unit for all of them, a column for each, or type = "categorical".',
    )


def _parse_number(text: pl.Expr, thousands: str, decimals: str) -> pl.Expr:
    plain = text.str.replace_all(_MONEY_PATTERN, "")
    is_number = plain.str.contains(
        rf"^[+-]?(\d+|\d{{1,3}}({re.escape(thousands)}\d{{3}})+)({re.escape(decimals)}\d+)?$"
    )
    point = plain.str.replace_all(thousands, "", literal=True).str.replace(decimals, ".", literal=True)
    return pl.when(is_number).then(point.cast(pl.Float64, strict=False))


def _parse_iso(distinct: pl.Series, text: pl.Expr) -> pl.Expr | None:
    """Parse ISO 8601: days are left as they are; moments with a zone are read in UTC."""
    if not len(distinct) or distinct.str.contains(_DAY_PATTERN).all():
        return None
    joined = text.str.replace(" ", "T", literal=True)
    if distinct.str.contains(_ZONED_PATTERN).any():
        completed = joined.str.replace(r"T(\d{2}:\d{2})(Z|[+-])", "T$1:00$2").str.replace(
            r"([+-]\d{2})(\d{2})$", "$1:$2"
        )
        return completed.str.to_datetime("%+", time_unit="us", strict=False, time_zone="UTC")
    return pl.coalesce(
        joined.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False),
        joined.str.to_datetime("%Y-%m-%dT%H:%M", time_unit="us", strict=False),
        text.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")),
    )


def _parse_formatted(text: pl.Expr, format: str) -> pl.Expr:
    try:
        if re.search(r"%[zZ:+]", format):
            return text.str.to_datetime(format, time_unit="us", strict=False, time_zone="UTC")
        if re.search(r"%-?[HIkMSTRpf.]|%X|%s|%c", format):
            return text.str.to_datetime(format, time_unit="us", strict=False)
        return text.str.to_date(format, strict=False)
    except pl.exceptions.PolarsError:
        raise JobError(f"format = {format!r} is none of a date.", attempt='format = "%m/%d/%Y".') from None


def _are_midnights(moments: pl.Series) -> bool:
    """Tell whether there are moments without a zone, and each is the beginning of a day."""
    present = moments.drop_nulls()
    is_plain = isinstance(present.dtype, pl.Datetime) and present.dtype.time_zone is None and len(present) > 0
    return is_plain and bool((present.dt.date().cast(present.dtype) == present).all())
