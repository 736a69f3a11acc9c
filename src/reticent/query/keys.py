"""The combinations that GROUP BY asks for: of exact columns those that occur, of labels and of the sensitive column those possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import polars as pl

from reticent.errors import RequestError
from reticent.release.asking.condition import NULL, Atom, Condition, both
from reticent.release.column_entry import ColumnEntry
from reticent.release.kind import Reader, Tables
from reticent.release.manifest import Manifest
from reticent.release.reading.line import Line
from reticent.release.reading.scale import scale
from reticent.table.roles import Role
from reticent.table.types import dtype_named, typed

MOST = 1_000  # values of a column that is published as ranges
COMBINED = 100_000


def keyed(
    kind: Reader, tables: Tables, manifest: Manifest, by: Sequence[str]
) -> Iterator[tuple[dict[str, Any], Condition | None]]:
    """Each combination with the condition that selects it; without GROUP BY the one that selects everything."""
    rows = tables[kind.files[0]]
    entries = {column.name: column for column in manifest.columns}
    guessed = [name for name in by if _guessed(kind, entries[name], rows)]
    exact = [name for name in by if name not in guessed]
    shown = rows.select(exact).unique().rows() if exact else [()]
    possible = [_possible(kind, tables, manifest, entries[name]) for name in guessed]
    if len(shown) * prod(map(len, possible)) > COMBINED:
        raise RequestError(
            f"GROUP BY asks for more than {COMBINED:,} combinations.", attempt="fewer columns, or coarser ones."
        )
    order = [*exact, *guessed]
    found = [dict(zip(order, (*some, *others), strict=True)) for some in shown for others in product(*possible)]
    for keys in sorted(found, key=lambda keys: [_place(keys[name]) for name in by]):
        named = {name: keys[name] for name in by}
        yield (
            named,
            both(*(Atom(name, NULL) if value is None else Atom(name, "=", value) for name, value in named.items())),
        )


def _place(value: Any) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)


def _guessed(kind: Reader, entry: ColumnEntry, rows: pl.DataFrame) -> bool:
    """Whether a row does not say its value: labels, and a sensitive column whose values are elsewhere or were redrawn."""
    if entry.role == Role.QUASI:
        return kind.labelled
    return entry.role == Role.SENSITIVE and kind.elsewhere


def _possible(kind: Reader, tables: Tables, manifest: Manifest, entry: ColumnEntry) -> list[Any]:
    if entry.role == Role.SENSITIVE:
        return kind.domain(tables, manifest).to_list()
    labels = tables[kind.files[0]][entry.name].unique().to_list()
    column = scale(entry, labels)
    missing = [None] if None in labels else []
    if not isinstance(column, Line):
        return [*typed(column.values(column.read(labels)), entry.dtype).to_list(), *missing]
    if column.kind == "ordinal":
        return [*typed(list(entry.order or ()), entry.dtype).to_list(), *missing]
    whole = column.kind == "date" or entry.dtype.startswith(("Int", "UInt"))
    if column.span is None or not whole or column.span[1] - column.span[0] >= MOST:
        raise RequestError(
            f"GROUP BY {entry.name!r} is not answered: its labels cover more than {MOST:,} values.",
            attempt=f"conditions on {entry.name}, one question for each range.",
        )
    values = pl.Series(range(int(column.span[0]), int(column.span[1]) + 1), dtype=pl.Int64)
    return [
        *values.cast(pl.Int32 if entry.dtype == "Date" else pl.Int64).cast(dtype_named(entry.dtype)).to_list(),
        *missing,
    ]
