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
    full_entry = entry if people is None else rebuild_hierarchy(entry, people)
    scale = make_scale(full_entry, distinct.to_list())
    extents = read_leaf_extents(scale, distinct) if isinstance(scale, TreeScale) else scale.read(distinct.to_list())
    return LabelledColumn(full_entry, number, scale, extents)


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
    for column_index, column in enumerate(columns):
        known, code = _encode_people(column, None if people is None else people[column_index])
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
    point_codes = np.ascontiguousarray(np.column_stack(points), np.int32)
    is_disjoint = route_points(
        np.ascontiguousarray(boxes[rows], np.int32),
        point_codes,
        span,
        member,
        codes,
        MAX_BOXES_COMPARED_ONE_BY_ONE,
        owner,
    )
    return np.where(owner >= 0, rows[owner], -1) if is_disjoint else None


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
    value_index, values = encode_distinct(people)
    places = find_places(column.scale, column.entry, values)
    known = sorted({place for place in places if place is not None}) if leaves is None else leaves
    code = {place: position for position, place in enumerate(known)}
    missing = [len(known) + (value is not None) for value in values.to_list()]
    codes = [missing[position] if place is None else code[place] for position, place in enumerate(places)]
    return known, np.array(codes, np.int64)[value_index]


def _find_leaf_spans(extents: LeafExtents, null: int, sets: list[LeafExtents]) -> np.ndarray:
    """Return (first code, last code, row of `sets` or -1) of each label of a tree.

    Sets with holes are added to `sets`.
    """
    spans = np.full((len(extents), 3), -1, np.int64)
    spans[extents.form == ANY_FORM, :2] = 0, null + 1
    spans[extents.form == MISSING_FORM, :2] = null, null
    is_listed = extents.form == LEAVES_FORM
    spans[is_listed, 0] = extents.leaves[extents.offsets[:-1][is_listed]]
    spans[is_listed, 1] = extents.leaves[extents.offsets[1:][is_listed] - 1]
    has_holes = is_listed & (spans[:, 1] - spans[:, 0] + 1 > extents.counts)
    spans[has_holes, 2] = sum(map(len, sets)) + np.arange(np.count_nonzero(has_holes))
    sets.append(extents.only(has_holes))
    return spans


def _find_line_spans(extents: Sequence[Extent], known: list[Any]) -> np.ndarray:
    """Return (first code, last code, -1) of each label of a line."""
    spans = np.full((len(extents), 3), -1, np.int64)
    null = len(known)
    for label_index, extent in enumerate(extents):
        if extent.form == "any":
            spans[label_index, :2] = 0, null + 1
        elif extent.form == "null":
            spans[label_index, :2] = null, null
        else:
            spans[label_index, :2] = bisect_left(known, extent.lower), bisect_right(known, extent.upper) - 1
    return spans


def _make_membership_table(sets: Sequence[LeafExtents], codes: int) -> np.ndarray:
    """Return (sets, codes): 1 where a set holds a code."""
    member = np.zeros((max(sum(map(len, sets)), 1), codes + 2), np.uint8)
    begin = 0
    for extents in sets:
        member[begin + extents.label, extents.leaves] = 1
        begin += len(extents)
    return member


def _list_ends(extents: Sequence[Extent]) -> list[Any]:
    return sorted({end for extent in extents if extent.form == "range" for end in (extent.lower, extent.upper)})
