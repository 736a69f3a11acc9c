"""The crucial tuple of a person: the one published row whose labels cover them (Tao et al. 2008, step A1).

It is one because groups are disjoint (property G3; ERRATA 5.7).  `crucial_rows` looks whether they are, and says which row covers
each of some people; exact for sets, holes, nulls and `*`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from reticent.kernels.box_routing import route
from reticent.release.manifest import ColumnEntry
from reticent.release.reading.cover import Cover
from reticent.release.reading.places import placed
from reticent.table.grammar import ANY, parse

FEW = 8  # so many boxes are compared one by one


def crucial_rows(
    entries: Sequence[ColumnEntry], frame: pl.DataFrame, people: pl.DataFrame | None = None
) -> np.ndarray | None:
    """For each of the people the row of `frame` whose labels cover them, -1 where none does; None where labels overlap."""
    covers, boxes, points, codes = [], [], [], 1
    for entry in entries:
        number, labels = numbered(frame[entry.name])
        if people is None:
            which, values = np.zeros(0, np.int64), _ends(entry, labels)
        else:
            which, values = numbered(people[entry.name])
        place = placed(entry, labels.to_list(), values)
        covers.append(place.cover)
        boxes.append(number)
        points.append(place.codes[which])
        codes = max(codes, place.size)
    # A label that covers none of the values given holds nobody.
    held = np.all([(column.lower <= column.upper)[box] for column, box in zip(covers, boxes, strict=True)], axis=0)
    rows = np.flatnonzero(held)
    owner = np.full(len(points[0]), -1, np.int64)
    if not len(rows):
        return owner
    span, member, base = _flat(covers)
    labelled = np.ascontiguousarray((np.column_stack(boxes) + base)[rows], np.int32)
    apart = route(labelled, np.ascontiguousarray(np.column_stack(points), np.int32), span, member, codes, FEW, owner)
    return np.where(owner >= 0, rows[owner], -1) if apart else None


def numbered(series: pl.Series) -> tuple[np.ndarray, pl.Series]:
    """The number of each value among the distinct ones, and these."""
    distinct = series.unique(maintain_order=True)
    table = pl.DataFrame({"value": distinct, "number": np.arange(len(distinct))})
    rows = pl.DataFrame({"value": series}).join(table, on="value", how="left", nulls_equal=True, maintain_order="left")
    return rows["number"].to_numpy(), distinct


def _ends(entry: ColumnEntry, labels: pl.Series) -> pl.Series:
    """Values that tell labels apart: leaves of the hierarchy, and whatever labels name; overlapping ranges share an end."""
    leaves = {row[0] for row in entry.hierarchy or ()} | set(entry.order or ())
    named = {text for label in labels if label is not None and label != ANY for text in parse(label)[1]}
    if entry.type == "categorical" and leaves:
        named = set()
    return pl.Series(entry.name, [*sorted(leaves | named), None], dtype=pl.String)


def _flat(covers: Sequence[Cover]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All columns' labels one after the other, their sets with holes in one table, and where each column begins."""
    base = np.cumsum([0, *(len(column.lower) for column in covers)])[:-1]
    rows = np.cumsum([0, *(len(column.prefix) for column in covers)])
    widest = max([1, *(column.prefix.shape[1] - 1 for column in covers)])
    member = np.zeros((max(int(rows[-1]), 1), widest), np.uint8)
    span = np.empty((sum(len(column.lower) for column in covers), 3), np.int32)
    for column, start, first in zip(covers, base, rows, strict=False):
        here = slice(start, start + len(column.lower))
        span[here, 0], span[here, 1] = column.lower, column.upper
        span[here, 2] = np.where(column.holes >= 0, column.holes + first, -1)
        if len(column.prefix):
            member[first : first + len(column.prefix), : column.prefix.shape[1] - 1] = np.diff(column.prefix, axis=1)
    return span, member, base
