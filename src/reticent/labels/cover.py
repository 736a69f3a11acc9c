"""Which records lie under which labels: a join of boxes with points.

A published combination is a box (for each column the codes it covers), a record a point. `join_boxes` splits points
together with the boxes that still cut through them, column by column, level by level: a box that covers all points of
a node is done there, one that touches none is dropped, and the rest goes on to the halves. The work grows with the
borders of the boxes, not with their contents, and the interpreter loops over levels only.

`place_values` finds the places of a table's values on a published column's scale, and which of them each published
label covers. It is exact for sets with holes, for nulls, for declared tops and bottoms, and for values that the
schema does not explain: such a value lies under `*` alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.data.hierarchy_builders import build
from reticent.data.label_grammar import ANY_LABEL
from reticent.format.manifest import ColumnEntry
from reticent.labels.scale import Extent, LineScale, Scale, UnreadableLabel, list_named_values, make_scale


@dataclass(frozen=True, eq=False)
class LabelCover:
    """The codes that each distinct label of a column covers.

    They are an interval, or, where `holes`, a subset counted by `prefix`.
    """

    lower: np.ndarray  # first code, by label
    upper: np.ndarray  # last code; below `lower` where the label covers nothing
    holes: np.ndarray  # which row of `prefix` the label has, -1 where the interval is all of it
    prefix: np.ndarray  # (subsets, codes + 1): how many codes before each are covered

    def test(self, label: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (touches, covers): whether a label covers some, or all, of the codes low .. high."""
        first = self.lower[label]
        last = self.upper[label]
        touches = (first <= high) & (last >= low)
        covers = (first <= low) & (last >= high)
        hole = self.holes[label]
        with_holes = np.flatnonzero(touches & (hole >= 0))
        if len(with_holes):
            table = hole[with_holes]
            low = low[with_holes]
            high = high[with_holes]
            inside = self.prefix[table, high + 1] - self.prefix[table, low]
            touches[with_holes] = inside > 0
            covers[with_holes] = inside == high - low + 1
        return touches, covers & touches

    @property
    def sizes(self) -> np.ndarray:
        """How many codes each label covers."""
        counts = self.upper - self.lower + 1
        gaps = np.flatnonzero(self.holes >= 0)
        counts[gaps] = self.prefix[self.holes[gaps], -1]
        return counts

    def table(self, codes: np.ndarray) -> np.ndarray:
        """Return (codes, labels): which labels cover each of these codes."""
        code = codes[:, None]
        inside = (self.lower <= code) & (code <= self.upper)
        gaps = np.flatnonzero(self.holes >= 0)
        if len(gaps):
            rows = self.holes[gaps]
            inside[:, gaps] = self.prefix[rows, code + 1] > self.prefix[rows, code]
        return inside

    def spread(self, amounts: np.ndarray, size: int) -> np.ndarray:
        """Return (codes, ...): what the labels hold, counted at every code that they cover; `held` is (labels, ...)."""
        steps = np.zeros((size + 1, *amounts.shape[1:]))
        without_holes = np.flatnonzero((self.holes < 0) & (self.upper >= self.lower))
        np.add.at(steps, self.lower[without_holes], amounts[without_holes])
        np.add.at(steps, self.upper[without_holes] + 1, -amounts[without_holes])
        sums = np.cumsum(steps, axis=0)[:size]
        gaps = np.flatnonzero(self.holes >= 0)
        if len(gaps):
            inside = np.diff(self.prefix[self.holes[gaps]], axis=1)
            sums += inside[:, :size].T @ amounts[gaps]
        return sums


def make_cover(codes: Sequence[np.ndarray], size: int) -> LabelCover:
    """Make a cover from the sorted codes under each label."""
    lower = np.array([label_codes[0] if len(label_codes) else 0 for label_codes in codes], np.int64)
    upper = np.array([label_codes[-1] if len(label_codes) else -1 for label_codes in codes], np.int64)
    gaps = [
        i
        for i, label_codes in enumerate(codes)
        if len(label_codes) and label_codes[-1] - label_codes[0] + 1 != len(label_codes)
    ]
    holes = np.full(len(codes), -1, np.int64)
    holes[gaps] = np.arange(len(gaps))
    prefix = np.zeros((len(gaps), size + 1), np.int32)
    for row, label in enumerate(gaps):
        prefix[row, codes[label] + 1] = 1
    return LabelCover(lower, upper, holes, np.cumsum(prefix, axis=1, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class CoveredRegions:
    """Box `box[i]` covers the points `order[start[i] : stop[i]]`; a box may have several such stretches, none overlapping."""

    order: np.ndarray
    box: np.ndarray
    start: np.ndarray
    stop: np.ndarray

    def covering(self) -> np.ndarray:
        """How many boxes cover each point, in the points' own order."""
        change = np.bincount(self.start, minlength=len(self.order) + 1) - np.bincount(
            self.stop, minlength=len(self.order) + 1
        )
        counts = np.empty(len(self.order), np.int64)
        counts[self.order] = np.cumsum(change)[:-1]
        return counts

    @property
    def many(self) -> int:
        """How many pairs of a box and a point under it there are."""
        return int((self.stop - self.start).sum())

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(point, box) of every point under every box."""
        lengths = self.stop - self.start
        return self.order[_expand_ranges(self.start, lengths)], np.repeat(self.box, lengths)

    def total(self, weights: np.ndarray, boxes: int) -> np.ndarray:
        """The sum of the points' weights under each box."""
        until = np.append(0, np.cumsum(weights[self.order]))
        region_weights = until[self.stop] - until[self.start]
        totals = np.zeros(boxes, region_weights.dtype)
        np.add.at(totals, self.box, region_weights)
        return totals


def join_boxes(covers: Sequence[LabelCover], boxes: np.ndarray, points: np.ndarray) -> CoveredRegions:
    """Join boxes with points: `boxes[i, c]` is a label of column c, `points[j, c]` a code."""
    points = np.ascontiguousarray(points, np.int32)  # codes of values: fewer than rows
    order = np.arange(len(points))
    done: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    starts = np.array([0])
    stops = np.array([len(points)])
    node = np.zeros(len(boxes), np.int64)
    box = np.arange(len(boxes))
    while len(box) and len(points):
        order, starts, stops, low, high, node, box = _bound_nodes(points, order, starts, stops, node, box)
        touches = np.ones(len(box), bool)
        covers_all = np.ones(len(box), bool)
        cut = np.zeros((len(starts), len(covers)))
        for c, column in enumerate(covers):
            is_touched, is_covered = column.test(boxes[box, c], low[node, c], high[node, c])
            touches &= is_touched
            covers_all &= is_covered
            cut[:, c] = np.bincount(node[is_touched & ~is_covered], minlength=len(starts))
        done.append((box[covers_all], starts[node[covers_all]], stops[node[covers_all]]))
        is_partial = touches & ~covers_all
        node = node[is_partial]
        box = box[is_partial]
        if len(box):
            order, starts, stops, node, box = _split_nodes(points, order, starts, stops, low, high, cut, node, box)
    parts = (
        [np.concatenate(part) if done else np.zeros(0, np.int64) for part in zip(*done, strict=True)]
        if done
        else [np.zeros(0, np.int64)] * 3
    )
    return CoveredRegions(order, *parts)


@dataclass(frozen=True, eq=False)
class PlacedValues:
    """Values of a column as codes: known ones in the column's order, then the null, then one for each unexplained value."""

    codes: np.ndarray  # of each value given
    size: int
    covered: list[np.ndarray]  # the sorted codes under each label

    @property
    def cover(self) -> LabelCover:
        return make_cover(self.covered, self.size)


def place_values(
    entry: ColumnEntry, labels: Sequence[str | None], values: pl.Series, *, foreign: bool = False
) -> PlacedValues:
    """Place the distinct values of a table's column, with what each label of the published column covers of them."""
    entry = rebuild_hierarchy(entry, values)
    entry = _declare_values(entry, labels, values) if foreign else entry
    column = make_scale(entry, labels, foreign=foreign)
    extents = column.read(labels)
    places = find_places(column, entry, values)
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
    return PlacedValues(codes, size, [_find_covered_codes(extent, known, code, size) for extent in extents])


def rebuild_hierarchy(entry: ColumnEntry, values: pl.Series, rows: Sequence[int] | None = None) -> ColumnEntry:
    """Rebuild a column's hierarchy that was built from data: a manifest holds only as much of it as is published.

    `rows` are the counts of the values; 1 each where None.
    """
    if entry.built is None:
        return entry
    return entry.with_changes(hierarchy=build(entry.built, values, rows, name=entry.name).rows(), built=None)


def find_places(column: Scale, entry: ColumnEntry, values: pl.Series) -> list[Any]:
    """Return positions on a line, or leaf numbers in a tree; None for null and for values unknown to the schema."""
    if values.dtype == pl.Boolean and isinstance(column, LineScale) and column.kind == "numeric":
        values = values.cast(pl.Int8)
    if values.dtype.is_float():  # what is not a number is missing
        values = values.fill_nan(None)
    texts = values.cast(pl.String).to_list()
    if not isinstance(column, LineScale):
        return [None if text is None else column.leaf.get(text) for text in texts]
    if values.dtype.is_temporal():
        texts = (values if values.dtype == pl.Date else values.dt.to_string("iso")).cast(pl.String).to_list()
    if column.kind != "ordinal":
        texts = [None if text is None else text.strip() for text in texts]
    present = [text for text in texts if text is not None]
    try:
        found = dict(zip(present, column.positions(present), strict=True))
    except UnreadableLabel:
        found = {text: _find_place(column, text) for text in present}
    bottom, top = (None if end is None else column.positions([str(end)])[0] for end in (entry.bottom, entry.top))
    return [
        None if text is None or found[text] is None else _clamp_to_coded_ends(found[text], bottom, top)
        for text in texts
    ]


def mask_beyond_ends(entry: ColumnEntry, values: pl.Series) -> pl.Series:
    """Find values that lie beyond a declared top or bottom, and so must not be published."""
    column = make_scale(entry, [])
    if not isinstance(column, LineScale) or (entry.top is None and entry.bottom is None):
        return pl.Series([False] * len(values), dtype=pl.Boolean)
    uncoded_entry = entry.with_changes(top=None, bottom=None)
    place_pairs = zip(find_places(column, uncoded_entry, values), find_places(column, entry, values), strict=True)
    return pl.Series([free_place != coded_place for free_place, coded_place in place_pairs], dtype=pl.Boolean)


def _expand_ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Concatenate starts[0] .. starts[0] + lengths[0], starts[1] .. and so on."""
    offsets = np.append(0, np.cumsum(lengths))
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


def _bound_nodes(
    points: np.ndarray, order: np.ndarray, starts: np.ndarray, stops: np.ndarray, node: np.ndarray, box: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return nodes that still have boxes, renumbered, with the least and greatest code of their points."""
    used, node = np.unique(node, return_inverse=True)
    starts = starts[used]
    stops = stops[used]
    lengths = stops - starts
    offsets = np.append(0, np.cumsum(lengths))[:-1]
    inside = points[order[_expand_ranges(starts, lengths)]]
    return order, starts, stops, np.minimum.reduceat(inside, offsets), np.maximum.reduceat(inside, offsets), node, box


def _split_nodes(
    points: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    cut: np.ndarray,
    node: np.ndarray,
    box: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """Split each node that boxes cut through at the middle of the column most of them cut; sort its points accordingly.

    The middle is that of the codes: they are ranks of values, so that a median, for which points would be sorted, is no better.
    """
    used, node = np.unique(node, return_inverse=True)
    starts = starts[used]
    stops = stops[used]
    low = low[used]
    high = high[used]
    cut = cut[used]
    column = np.where(high > low, cut, -1).argmax(axis=1)
    pick = np.arange(len(used))
    lengths = stops - starts
    place = _expand_ranges(starts, lengths)
    owner = np.repeat(pick, lengths)
    value = points[order[place], column[owner]]
    middle = (low[pick, column] + high[pick, column]) // 2
    right = value > middle[owner]
    begins = np.append(0, np.cumsum(lengths))[:-1]
    lefts = np.append(0, np.cumsum(~right))  # of all points before each, how many stay left
    split = starts + lefts[begins + lengths] - lefts[begins]
    ahead = lefts[:-1] - np.repeat(lefts[begins], lengths)  # of those of its own node
    moved = np.where(right, place + np.repeat(split - starts, lengths) - ahead, np.repeat(starts, lengths) + ahead)
    order, before = order.copy(), order
    order[moved] = before[place]
    return (
        order,
        np.concatenate([starts, split]),
        np.concatenate([split, stops]),
        np.concatenate([node, node + len(used)]),
        np.concatenate([box, box]),
    )


def _declare_values(entry: ColumnEntry, labels: Sequence[str | None], values: pl.Series) -> ColumnEntry:
    """Treat labels of another tool's column as values where the other table holds the very same text.

    `{a, b}` may be a set or a plain text: it is no set where it occurs as a value.
    """
    if entry.type in ("numeric", "date", "ordinal") or entry.hierarchy is not None or entry.values is not None:
        return entry
    held = set(values.drop_nulls().cast(pl.String).to_list())
    members = {
        text
        for label in labels
        if label is not None and label != ANY_LABEL and label not in held
        for text in list_named_values(label, foreign=True)
    }
    return entry.with_changes(values=sorted((held | members) - {ANY_LABEL}))


def _find_covered_codes(extent: Extent, known: list[Any], code: Mapping[Any, int], size: int) -> np.ndarray:
    if extent.form == "any":
        return np.arange(size)
    if extent.form == "null":
        return np.array([len(known)])
    if extent.form == "range":
        begin = bisect_right if extent.open_lower else bisect_left
        end = bisect_left if extent.open_upper else bisect_right
        first = 0 if extent.endless == "lower" else begin(known, extent.lower)
        last = len(known) if extent.endless == "upper" else end(known, extent.upper)
        return np.arange(first, last)
    if isinstance(extent.leaves, range):
        return np.arange(bisect_left(known, extent.leaves[0]), bisect_right(known, extent.leaves[-1]))
    return np.array(sorted(code[leaf] for leaf in extent.leaves if leaf in code), np.int64)


def _find_place(column: LineScale, text: str) -> Any:
    try:
        return column.positions([text])[0]
    except UnreadableLabel:
        return None


def _clamp_to_coded_ends(place: Any, bottom: Any, top: Any) -> Any:
    """Return the place at which a value is published: the bound, if it lies beyond a declared top or bottom."""
    place = place if top is None else min(place, top)
    return place if bottom is None else max(place, bottom)
