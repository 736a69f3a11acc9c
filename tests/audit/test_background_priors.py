"""The audit's three ways to equation 2 give what the definition gives, within the roundings that they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from reticent.audit.measure import background_beliefs as beliefs

WAYS = {
    "from point to point": beliefs.PriorLimits(grid_products_per_pair=0),
    "a few pairs at a time": beliefs.PriorLimits(grid_products_per_pair=0, block_pairs=5),
    "on a grid": beliefs.PriorLimits(grid_products_per_pair=1 << 60),
    "a few keys at a time": beliefs.PriorLimits(grid_products_per_pair=1 << 60, doubles=40),
    "by all pairs": beliefs.PriorLimits(grid_products_per_pair=1 << 60, doubles=1),
}


def table(rng: np.random.Generator) -> tuple[beliefs.BeliefTable, list[np.ndarray | None]]:
    """Distinct points on three axes, and a weight for every two values of an axis; None: equal values alone have any."""
    sizes = rng.integers(2, 7, 3)
    codes = np.array(np.unravel_index(rng.choice(np.prod(sizes), min(np.prod(sizes), 25), replace=False), sizes)).T
    held = rng.integers(0, 4, (len(codes), 4))
    held[:, 0] += held.sum(axis=1) == 0
    each: list[np.ndarray | None] = []
    for kind, size in zip(rng.permutation(["near", "alone", "whole", "near", "none"])[:3], sizes, strict=True):
        weight = rng.integers(0, 9, (size, size)) / 8
        np.fill_diagonal(weight := (weight + weight.T) / 2, 1.0)
        each.append({"near": weight, "alone": np.eye(size), "whole": np.ones((1, 1)), "none": None}[str(kind)])
    return beliefs.BeliefTable(codes, held, np.array([0]), held.sum(axis=0)[None]), each


def defined(points: beliefs.BeliefTable, each: list[np.ndarray | None]) -> list[list[Fraction]]:
    """Equation 2, one point after the other, in fractions."""
    found = []
    for one in points.codes:
        total = [Fraction(0)] * points.value_counts.shape[1]
        for other, held in zip(points.codes, points.value_counts, strict=True):
            weight = Fraction(1)
            for w, i, j in zip(each, one, other, strict=True):
                weight *= Fraction(int(i == j)) if w is None else Fraction(1 if w.shape == (1, 1) else float(w[i, j]))
            total = [sum_ + weight * int(count) for sum_, count in zip(total, held, strict=True)]
        found.append([part / sum(total) for part in total])
    return found


@pytest.mark.parametrize("way", WAYS)
def test_priors_are_those_of_the_definition_whichever_way_they_are_added_up(way):
    rng = np.random.default_rng(11)
    for _ in range(12):
        points, each = table(rng)
        found, terms = beliefs.compute_priors(points, each, WAYS[way])
        unit = Fraction(2 * (terms + 8 * len(each) + points.value_counts.shape[1]), 2**53)
        for ours, exact in zip(found, defined(points, each), strict=True):
            assert all(abs(Fraction(float(a)) - b) <= unit * b for a, b in zip(ours, exact, strict=True))


def test_less_work_decides_which_way(monkeypatch):
    taken = []
    for name in ("_compute_priors_by_point", "_compute_priors_by_grid", "_compute_priors_by_pairs"):
        way = getattr(beliefs, name)
        monkeypatch.setattr(beliefs, name, lambda *given, way=way, name=name: taken.append(name) or way(*given))
    near = np.maximum(1 - np.abs(np.subtract.outer(np.arange(30), np.arange(30))) / 2, 0)
    codes = np.array([[i, i] for i in range(30)])  # each point has a key of its own
    apart = beliefs.BeliefTable(codes, np.eye(30, 4, dtype=np.int64) + 1, np.array([0]), np.ones((1, 4), np.int64))
    together = beliefs.BeliefTable(codes % 3, apart.value_counts, np.array([0]), np.ones((1, 4), np.int64))
    beliefs.compute_priors(apart, [None, near])
    beliefs.compute_priors(together, [near[:3, :3], near[:3, :3]])
    assert taken == ["_compute_priors_by_point", "_compute_priors_by_grid"]
