"""The groups of GROUP BY: for exact columns those that occur, for labels and the sensitive column those that are
possible.

If labels or withheld rows may hide others, one more line stands for all of these.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import polars as pl

from reticent.data.columns import Role
from reticent.data.label_grammar import ANY_LABEL
from reticent.data.parsing import parse_dtype, parse_texts
from reticent.errors import RequestError
from reticent.estimate.condition import (
    IS_AMONG,
    IS_NULL,
    Atom,
    CompoundCondition,
    Condition,
    NegatedCondition,
    join_conditions,
)
from reticent.estimate.source_values import AS_PUBLISHED_PREFIX, covers_other_values, find_limits, find_place
from reticent.format.data_files import Tables
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.labels.scale import LineScale, make_scale
from reticent.release.kind import Reader

MAX_RANGE_VALUES = 1_000  # values of a column that is published as ranges
MAX_COMBINATIONS = 100_000
OTHER_GROUPS_TEXT = "any other value"
"""What the line of a question by groups is called that stands for all groups without a line of their own."""


@dataclass(frozen=True, eq=False)
class GroupSelection:
    """One group: its keys as they are shown, the condition that selects it, and whether it is the rest of all other groups.

    `sort_keys` are the values by which lines are sorted, where what is shown is a text such as `80 or more`.
    """

    keys: dict[str, Any]
    condition: Condition | None
    rest: bool = False
    empty: bool = False  # no published row is in it
    sort_keys: dict[str, Any] = field(default_factory=dict)


def iterate_groups(kind: Reader, tables: Tables, manifest: Manifest, by: Sequence[str]) -> Iterator[GroupSelection]:
    """Yield each combination with the condition that selects it; without GROUP BY the one that selects everything.

    The last line is the rest, if there may be one: values that only `*` covers, and groups of withheld rows.
    """
    if not by:
        yield GroupSelection({}, None)
        return
    rows = tables[kind.files[0]]
    entries = {column.name: column for column in manifest.columns}
    uncertain = [name for name in by if _is_uncertain(kind, entries[name], rows)]
    exact = [name for name in by if name not in uncertain]
    occurring = rows.select(exact).unique().rows() if exact else [()]
    possible = [
        _drop_values_beyond_ends(entries[name], _list_possible_values(kind, tables, manifest, entries[name]))
        for name in uncertain
    ]
    if len(occurring) * prod(map(len, possible)) > MAX_COMBINATIONS:
        raise RequestError(
            f"GROUP BY asks for more than {MAX_COMBINATIONS:,} combinations.", attempt="fewer columns, or coarser ones."
        )
    order = [*exact, *uncertain]
    combinations = [
        dict(zip(order, (*exact_values, *uncertain_values), strict=True))
        for exact_values in occurring
        for uncertain_values in product(*possible)
    ]
    keys = [{name: _make_key(entries[name], combination[name]) for name in by} for combination in combinations]
    for combination in sorted(keys, key=lambda combination: [_make_sort_key(combination[name].order) for name in by]):
        yield GroupSelection(
            {name: key.shown for name, key in combination.items()},
            join_conditions(*(key.atom for key in combination.values())),
            sort_keys={name: key.order for name, key in combination.items()},
        )
    open_ended = [
        _exclude_listed(entries[name], values)
        for name, values in zip(uncertain, possible, strict=True)
        if entries[name].role == Role.QUASI and _may_have_other_values(entries[name], values)
    ]
    if open_ended or manifest.withheld:
        selects_nobody = Atom(by[0], IS_AMONG, ())
        others = CompoundCondition(False, (selects_nobody, *open_ended))
        yield GroupSelection(dict.fromkeys(by, OTHER_GROUPS_TEXT), others, rest=True, empty=not open_ended)


def _is_uncertain(kind: Reader, entry: ColumnEntry, rows: pl.DataFrame) -> bool:
    """Tell whether rows do not show the column's value: labels, and a sensitive column in another table or perturbed."""
    if entry.role == Role.QUASI:
        return kind.labelled
    return entry.role == Role.SENSITIVE and kind.elsewhere


def _drop_values_beyond_ends(entry: ColumnEntry, values: list[Any]) -> list[Any]:
    """Leave out leaves of a hierarchy below a bottom or above a top: the line of the end is of all that lie beyond it."""
    remaining = values
    for end, lies_beyond in ((entry.bottom, operator.lt), (entry.top, operator.gt)):
        if end is None:
            continue
        limit = find_place(entry, _convert_end(entry, end))
        places = {value: find_place(entry, value) for value in remaining if value is not None}
        beyond = [value for value, place in places.items() if lies_beyond(place, limit)]
        if not beyond:
            continue
        remaining = [value for value in remaining if value not in beyond]
        if limit not in places.values():
            remaining.append(parse_texts([str(end)], entry.dtype)[0])
    return remaining


def _list_possible_values(kind: Reader, tables: Tables, manifest: Manifest, entry: ColumnEntry) -> list[Any]:
    if entry.role == Role.SENSITIVE:
        return kind.domain(tables, manifest).to_list()
    labels = tables[kind.files[0]][entry.name].unique().to_list()
    column = make_scale(entry, labels)
    missing = [None] if None in labels or ANY_LABEL in labels else []
    if not isinstance(column, LineScale):
        return [*parse_texts(column.values(column.read(labels)), entry.dtype).to_list(), *missing]
    if column.kind == "ordinal":
        return [*parse_texts(list(entry.order or ()), entry.dtype).to_list(), *missing]
    has_whole_numbers = column.kind == "date" or entry.dtype.startswith(("Int", "UInt"))
    if column.span is None or not has_whole_numbers or column.span[1] - column.span[0] >= MAX_RANGE_VALUES:
        raise RequestError(
            f"GROUP BY {entry.name!r} is not answered: its labels cover more than {MAX_RANGE_VALUES:,} values.",
            attempt=f"conditions on {entry.name}, one question for each range.",
        )
    values = pl.Series(range(int(column.span[0]), int(column.span[1]) + 1), dtype=pl.Int64)
    return [
        *values.cast(pl.Int32 if entry.dtype == "Date" else pl.Int64).cast(parse_dtype(entry.dtype)).to_list(),
        *missing,
    ]


def _make_key(entry: ColumnEntry, value: Any) -> _GroupKey:
    """Make the key of a value; a top or bottom stands for all values beyond it, a rounded value for all that are rounded to it."""
    if value is None:
        return _GroupKey(None, None, Atom(entry.name, IS_NULL))
    if entry.round_to is not None:
        shown = value or abs(value)  # numbers just below zero are rounded to -0.0, which is 0
        beyond = "".join(
            f" or {word}"
            for end, word in ((entry.bottom, "less"), (entry.top, "more"))
            if end is not None and end == value
        )
        return _GroupKey(
            f"{shown}{beyond}, rounded to {entry.round_to}", value, Atom(AS_PUBLISHED_PREFIX + entry.name, "=", value)
        )
    for end, test, words in ((entry.bottom, "<=", ("less", "earlier")), (entry.top, ">=", ("more", "later"))):
        if end is not None and find_place(entry, value) == find_place(entry, _convert_end(entry, end)):
            shown = f"{value} or {words[isinstance(end, str)]}"
            return _GroupKey(shown, value, Atom(entry.name, test, value))
    return _GroupKey(value, value, Atom(entry.name, "=", value))


def _make_sort_key(value: Any) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)


def _exclude_listed(entry: ColumnEntry, values: Sequence[Any]) -> Condition:
    """Make the condition that a column has none of the listed values; if null is not listed, the value may be missing."""
    keys = [_make_key(entry, value) for value in values]
    listed = [key.atom.value for key in keys if key.atom.test == "="]
    if entry.type in ("numeric", "date") and listed:  # all values of a stretch
        is_listed: Condition = CompoundCondition(
            True, (Atom(entry.name, ">=", min(listed)), Atom(entry.name, "<=", max(listed)))
        )
    else:
        is_listed = Atom(entry.name, IS_AMONG, tuple(listed))
    beyond = [key.atom for key in keys if key.atom.test in ("<=", ">=")]
    others: Condition = CompoundCondition(True, tuple(NegatedCondition(part) for part in (is_listed, *beyond)))
    return others if None in values else CompoundCondition(False, (others, Atom(entry.name, IS_NULL)))


def _may_have_other_values(entry: ColumnEntry, values: Sequence[Any]) -> bool:
    """Tell whether `*` or a withheld row may have a value without a line: none is declared, or more are than labels show."""
    if covers_other_values(entry):
        return True
    if entry.type not in ("numeric", "date"):
        return False
    least, greatest = find_limits(entry)
    places = [find_place(entry, value) for value in values if value is not None]
    return not places or least < min(places) or greatest > max(places)


def _convert_end(entry: ColumnEntry, end: Any) -> Any:
    return str(end) if parse_dtype(entry.dtype).is_temporal() else end


@dataclass(frozen=True, slots=True)
class _GroupKey:
    """One value of a column of GROUP BY: as it is shown, and the atom that selects it."""

    shown: Any
    order: Any
    atom: Atom
