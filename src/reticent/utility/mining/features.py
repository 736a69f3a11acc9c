"""Columns as features of a tree.

Every published label is the stretch of places that it covers, every person's value one place.

Numbers are in their order. Categories are put in order once, by the share of the first class that rows under them are
estimated to have, as in Breiman's theorem for two classes; a set of them is then several places. A row's weight lies
evenly over the places its labels cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent.format.manifest import ColumnEntry
from reticent.labels.cover import find_places
from reticent.labels.crucial_tuple import encode_distinct
from reticent.labels.scale import (
    LEAVES_FORM,
    Extent,
    LeafExtents,
    Scale,
    TreeScale,
    UnreadableLabel,
    make_scale,
    read_leaf_extents,
)


@dataclass(frozen=True, eq=False)
class LabelPlaces:
    """The places of each label: label l has place[first[l]] .. place[first[l + 1] - 1], in any order, out of `places`."""

    first: np.ndarray
    place: np.ndarray
    places: int

    @cached_property
    def counts(self) -> np.ndarray:
        return np.diff(self.first)

    @cached_property
    def label(self) -> np.ndarray:
        """The label that each of `place` belongs to."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def share(self) -> np.ndarray:
        """The part of a weight of 1 that each place of a label has."""
        return 1 / np.maximum(self.counts, 1)

    @cached_property
    def upto(self) -> np.ndarray:
        """The share of each label's places before each place (places + 1, labels)."""
        shares = np.zeros((self.places + 1, len(self.counts)))
        shares[self.place + 1, self.label] = self.share[self.label]
        return np.cumsum(shares, axis=0, out=shares)

    def reorder_places(self, rank: np.ndarray) -> LabelPlaces:
        """Return the same with places in another order."""
        return LabelPlaces(self.first, rank[self.place].astype(np.int32), self.places)


@dataclass(frozen=True, eq=False)
class Feature:
    """A column as a feature: `cover` spreads labels over places.

    `known` are the values of places, `rank` the order they are cut in.
    """

    entry: ColumnEntry
    scale: Scale
    known: list[Any]
    rank: np.ndarray  # the place of each known value
    cover: LabelPlaces

    def places(self, people: pl.Series) -> np.ndarray:
        """Locate people: a number between two known ones at the nearest, an unknown category in the middle."""
        value_of_person, values = encode_distinct(people)
        value_places = find_places(self.scale, self.entry, values)
        return np.array([self._place(place) for place in value_places], np.int64)[value_of_person]

    def _place(self, place: Any) -> int:
        if place is None:
            return len(self.known) // 2
        if isinstance(self.scale, TreeScale):
            return int(self.rank[place])
        nearest = int(np.searchsorted(self._numbers, place))
        return min(nearest, len(self.known) - 1)

    @property
    def _numbers(self) -> np.ndarray:
        return np.asarray(self.known)


def make_feature(
    entry: ColumnEntry, labels: pl.Series, weight: np.ndarray, score: np.ndarray
) -> tuple[Feature, np.ndarray]:
    """Make a feature of a column, and the label of each row.

    `score` estimates how much of each row is of the first class.
    """
    number, distinct = encode_distinct(labels.cast(pl.String))
    texts = distinct.to_list()
    if entry.type == "categorical" and not entry.hierarchy and not entry.values:
        entry = entry.with_changes(values=sorted({text for text in texts if text is not None}))
    scale = make_scale(entry, texts)
    extents = read_leaf_extents(scale, distinct) if isinstance(scale, TreeScale) else _read_extents(scale, texts)
    tree = isinstance(scale, TreeScale)
    values: list[Any] = list(range(len(scale.leaf))) if isinstance(scale, TreeScale) else _list_steps(extents)
    covered = _cover_places(extents, values)
    rank = np.arange(len(values))
    if tree:
        weights = [
            np.bincount(number, weights=row_weights, minlength=len(texts)) for row_weights in (weight, weight * score)
        ]
        rows, first = (
            np.bincount(covered.place, weights=(totals * covered.share)[covered.label], minlength=len(values))
            for totals in weights
        )
        order = np.argsort(np.divide(first, rows, out=np.full(len(values), -np.inf), where=rows > 0), kind="stable")
        rank[order] = np.arange(len(values))
        covered = covered.reorder_places(rank)
    return Feature(entry, scale, values, rank, covered), number.astype(np.int32)


def _read_extents(lines: Scale, texts: Sequence[str | None]) -> list[Extent]:
    try:
        return lines.read(texts)
    except UnreadableLabel:
        return [lines.read([text])[0] for text in texts]


def _list_steps(extents: Sequence[Extent]) -> list[Any]:
    """List the ends of ranges in order; whole numbers between them too, as long as they are few."""
    ends = sorted({end for extent in extents if extent.form == "range" for end in (extent.lower, extent.upper)})
    if ends and all(isinstance(end, int) for end in ends) and ends[-1] - ends[0] <= 512:
        return list(range(ends[0], ends[-1] + 1))
    return ends


def _cover_places(extents: Sequence[Extent], values: list[Any]) -> LabelPlaces:
    """List the places that each label covers: a null, or a label that covers everything, lies anywhere."""
    places = max(len(values), 1)
    if isinstance(extents, LeafExtents):
        begin = np.where(extents.form == LEAVES_FORM, extents.offsets[:-1], len(extents.leaves))
        length = np.where(extents.form == LEAVES_FORM, extents.counts, places)
        listed = np.append(extents.leaves, np.arange(places))
    else:
        number = {end: position for position, end in enumerate(values)}
        ranges = {
            "any": lambda _: (0, places),
            "null": lambda _: (0, places),
            "range": lambda e: (number[e.lower], number[e.upper] - number[e.lower] + 1),
        }
        spans = [ranges[extent.form](extent) if extent.form in ranges else (0, 0) for extent in extents]
        begin, length = np.array(spans, np.int64).reshape(-1, 2).T
        listed = np.arange(places)
    first = np.append(0, np.cumsum(length))
    position = np.arange(first[-1]) + np.repeat(begin - first[:-1], length)
    return LabelPlaces(first, listed[position].astype(np.int32), places)
