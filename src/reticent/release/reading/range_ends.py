"""The ends of published ranges as values of a table: which value of it stands at each end, and what an end is known to tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from reticent.release.manifest import ColumnEntry
from reticent.release.reading.extent import Extent
from reticent.release.reading.line import Line
from reticent.release.reading.places import places_of, rebuilt
from reticent.release.reading.scale import scale
from reticent.table.labelling import Labelling


@dataclass(frozen=True, eq=False)
class RangeEnds:
    """By label: whether it is a range, the value (by its place in the list given) at either end, and whether somebody has it."""

    ranged: np.ndarray  # (labels,) bool
    value: np.ndarray  # (labels, 2) int64, -1 where no value of the table stands there
    known: np.ndarray  # (labels, 2) bool: the release tells that a row of the group has just this value


def range_ends(
    entry: ColumnEntry, labels: Sequence[str | None], values: pl.Series, *, foreign: bool = False
) -> RangeEnds | None:
    """None for a column of categories, whose labels have no ends."""
    whole = rebuilt(entry, values)
    column = scale(whole, labels, foreign=foreign)
    if not isinstance(column, Line):
        return None
    place = {at: code for code, at in enumerate(places_of(column, whole, values)) if at is not None}
    count = len(labels)
    found = RangeEnds(np.zeros(count, bool), np.full((count, 2), -1, np.int64), np.zeros((count, 2), bool))
    tight = not foreign and entry.labels is None and not entry.hierarchy and entry.built is None
    whole_numbers = (
        not foreign
        and not entry.hierarchy
        and entry.dtype.startswith(("Int", "UInt", "Date"))
        and entry.dtype[:5] != "Datet"
    )
    coded = {column.positions([str(end)])[0] for end in (entry.bottom, entry.top) if end is not None}
    for at, extent in enumerate(column.read(labels)):
        if extent.form != "range" or extent.lower == extent.upper:
            continue
        found.ranged[at] = True
        # A group of one value prints that value, so that a range of two holds both, however its ends were chosen.
        both = (whole_numbers and extent.upper - extent.lower == 1) or _unmoved(entry, extent)
        for side, (end, outside) in enumerate(((extent.lower, extent.open_lower), (extent.upper, extent.open_upper))):
            found.value[at, side] = -1 if outside else place.get(end, -1)
            found.known[at, side] = (tight or both) and end not in coded
    return found


def _unmoved(entry: ColumnEntry, extent: Extent) -> bool:
    """Whether a range is so narrow that no narrower one was padded to it: a pad is at most a share of the range, which only whole
    numbers and days have."""
    how = Labelling.of(entry.labels) if entry.labels is not None else None
    return how is not None and how.share is not None and how.reach(int(extent.upper - extent.lower) - 1, 1) == 0
