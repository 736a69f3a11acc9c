"""Growing the tree: of every column and place the cut that leaves the purest sides, by reconstructed histograms.

A node is a stretch of places in each column.  A row's part in it is the product over columns of the share of its places that lie
in the stretch.  Of a column, what rows add at each place is gathered by label, so that a node costs its rows once per column and
not once per place; a label is spread over the few places it covers.  The cuts of all columns are scored together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.kernels.tree_places import spread
from reticent.utility.mining.features import Cover
from reticent.utility.mining.reconstruction import Classes

TINY = 1e-6  # a smaller part of a row is left out


@dataclass(frozen=True, eq=False)
class Rows:
    """`covers[c]` are the places of column c's labels; `label` (columns, rows); `shown` the place of the value."""

    covers: list[Cover]
    label: np.ndarray
    weight: np.ndarray
    shown: np.ndarray

    def room(self, width: int) -> np.ndarray:
        """A line of zeros for each label of the column that has most."""
        return np.zeros((max(len(cover.counts) for cover in self.covers), width))


@dataclass(frozen=True, eq=False)
class Node:
    """A leaf's probabilities, or a cut: places before `at` of `column` go left."""

    share: np.ndarray
    column: int = -1
    at: int = 0
    left: Node | None = None
    right: Node | None = None

    def probabilities(self, places: np.ndarray) -> np.ndarray:
        found = np.empty((len(places), len(self.share)))
        waiting: list[tuple[Node, np.ndarray]] = [(self, np.arange(len(places)))]
        while waiting:
            node, here = waiting.pop()
            if node.left is None or node.right is None:
                found[here] = node.share
                continue
            before = places[here, node.column] < node.at
            waiting += [(node.left, here[before]), (node.right, here[~before])]
        return found

    @property
    def leaves(self) -> int:
        return 1 if self.left is None or self.right is None else self.left.leaves + self.right.leaves


@dataclass(frozen=True, slots=True)
class Cut:
    gain: float
    column: int
    at: int


@dataclass(frozen=True, eq=False)
class Branch:
    """A node as it is grown: how often each value is `seen` in it, and its cut."""

    seen: np.ndarray
    cut: Cut | None = None
    sides: tuple[Branch, ...] = ()

    def all(self) -> list[Branch]:
        return [self, *(branch for side in self.sides for branch in side.all())]

    def finished(self, shares: Iterator[np.ndarray], above: np.ndarray) -> Node:
        """Nodes with the next of the shares, in the order of `all`; with the one above where a node is empty."""
        share = next(shares)
        share = share if self.seen.sum() > 0 else above
        if self.cut is None:
            return Node(share)
        left, right = (side.finished(shares, share) for side in self.sides)
        return Node(share, self.cut.column, self.cut.at, left, right)


@dataclass(frozen=True, eq=False)
class Grower:
    rows: Rows
    classes: Classes
    contribution: np.ndarray
    least: float
    z: float
    em: bool

    def branch(self, here: np.ndarray, part: np.ndarray, stretch: np.ndarray, depth: int) -> Branch:
        """The subtree of rows `here` with these parts of their weight."""
        weight = part * self.rows.weight[here]
        seen = np.bincount(self.rows.shown[here], weights=weight, minlength=len(self.contribution))
        cut = self._best(here, part, stretch) if depth and len(here) else None
        if cut is None:
            return Branch(seen)
        upto, label = self.rows.covers[cut.column].upto, self.rows.label[cut.column][here]
        first, last = stretch[cut.column]
        whole = upto[last] - upto[first]
        sides = []
        for low, high in ((first, cut.at), (cut.at, last)):
            inner = stretch.copy()
            inner[cut.column] = low, high
            share = np.divide(upto[high] - upto[low], whole, out=np.zeros(len(whole)), where=whole > 0)
            kept = part * share[label]
            some = kept > TINY
            sides.append(self.branch(here[some], kept[some], inner, depth - 1))
        return Branch(seen, cut, tuple(sides))

    def _best(self, here: np.ndarray, part: np.ndarray, stretch: np.ndarray) -> Cut | None:
        """Of all columns the best cut that both sides can bear; the first of equal ones."""
        weight = part * self.rows.weight[here]
        tallies = np.column_stack([weight[:, None] * self.tallies(here), weight**2])
        columns = np.flatnonzero(stretch[:, 1] - stretch[:, 0] >= 2)
        if not len(columns):
            return None
        found = [self._cumulated(here, tallies, int(column), *map(int, stretch[column])) for column in columns]
        gain = self._gains(np.concatenate(found), tallies.sum(axis=0))
        pick = int(gain.argmax())
        if gain[pick] <= 0:
            return None
        ends = np.cumsum([len(one) for one in found])
        at = int(np.searchsorted(ends, pick, side="right"))
        place = pick - (ends[at] - len(found[at]))
        return Cut(float(gain[pick]), int(columns[at]), int(stretch[columns[at], 0]) + 1 + int(place))

    def _gains(self, left: np.ndarray, total: np.ndarray) -> np.ndarray:
        """What each cut gains, minus infinity where a side is too small or the sides do not differ enough."""
        left, square, total, squares = left[:, :-1], left[:, -1], total[:-1], total[-1]
        sides = (left, total - left)
        rows = [side @ self.ones for side in sides]
        error = [np.maximum(square, 1e-300), np.maximum(squares - square, 1e-300)]
        some = TINY * float(total @ self.ones)  # less is a rounding error of an empty side
        enough = [(n > some) & (n**2 / e >= self.least) for n, e in zip(rows, error, strict=True)]
        fine = enough[0] & enough[1]
        found = np.full(len(left), -np.inf)
        if not fine.any():
            return found
        counts = [self._classes(side[fine]) for side in sides]
        before = self._classes(total[None])
        gain = _gini(before)[0] - _gini(counts[0]) - _gini(counts[1])
        apart = self._apart(counts, [n[fine] for n in rows], [e[fine] for e in error])
        found[fine] = np.where(apart, gain, -np.inf)
        return found

    def _cumulated(self, here: np.ndarray, tallies: np.ndarray, column: int, low: int, high: int) -> np.ndarray:
        """(cuts, tallies): what lies left of each place of a column where it can be cut; the last tally is of squared weights."""
        cover = self.rows.covers[column]
        whole = cover.upto[high] - cover.upto[low]
        scale = np.divide(cover.share, whole, out=np.zeros(len(whole)), where=whole > 0)
        found = np.zeros((high - low, tallies.shape[1]))
        spread(self.rows.label[column][here], tallies, scale, cover.first, cover.place, low, self.held, found)
        # A row shared by both sides counts by its part, which is no less than the square of it.
        return np.cumsum(found, axis=0)[:-1]

    @cached_property
    def held(self) -> np.ndarray:
        """Where what rows add is gathered by label."""
        return self.rows.room(len(self.ones) + 2)

    def tallies(self, here: np.ndarray) -> np.ndarray:
        """(rows, tallies): what each row adds to a class, or, for expectation-maximisation, whether it shows a value."""
        return (self.shows if self.em else self.contribution)[self.rows.shown[here]]

    @property
    def shows(self) -> np.ndarray:
        return np.eye(len(self.contribution))

    @property
    def ones(self) -> np.ndarray:
        return np.ones(len(self.contribution) if self.em else self.contribution.shape[1])

    def _classes(self, seen: np.ndarray) -> np.ndarray:
        return self.classes.maximised(seen) if self.em else seen

    def _apart(self, counts: list[np.ndarray], rows: list[np.ndarray], error: list[np.ndarray]) -> np.ndarray:
        """Whether the share of some class differs by more than z standard errors between the sides."""
        spread = self.contribution.var(axis=0) + 0.25  # of one row's contribution, whatever it holds
        shares = [np.clip(c / n[:, None], 0, 1) for c, n in zip(counts, rows, strict=True)]
        variance = sum((e / n**2)[:, None] * spread for e, n in zip(error, rows, strict=True))
        return (np.abs(shares[0] - shares[1]) > self.z * np.sqrt(variance)).any(axis=1)


def _gini(counts: np.ndarray) -> np.ndarray:
    """Rows times impurity of each line; shares are clipped, counts by inversion may be negative."""
    total = counts.sum(axis=1, keepdims=True)
    share = np.clip(np.divide(counts, total, out=np.zeros_like(counts), where=total > 0), 0, 1)
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
    return total[:, 0] * (1 - (share**2).sum(axis=1))


def grown(rows: Rows, classes: Classes, *, max_depth: int, least: float, z: float, em: bool) -> Node:
    stretch = np.array([[0, cover.places] for cover in rows.covers])
    grower = Grower(rows, classes, classes.contribution, least, z, em)
    even = np.full(len(classes.names), 1 / len(classes.names))
    root = grower.branch(np.arange(len(rows.weight)), np.ones(len(rows.weight)), stretch, max_depth)
    seen = np.stack([branch.seen for branch in root.all()])
    shares = classes.maximised(seen) / np.maximum(seen.sum(axis=1, keepdims=True), 1e-300)
    return root.finished(iter(shares), even)
