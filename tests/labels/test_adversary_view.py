"""Large tables list which boxes cover which points: beliefs and memberships are those of looking at every pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reticent.data.cells import find_distinct_rows
from reticent.labels.adversary_view import Boxes, PairLimits


def some_boxes(rng: np.random.Generator, groups: int = 40, axes: int = 3, size: int = 12) -> Boxes:
    ends = np.sort(rng.integers(0, size, (2, axes, groups)), axis=0)
    counts = rng.integers(0, 4, (groups, 5))
    return Boxes.from_spans(*ends, np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0))))


def as_sets(found: tuple[np.ndarray, np.ndarray, np.ndarray], points: int) -> list[dict[int, float]]:
    held: list[dict[int, float]] = [{} for _ in range(points)]
    for point, group, people in zip(*(part.tolist() for part in found), strict=True):
        held[point][group] = people
    return held


@pytest.mark.parametrize("seed", range(8))
def test_listed_pairs_say_what_every_pair_says(seed):
    rng = np.random.default_rng(seed)
    sight = some_boxes(rng)
    points = np.unique(rng.integers(0, 12, (120, 3)), axis=0)
    people = rng.integers(1, 5, len(points))
    dense = sight.belief(points), as_sets(sight.memberships(points, people, 40), len(points))
    sight = replace(sight, pair_limits=PairLimits(min_pairs=0, share_divisor=0, block_pairs=50))
    assert sight._find_sparse_pairs(points) is not None
    assert np.allclose(sight.belief(points), dense[0], rtol=1e-12, atol=0)
    listed = as_sets(sight.memberships(points, people, 40), len(points))
    for one, other in zip(listed, dense[1], strict=True):
        assert one.keys() == other.keys() and all(one[group] == pytest.approx(other[group]) for group in one)


def test_of_more_boxes_than_asked_for_the_densest_are_kept():
    rng = np.random.default_rng(3)
    sight = replace(some_boxes(rng), pair_limits=PairLimits(min_pairs=0, share_divisor=0))
    points = rng.integers(0, 12, (60, 3))
    point, group, people = sight.memberships(points, np.ones(60, int), 2)
    density = sight.counts.sum(axis=1) / sight.room
    for at in range(60):
        over = np.flatnonzero(((points[at] >= sight.first.T) & (points[at] <= sight.last.T)).all(axis=1))
        best = np.sort(density[over])[::-1][:2]
        assert np.allclose(density[group[point == at]], best[best > 0])
        assert people[point == at].sum() == pytest.approx(1 if best.any() else 0)


def test_distinct_rows_are_those_of_numpy_and_in_its_order():
    rng = np.random.default_rng(5)
    for high in (3, 1 << 20):  # one word, and more than a word
        rows = rng.integers(0, high, (300, 5))
        unique, number = np.unique(rows, axis=0, return_inverse=True)
        found = find_distinct_rows(rows)
        assert np.array_equal(found[0], unique) and np.array_equal(found[1], number.reshape(-1))
    assert [len(part) for part in find_distinct_rows(np.zeros((0, 2), int))] == [0, 0]
