"""Growing the tree: of every column and place the cut that leaves the purest sides, by reconstructed histograms.

A node is a stretch of places in each column.  A row's part in it is the product over columns of the share of its places that lie
in the stretch.  Of a column, what rows add at each place is gathered by label, so that a node costs its rows once per column and
not once per place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.utility.mining.reconstruction import Classes

TINY = 1e-6  # a smaller part of a row is left out


@dataclass(frozen=True, eq=False)
class Rows:
    """`until[c][label]` cumulates the places of column c's labels; `label` (rows, columns); `shown` the place of the value."""

    until: list[np.ndarray]
    label: np.ndarray
    weight: np.ndarray
    shown: np.ndarray

    @cached_property
    def mass(self) -> list[np.ndarray]:
        """The share of each label's places that lies at each place."""
        return [np.diff(until, axis=1).astype(np.float32) for until in self.until]


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
class Grower:
    rows: Rows
    classes: Classes
    contribution: np.ndarray
    least: float
    z: float
    em: bool

    def node(self, here: np.ndarray, part: np.ndarray, stretch: np.ndarray, depth: int, above: np.ndarray) -> Node:
        """The subtree of rows `here` with these parts of their weight; `above` is the parent's share, for a node too small to tell."""
        share = self._share(here, part, above)
        cut = self._best(here, part, stretch) if depth and len(here) else None
        if cut is None:
            return Node(share)
        sides = []
        for low, high in ((stretch[cut.column, 0], cut.at), (cut.at, stretch[cut.column, 1])):
            inner = stretch.copy()
            inner[cut.column] = low, high
            until, label = self.rows.until[cut.column], self.rows.label[here, cut.column]
            whole = until[:, stretch[cut.column, 1]] - until[:, stretch[cut.column, 0]]
            kept = (
                part
                * np.divide(until[:, high] - until[:, low], whole, out=np.zeros(len(until)), where=whole > 0)[label]
            )
            some = kept > TINY
            sides.append(self.node(here[some], kept[some], inner, depth - 1, share))
        return Node(share, cut.column, cut.at, *sides)

    def _share(self, here: np.ndarray, part: np.ndarray, above: np.ndarray) -> np.ndarray:
        seen = np.bincount(
            self.rows.shown[here], weights=part * self.rows.weight[here], minlength=len(self.contribution)
        )
        total = seen.sum()
        if total <= 0:
            return above
        return self.classes.maximised(seen[None])[0] / total

    def _best(self, here: np.ndarray, part: np.ndarray, stretch: np.ndarray) -> Cut | None:
        weight = part * self.rows.weight[here]
        tallies = [*(weight * tally for tally in self.tallies(here)), weight**2]
        best: Cut | None = None
        for column in range(self.rows.label.shape[1]):
            low, high = stretch[column]
            if high - low < 2:
                continue
            found = self._column(here, tallies, column, int(low), int(high))
            if found is not None and (best is None or found.gain > best.gain):
                best = found
        return best

    def _column(self, here: np.ndarray, tallies: list[np.ndarray], column: int, low: int, high: int) -> Cut | None:
        """The best cut of a column that both sides can bear."""
        left, total, square, squares = self._cumulated(here, tallies, column, low, high)
        sides = (left, total - left)
        rows = [side @ self.ones for side in sides]
        error = [np.maximum(square, 1e-300), np.maximum(squares - square, 1e-300)]
        fine = (
            np.all([n**2 / e >= self.least for n, e in zip(rows, error, strict=True)], axis=0)
            & (rows[0] > 0)
            & (rows[1] > 0)
        )
        if not fine.any():
            return None
        counts = [self._classes(side[fine]) for side in sides]
        before = self._classes(total[None])
        gain = _gini(before)[0] - _gini(counts[0]) - _gini(counts[1])
        apart = self._apart(counts, [n[fine] for n in rows], [e[fine] for e in error])
        gain = np.where(apart, gain, -np.inf)
        pick = int(gain.argmax())
        return Cut(float(gain[pick]), column, low + 1 + int(np.flatnonzero(fine)[pick])) if gain[pick] > 0 else None

    def _cumulated(self, here: np.ndarray, tallies: list[np.ndarray], column: int, low: int, high: int):
        """What lies left of each place of a column: (places, tallies), the whole of it, and the same of squared weights.

        Rows are gathered by label first; where a node has few, their labels alone are looked at.
        """
        until, label = self.rows.until[column], self.rows.label[here, column]
        mass = self.rows.mass[column]
        if len(here) * 2 < len(until):
            seen = np.zeros(len(until), bool)
            seen[label] = True
            used, label = np.flatnonzero(seen), (np.cumsum(seen) - 1)[label]
            until, mass = until[used], mass[used]
        labels = len(until)
        held = np.column_stack([np.bincount(label, weights=tally, minlength=labels) for tally in tallies])
        whole = until[:, high] - until[:, low]
        even = np.divide(held, whole[:, None], out=np.zeros_like(held), where=whole[:, None] > 0)
        # A row shared by both sides counts by its part, which is no less than the square of it.
        left = np.cumsum((mass[:, low:high].T @ even.astype(np.float32)).astype(np.float64), axis=0)[:-1]
        total = held.sum(axis=0)
        return left[:, :-1], total[:-1], left[:, -1], total[-1]

    def tallies(self, here: np.ndarray) -> np.ndarray:
        """(tallies, rows): what each row adds to a class, or, for expectation-maximisation, whether it shows a value."""
        shown = self.rows.shown[here]
        return self.shows[shown].T if self.em else self.contribution[shown].T

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
    stretch = np.array([[0, until.shape[1] - 1] for until in rows.until])
    grower = Grower(rows, classes, classes.contribution, least, z, em)
    even = np.full(len(classes.names), 1 / len(classes.names))
    return grower.node(np.arange(len(rows.weight)), np.ones(len(rows.weight)), stretch, max_depth, even)
