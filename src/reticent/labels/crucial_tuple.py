"""The crucial tuple of a person: the one published row whose labels cover them (Tao et al. 2008, step A1).

There is one because groups are disjoint (property G3; ERRATA 5.7). `find_crucial_rows` checks that they are, and
finds the row that covers each of some people; exact for sets, holes, nulls and `*`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.format.manifest import ColumnEntry
from reticent.kernels.box_routing import route_points
from reticent.labels.cover import find_places, rebuild_hierarchy
from reticent.labels.scale import (
    ANY_FORM,
    LEAVES_FORM,
    MISSING_FORM,
    Extent,
    LeafExtents,
    Scale,
    TreeScale,
    make_scale,
    read_leaf_extents,
)

MAX_BOXES_COMPARED_ONE_BY_ONE = 8  # so many boxes are compared one by one


@dataclass(frozen=True, eq=False)
class LabelledColumn:
    """A quasi-identifier of a sampled release: the distinct label of each row, and what each label covers."""

    entry: ColumnEntry
    label: np.ndarray
    scale: Scale
    extents: Sequence[Extent]  # of a tree's column LeafExtents


def read_column(entry: ColumnEntry, labels: pl.Series, people: pl.Series | None = None) -> LabelledColumn:
    """Read the labels of a column; `people` are the values that a hierarchy was built from, if one was."""
    return read_distinct_labels(entry, *encode_distinct(labels), people)


def read_distinct_labels(
    entry: ColumnEntry, number: np.ndarray, distinct: pl.Series, people: pl.Series | None = None
) -> LabelledColumn:
    """Read the labels of a column, given the distinct ones and the number of each row's label among them."""
    whole = entry if people is None else rebuild_hierarchy(entry, people)
    lines = make_scale(whole, distinct.to_list())
    read = read_leaf_extents(lines, distinct) if isinstance(lines, TreeScale) else lines.read(distinct.to_list())
    return LabelledColumn(whole, number, lines, read)


def find_crucial_rows(
    columns: Sequence[LabelledColumn], people: Sequence[pl.Series] | None = None
) -> np.ndarray | None:
    """Find for each of the people the row whose labels cover them, -1 where none does; None where labels overlap.

    `people` are their quasi-identifiers, column by column; without them only the overlap of labels is checked.
    """
    spans = []
    points = []
    codes = 1
    sets: list[LeafExtents] = []
    for at, column in enumerate(columns):
        known, code = _encode_people(column, None if people is None else people[at])
        if isinstance(column.extents, LeafExtents):
            spans.append(_find_leaf_spans(column.extents, len(known), sets))
        else:
            spans.append(_find_line_spans(column.extents, known))
        points.append(code)
        codes = max(codes, len(known) + 2)
    base = np.cumsum([0, *map(len, spans)])[:-1]
    span = np.ascontiguousarray(np.concatenate(spans), np.int32)
    boxes = np.column_stack([column.label + start for column, start in zip(columns, base, strict=True)])
    rows = np.flatnonzero((span[boxes, 0] <= span[boxes, 1]).all(axis=1))  # a label may cover none of these values
    owner = np.full(len(points[0]), -1, np.int64)
    if not len(rows):
        return owner
    member = _make_membership_table(sets, codes)
    where = np.ascontiguousarray(np.column_stack(points), np.int32)
    apart = route_points(
        np.ascontiguousarray(boxes[rows], np.int32), where, span, member, codes, MAX_BOXES_COMPARED_ONE_BY_ONE, owner
    )
    return np.where(owner >= 0, rows[owner], -1) if apart else None


def encode_distinct(series: pl.Series) -> tuple[np.ndarray, pl.Series]:
    """Return the number of each value among the distinct ones, and these."""
    if series.dtype == pl.String and not series.null_count():
        keys = series.cast(pl.Categorical).to_physical().to_numpy()
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        return number, series.gather(first)
    distinct = series.unique(maintain_order=True)
    table = pl.DataFrame({"value": distinct, "number": np.arange(len(distinct))})
    rows = pl.DataFrame({"value": series}).join(table, on="value", how="left", nulls_equal=True, maintain_order="left")
    return rows["number"].to_numpy(), distinct


def _encode_people(column: LabelledColumn, people: pl.Series | None) -> tuple[list[Any], np.ndarray]:
    """Return the places of codes, in order, and each person's code.

    After the places come the null and values that the schema does not explain. Without people, the places are such
    that labels differ: ranges that overlap share an end of one of them.
    """
    leaves = list(range(len(column.scale.leaf))) if isinstance(column.scale, TreeScale) else None
    if people is None:
        return (_list_ends(column.extents) if leaves is None else leaves), np.zeros(0, np.int64)
    which, values = encode_distinct(people)
    places = find_places(column.scale, column.entry, values)
    known = sorted({place for place in places if place is not None}) if leaves is None else leaves
    code = {place: at for at, place in enumerate(known)}
    missing = [len(known) + (value is not None) for value in values.to_list()]
    found = [missing[at] if place is None else code[place] for at, place in enumerate(places)]
    return known, np.array(found, np.int64)[which]


def _list_ends(extents: Sequence[Extent]) -> list[Any]:
    return sorted({end for extent in extents if extent.form == "range" for end in (extent.lower, extent.upper)})


def _find_line_spans(extents: Sequence[Extent], known: list[Any]) -> np.ndarray:
    """Return (first code, last code, -1) of each label of a line."""
    found = np.full((len(extents), 3), -1, np.int64)
    null = len(known)
    for at, extent in enumerate(extents):
        if extent.form == "any":
            found[at, :2] = 0, null + 1
        elif extent.form == "null":
            found[at, :2] = null, null
        else:
            found[at, :2] = bisect_left(known, extent.lower), bisect_right(known, extent.upper) - 1
    return found


def _find_leaf_spans(extents: LeafExtents, null: int, sets: list[LeafExtents]) -> np.ndarray:
    """Return (first code, last code, row of `sets` or -1) of each label of a tree.

    Sets with holes are added to `sets`.
    """
    found = np.full((len(extents), 3), -1, np.int64)
    found[extents.form == ANY_FORM, :2] = 0, null + 1
    found[extents.form == MISSING_FORM, :2] = null, null
    listed = extents.form == LEAVES_FORM
    found[listed, 0] = extents.leaves[extents.offsets[:-1][listed]]
    found[listed, 1] = extents.leaves[extents.offsets[1:][listed] - 1]
    holed = listed & (found[:, 1] - found[:, 0] + 1 > extents.counts)
    found[holed, 2] = sum(map(len, sets)) + np.arange(np.count_nonzero(holed))
    sets.append(extents.only(holed))
    return found


def _make_membership_table(sets: Sequence[LeafExtents], codes: int) -> np.ndarray:
    """Return (sets, codes): 1 where a set holds a code."""
    member = np.zeros((max(sum(map(len, sets)), 1), codes + 2), np.uint8)
    begin = 0
    for some in sets:
        member[begin + some.label, some.leaves] = 1
        begin += len(some)
    return member
