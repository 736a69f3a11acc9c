"""Columns for a tree: every published label as the stretch of places that it covers, every person's value as one place.

Numbers stand in their order.  Categories are put in order once, by the share of the first class that rows under them are
estimated to have, as Breiman's theorem has it for two classes; a set of them is then several places.  A row's weight lies evenly over
the places its labels cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.release.manifest import ColumnEntry
from reticent.release.reading.crucial import numbered
from reticent.release.reading.extent import Extent, Unreadable
from reticent.release.reading.leaf_extents import LEAVES, LeafExtents, leaf_extents
from reticent.release.reading.places import places_of
from reticent.release.reading.scale import Scale, scale
from reticent.release.reading.tree import Tree


@dataclass(frozen=True, eq=False)
class Feature:
    """`mass[label]` spreads a weight of 1 over the places; `known` are what places stand for, `rank` the order they are cut in."""

    entry: ColumnEntry
    scale: Scale
    known: list[Any]
    rank: np.ndarray  # the place of each known value
    until: np.ndarray  # (labels, places + 1): the share of each label's places before each

    def places(self, people: pl.Series) -> np.ndarray:
        """Where people stand: between two known numbers at the nearest, at the middle where a category is unknown."""
        which, values = numbered(people)
        found = places_of(self.scale, self.entry, values)
        return np.array([self._place(place) for place in found], np.int64)[which]

    def _place(self, place: Any) -> int:
        if place is None:
            return len(self.known) // 2
        if isinstance(self.scale, Tree):
            return int(self.rank[place])
        at = int(np.searchsorted(self._numbers, place))
        return min(at, len(self.known) - 1)

    @property
    def _numbers(self) -> np.ndarray:
        return np.asarray(self.known)


def feature(entry: ColumnEntry, labels: pl.Series, weight: np.ndarray, score: np.ndarray) -> tuple[Feature, np.ndarray]:
    """A column, and the label of each row; `score` estimates of each row how much of it is of the first class."""
    number, distinct = numbered(labels.cast(pl.String))
    texts = distinct.to_list()
    if entry.type == "categorical" and not entry.hierarchy and not entry.values:
        entry = entry.at(values=sorted({text for text in texts if text is not None}))
    lines = scale(entry, texts)
    extents = leaf_extents(lines, distinct) if isinstance(lines, Tree) else _read(lines, texts)
    tree = isinstance(lines, Tree)
    known: list[Any] = list(range(len(lines.leaf))) if isinstance(lines, Tree) else _steps(extents)
    covered = _covered(extents, known)
    covered /= np.maximum(covered.sum(axis=1, keepdims=True), 1)
    rank = np.arange(len(known))
    if tree:
        rows = np.bincount(number, weights=weight, minlength=len(texts)) @ covered
        first = np.bincount(number, weights=weight * score, minlength=len(texts)) @ covered
        order = np.argsort(np.divide(first, rows, out=np.full(len(known), -np.inf), where=rows > 0), kind="stable")
        rank[order] = np.arange(len(known))
        covered = covered[:, order]
    until = np.concatenate([np.zeros((len(texts), 1)), np.cumsum(covered, axis=1)], axis=1)
    return Feature(entry, lines, known, rank, until), number


def _read(lines: Scale, texts: Sequence[str | None]) -> list[Extent]:
    try:
        return lines.read(texts)
    except Unreadable:
        return [lines.read([text])[0] for text in texts]


def _steps(extents: Sequence[Extent]) -> list[Any]:
    """The ends of ranges in order; whole numbers between them too, as long as they are few."""
    found = sorted({end for extent in extents if extent.form == "range" for end in (extent.lower, extent.upper)})
    if found and all(isinstance(end, int) for end in found) and found[-1] - found[0] <= 512:
        return list(range(found[0], found[-1] + 1))
    return found


def _covered(extents: Sequence[Extent], known: list[Any]) -> np.ndarray:
    """(labels, places): 1 where a label covers a place."""
    found = np.zeros((len(extents), max(len(known), 1)))
    if isinstance(extents, LeafExtents):
        found[extents.form != LEAVES] = 1
        found[extents.label, extents.leaves] = 1
        return found
    found[[at for at, extent in enumerate(extents) if extent.form in ("any", "null")]] = 1
    places = {end: at for at, end in enumerate(known)}
    for at, extent in enumerate(extents):
        if extent.form == "range":
            found[at, places[extent.lower] : places[extent.upper] + 1] = 1
    return found
