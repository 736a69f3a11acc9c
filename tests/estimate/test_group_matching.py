"""The best matching of rows and values: two types of rows at once, and group by group, give what trying every one gives."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from reticent.estimate import group_matching
from reticent.estimate.group_matching import MatchingGroups, find_best_matching, sum_best_matching


def drawn(rng, types: int):
    """Groups of one to four rows with as many values, and what each pair is worth, halves included."""
    sizes = rng.integers(1, 5, rng.integers(1, 4))
    sides = [
        [(group, int(rng.integers(kinds))) for group, size in enumerate(sizes) for _ in range(size)]
        for kinds in (types, 5)
    ]
    counted = [np.unique(np.array(side), axis=0, return_counts=True) for side in sides]
    rows, values = ((pairs[:, 0], pairs[:, 1], number) for pairs, number in counted)
    return MatchingGroups(rows, values, len(sizes)), sides, rng.integers(-4, 5, (types, 5)) / 2


def tried(sides, worth, group: int) -> float:
    rows, values = ([kind for where, kind in side if where == group] for side in sides)
    return max(sum(worth[row, value] for row, value in zip(rows, order, strict=True)) for order in permutations(values))


@pytest.mark.parametrize("types", [1, 2, 3])
def test_the_best_is_what_trying_every_matching_finds(types):
    rng = np.random.default_rng(types)
    for _ in range(60):
        groups, sides, worth = drawn(rng, types)
        each = [tried(sides, worth, group) for group in range(groups.many)]
        assert find_best_matching(groups, worth)[0] == pytest.approx(each)
        value, same, rows = sum_best_matching(groups, worth, worth, np.ones(worth.shape))
        assert value == same == pytest.approx(sum(each)) and rows == groups.rows[2].sum()
        assert sum_best_matching(groups, -worth)[0] == pytest.approx(find_best_matching(groups, -worth)[0].sum())
        fewest = min(len(np.unique(side[1])) for side in (groups.rows, groups.values))
        assert (groups.two_types is None) == (fewest > 2)


def test_decimals_whose_sums_differ_by_roundings_lead_in_no_circles():
    """0.1 + 0.2 is more than 0.3 in doubles, and less in another order: each of two equal ways seems better than the other."""
    rng = np.random.default_rng(1)
    for _ in range(150):
        groups, sides, _ = drawn(rng, 6)
        worth = rng.integers(-3, 4, (6, 1)) / 10 + rng.integers(-3, 4, (1, 5)) / 10 - 1 / 3
        each = [tried(sides, worth, group) for group in range(groups.many)]
        assert find_best_matching(groups, worth)[0] == pytest.approx(each)


def test_groups_too_wide_to_be_sorted_by_hand_give_the_same():
    rng = np.random.default_rng(4)
    group = np.sort(rng.integers(0, 3, 60))
    side = group, rng.integers(0, 30, 60), rng.integers(0, 4, 60)
    room = rng.integers(0, 40, 3)
    place = rng.permutation(30)
    narrow = group_matching.count_taken(side, room, place)
    assert (group_matching.count_taken(side, room, place, max_inserted=0) == narrow).all()
