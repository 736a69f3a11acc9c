"""Where the values of a table stand on a published column's scale, and which of them each published label covers.

Exact for sets with holes, for nulls, for declared tops and bottoms, and for values that the schema does not explain: such a
value lies under `*` alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.release.manifest import ColumnEntry
from reticent.release.reading.cover import Cover, cover
from reticent.release.reading.extent import Extent, Unreadable
from reticent.release.reading.line import Line
from reticent.release.reading.scale import Scale, scale, values_named
from reticent.table.builders import build
from reticent.table.grammar import ANY


@dataclass(frozen=True, eq=False)
class Placed:
    """Values of a column as codes: known ones in the column's order, then the null, then one for each unexplained value."""

    codes: np.ndarray  # of each value given
    size: int
    covered: list[np.ndarray]  # the sorted codes under each label

    @property
    def cover(self) -> Cover:
        return cover(self.covered, self.size)


def placed(entry: ColumnEntry, labels: Sequence[str | None], values: pl.Series, *, foreign: bool = False) -> Placed:
    """The distinct values of a table's column, and what each label of the published column covers of them."""
    entry = rebuilt(entry, values)
    entry = _with_values(entry, labels, values) if foreign else entry
    column = scale(entry, labels, foreign=foreign)
    extents = column.read(labels)
    places = places_of(column, entry, values)
    known = sorted({place for place in places if place is not None})
    code = {place: i for i, place in enumerate(known)}
    size = len(known) + 1
    codes = np.empty(len(values), np.int64)
    for i, (place, value) in enumerate(zip(places, values.to_list(), strict=True)):
        if place is not None:
            codes[i] = code[place]
        elif value is None:
            codes[i] = len(known)
        else:
            codes[i], size = size, size + 1
    return Placed(codes, size, [_codes(extent, known, code, size) for extent in extents])


def _with_values(entry: ColumnEntry, labels: Sequence[str | None], values: pl.Series) -> ColumnEntry:
    """A column of another tool's table whose labels are values where the other table holds the very same text.

    `{a, b}` may be a set or what somebody wrote: it is no set where it occurs as a value.
    """
    if entry.type in ("numeric", "date", "ordinal") or entry.hierarchy is not None or entry.values is not None:
        return entry
    held = set(values.drop_nulls().cast(pl.String).to_list())
    members = {
        text
        for label in labels
        if label is not None and label != ANY and label not in held
        for text in values_named(label, foreign=True)
    }
    return entry.at(values=sorted((held | members) - {ANY}))


def rebuilt(entry: ColumnEntry, values: pl.Series, rows: Sequence[int] | None = None) -> ColumnEntry:
    """A column whose hierarchy was built from data: a manifest holds as much of it as is published, the whole is built again.

    `rows` says how many have each of the values; one where None.
    """
    if entry.built is None:
        return entry
    return entry.at(hierarchy=build(entry.built, values, rows, name=entry.name).rows(), built=None)


def places_of(column: Scale, entry: ColumnEntry, values: pl.Series) -> list[Any]:
    """A position on a line, or a leaf's number in a tree; None for null and for values unknown to the schema."""
    if values.dtype == pl.Boolean and isinstance(column, Line) and column.kind == "numeric":
        values = values.cast(pl.Int8)
    if values.dtype.is_float():  # what is not a number is missing
        values = values.fill_nan(None)
    texts = values.cast(pl.String).to_list()
    if not isinstance(column, Line):
        return [None if text is None else column.leaf.get(text) for text in texts]
    if values.dtype.is_temporal():
        texts = (values if values.dtype == pl.Date else values.dt.to_string("iso")).cast(pl.String).to_list()
    if column.kind != "ordinal":
        texts = [None if text is None else text.strip() for text in texts]
    present = [text for text in texts if text is not None]
    try:
        found = dict(zip(present, column.positions(present), strict=True))
    except Unreadable:
        found = {text: _place(column, text) for text in present}
    bottom, top = (None if end is None else column.positions([str(end)])[0] for end in (entry.bottom, entry.top))
    return [None if text is None or found[text] is None else _within(found[text], bottom, top) for text in texts]


def _within(place: Any, bottom: Any, top: Any) -> Any:
    """Where a value is published that lies beyond a declared top or bottom: at the bound."""
    place = place if top is None else min(place, top)
    return place if bottom is None else max(place, bottom)


def beyond(entry: ColumnEntry, values: pl.Series) -> pl.Series:
    """Which values lie beyond a declared top or bottom, and so must not be published."""
    column = scale(entry, [])
    if not isinstance(column, Line) or (entry.top is None and entry.bottom is None):
        return pl.Series([False] * len(values), dtype=pl.Boolean)
    free = entry.at(top=None, bottom=None)
    both = zip(places_of(column, free, values), places_of(column, entry, values), strict=True)
    return pl.Series([was != now for was, now in both], dtype=pl.Boolean)


def _place(column: Line, text: str) -> Any:
    try:
        return column.positions([text])[0]
    except Unreadable:
        return None


def _codes(extent: Extent, known: list[Any], code: Mapping[Any, int], size: int) -> np.ndarray:
    if extent.form == "any":
        return np.arange(size)
    if extent.form == "null":
        return np.array([len(known)])
    if extent.form == "range":
        begin, end = (
            bisect_right if extent.open_lower else bisect_left,
            bisect_left if extent.open_upper else bisect_right,
        )
        first = 0 if extent.endless == "lower" else begin(known, extent.lower)
        last = len(known) if extent.endless == "upper" else end(known, extent.upper)
        return np.arange(first, last)
    if isinstance(extent.leaves, range):
        return np.arange(bisect_left(known, extent.leaves[0]), bisect_right(known, extent.leaves[-1]))
    return np.array(sorted(code[leaf] for leaf in extent.leaves if leaf in code), np.int64)
