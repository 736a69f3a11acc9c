"""Coarse cuts of quasi-identifier space, from a keyed sample of the cells: the upper levels of `mondrian`'s tree.

A cut sends combinations whose code in a column is between two codes left, and the others right; so a tree of cuts sends any
cell to one region, whether or not it was in the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.loss_cuts import NEVER, LossCuts
from reticent.methods.mondrian.nodes import Nodes
from reticent.methods.mondrian.spans import Spans
from reticent.methods.weights import weights_of
from reticent.models.promises import Promises
from reticent.randomness import Random
from reticent.table.cells import Cells

SAMPLE = 1 << 16  # cells


@dataclass(eq=False)
class Tree:
    """Node n is cut in `column[n]` between `lo[n]` and `hi[n]` into `left[n]` and the node after it; a leaf has no column."""

    column: list[int] = field(default_factory=lambda: [-1])
    lo: list[int] = field(default_factory=lambda: [0])
    hi: list[int] = field(default_factory=lambda: [0])
    left: list[int] = field(default_factory=lambda: [-1])

    def cut(self, node: int, column: int, lo: int, hi: int) -> tuple[int, int]:
        """The two sides."""
        self.column[node], self.lo[node], self.hi[node], self.left[node] = column, lo, hi, len(self.column)
        for _ in range(2):
            self.column.append(-1)
            self.lo.append(0)
            self.hi.append(0)
            self.left.append(-1)
        return self.left[node], self.left[node] + 1

    def route(self, codes: np.ndarray) -> np.ndarray:
        """The leaf of each combination."""
        column, lo, hi, left = (np.array(one, np.int64) for one in (self.column, self.lo, self.hi, self.left))
        at, waiting = np.zeros(len(codes), np.int64), np.arange(len(codes))
        while len(waiting := waiting[column[at[waiting]] >= 0]):
            node = at[waiting]
            held = codes[waiting, column[node]]
            at[waiting] = left[node] + ((held < lo[node]) | (held > hi[node]))
        return at

    @property
    def leaves(self) -> np.ndarray:
        """The nodes that are not cut."""
        return np.flatnonzero(np.array(self.column) < 0)

    def chains(self) -> Iterator[np.ndarray]:
        """For each depth, from the deepest up, what stands above each node there: itself at its own, -1 of shallower nodes."""
        parent, depth = np.full(len(self.left), -1), np.zeros(len(self.left), np.int64)
        for node, left in enumerate(self.left):
            if left >= 0:
                parent[[left, left + 1]], depth[[left, left + 1]] = node, depth[node] + 1
        above = np.full(len(self.left), -1)
        for level in range(int(depth.max()), -1, -1):
            above = np.where(above >= 0, parent[above], above)
            above[depth == level] = np.flatnonzero(depth == level)
            yield above

    def pruned(self, fine: np.ndarray) -> Tree:
        """Without the cuts of which a side is not fine: the two are one region again, and all that was cut below."""
        found = Tree()
        waiting = [(0, 0)]
        while waiting:
            old, new = waiting.pop()
            left = self.left[old]
            if self.column[old] >= 0 and fine[left] and fine[left + 1]:
                sides = found.cut(new, self.column[old], self.lo[old], self.hi[old])
                waiting += [*zip((left, left + 1), sides, strict=True)]
        return found


def words(codes: np.ndarray, sizes: Sequence[int], rng: Random) -> np.ndarray:
    """A word for each combination of codes, by the key (tabulation hashing): wherever it is counted, it is the same."""
    found = np.zeros(len(codes), np.uint64)
    for at, size in enumerate(sizes):
        found ^= rng.words(f"regions {at}", 0, max(size, 1))[codes[:, at]]
    return found


def words_of(cells: Cells, rng: Random) -> np.ndarray:
    """Of all columns but the one that stands for several together: it says nothing more."""
    own = len(cells.sensitive) if cells.joint < 0 else cells.joint
    sizes = [domain.size for domain in (*cells.quasi, *cells.sensitive[:own])]
    return words(np.hstack([cells.codes, cells.values[:, :own]]), sizes, rng)


def sampled(cells: Cells, rng: Random) -> Cells:
    """Some of the cells, each as likely as another: those of the least words."""
    if len(cells) <= SAMPLE:
        return cells
    kept = np.sort(np.argpartition(words_of(cells, rng), SAMPLE)[:SAMPLE])
    return replace(cells, codes=cells.codes[kept], values=cells.values[kept], counts=cells.counts[kept])


def coarse(sample: Cells, promises: Promises, regions: int, weights: Mapping[str, float] | None = None) -> Tree:
    """About so many regions of even size, cut by the loss they leave, as long as sides keep the promises in the sample."""
    nodes, tree = Nodes.of(sample), Tree()
    spans = Spans.of(sample.quasi, weights_of([domain.name for domain in sample.quasi], weights))
    chooser = LossCuts(nodes, Acceptance(promises.bind(sample), nodes), spans, NEVER)
    number, rows = np.zeros(1, np.int64), sample.rows
    while len(nodes):
        chosen, cuts = chooser.choose()
        wide = nodes.size * regions >= 2 * rows
        cuts, chosen = cuts[wide[chosen]], chosen & wide
        nodes.close(chosen)
        sides = [tree.cut(int(node), *cut) for node, cut in zip(number[chosen], cuts[:, 2:].tolist(), strict=True)]
        number = np.array(sides, np.int64).reshape(-1)
        nodes.cut(cuts)
    return tree
