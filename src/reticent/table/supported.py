"""Which types of column can be published in which role: any other is refused by its name before a row is counted.

Whatever is published is compared, printed and read back, from Parquet and from CSV.  Nested values, bytes, spans of
time and objects of a program cannot be, and are refused in every role.  Numbers of 128 bits and of half precision,
which the files cannot hold, may identify, since an identifying column is counted and never written; and may be
rounded, since that makes other numbers of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from reticent.errors import ColumnError, some
from reticent.table.roles import Column, Role

PUBLISHED = (
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal,
    pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null,
)  # fmt: skip
NESTED = (pl.List, pl.Array, pl.Duration, pl.Object)
INSTEAD = {
    pl.Duration: "the number of seconds or days",
    pl.Binary: "text, hexadecimal for one",
    pl.List: "one column for each entry, or text",
    pl.Array: "one column for each entry, or text",
    pl.Struct: "one column for each field",
}


def refuse_unsupported(schema: Mapping[str, pl.DataType], columns: Mapping[str, Column]) -> None:
    """Refuse every declared column whose type cannot play its role, all of them at once."""
    bad = [name for name, column in columns.items() if not _fits(schema[name], column)]
    if not bad:
        return
    named = [f"{name!r} ({columns[name].role.value}) has the type {schema[name].base_type()}" for name in bad]
    first = schema[bad[0]]
    number = f"{'Float32' if first.is_float() else 'Int64'}, Decimal or text"
    instead = number if first.is_numeric() else INSTEAD.get(first.base_type(), "text or numbers")
    raise ColumnError(
        f"{some(len(bad), 'column', 'has a type that does not go with its role', 'have types that do not go with their roles')}: {'; '.join(named)}.",
        why="Its values cannot be compared, printed and read back in every format of a release.",
        attempt=f'{instead} instead of {first.base_type()}, or leaving the column out with undeclared = "drop".',
    )


def refuse_nested(schema: Mapping[str, pl.DataType], names: Iterable[str]) -> None:
    """Refuse columns of a plain table whose values are no texts and cannot be made some: lists and spans of time."""
    bad = [name for name in names if isinstance(schema[name], NESTED)]
    if not bad:
        return
    named = [f"{name!r} has the type {schema[name].base_type()}" for name in bad]
    first = schema[bad[0]].base_type()
    raise ColumnError(
        f"{some(len(bad), 'column', 'holds', 'hold')} values that cannot be compared: {'; '.join(named)}.",
        attempt=f"{INSTEAD.get(first, 'text')} instead of {first}, or naming the other columns (--quasi, or a job).",
    )


def _fits(dtype: pl.DataType, column: Column) -> bool:
    unwritten = column.role is Role.IDENTIFYING or column.round_to is not None
    return isinstance(dtype, PUBLISHED) or (dtype.is_numeric() and unwritten)
