"""A target as small integer weights on the edges of the hierarchy, within a stated distance.

An exact target has weights as large as its counts; a node then passes on only multiples of their sum, and nearly everything stays
at the root.  With e(N) the total variation between a node's true split and its weights', the rounded target is within
sum over N of P(N) e(N) of the true one (P goes down the tree one split after the other).  Each scheme below hands out the
distance to the nodes in another way; each node takes the least sum of weights within its part, a value that occurs keeping a
weight of at least 1.  Which scheme is used is decided by the sum of ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from reticent.methods.distribution.tree import Tree

TRIED_AT_ONCE = 1 << 20  # weights that are tried together
LARGEST_BLOCK = 32
UNSURE = 1e-7  # doubles add up a distance to much less than this: sums of at most 2^20 leaves, each a product of its depth's splits
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
    parts = (even, (even + each) / 2, each, halves, rising)
    for weights in _within(tree, below, tree.below(observed.astype(np.int64)) > 0, parts):
        if is_within(tree, weights, masses, distance):
            yield weights


def _within(tree: Tree, below: np.ndarray, occurs: np.ndarray, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For every node the least sum of weights of its children that is within its part of the distance; by each of `parts`.

    Sums are tried in blocks, and of all parts at once: how far a sum is off does not depend on them.
    """
    parent = tree.parent[1:]
    split = below[1:] / np.maximum(below[parent], 1)
    least = (occurs[1:] & (below[1:] > 0)).astype(np.int64)
    starts = np.flatnonzero(np.diff(parent, prepend=-1))
    node, size = parent[starts], np.diff(np.append(starts, len(parent)))
    found = [tree.reduced(below) for _ in parts]
    open_ = [below[node] > 0 for _ in parts]  # below a node without mass any split is as good
    block = int(np.clip(TRIED_AT_ONCE // max(len(split), 1), 1, LARGEST_BLOCK))
    for first in range(1, LARGEST + 1, block):
        left = np.any(open_, axis=0)
        if not left.any():
            break
        total = np.arange(first, min(first + block, LARGEST + 1))[:, None]
        chosen, sizes = np.repeat(left, size), size[left]
        tried = np.maximum(np.floor(split[chosen] * total + 0.5).astype(np.int64), least[chosen])
        begin = np.append(0, np.cumsum(sizes))[:-1]
        sums = np.add.reduceat(tried, begin, axis=1)
        wide = np.repeat(np.maximum(sums, 1), sizes, axis=1)
        off = np.add.reduceat(np.abs(tried / wide - split[chosen]), begin, axis=1) / 2
        for at, part in enumerate(parts):
            fine = (sums > 0) & (off <= part[node[left]]) & open_[at][left]
            met = fine.any(axis=0)
            taken = np.flatnonzero(np.repeat(met, sizes))
            found[at][np.flatnonzero(chosen)[taken] + 1] = tried[np.repeat(fine.argmax(axis=0), sizes)[taken], taken]
            open_[at][np.flatnonzero(left)[met]] = False
    return [tree.reduced(weights) for weights in found]


def shares(tree: Tree, weights: np.ndarray) -> list[Fraction]:
    """The distribution over the domain that the weights stand for."""
    parts = np.bincount(tree.parent[1:], weights=weights[1:], minlength=len(tree)).astype(np.int64).tolist()
    found = [Fraction(1)] * len(tree)
    parent, given = tree.parent.tolist(), weights.tolist()
    for node in range(1, len(tree)):
        found[node] = found[parent[node]] * Fraction(given[node], parts[parent[node]]) if given[node] else Fraction(0)
    return [found[node] for node in tree.leaf.tolist()]


def is_within(tree: Tree, weights: np.ndarray, masses: np.ndarray, distance: Fraction) -> bool:
    """Whether the weights' distribution is within a distance of that of the masses: by doubles where they decide, else exactly."""
    parts = np.bincount(tree.parent[1:], weights=weights[1:], minlength=len(tree))
    found = np.ones(len(tree))
    for depth in range(1, int(tree.depth.max()) + 1):
        nodes = np.flatnonzero(tree.depth == depth)
        above = tree.parent[nodes]
        found[nodes] = np.where(weights[nodes] > 0, found[above] * weights[nodes] / np.maximum(parts[above], 1), 0.0)
    roughly = float(np.abs(found[tree.leaf] - masses / masses.sum()).sum() / 2)
    if abs(roughly - float(distance)) > UNSURE:
        return roughly < float(distance)
    return apart(tree, weights, masses) <= distance


def apart(tree: Tree, weights: np.ndarray, masses: np.ndarray) -> Fraction:
    """Total variation between the weights' distribution and that of the masses, exactly."""
    total = int(masses.sum())
    used = shares(tree, weights)
    return sum((abs(p - Fraction(int(m), total)) for p, m in zip(used, masses.tolist(), strict=True)), Fraction(0)) / 2
