"""The combinations that GROUP BY asks for: of exact columns those that occur, of labels and of the sensitive column those possible.

Beside them a line of all others, where labels or withheld rows may hide some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import polars as pl

from reticent.errors import RequestError
from reticent.release.asking.condition import AMONG, NULL, Atom, Condition, Joined, Negated, both
from reticent.release.asking.source_values import AS_PUBLISHED, covers_other_values, find_place
from reticent.release.column_entry import ColumnEntry
from reticent.release.kind import Reader, Tables
from reticent.release.manifest import Manifest
from reticent.release.reading.line import Line as LabelLine
from reticent.release.reading.scale import scale
from reticent.table.grammar import ANY
from reticent.table.roles import Role
from reticent.table.types import dtype_named, typed

MOST = 1_000  # values of a column that is published as ranges
COMBINED = 100_000
OTHER = "any other value"
"""What the line of a question by groups is called that stands for all groups without a line of their own."""


@dataclass(frozen=True, eq=False)
class Line:
    """A group that is asked for: its keys as they are shown, the condition that selects it, and whether it is all that others are not."""

    keys: dict[str, Any]
    condition: Condition | None
    rest: bool = False
    empty: bool = False  # no published row is in it


@dataclass(frozen=True, slots=True)
class _Key:
    """One value of a column of GROUP BY: as it is shown, and the atom that selects it."""

    shown: Any
    order: Any
    atom: Atom


def keyed(kind: Reader, tables: Tables, manifest: Manifest, by: Sequence[str]) -> Iterator[Line]:
    """Each combination with the condition that selects it; without GROUP BY the one that selects everything.

    The last line is of what no other shows, where there may be such: values that only `*` covers, and groups of withheld rows.
    """
    if not by:
        yield Line({}, None)
        return
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
    keys = [{name: _key(entries[name], one[name]) for name in by} for one in found]
    for one in sorted(keys, key=lambda one: [_place(one[name].order) for name in by]):
        yield Line({name: key.shown for name, key in one.items()}, both(*(key.atom for key in one.values())))
    open_ended = [
        _exclude_listed(entries[name], values)
        for name, values in zip(guessed, possible, strict=True)
        if entries[name].role == Role.QUASI and covers_other_values(entries[name])
    ]
    if open_ended or manifest.withheld:
        nobody = Atom(by[0], AMONG, ())
        others = Joined(False, (nobody, *open_ended))
        yield Line(dict.fromkeys(by, OTHER), others, rest=True, empty=not open_ended)


def _key(entry: ColumnEntry, value: Any) -> _Key:
    """A value beyond which nothing is told apart stands for all beyond it, a rounded one for all that are rounded to it."""
    if value is None:
        return _Key(None, None, Atom(entry.name, NULL))
    if entry.round_to is not None:
        shown = value or abs(value)  # numbers just below zero are rounded to -0.0, which is 0
        return _Key(f"{shown}, rounded to {entry.round_to}", value, Atom(AS_PUBLISHED + entry.name, "=", value))
    for end, test, words in ((entry.bottom, "<=", ("less", "earlier")), (entry.top, ">=", ("more", "later"))):
        if end is not None and find_place(entry, value) == find_place(entry, _typed_end(entry, end)):
            shown = f"{value} or {words[entry.type == 'date']}"
            return _Key(shown, value, Atom(entry.name, test, value))
    return _Key(value, value, Atom(entry.name, "=", value))


def _typed_end(entry: ColumnEntry, end: Any) -> Any:
    return str(end) if dtype_named(entry.dtype).is_temporal() else end


def _exclude_listed(entry: ColumnEntry, values: Sequence[Any]) -> Condition:
    """The condition that a column has none of the values that have a line; where a missing one has none, it may be missing."""
    keys = [_key(entry, value) for value in values]
    listed = [key.atom.value for key in keys if key.atom.test == "="]
    if entry.type in ("numeric", "date") and listed:  # all values of a stretch
        among: Condition = Joined(True, (Atom(entry.name, ">=", min(listed)), Atom(entry.name, "<=", max(listed))))
    else:
        among = Atom(entry.name, AMONG, tuple(listed))
    beyond = [key.atom for key in keys if key.atom.test in ("<=", ">=")]
    others: Condition = Joined(True, tuple(Negated(part) for part in (among, *beyond)))
    return others if None in values else Joined(False, (others, Atom(entry.name, NULL)))


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
    missing = [None] if None in labels or ANY in labels else []
    if not isinstance(column, LabelLine):
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
