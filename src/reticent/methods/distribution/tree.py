"""The hierarchy of a sensitive domain (section 3.1): nodes are stretches of the domain, children partition their parent.

Nodes are numbered level by level, so that the children of a node follow each other and come after it; a node over the same
leaves as its parent is left out, so that a stretch names one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.table.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Tree:
    """Node i covers the leaves first[i] .. last[i]; `ranges` is what generalizing a value to it costs."""

    first: np.ndarray
    last: np.ndarray
    parent: np.ndarray  # -1 for the root, node 0
    ranges: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def children(self) -> np.ndarray:
        """How many children each node has."""
        return np.bincount(self.parent[1:], minlength=len(self))

    @cached_property
    def first_child(self) -> np.ndarray:
        found = np.full(len(self), len(self), np.int64)
        np.minimum.at(found, self.parent[1:], np.arange(1, len(self)))
        return found

    @cached_property
    def leaf(self) -> np.ndarray:
        """The node of each leaf of the domain."""
        single = np.flatnonzero(self.first == self.last)
        found = np.empty(len(single), np.int64)
        found[self.first[single]] = single
        return found

    @cached_property
    def depth(self) -> np.ndarray:
        found = np.zeros(len(self), np.int64)
        for node in range(1, len(self)):
            found[node] = found[self.parent[node]] + 1
        return found

    def below(self, of_leaf: np.ndarray) -> np.ndarray:
        """The sum over the leaves of each node: (..., leaves) -> (..., nodes)."""
        until = np.concatenate(
            [np.zeros((*of_leaf.shape[:-1], 1), of_leaf.dtype), np.cumsum(of_leaf, axis=-1)], axis=-1
        )
        return until[..., self.last + 1] - until[..., self.first]

    def reduced(self, masses: np.ndarray) -> np.ndarray:
        """Whole-number masses of all nodes as weights: siblings divided by their greatest common divisor (errata 4.4)."""
        weights = np.array(masses, np.int64)
        weights[0] = 1
        if len(self) > 1:
            starts = np.flatnonzero(np.diff(self.parent, prepend=-2))[1:]
            shared = np.repeat(np.gcd.reduceat(weights, starts), np.diff(np.append(starts, len(self))))
            weights[1:] //= np.maximum(shared, 1)
            weights[1:][shared == 0] = 1  # below a node without mass any split is as good
        return weights

    def weighted(self, weights: np.ndarray) -> np.ndarray:
        """The tree as kernels take it: (parent, first child, children, weight) of each node."""
        return np.ascontiguousarray(
            np.column_stack([self.parent, self.first_child, self.children, weights]).astype(np.int64)
        )


def balanced(leaves: int, arity: int, positions: np.ndarray | None) -> Tree:
    """A tree whose nodes cut their leaves into `arity` parts as even as can be; `positions` None: categories."""
    spans, parent, at = [(0, leaves - 1)], [-1], 0
    while at < len(spans):
        first, last = spans[at]
        size = last - first + 1
        parts = min(arity, size)
        if size > 1:
            ends = [first + size * part // parts for part in range(parts + 1)]
            spans += [(ends[part], ends[part + 1] - 1) for part in range(parts)]
            parent += [at] * parts
        at += 1
    return _tree(spans, parent, positions)


def of_hierarchy(hierarchy: Hierarchy, positions: np.ndarray | None) -> Tree:
    """A steward's hierarchy; it may be uneven."""
    found = {(int(first), int(last)) for first, last in zip(hierarchy.first, hierarchy.last, strict=True)}
    order = sorted(found, key=lambda span: (span[0], -span[1]))
    parents: list[int] = []
    depth: list[int] = []
    above: list[int] = []
    for span in order:
        while above and not (order[above[-1]][0] <= span[0] and span[1] <= order[above[-1]][1]):
            above.pop()
        parents.append(above[-1] if above else -1)
        depth.append(len(above))
        above.append(len(parents) - 1)
    level = sorted(range(len(order)), key=lambda node: (depth[node], order[node][0]))
    number = {node: at for at, node in enumerate(level)}
    return _tree([order[node] for node in level], [number.get(parents[node], -1) for node in level], positions)


def _tree(spans: Sequence[tuple[int, int]], parent: Sequence[int], positions: np.ndarray | None) -> Tree:
    """Ranges: greatest less least for numbers; for categories the number of values (footnote 3), 0 for a single one."""
    first, last = np.array(spans, np.int64).T
    size = (last - first + 1).astype(np.float64)
    ranges = np.where(size > 1, size, 0.0) if positions is None else positions[last] - positions[first]
    return Tree(first.copy(), last.copy(), np.array(parent, np.int64), np.ascontiguousarray(ranges, np.float64))
