"""A target as small integer weights on the edges of the hierarchy, within a stated distance.

An exact target has weights as large as its counts; a node then passes on only multiples of their sum, and nearly everything stays
at the root.  With e(N) the total variation between a node's true split and its weights', the rounded target is within
sum over N of P(N) e(N) of the true one (P goes down the tree one split after the other).  Each scheme below hands out the
distance to the nodes in another way; each node takes the least sum of weights within its part, a value that occurs keeping a
weight of at least 1.  Which scheme is used is decided by the sum of ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from reticent.methods.distribution.tree import Tree

LARGEST = 1024  # sum of the weights of siblings that is tried; beyond it they stay exact


def exact_weights(tree: Tree, masses: np.ndarray) -> np.ndarray:
    return tree.reduced(tree.below(masses))


def schemes(tree: Tree, masses: np.ndarray, observed: np.ndarray, distance: Fraction) -> Iterator[np.ndarray]:
    """Weights by each way to hand out the distance, those that are within it."""
    below, inner = tree.below(masses), tree.children > 0
    share = below / below[0]
    levels = int(tree.depth.max())
    depth = tree.depth
    room = float(distance) * (1 - 1e-9)
    with np.errstate(divide="ignore"):
        each = np.minimum(room / inner.sum() / share, 1.0)
    even = np.full(len(tree), room / levels)
    halves = room / 2.0 ** (depth + 1)
    rising = room * 2.0 ** (depth - levels)
    for part in (even, (even + each) / 2, each, halves, rising):
        weights = _within(tree, below, tree.below(observed.astype(np.int64)) > 0, part)
        if apart(tree, weights, masses) <= distance:
            yield weights


def _within(tree: Tree, below: np.ndarray, occurs: np.ndarray, part: np.ndarray) -> np.ndarray:
    """For every node the least sum of weights of its children that is within its part of the distance."""
    weights = tree.reduced(below)
    parent = tree.parent[1:]
    split = below[1:] / np.maximum(below[parent], 1)
    least = (occurs[1:] & (below[1:] > 0)).astype(np.int64)
    starts = np.flatnonzero(np.diff(parent, prepend=-1))
    node, size = parent[starts], np.diff(np.append(starts, len(parent)))
    open_ = below[node] > 0  # below a node without mass any split is as good
    for total in range(1, LARGEST + 1):
        chosen = np.repeat(open_, size)
        if not chosen.any():
            break
        tried = np.maximum(np.floor(split[chosen] * total + 0.5).astype(np.int64), least[chosen])
        begin = np.append(0, np.cumsum(size[open_]))[:-1]
        sums = np.add.reduceat(tried, begin)
        wide = np.repeat(np.maximum(sums, 1), size[open_])
        off = np.add.reduceat(np.abs(tried / wide - split[chosen]), begin) / 2
        fine = (sums > 0) & (off <= part[node[open_]])
        taken = np.repeat(fine, size[open_])
        where = np.flatnonzero(chosen)[taken] + 1
        weights[where] = tried[taken]
        open_[np.flatnonzero(open_)[fine]] = False
    return tree.reduced(weights)


def shares(tree: Tree, weights: np.ndarray) -> list[Fraction]:
    """The distribution over the domain that the weights stand for."""
    parts = np.bincount(tree.parent[1:], weights=weights[1:], minlength=len(tree)).astype(np.int64).tolist()
    found = [Fraction(1)] * len(tree)
    parent, given = tree.parent.tolist(), weights.tolist()
    for node in range(1, len(tree)):
        found[node] = found[parent[node]] * Fraction(given[node], parts[parent[node]]) if given[node] else Fraction(0)
    return [found[node] for node in tree.leaf.tolist()]


def apart(tree: Tree, weights: np.ndarray, masses: np.ndarray) -> Fraction:
    """Total variation between the weights' distribution and that of the masses, exactly."""
    total = int(masses.sum())
    used = shares(tree, weights)
    return sum((abs(p - Fraction(int(m), total)) for p, m in zip(used, masses.tolist(), strict=True)), Fraction(0)) / 2
