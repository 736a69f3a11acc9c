"""Weights of a target: tried in blocks and for all schemes at once, they are those that are tried one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from reticent.methods.distribution import targets
from reticent.methods.distribution.targets import compute_total_variation, generate_rounded_weights, is_within_distance
from reticent.methods.distribution.value_domain import build_balanced_tree


def least_weights(children: list[int], below: np.ndarray, occurs: np.ndarray, room: float) -> list[int] | None:
    """The first sum of weights, from 1 on, that is within the node's part of the distance; None: as they are."""
    whole = max(int(sum(below[child] for child in children)), 1)
    split = [below[child] / whole for child in children]
    for total in range(1, targets.MAX_SIBLING_WEIGHTS + 1):
        tried = [
            max(int(np.floor(share * total + 0.5)), int(occurs[child] and below[child] > 0))
            for share, child in zip(split, children, strict=True)
        ]
        if sum(tried) and sum(abs(t / sum(tried) - s) for t, s in zip(tried, split, strict=True)) / 2 <= room:
            return tried
    return None


@pytest.mark.parametrize("seed", range(6))
def test_weights_tried_in_blocks_are_those_tried_one_by_one(seed: int):
    rng = np.random.default_rng(seed)
    leaves = int(rng.integers(5, 60))
    tree = build_balanced_tree(leaves, [2, 3, 5][seed % 3], None)
    masses = rng.integers(0, 40, leaves) * (rng.random(leaves) < 0.6)
    masses[0] += 1
    below = tree.sum_below(masses)
    occurs = tree.sum_below((masses > 0).astype(np.int64)) > 0
    room = np.full(len(tree), 0.02)
    (found,) = targets._round_weights_within(tree, below, occurs, [room], max_block=1 + 7 * (seed % 3))
    wanted = tree.reduce_masses(below)
    for node in range(len(tree)):
        children = [child for child in range(1, len(tree)) if tree.parent[child] == node]
        if children and below[node] > 0:
            tried = least_weights(children, below, occurs, 0.02)
            wanted[children] = wanted[children] if tried is None else tried
    assert np.array_equal(found, tree.reduce_masses(wanted))


@pytest.mark.parametrize("seed", range(6))
def test_a_distance_that_doubles_decide_is_decided_as_by_fractions(seed: int):
    rng = np.random.default_rng(seed)
    tree = build_balanced_tree(40, 2, None)
    masses = rng.integers(1, 40, 40)
    for weights in generate_rounded_weights(tree, masses, masses > 0, Fraction(1, 4)):
        true = compute_total_variation(tree, weights, masses)
        assert is_within_distance(tree, weights, masses, true)
        assert not is_within_distance(tree, weights, masses, true - Fraction(1, 10**12))
        assert is_within_distance(tree, weights, masses, Fraction(1, 4)) == (true <= Fraction(1, 4))
