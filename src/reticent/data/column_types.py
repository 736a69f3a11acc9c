"""Types of a source's columns: which ones the source itself declares, and which can be published in which role.

A frame, a Parquet or Arrow file, a database and a file of a statistics program declare which columns are text: a text
stays text there, whatever it spells ("1", "2" and "9" are codes). A CSV has nothing but text, and its types are
guessed from the values.

`require_supported_types` refuses a type that cannot be published in its role, by the column's name, before a row is
counted. Published values are compared, printed and read back, from Parquet and from CSV. Nested values, bytes,
durations and objects of a program cannot be, and are refused in every role. Numbers of 128 bits and of half
precision, which the files cannot hold, may be identifying, since an identifying column is counted and never written;
they may also be rounded, since that turns them into other numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from reticent.data.columns import Column, Role
from reticent.data.domain import Domain
from reticent.data.files import CSV_SUFFIXES, resolve_files
from reticent.data.parsing import spells_numbers
from reticent.data.source import Source, TextRows, is_text
from reticent.errors import ColumnError, pluralize, quote_list

PUBLISHABLE_TYPES = (
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal,
    pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null,
)  # fmt: skip
NESTED_TYPES = (pl.List, pl.Array, pl.Duration, pl.Object)
SUGGESTED_TYPES = {
    pl.Duration: "the number of seconds or days",
    pl.Binary: "text, hexadecimal for one",
    pl.List: "one column for each entry, or text",
    pl.Array: "one column for each entry, or text",
    pl.Struct: "one column for each field",
}


def has_types(source: Source, frame: Any = None) -> bool:
    """Tell whether the source declares which of its columns are text and which are numbers."""
    if isinstance(frame, TextRows):
        return False
    if frame is not None:
        return bool(getattr(frame, "has_types", True))  # rows that an engine holds elsewhere know where they came from
    return source.url is not None or source.path is None or resolve_files(source.path).suffix not in CSV_SUFFIXES


def apply_source_types(columns: Mapping[str, Column], schema: Mapping[str, pl.DataType]) -> dict[str, Column]:
    """Make text columns of a typed source categorical, unless a type is declared."""
    return {
        name: replace(column, type="categorical") if _is_undeclared(column) and is_text(schema[name]) else column
        for name, column in columns.items()
    }


def describe_types(
    columns: Mapping[str, Column], domains: Iterable[Domain], schema: Mapping[str, pl.DataType], *, typed: bool
) -> list[str]:
    """Describe text columns without a declared type: taken for numbers in a CSV, kept as text elsewhere.

    `columns` are as they were declared, `schema` is that of the source.
    """
    numeric = []
    categorical = []
    for domain in domains:
        if not _is_undeclared(columns[domain.name]) or not is_text(schema[domain.name]):
            continue
        if domain.kind == "numeric":
            numeric.append(domain.name)
        elif typed and domain.kind == "categorical" and spells_numbers(pl.Series(domain.texts, dtype=pl.String)):
            categorical.append(domain.name)
    sentences = []
    if numeric:
        sentences.append(
            f"{_format_columns(numeric)} read as numbers: a CSV says no types, and every value is one. "
            'Codes are no numbers: type = "categorical" says so, type = "numeric" confirms the guess.'
        )
    if categorical:
        sentences.append(
            f"{_format_columns(categorical)} read as categories: the source says text, though every value is a number. "
            'type = "numeric" reads amounts.'
        )
    return sentences


def require_supported_types(schema: Mapping[str, pl.DataType], columns: Mapping[str, Column]) -> None:
    """Refuse all declared columns whose type cannot have its role, in one error."""
    bad = [name for name, column in columns.items() if not _is_supported(schema[name], column)]
    if not bad:
        return
    named = [f"{name!r} ({columns[name].role.value}) has the type {schema[name].base_type()}" for name in bad]
    first = schema[bad[0]]
    number = f"{'Float32' if first.is_float() else 'Int64'}, Decimal or text"
    instead = number if first.is_numeric() else SUGGESTED_TYPES.get(first.base_type(), "text or numbers")
    raise ColumnError(
        f"{pluralize(len(bad), 'column', 'has a type that does not go with its role', 'have types that do not go with their roles')}: {'; '.join(named)}.",
        why="Its values cannot be compared, printed and read back in every format of a release.",
        attempt=f'{instead} instead of {first.base_type()}, or leaving the column out with undeclared = "drop".',
    )


def require_no_nested(schema: Mapping[str, pl.DataType], names: Iterable[str]) -> None:
    """Refuse columns of a plain table whose values cannot be made texts: lists and durations."""
    bad = [name for name in names if isinstance(schema[name], NESTED_TYPES)]
    if not bad:
        return
    named = [f"{name!r} has the type {schema[name].base_type()}" for name in bad]
    first = schema[bad[0]].base_type()
    raise ColumnError(
        f"{pluralize(len(bad), 'column', 'holds', 'hold')} values that cannot be compared: {'; '.join(named)}.",
        attempt=f"{SUGGESTED_TYPES.get(first, 'text')} instead of {first}, or naming the other columns (--quasi, or a job).",
    )


def _format_columns(names: list[str]) -> str:
    return f"Column {quote_list(names)} is" if len(names) == 1 else f"Columns {quote_list(names)} are"


def _is_undeclared(column: Column) -> bool:
    """Tell whether nothing that is declared of a column determines the type of its values."""
    options = (column.type, column.hierarchy, column.domain, column.top, column.bottom)
    return column.role in (Role.QUASI, Role.SENSITIVE) and all(option is None for option in options)


def _is_supported(dtype: pl.DataType, column: Column) -> bool:
    unwritten = column.role is Role.IDENTIFYING or column.round_to is not None
    return isinstance(dtype, PUBLISHABLE_TYPES) or (dtype.is_numeric() and unwritten)
