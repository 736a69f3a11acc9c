"""Somebody who knows the algorithm: the posterior against brute force, and the cases of errata 4.5 and 4.7."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.algorithm import compute_counted_posterior
from reticent.estimate.guaranteed_bounds import AnnotatedHierarchy
from reticent.methods.distribution.generalization import GroupValues, add_fakes, generalize_groups
from reticent.methods.distribution.value_domain import build_balanced_tree
from tests.oracle import distribution as oracle


def annotated(tree, weights):
    texts = [str(value) for value in range(len(tree.leaf))]
    return AnnotatedHierarchy(texts, tree.first, tree.last, tree.parent, [weights.tolist()], np.array([[0, 0]]))


def run(tree, weights, values, most=0):
    counts = np.bincount(values, minlength=len(tree.leaf))
    at = np.flatnonzero(counts)
    found = generalize_groups(GroupValues(np.array([0, len(at)]), at, counts[at]), tree, weights)[:, 1:]
    if most:
        found = add_fakes(counts, tree, weights, most).nodes
    return Counter(dict(found.tolist()))


def as_array(published, nodes):
    found = np.zeros(nodes, np.int64)
    for node, count in published.items():
        found[node] = count
    return found


@pytest.mark.parametrize("arity", [2, 3])
def test_the_posterior_is_that_of_every_table_behind_a_group(arity):
    rng = np.random.default_rng(arity)
    for _ in range(25):
        leaves = int(rng.integers(2, 5))
        tree = build_balanced_tree(leaves, arity, np.arange(leaves, dtype=float))
        weights = tree.reduce_masses(tree.sum_below(rng.integers(1, 4, leaves)))
        values = rng.integers(0, leaves, int(rng.integers(1, 5))).tolist()
        known = annotated(tree, weights)
        published = run(tree, weights, values)
        wanted = oracle.posterior(published, len(values), known.distribution(0), lambda v: run(tree, weights, v))  # noqa: B023
        found = compute_counted_posterior(known, 0, as_array(published, len(tree)))
        assert found == pytest.approx([float(share) for share in wanted], abs=1e-12)


def test_errata_5_four_copies_of_the_root():
    tree = build_balanced_tree(4, 2, np.arange(4.0))
    weights = tree.reduce_masses(tree.sum_below(np.array([3, 1, 1, 1])))
    published = np.zeros(7, np.int64)
    published[0] = 4
    assert compute_counted_posterior(annotated(tree, weights), 0, published).round(2).tolist() == [
        0.54,
        0.18,
        0.14,
        0.14,
    ]


def people(values, groups):
    return pl.DataFrame({"region": groups, "value": values})


def published(frame, **promise):
    columns = {"region": rt.quasi(), "value": rt.sensitive()}
    return rt.publish(
        rt.Job(columns=columns, promises=[rt.PPrivacy(**promise)], method=rt.Distribution(group_by=["region"])),
        frame=frame,
    )


def test_errata_7_the_exact_table_distribution_of_several_groups_rules_values_out():
    """Totals 2, 2, 2, 2 in groups of 2 and 6: two people are believed to have one of two values, where four are promised."""
    frame = people([1, 1, 2, 2, 3, 3, 4, 4], ["a"] * 2 + ["b"] * 6)
    found = rt.attack(published(frame, target="source", exact=True), name="algorithm")
    assert found.how == "exact"
    assert found.beliefs[0].tolist() == [0.5, 0.5, 0, 0]
    assert (found.worst_posterior, found.promised) == (0.5, 0.25)


def test_a_declared_target_says_less():
    frame = people([1, 1, 2, 2, 3, 3, 4, 4], ["a"] * 2 + ["b"] * 6)
    found = rt.attack(published(frame, target="uniform"), name="algorithm")
    assert found.worst_posterior < 0.5
    assert found.lift >= 1


def test_with_fakes_the_posterior_is_enumerated():
    frame = people([1, 3, 4, 1], ["a"] * 4)
    columns = {"region": rt.quasi(), "value": rt.sensitive()}
    promise = rt.PPrivacy("uniform", domain=[1, 4, 1])
    release = rt.publish(rt.Job(columns=columns, promises=[promise], method=rt.Distribution(fakes=1)), frame=frame)
    found = rt.attack(release, name="algorithm")
    tree = build_balanced_tree(4, 2, np.arange(4.0))
    weights = tree.reduce_masses(tree.last - tree.first + 1)
    wanted = oracle.posterior(
        run(tree, weights, [0, 2, 3, 0], 1),
        4,
        oracle.probabilities(_plain(tree, weights)),
        lambda v: run(tree, weights, v, 1),
    )
    assert found.how == "exact"
    assert found.beliefs[0] == pytest.approx([float(share) for share in wanted])


def _plain(tree, weights):
    rows = zip(tree.first.tolist(), tree.last.tolist(), weights.tolist(), tree.parent.tolist(), strict=True)
    return [(a, b, w, None if p < 0 else p) for a, b, w, p in rows]


def test_large_groups_with_fakes_are_sampled_and_say_so():
    rng = np.random.default_rng(1)
    frame = people(rng.integers(0, 6, 40).tolist(), ["a"] * 40)
    columns = {"region": rt.quasi(), "value": rt.sensitive()}
    release = rt.publish(
        rt.Job(columns=columns, promises=[rt.PPrivacy("uniform")], method=rt.Distribution(fakes=2)), frame=frame
    )
    found = rt.attack(release, name="algorithm")
    assert found.how in ("sampled", "unknown")
    assert found.low <= found.worst_posterior <= found.high


def test_the_attack_is_refused_where_there_is_no_target():
    frame = people([1, 2, 3, 4] * 5, ["a", "b"] * 10)
    job = rt.Job(columns={"region": rt.quasi(), "value": rt.sensitive()}, promises=[rt.KAnonymity(2)])
    with pytest.raises(rt.RequestError, match="no target"):
        rt.attack(rt.publish(job, frame=frame), name="algorithm")
