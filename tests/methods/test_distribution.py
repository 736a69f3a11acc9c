"""The algorithms of distribution-based anonymization against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from reticent.errors import InternalError
from reticent.methods.distribution import generalization
from reticent.methods.distribution.generalization import GroupValues, add_fakes, generalize_groups, sum_ranges
from reticent.methods.distribution.targets import (
    compute_exact_weights,
    compute_total_variation,
    compute_weight_shares,
    find_nearest_distribution,
    generate_rounded_weights,
    keeps_classic_promise,
)
from reticent.methods.distribution.value_domain import _build_tree, build_balanced_tree
from reticent.models.p_privacy import PPrivacy
from tests.oracle import distribution as oracle
from tests.support.pure_kernels import pure


def random_tree(rng, leaves: int, arity: int):
    """An uneven tree of at most `arity` children, its nodes level by level, over numbers that are not evenly spaced."""
    spans = [(0, leaves - 1)]
    parent = [-1]
    at = 0
    while at < len(spans):
        first, last = spans[at]
        if first < last:
            parts = int(rng.integers(2, min(arity, last - first + 1) + 1))
            cuts = np.sort(rng.choice(np.arange(first + 1, last + 1), parts - 1, replace=False)).tolist()
            ends = [first, *cuts, last + 1]
            spans += [(a, b - 1) for a, b in pairwise(ends)]
            parent += [at] * parts
        at += 1
    return _build_tree(spans, parent, np.cumsum(rng.integers(1, 5, leaves)).astype(float))


def nodes_of(tree, weights):
    rows = zip(tree.first.tolist(), tree.last.tolist(), weights.tolist(), tree.parent.tolist(), strict=True)
    return [(first, last, weight, None if parent < 0 else parent) for first, last, weight, parent in rows]


def histogram(values, leaves):
    return np.bincount(values, minlength=leaves).astype(np.int64)


def held(values, leaves):
    counts = histogram(values, leaves)
    at = np.flatnonzero(counts)
    return GroupValues(np.array([0, len(at)]), at, counts[at])


def published(found):
    return [node for node, count in found[:, -2:].tolist() for _ in range(count)]


def random_case(rng, arity, most_rows):
    leaves = int(rng.integers(2, 5))
    tree = random_tree(rng, leaves, arity)
    weights = tree.reduce_masses(tree.sum_below(rng.integers(1, 4, leaves)))
    return tree, weights, rng.integers(0, leaves, int(rng.integers(1, most_rows + 1))).tolist()


@pytest.mark.parametrize("arity", [2, 3])
def test_algorithm_1_is_private_generalizes_and_has_the_least_sum_of_ranges(arity):
    rng = np.random.default_rng(arity)
    for _ in range(1000):
        tree, weights, values = random_case(rng, arity, 5)
        found = generalize_groups(held(values, len(tree.leaf)), tree, weights)
        nodes = published(found)
        plain = nodes_of(tree, weights)
        assert oracle.is_private(nodes, plain)
        assert oracle.generalizes(nodes, values, plain)
        assert len(nodes) == len(values)
        assert sum_ranges(found, tree) == oracle.Families(plain).least(values, tree.ranges.tolist())


@pytest.mark.parametrize("arity", [2, 3])
def test_algorithm_2_is_optimal_over_all_multisets_of_fakes(arity):
    rng = np.random.default_rng(10 + arity)
    for _ in range(1_000):
        tree, weights, values = random_case(rng, arity, 4)
        found = add_fakes(histogram(values, len(tree.leaf)), tree, weights, 2)
        plain = nodes_of(tree, weights)
        assert found.costs.tolist() == oracle.Families(plain).least_with_fakes(values, tree.ranges.tolist(), 2)
        nodes = published(found.nodes)
        fakes = np.repeat(np.arange(len(tree.leaf)), found.fakes).tolist()
        assert oracle.is_private(nodes, plain)
        assert oracle.generalizes(nodes, [*values, *fakes], plain)
        assert len(nodes) == len(values) + len(fakes)
        assert sum(tree.ranges[node] for node in nodes) == found.costs.min()


def test_without_fakes_algorithm_2_is_algorithm_1():
    rng = np.random.default_rng(3)
    for _ in range(200):
        leaves = int(rng.integers(2, 40))
        tree = random_tree(rng, leaves, 2)
        weights = tree.reduce_masses(tree.sum_below(rng.integers(1, 4, leaves)))
        values = rng.integers(0, leaves, int(rng.integers(1, 200)))
        one = generalize_groups(held(values, leaves), tree, weights)
        other = add_fakes(histogram(values, leaves), tree, weights, 0).nodes
        assert sorted(map(tuple, one[:, 1:].tolist())) == sorted(map(tuple, other.tolist()))


def test_a_value_without_weight_gets_no_node_of_its_own():
    tree = build_balanced_tree(4, 2, np.arange(4.0))
    weights = tree.reduce_masses(tree.sum_below(np.array([1, 0, 1, 2])))
    found = generalize_groups(held([0, 2, 3, 3], 4), tree, weights)
    assert oracle.is_private(published(found), nodes_of(tree, weights))


def test_verify_refuses_what_definition_3_2_refuses():
    rng = np.random.default_rng(4)
    kept = 0
    for _ in range(400):
        tree, weights, _ = random_case(rng, 3, 1)
        nodes = rng.integers(0, len(tree), int(rng.integers(1, 5))).tolist()
        parameters = {
            "parent": tree.parent,
            "weights": weights,
            "group": np.zeros(len(nodes)),
            "node": nodes,
            "count": np.ones(len(nodes)),
        }
        if oracle.is_private(nodes, nodes_of(tree, weights)):
            PPrivacy().verify(parameters)
            kept += 1
        else:
            with pytest.raises(InternalError):
                PPrivacy().verify(parameters)
    assert kept > 20


def test_a_rounded_target_is_within_its_distance_and_no_value_that_occurs_loses_its_mass():
    rng = np.random.default_rng(5)
    for _ in range(12):
        leaves = int(rng.integers(2, 60))
        tree = random_tree(rng, leaves, 3)
        counts = rng.integers(0, 400, leaves) * (rng.random(leaves) < 0.8)
        counts[0] += 1
        for distance in (Fraction(1, 100), Fraction(1, 10)):
            for weights in generate_rounded_weights(tree, counts, counts > 0, distance):
                used = compute_weight_shares(tree, weights)
                assert sum(used) == 1
                assert compute_total_variation(tree, weights, counts) <= distance
                assert all(share > 0 for share, count in zip(used, counts, strict=True) if count)
        assert compute_total_variation(tree, compute_exact_weights(tree, counts), counts) == 0


@pytest.mark.parametrize(
    "promise",
    [
        {"model": "probabilistic-l-diversity", "l": 3},
        {"model": "t-closeness", "t": Fraction(1, 10)},
        {"model": "t-closeness", "t": Fraction(1, 10), "distance": "ordered"},
        {"model": "beta-likeness", "beta": Fraction(1, 2)},
        {"model": "beta-likeness", "beta": 2, "enhanced": False},
    ],
)
def test_the_nearest_distribution_keeps_its_promise_and_none_of_many_others_is_nearer(promise):
    rng = np.random.default_rng(6)
    for _ in range(20):
        own = rng.integers(0, 9, 5)
        overall = rng.integers(1, 9, 5)
        own[0] += 1
        overall += own
        found = find_nearest_distribution(promise, own.tolist(), overall.tolist())
        assert sum(found) == 1
        assert min(found) >= 0
        assert keeps_classic_promise(promise, found, overall.tolist())
        mine = [Fraction(int(count), int(own.sum())) for count in own]
        distance = _between(promise, found, mine)
        for _ in range(40):
            other = rng.integers(0, 20, 5)
            tried = [Fraction(int(count), int(other.sum())) for count in other] if other.sum() else found
            if keeps_classic_promise(promise, tried, overall.tolist()):
                assert distance <= _between(promise, tried, mine) + Fraction(
                    1, 10**5
                )  # -ln p is cut off after six digits


def _between(promise, one, other):
    from reticent.methods.distribution.targets import compute_distribution_distance

    return compute_distribution_distance(promise if promise["model"] == "t-closeness" else {}, one, other)


def test_the_kernels_give_the_same_where_the_interpreter_runs_them(monkeypatch):
    pytest.importorskip("cython", reason="a kernel's source imports cython, which the test extra installs")
    rng = np.random.default_rng(7)
    cases = [random_case(rng, 3, 12) for _ in range(20)]

    def run():
        for tree, weights, values in cases:
            leaves = len(tree.leaf)
            made = add_fakes(histogram(values, leaves), tree, weights, 2)
            yield (
                generalize_groups(held(values, leaves), tree, weights).tolist(),
                made.nodes.tolist(),
                made.fakes.tolist(),
            )

    compiled = list(run())
    monkeypatch.setattr(generalization, "allocate", pure("distribution_allocate").allocate)
    fakes = pure("distribution_fakes")
    monkeypatch.setattr(generalization, "fill_costs", fakes.fill_costs)
    monkeypatch.setattr(generalization, "recover_choices", fakes.recover_choices)
    assert list(run()) == compiled
