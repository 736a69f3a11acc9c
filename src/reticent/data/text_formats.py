"""Parses dates and numbers as people write them into typed values; publish and audit use the same functions.

A column's `format` declares how its text is written: `%m/%d/%Y` and similar for days and moments (chrono's
directives; with `%z` a moment is read in UTC), `1,234.5` or `1.234,5` for numbers, with or without a currency sign.

Several formats: a list of them, all of dates or all of numbers. A text is read by the first format of the list that
reads it. A text that two of them read as different values is refused with a count, because nothing but the order of
the list would decide (`03/04/2020` by `%m/%d/%Y` and `%d/%m/%Y`); `ambiguous = "first"` lets the order decide. In a
list the year of `%Y` has four digits, so that `%Y` and `%y` never read the same text.

Currencies: a number format may have a sign (`$1,234.5`, `1.234,5 EUR`): it reads texts with that sign, and formats
without a sign read the texts whose sign no other format has. Amounts with different signs are refused with a count of
each, unless `rates` says what each is worth in the unit of the column, or that amounts in it count as missing.

Without a format a column of type `date` may be written `2020-01-31`, `2020-01-31 13:45:00`, `2020-01-31T13:45Z` or
`2020-01-31T13:45+02:00`. Moments that are all midnights are days: that is how pandas holds days.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, TypeVar

import polars as pl

from reticent.catalogue.job_fields import COLUMN_FIELDS, MAX_FORMATS, MISSING_RATE, UNITS
from reticent.data.declared_hierarchy import is_built_from_values
from reticent.data.source import collect_frame, is_text
from reticent.errors import ColumnError, JobError, quote_list

NUMBER_FORMATS = {"1,234.5": (",", "."), "1.234,5": (".", ",")}
"""How numbers are written: the marks of thousands and of decimals."""
_UNIT_PATTERN = r"([$€£¥]|\b(?:USD|EUR|GBP|CHF)\b)"
_MONEY_PATTERN = rf"\s|{_UNIT_PATTERN}"
_ZONED_PATTERN = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$"
_DAY_PATTERN = r"^\d{4}-\d{2}-\d{2}$"
_ZONE_DIRECTIVE = re.compile(r"%[zZ:+]")
_TIME_DIRECTIVE = re.compile(r"%-?[HIkMSTRpf.]|%X|%s|%c")
_FIRST_LONG_YEAR = 1000  # the first that %Y reads in a list of formats
_CENTS = 2  # decimals of a converted amount
_MAX_PAIRS_SHOWN = 3  # pairs of formats that an error names
Formats = str | Sequence[str] | None
Table = TypeVar("Table", pl.DataFrame, pl.LazyFrame)


class ColumnDeclaration(Protocol):
    """The fields that are read of a column declaration, a job's or a manifest's."""

    @property
    def role(self) -> str: ...

    @property
    def type(self) -> str | None: ...

    @property
    def format(self) -> Formats: ...

    @property
    def rates(self) -> Mapping[str, Any] | None: ...

    @property
    def hierarchy(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How numbers are written: the marks of thousands and decimals, and the currency sign that such a text has."""

    thousands: str
    decimals: str
    unit: str | None = None


def parse_number_format(format: str) -> NumberFormat | None:
    """Parse `1,234.5` or `1.234,5`, with or without a currency sign before or after; None if it is no such format."""
    for plain, (thousands, decimals) in NUMBER_FORMATS.items():
        before, number, after = format.partition(plain)
        units = [text for text in (before.strip(), after.strip()) if text]
        if number and not units:
            return NumberFormat(thousands, decimals)
        if number and len(units) == 1 and units[0] in UNITS:
            return NumberFormat(thousands, decimals, units[0])
    return None


def list_formats(format: Formats) -> tuple[str, ...]:
    """List the formats of a column; none if it declares no format."""
    if format is None:
        return ()
    return (format,) if isinstance(format, str) else tuple(format)


def accept_formats(format: Any) -> str | tuple[str, ...]:
    """Return a column's format, or several as a tuple; a list of one format is that format."""
    if isinstance(format, str):
        return format
    is_list = isinstance(format, list | tuple) and bool(format)
    if not is_list or len(format) > MAX_FORMATS or not all(isinstance(entry, str) for entry in format):
        raise JobError(COLUMN_FIELDS["format"].refusal, attempt=COLUMN_FIELDS["format"].attempt)
    if len(set(format)) < len(format):
        raise JobError("format lists a format twice.", attempt="each format once.")
    return format[0] if len(format) == 1 else tuple(format)


def parse_format_type(format: Formats, type: str | None) -> str:
    """Return the type that a column's formats give it: "date" or "numeric"."""
    formats = list_formats(format)
    types = {entry: _find_format_type(entry) for entry in formats}
    for entry, format_type in types.items():
        if format_type is None or type not in (None, format_type):
            raise JobError(
                f"format = {entry!r} does not say how a {type or 'date or number'} is written.",
                attempt='format = "%m/%d/%Y" for dates, or "1,234.5" or "1.234,5" for numbers.',
            )
    for entry, format_type in types.items():
        if format_type == "date":
            _require_date_format(entry)
    if len(set(types.values())) > 1:
        raise JobError(
            "format lists formats of dates and of numbers.", attempt="formats of dates alone, or of numbers alone."
        )
    if len({_ZONE_DIRECTIVE.search(entry) is not None for entry in formats}) > 1:
        raise JobError(
            "format lists moments with a zone (%z) beside others without one.",
            why="Which moment a text without a zone means cannot be told.",
            attempt="formats that all have a zone, or none.",
        )
    return str(types[formats[0]])


def require_rates(rates: Mapping[str, Any], format: Formats) -> None:
    """Refuse rates of signs that are not recognised, and rates of a column that has no number format."""
    unknown = [unit for unit in rates if unit not in UNITS]
    formats = list_formats(format)
    if unknown:
        raise JobError(f"rates: {quote_list(unknown)} is no known currency sign.", attempt=f"{', '.join(UNITS)}.")
    if not formats or parse_number_format(formats[0]) is None:
        raise JobError("rates is for columns with a number format.", attempt='format = "1,234.5" beside it.')


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
        if is_text(distinct.dtype):
            _require_known_units(name, distinct, column)
            _require_unambiguous(name, distinct, column)
        if unread := _count_unread(distinct, column, expression):
            faults.append(
                f"Column {name!r} is declared {_describe_formats(column)}, but {unread:,} of its {len(distinct):,} distinct "
                "values do not read as one."
            )
        expressions.append(expression.alias(name))
    if faults:
        raise ColumnError(
            "\n".join(faults),
            attempt='the format it is written in, missing = ["?"] in [source] if they stand for nothing, '
            'or type = "categorical" without a format.',
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
        if expression is not None and not _count_unread(distinct, column, expression):
            rows = rows.with_columns(expression.alias(name))
    return rows


def needs_parsing(dtype: pl.DataType, column: ColumnDeclaration) -> bool:
    """Tell whether a column's values are to be parsed.

    They are not if they are only counted, carried as they are, or leaves of a given hierarchy in their spelling.
    """
    built = column.hierarchy is None or is_built_from_values(column.hierarchy) or _has_number_formats(column)
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
    if _has_number_formats(column):
        return pl.coalesce(_build_readings(text, column))
    parsed: pl.Expr | None
    if isinstance(distinct.dtype, pl.Datetime):
        parsed = value
    elif column.format is None:
        parsed = _parse_iso(distinct.str.strip_chars(), text)
    else:
        parsed = pl.coalesce(_build_readings(text, column))
    if parsed is None:
        return None
    moments = distinct.to_frame().select(parsed.alias("read"))["read"]
    if day is None:
        built = isinstance(column.hierarchy, Mapping) and column.hierarchy.get("build") == "dates"
        day = built or _are_midnights(moments)
    if day and moments.dtype != pl.Date:
        return parsed.dt.date()
    return None if parsed is value else parsed


def build_reading_table(distinct: pl.Series, column: ColumnDeclaration) -> pl.DataFrame:
    """Read texts by each format of a column: a table with a column for each format, null where it does not read."""
    text = pl.col(distinct.name).cast(pl.String).str.strip_chars()
    readings = _build_readings(text, column)
    return distinct.to_frame().select(
        reading.alias(format) for format, reading in zip(list_formats(column.format), readings, strict=True)
    )


def find_ambiguous(readings: pl.DataFrame) -> pl.Series:
    """Find the texts that two formats read as different values, in a table of `build_reading_table`."""
    return readings.select((pl.min_horizontal(pl.all()) != pl.max_horizontal(pl.all())).fill_null(False)).to_series()


def _find_format_type(format: str) -> str | None:
    if parse_number_format(format) is not None:
        return "numeric"
    return "date" if "%" in format else None


def _has_number_formats(column: ColumnDeclaration) -> bool:
    formats = list_formats(column.format)
    return bool(formats) and parse_number_format(formats[0]) is not None


def _describe_formats(column: ColumnDeclaration) -> str:
    formats = list_formats(column.format)
    if not formats:
        return "a date (YYYY-MM-DD, or an ISO date and time)"
    kind = "a number" if _has_number_formats(column) else "a date"
    return f"{kind} written {' or '.join(map(repr, formats))}"


def _build_readings(text: pl.Expr, column: ColumnDeclaration) -> list[pl.Expr]:
    """Build the expression of each format of a column, null where it does not read a text."""
    formats = list_formats(column.format)
    number_formats = [number for format in formats if (number := parse_number_format(format)) is not None]
    if number_formats:
        return [_parse_amount(text, number, number_formats, column.rates) for number in number_formats]
    if len(formats) == 1:
        return [_parse_formatted(text, formats[0])]
    has_times = any(_TIME_DIRECTIVE.search(format) or _ZONE_DIRECTIVE.search(format) for format in formats)
    readings = [_parse_with_long_year(text, format) for format in formats]
    if not has_times:
        return readings
    is_zoned = any(_ZONE_DIRECTIVE.search(format) for format in formats)
    return [reading.cast(pl.Datetime("us", "UTC" if is_zoned else None)) for reading in readings]


def _parse_with_long_year(text: pl.Expr, format: str) -> pl.Expr:
    """Parse by one format of several: `%Y` does not read years of fewer than four digits, which are for `%y`."""
    reading = _parse_formatted(text, format)
    return pl.when(reading.dt.year() >= _FIRST_LONG_YEAR).then(reading) if "%Y" in format else reading


def _count_unread(distinct: pl.Series, column: ColumnDeclaration, expression: pl.Expr) -> int:
    """Count the texts that do not read as declared; amounts in a currency that counts as missing are none of them."""
    unread = expression.is_null()
    if missing := _list_missing_units(column):
        unit = pl.col(distinct.name).cast(pl.String).str.extract(_UNIT_PATTERN)
        unread &= ~unit.is_in(missing).fill_null(False)
    return int(distinct.to_frame().select(unread.sum()).item())


def _list_missing_units(column: ColumnDeclaration) -> list[str]:
    return [unit for unit, rate in (column.rates or {}).items() if rate == MISSING_RATE]


def _require_unambiguous(name: str, distinct: pl.Series, column: ColumnDeclaration) -> None:
    """Refuse texts that two formats read as different values, unless the order of the list is to decide."""
    formats = list_formats(column.format)
    if len(formats) < 2 or getattr(column, "ambiguous", "refuse") == "first":
        return
    readings = build_reading_table(distinct, column)
    if not (ambiguous := int(find_ambiguous(readings).sum())):
        return
    pairs = {pair: int(find_ambiguous(readings.select(pair)).sum()) for pair in combinations(formats, 2)}
    worst = sorted((pair for pair in pairs if pairs[pair]), key=lambda pair: -pairs[pair])[:_MAX_PAIRS_SHOWN]
    listed = ", ".join(f"{pairs[pair]:,} by {quote_list(pair)}" for pair in worst)
    raise ColumnError(
        f"Column {name!r}: {ambiguous:,} of its {len(distinct):,} distinct values read differently by two of its "
        f"formats: {listed}.",
        why="Nothing but the order of the list would say which is meant.",
        attempt='one format of each such pair, or ambiguous = "first" if the first format of the list that reads a '
        "value is the right one.",
    )


def _require_known_units(name: str, distinct: pl.Series, column: ColumnDeclaration) -> None:
    """Refuse amounts in several currencies, unless each of them has a rate."""
    if not _has_number_formats(column):
        return
    units = count_units(distinct)
    rates = column.rates or {}
    unknown = [unit for unit in units if unit not in rates]
    if not unknown or (len(units) < 2 and not rates):
        return
    counts = ", ".join(f"{count:,} in {unit}" for unit, count in units.items())
    lacking = f" {quote_list(unknown)} {'has' if len(unknown) == 1 else 'have'} no rate." if rates else ""
    example = ", ".join(f'"{unit}" = {1 if position == 0 else 1.08}' for position, unit in enumerate(units))
    last = list(units)[-1]
    raise ColumnError(
        f"Column {name!r} is declared a number, and its values are in {len(units)} units: of {len(distinct):,} distinct "
        f"ones {counts}.{lacking}",
        why="Read as one unit, amounts would be compared and added that are not alike.",
        attempt=f'what each is worth: rates = {{ {example} }}, where "{last}" = "missing" makes such amounts missing; '
        'or type = "categorical" without format and rates.',
    )


def _parse_amount(
    text: pl.Expr, format: NumberFormat, formats: Sequence[NumberFormat], rates: Mapping[str, Any] | None
) -> pl.Expr:
    """Parse the amounts whose currency sign the format has, converted by their rate."""
    number = _parse_number(text, format.thousands, format.decimals)
    unit = text.str.extract(_UNIT_PATTERN)
    bound = [other.unit for other in formats if other.unit is not None]
    if rates or bound:
        number = pl.when(text.str.count_matches(_UNIT_PATTERN) <= 1).then(number)
    if format.unit is not None:
        number = pl.when((unit == format.unit).fill_null(False)).then(number)
    elif bound:
        number = pl.when(unit.is_in(bound).not_().fill_null(True)).then(number)
    for sign, rate in (rates or {}).items():
        is_sign = (unit == sign).fill_null(False)
        if rate == MISSING_RATE:
            number = pl.when(~is_sign).then(number)
        elif rate != 1:
            number = pl.when(is_sign).then((number * float(rate)).round(_CENTS)).otherwise(number)
    return number


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
    if _ZONE_DIRECTIVE.search(format):
        return text.str.to_datetime(format, time_unit="us", strict=False, time_zone="UTC")
    if _TIME_DIRECTIVE.search(format):
        return text.str.to_datetime(format, time_unit="us", strict=False)
    return text.str.to_date(format, strict=False)


def _require_date_format(format: str) -> None:
    """Refuse a format by which no text can be read as a date, such as one of hours without minutes."""
    try:
        pl.select(_parse_formatted(pl.lit("2001-12-31"), format))
    except pl.exceptions.PolarsError:
        raise JobError(
            f"format = {format!r} is none of a date, or of a date and a time.",
            why="A time has hours and minutes.",
            attempt='format = "%m/%d/%Y", or format = "%Y-%m-%d %H:%M".',
        ) from None


def _are_midnights(moments: pl.Series) -> bool:
    """Tell whether there are moments without a zone, and each is the beginning of a day."""
    present = moments.drop_nulls()
    is_plain = isinstance(present.dtype, pl.Datetime) and present.dtype.time_zone is None and len(present) > 0
    return is_plain and bool((present.dt.date().cast(present.dtype) == present).all())
