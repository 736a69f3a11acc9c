"""Growing the tree: of every column and place the cut that leaves the purest sides, by reconstructed histograms.

A node is a stretch of places in each column.  A row's part in it is the product over columns of the share of its places that lie
in the stretch.  Of a column, what rows add at each place is gathered by label, so that a node costs its rows once per column and
not once per place.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        cut = self._best(here, part, stretch) if depth else None
        if cut is None:
            return Node(share)
        sides = []
        for low, high in ((stretch[cut.column, 0], cut.at), (cut.at, stretch[cut.column, 1])):
            inner = stretch.copy()
            inner[cut.column] = low, high
            until = self.rows.until[cut.column][self.rows.label[here, cut.column]]
            whole = until[:, stretch[cut.column, 1]] - until[:, stretch[cut.column, 0]]
            kept = part * (until[:, high] - until[:, low]) / whole
            some = kept > TINY
            sides.append(self.node(here[some], kept[some], inner, depth - 1, share))
        return Node(share, cut.column, cut.at, *sides)

    def _share(self, here: np.ndarray, part: np.ndarray, above: np.ndarray) -> np.ndarray:
        seen = np.bincount(self.rows.shown[here], weights=part * self.rows.weight[here], minlength=len(self.contribution))
        total = seen.sum()
        if total <= 0:
            return above
        return self.classes.maximised(seen[None])[0] / total

    def _best(self, here: np.ndarray, part: np.ndarray, stretch: np.ndarray) -> Cut | None:
        weight = part * self.rows.weight[here]
        best: Cut | None = None
        for column in range(self.rows.label.shape[1]):
            low, high = stretch[column]
            if high - low < 2:
                continue
            found = self._column(here, weight, column, int(low), int(high))
            if found is not None and (best is None or found.gain > best.gain):
                best = found
        return best

    def _column(self, here: np.ndarray, weight: np.ndarray, column: int, low: int, high: int) -> Cut | None:
        """The best cut of a column that both sides can bear."""
        until, label = self.rows.until[column], self.rows.label[here, column]
        labels, values = len(until), len(self.contribution)
        step = np.diff(until[:, low : high + 1], axis=1)
        whole = until[:, high] - until[:, low]
        spread = np.divide(step, whole[:, None], out=np.zeros_like(step), where=whole[:, None] > 0)
        held = np.bincount(label * values + self.rows.shown[here], weights=weight, minlength=labels * values)
        squares = np.bincount(label, weights=weight**2, minlength=labels)
        left = np.cumsum(spread.T @ held.reshape(labels, values), axis=0)[:-1]
        total = held.reshape(labels, values).sum(axis=0)
        # A row shared by both sides counts by the square of its part: an upper bound for the whole of a side is its part.
        square = np.cumsum(spread.T @ squares)[:-1]
        sides = (left, total - left)
        rows = [side.sum(axis=1) for side in sides]
        error = [np.maximum(square, 1e-300), np.maximum(squares.sum() - square, 1e-300)]
        fine = np.all([n**2 / e >= self.least for n, e in zip(rows, error, strict=True)], axis=0) & (rows[0] > 0) & (rows[1] > 0)
        if not fine.any():
            return None
        counts = [self._classes(side[fine]) for side in sides]
        before = self._classes(total[None])
        gain = _gini(before)[0] - _gini(counts[0]) - _gini(counts[1])
        apart = self._apart(counts, [n[fine] for n in rows], [e[fine] for e in error])
        gain = np.where(apart, gain, -np.inf)
        pick = int(gain.argmax())
        return Cut(float(gain[pick]), column, low + 1 + int(np.flatnonzero(fine)[pick])) if gain[pick] > 0 else None

    def _classes(self, seen: np.ndarray) -> np.ndarray:
        return self.classes.maximised(seen) if self.em else seen @ self.contribution

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
