"""The ends of published ranges, typed, and as values of a table: which value is at each end, what an end discloses.

`parse_bounds` reads the ends of labels as typed values; `add_label_bounds` and `add_value_bounds` add them to tables.
`find_range_ends` finds the value of a table at each end, and whether the release discloses that somebody has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from reticent.data.columns import LabelOptions, Role
from reticent.data.label_grammar import ANY_LABEL, parse_label
from reticent.data.parsing import parse_texts
from reticent.errors import BundleDamaged, RequestError, pluralize, quote_list
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.labels.cover import find_places, rebuild_hierarchy
from reticent.labels.scale import Extent, LineScale, make_scale


def parse_bounds(labels: pl.Series, column: ColumnEntry) -> tuple[pl.Series, pl.Series]:
    """Parse the lower and upper ends of a range column's labels.

    An end is null for `*`, for null, and where a top or bottom hides it.
    """
    distinct = labels.unique().drop_nulls()
    ends_by_side = []
    try:
        node_ends = _find_node_ends(column, distinct)
        ends = {label: node_ends.get(label) or parse_label(label)[1] for label in distinct if label != ANY_LABEL}
        for side in (0, -1):
            texts = labels.replace_strict(
                list(ends), [pair[side] for pair in ends.values()], default=None, return_dtype=pl.String
            )
            ends_by_side.append(parse_texts(texts, column.dtype))
    except (pl.exceptions.PolarsError, ValueError, LookupError, ArithmeticError, RecursionError):
        raise BundleDamaged(f"Column {column.name!r} holds labels that its schema does not explain.") from None
    return _name_bounds(ends_by_side[0], ends_by_side[1], column)


def add_label_bounds(frame: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Add `age_lower` and `age_upper` after each range column (here `age`)."""
    parts: list[pl.Series] = []
    for column in manifest.columns:
        series = frame[column.name]
        parts.append(series)
        if column.role == Role.QUASI and column.type != "categorical":
            parts += parse_bounds(series, column)
    return _join_columns(parts)


def add_value_bounds(frame: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Add both ends of each ordered column to a table of exact values.

    An end is the value itself, unless a top or bottom hides it.
    """
    parts: list[pl.Series] = []
    kinds = {column.name: column for column in manifest.columns if column.role == Role.QUASI}
    for name in frame.columns:
        parts.append(frame[name])
        if name in kinds and kinds[name].type != "categorical":
            parts += _name_bounds(frame[name], frame[name], kinds[name])
    return _join_columns(parts)


@dataclass(frozen=True, eq=False)
class RangeEnds:
    """By label: whether it is a range, the index of the value at either end, and whether the release discloses it."""

    ranged: np.ndarray  # (labels,) bool
    value: np.ndarray  # (labels, 2) int64, -1 where the table has no such value
    known: np.ndarray  # (labels, 2) bool: the release tells that a row of the group has just this value


def find_range_ends(
    entry: ColumnEntry, labels: Sequence[str | None], values: pl.Series, *, foreign: bool = False
) -> RangeEnds | None:
    """Find the ends of labels; None for a column of categories, whose labels have no ends."""
    full_entry = rebuild_hierarchy(entry, values)
    column = make_scale(full_entry, labels, foreign=foreign)
    if not isinstance(column, LineScale):
        return None
    place = {
        label_index: code
        for code, label_index in enumerate(find_places(column, full_entry, values))
        if label_index is not None
    }
    count = len(labels)
    ends = RangeEnds(np.zeros(count, bool), np.full((count, 2), -1, np.int64), np.zeros((count, 2), bool))
    has_tight_labels = not foreign and entry.labels is None and not entry.hierarchy and entry.built is None
    whole_numbers = (
        not foreign
        and not entry.hierarchy
        and entry.dtype.startswith(("Int", "UInt", "Date"))
        and entry.dtype[:5] != "Datet"
    )
    coded = {column.positions([str(end)])[0] for end in (entry.bottom, entry.top) if end is not None}
    for label_index, extent in enumerate(column.read(labels)):
        if extent.form != "range" or extent.lower == extent.upper:
            continue
        ends.ranged[label_index] = True
        # A group of one value prints that value, so that a range of two holds both, however its ends were chosen.
        both = (whole_numbers and extent.upper - extent.lower == 1) or _is_unpadded(entry, extent)
        for side, (end, outside) in enumerate(((extent.lower, extent.open_lower), (extent.upper, extent.open_upper))):
            ends.value[label_index, side] = -1 if outside else place.get(end, -1)
            ends.known[label_index, side] = (has_tight_labels or both) and end not in coded
    return ends


def _find_node_ends(column: ColumnEntry, labels: pl.Series) -> dict[str, tuple[str, str]]:
    """Return the ends of labels that are nodes of a steward's hierarchy over numbers: `20-29`, or `2` for a decade."""
    if not column.hierarchy or column.type != "numeric":
        return {}
    line = make_scale(column, labels.to_list())
    assert isinstance(line, LineScale)
    return {
        label: (str(line.named[label].lower), str(line.named[label].upper)) for label in labels if label in line.named
    }


def _name_bounds(lower: pl.Series, upper: pl.Series, column: ColumnEntry) -> tuple[pl.Series, pl.Series]:
    return (
        _hide_coded_end(lower, column.bottom, column).alias(f"{column.name}_lower"),
        _hide_coded_end(upper, column.top, column).alias(f"{column.name}_upper"),
    )


def _join_columns(parts: list[pl.Series]) -> pl.DataFrame:
    names = [part.name for part in parts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise RequestError(
            f"The release has {pluralize(len(twice), 'column')} named as the ends of another would be: {quote_list(twice)}.",
            attempt="frame() without bounds.",
        )
    return pl.DataFrame(parts)


def _is_unpadded(entry: ColumnEntry, extent: Extent) -> bool:
    """Tell whether a range is so narrow that no narrower one was padded to it.

    A pad is at most a share of the range, which only integers and days have.
    """
    how = LabelOptions.parse(entry.labels) if entry.labels is not None else None
    return how is not None and how.share is not None and how.find_max_pad(int(extent.upper - extent.lower) - 1, 1) == 0


def _hide_coded_end(ends: pl.Series, hidden: object, column: ColumnEntry) -> pl.Series:
    return ends if hidden is None else ends.set(ends == parse_texts([str(hidden)], column.dtype)[0], None)
