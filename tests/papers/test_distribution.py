"""Koudas, Srivastava, Yu & Zhang, Distribution-based Microdata Anonymization (VLDB 2009): its figures and examples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.methods.distribution.generalization import GroupValues, add_fakes, generalize_groups, sum_ranges
from reticent.methods.distribution.value_domain import _build_tree, build_balanced_tree
from tests.oracle import distribution as oracle

FIGURE_1 = pl.DataFrame(
    {
        "zipcode": [91110, 91110, 91110, 91130, 91210, 91220, 91240, 91310, 91320, 91330, 91340],
        "area": ["911"] * 4 + ["912"] * 3 + ["913"] * 4,
        "gender": list("FMMFFFFMMMF"),
        "salary": [30, 40, 50, 60, 40, 30, 50, 40, 60, 60, 60],
    }
)
COLUMNS = {"zipcode": rt.quasi(), "area": rt.quasi(), "gender": rt.quasi(), "salary": rt.sensitive()}


def published(**how):
    job = rt.Job(columns=COLUMNS, promises=[rt.PPrivacy("uniform")], method=rt.Distribution(group_by=["area"], **how))
    return rt.publish(job, frame=FIGURE_1)


def uniform(leaves: int):
    tree = build_balanced_tree(leaves, 2, np.arange(1.0, leaves + 1))
    return tree, tree.reduce_masses(tree.last - tree.first + 1)


def held(counts):
    at = np.flatnonzero(counts)
    return GroupValues(np.array([0, len(at)]), at, np.asarray(counts, np.int64)[at])


def spans(found, tree):
    """The nodes as [first, last] values, each as often as it is published."""
    rows = [(tree.first[node] + 1, tree.last[node] + 1, count) for node, count in found[:, -2:].tolist()]
    return sorted((int(a), int(b)) for a, b, count in rows for _ in range(count))


def counts(values, leaves):
    return np.bincount(np.array(values) - 1, minlength=leaves)


def test_figure_2_is_what_is_published():
    table = published().tables["sensitive"]
    assert [tuple(row) for row in table.select("group", "label", "count").iter_rows()] == [
        (0, "30", 1),
        (0, "40", 1),
        (0, "50", 1),
        (0, "60", 1),
        (1, "[30, 40]", 1),
        (1, "[30, 60]", 1),
        (1, "[50, 60]", 1),
        (2, "[30, 40]", 1),
        (2, "[30, 60]", 2),
        (2, "[50, 60]", 1),
    ]


def test_figure_4_is_private_too_and_costs_more():
    """Figure 3's hierarchy with uniform weights: nodes 0 the root, 1 {30, 40}, 2 {50, 60}, 3 to 6 the salaries."""
    tree, weights = uniform(4)
    plain = [
        (int(a), int(b), 1, None if p < 0 else int(p))
        for a, b, p in zip(tree.first, tree.last, tree.parent, strict=True)
    ]
    for nodes, values, ours in (([1, 1, 5, 6], [0, 1, 2, 3], 0), ([2, 1, 0], [1, 0, 2], 5), ([0] * 4, [1, 3, 3, 3], 8)):
        assert oracle.is_private(nodes, plain)
        assert oracle.generalizes(nodes, values, plain)
        best = sum_ranges(generalize_groups(held(np.bincount(values, minlength=4)), tree, weights), tree)
        assert best == ours
        assert sum(tree.ranges[node] for node in nodes) >= best


def test_the_generalizations_named_under_definition_3_2():
    tree, _ = uniform(4)
    plain = [
        (int(a), int(b), 1, None if p < 0 else int(p))
        for a, b, p in zip(tree.first, tree.last, tree.parent, strict=True)
    ]
    one = [3, 4, 2, 2]
    other = [1, 1, 5, 6]
    assert oracle.is_private(one, plain) and oracle.generalizes(one, [0, 1, 2, 3], plain)
    assert oracle.is_private(other, plain) and oracle.generalizes(other, [0, 1, 2, 3], plain)
    assert oracle.generalizes(other, [0, 0, 2, 3], plain) and not oracle.generalizes(one, [0, 0, 2, 3], plain)


@pytest.mark.parametrize(("bound", "wanted"), [(15, [2, 4, 4, 2]), (5, [0, 0, 0, 0])])
def test_the_allocation_of_section_4_1(bound, wanted):
    """N = (3, 8, 6, 9), W = (1, 2, 2, 1): (2, 4, 4, 2) where at most 15 are passed on, nothing where at most 5 are.

    The node that holds N stands beside a leaf with one value, and the weights of the two are m and 1: so m are passed to it.
    """
    tree = _build_tree([(0, 4), (0, 3), (4, 4), (0, 0), (1, 1), (2, 2), (3, 3)], [-1, 0, 0, 1, 1, 1, 1], np.arange(5.0))
    found = generalize_groups(held([3, 8, 6, 9, 1]), tree, np.array([1, bound, 1, 1, 2, 2, 1]))
    passed = dict(found[:, 1:].tolist())
    assert [passed.get(node, 0) for node in (3, 4, 5, 6)] == wanted
    assert passed.get(1, 0) == bound - sum(wanted)


def test_example_1_leaves_two_at_the_root():
    tree, weights = uniform(4)
    found = generalize_groups(held([2, 2, 1, 1]), tree, weights)
    assert spans(found, tree) == [(1, 1), (1, 4), (1, 4), (2, 2), (3, 3), (4, 4)]


def test_example_2_one_fake_beats_none_and_two():
    tree, weights = uniform(8)
    found = add_fakes(counts([1, 3, 5], 8), tree, weights, 2)
    assert found.costs.tolist() == [13, 4, 11]
    assert np.flatnonzero(found.fakes).tolist() in ([6], [7])


def test_example_3_costs_11_10_17_and_0():
    tree, weights = uniform(8)
    found = add_fakes(counts([1, 3, 5, 7], 8), tree, weights, 4)
    assert found.costs[1:].tolist() == [11, 10, 17, 0]
    assert (np.flatnonzero(found.fakes) + 1).tolist() == [2, 4, 6, 8]


def test_example_4_and_its_erratum():
    tree, weights = uniform(16)
    g = [1, 1, 1, 2, 3, 4, 5, 6, 7, 9, 9, 11, 11, 13, 13, 15, 15]
    found = add_fakes(counts(g, 16), tree, weights, 1)
    assert found.costs[1] == 38
    assert (np.flatnonzero(found.fakes) + 1).tolist() == [8]

    def with_fake(value):
        return sum_ranges(generalize_groups(held(counts([*g, value], 16)), tree, weights), tree)

    assert [with_fake(value) for value in (9, 11, 13, 15)] == [46] * 4
    assert min(with_fake(value) for value in range(9, 17)) == 44
    assert with_fake(8) == 38


def test_example_5_takes_the_steps_printed():
    """u, v, r1, r2 of both steps with x = 0, as printed; and what two fakes give in the end."""

    def step(left, right, x, k, r):
        u = min(left + x, right + k - x, (left + right + k - r) // 2)
        return u, u, left + x - u, right + k - x - u

    assert step(3, 4, 0, 2, 0) == (3, 3, 0, 3)
    assert step(2, 2, 0, 2, 3) == (1, 1, 1, 3)
    tree, weights = uniform(8)
    g = [1, 2, 3, 5, 6, 7, 7]
    found = add_fakes(counts(g, 8), tree, weights, 2)
    assert found.costs[2] == min(
        sum_ranges(generalize_groups(held(counts([*g, a, b], 8)), tree, weights), tree)
        for a in range(1, 9)
        for b in range(a, 9)
    )


def test_any_contiguous_subdomain_can_be_better_than_nodes():
    """Errata 4.2: {1, 2, 2, 4} under uniform over 1 .. 4 costs 8 by nodes; 1, [2-3], [2-3], 4 is private too and costs 2."""
    tree, weights = uniform(4)
    assert sum_ranges(generalize_groups(held([1, 2, 0, 1]), tree, weights), tree) == 8
    better = [(1, 1), (2, 3), (2, 3), (4, 4)]
    for value in range(1, 5):
        assert sum(Fraction(1, b - a + 1) for a, b in better if a <= value <= b) == 4 * Fraction(1, 4)


@pytest.mark.parametrize(
    ("question", "lower", "upper"),
    [
        ("SELECT AVG(salary) FROM release WHERE gender = 'F'", 35, 55),
        ("SELECT AVG(salary) FROM release WHERE area = '912'", 110 / 3, 160 / 3),
        ("SELECT AVG(salary) FROM release WHERE area = '913'", 140 / 4, 220 / 4),
        ("SELECT SUM(salary) FROM release WHERE area = '911'", 180, 180),
    ],
)
def test_the_bounds_of_section_2(question, lower, upper):
    found = published().query(question)
    assert (found.lower, found.upper) == (lower, upper)


def test_with_a_fake_the_average_of_912_is_within_40_and_50():
    found = published(fakes=1).query("SELECT AVG(salary) FROM release WHERE area = '912'")
    assert (found.lower, found.upper) == (40, 50)


def test_with_eight_fakes_the_bounds_of_913_are_worse():
    """Three 30, two 40 and three 50 beside 40, 60, 60, 60: [130/4, 230/4] instead of [140/4, 220/4]."""
    entries = [(v, v) for v in (30, 30, 30, 40, 40, 40, 50, 50, 50, 60, 60, 60)]
    from reticent.recipe.aggregate_bounds import IntervalCounts, compute_bounds

    low, high = np.array(entries).T
    table = compute_bounds(IntervalCounts(np.zeros(12, np.int64), low, high, np.ones(12, np.int64)), np.array([4]))
    assert (table.columns["sum_lower"][-1], table.columns["sum_upper"][-1]) == (130, 230)
