"""The audit's measures against the oracle's, on random groups."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.audit import audit
from reticent.data.columns import Column, Role
from reticent.errors import JobError
from reticent.registry import make_promise
from tests.oracle import measures as oracle
from tests.support import strategies
from tests.support.group_tables import ORDER, TREE, table_of


def recounted(groups, promises=(), tree=None):
    columns = {"q": Column(Role.QUASI), "s": Column(Role.SENSITIVE, hierarchy=tree, missing="category")}
    return audit(table_of(groups), columns=columns, promises=promises)


@settings(deadline=None, max_examples=80)
@given(strategies.histograms(null=True))
def test_every_measure_is_the_oracles(groups):
    ours = recounted(groups, tree=TREE).exact
    theirs = oracle.achieved(groups, order=ORDER, tree=TREE)
    assert set(theirs) <= set(ours)
    for name, expected in theirs.items():
        if isinstance(expected, float):
            assert ours[name] == pytest.approx(expected, rel=1e-12, abs=1e-12), name
        else:
            assert ours[name] == expected, name
    assert ours["beta-likeness-two-sided"] == oracle.beta(groups, two_sided=True)


@settings(deadline=None, max_examples=200)
@given(strategies.histograms(null=True), strategies.promises())
def test_every_promise_is_judged_as_the_oracle_does(groups, promise):
    domain = {"order": ORDER, "tree": TREE} if promise["model"] == "t-closeness" else {}
    verdict = recounted(groups, [promise], TREE).promises[0]
    assert verdict.evidence == "recounted"
    assert verdict.kept == oracle.holds(groups=groups, **promise, **domain)


@settings(deadline=None, max_examples=80)
@given(strategies.histograms(null=True), st.sampled_from(sorted(strategies.PARAMETERS)))
def test_a_promise_of_what_is_achieved_is_kept(groups, model):
    """The boundary itself, where a tolerance would hide: <= keeps it, and delta's < does not."""
    asked = {
        "k-anonymity": {"k": 2},
        "alpha-k-anonymity": {"alpha": 1, "k": 2},
        "recursive-l-diversity": {"c": 1, "l": 2},
        "t-closeness": {"t": 1},
        "beta-likeness": {"beta": 1},
        "delta-disclosure": {"delta": 1},
    }.get(model, {"l": 2})
    achieved = recounted(groups, [{"model": model, **asked}]).promises[0].achieved
    if None in achieved.values() or model in ("delta-disclosure", "entropy-l-diversity"):
        return
    promise = {"model": model, **{name: str(value) for name, value in achieved.items()}}
    try:
        make_promise(promise)
    except JobError:
        return  # so little is achieved that nobody may promise it
    assert recounted(groups, [promise]).kept


@pytest.mark.parametrize(
    ("model", "asked", "kept"),
    [
        ("delta-disclosure", {"delta": 1, "base": 2}, False),  # q/p = 2 exactly: |log2| < 1 is strict
        ("delta-disclosure", {"delta": "1.0000001", "base": 2}, True),
        ("beta-likeness", {"beta": 1, "enhanced": False}, True),  # q = p (1 + 1)
        ("beta-likeness", {"beta": "0.9999999", "enhanced": False}, False),
        ("entropy-l-diversity", {"l": 2}, True),  # two equally frequent values: entropy is ln 2
        ("entropy-l-diversity", {"l": "2.0000001"}, False),
        ("probabilistic-l-diversity", {"l": 2}, True),
        ("probabilistic-l-diversity", {"l": "2.0000001"}, False),
        ("distinct-l-diversity", {"l": 2}, True),
        ("distinct-l-diversity", {"l": 3}, False),
        ("t-closeness", {"t": "1/2"}, True),
        ("t-closeness", {"t": "0.4999999"}, False),
    ],
)
def test_a_tie_is_decided_exactly(model, asked, kept):
    groups = [{"s0": 7, "s1": 7}, {"s2": 7, "s3": 7}]
    if model == "delta-disclosure":
        asked = {**asked, "absent": "ignore"}
    assert recounted(groups, [{"model": model, **asked}]).kept is kept


@pytest.mark.parametrize(
    ("counts", "l", "c"),
    [((1, 3, 5), 2, "5/4"), ((5, 1, 3), 3, "5"), ((2, 2, 2), 2, "1/2"), ((2, 2, 2, 1), 4, "2"), ((7, 7), 2, "1")],
)
def test_recursive_diversity_is_decided_by_the_most_frequent_count_and_those_from_the_lth_on(counts, l, c):  # noqa: E741
    groups = [{f"s{number}": count for number, count in enumerate(counts)}]
    for asked, kept in ((Fraction(c), True), (Fraction(c) * Fraction("0.999999"), False)):
        (verdict,) = recounted(groups, [{"model": "recursive-l-diversity", "c": str(asked), "l": l}]).promises
        assert verdict.kept is kept and Fraction(verdict.achieved["c"]) == Fraction(c)


def test_a_group_so_large_that_doubles_cannot_tell_it_from_the_bound_is_told_apart():
    """(2**26 + 1) / 2**27 of a group is above one half, by less than a rounding error of a sum of products."""
    from reticent.audit.measure import diversity
    from reticent.audit.measure.counts import GroupCounts

    half = 2**26
    view = GroupCounts(
        np.array([0, 0]), np.array([0, 1]), np.array([half + 1, half - 1]), np.array([half + 1, half - 1])
    )
    assert diversity.measure_alpha([view]) == Fraction(half + 1, 2 * half)
    assert diversity.measure_entropy_l([view]) == pytest.approx(2)
    assert not diversity.entropy_holds([view], Fraction(2))


def test_counts_beyond_64_bits_are_measured_in_whole_numbers():
    from reticent.audit.measure import closeness
    from reticent.audit.measure.counts import GroupCounts

    big = 2**40
    group = np.array([0, 0, 1, 1])
    value = np.array([0, 1, 0, 1])
    view = GroupCounts(group, value, np.array([big, big + 1, big, big]), np.array([2 * big, 2 * big + 1]))
    q = Fraction(big + 1, 2 * big + 1)
    p = Fraction(2 * big + 1, 4 * big + 1)
    assert (
        closeness.measure_equal_distance([view])
        == closeness.measure_ordered_distance([view])
        == max(abs(q - p), abs(Fraction(1, 2) - p))
    )
    assert closeness.measure_hierarchical_distance(
        [view], np.array([[0, 0], [1, 0]])
    ) == closeness.measure_equal_distance([view])
