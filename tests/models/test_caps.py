"""Caps against the inequalities they stand for, on groups drawn at random from a table."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.models.beta_likeness import BetaLikeness
from reticent.models.caps import NO_VALUE, Caps, merge_caps, to_integer_pairs
from reticent.models.delta_disclosure import DeltaDisclosure
from reticent.models.k_anonymity import AlphaKAnonymity
from reticent.models.l_diversity import DistinctLDiversity, ProbabilisticLDiversity
from tests.oracle import likeness
from tests.support.strategies import decimals

tables = st.lists(st.integers(0, 12), min_size=1, max_size=5).filter(any)


@st.composite
def drawn(draw):
    """A table's totals, groups of it, and whether its last value is a null."""
    totals = np.array(draw(tables), np.int64)
    group = st.tuples(*(st.integers(0, int(c)) for c in totals)).filter(any)
    groups = np.array(draw(st.lists(group, min_size=1, max_size=8)), np.int64)
    null = len(totals) - 1 if draw(st.booleans()) else NO_VALUE
    return totals, groups, null


def views(totals, group, null):
    """(group, reference) with and, where there are nulls, without them; nothing for a group of nulls alone."""
    yield dict(enumerate(group)), dict(enumerate(totals))
    if null >= 0 and totals[null] and sum(group) > group[null]:
        yield dict(enumerate(group[:null])), dict(enumerate(totals[:null]))


def allowed(caps, group):
    return all(cap.allows(group[None])[0] for cap in caps)


@given(drawn(), decimals("0.05", "5"), st.booleans(), st.booleans())
@settings(max_examples=250, deadline=None)
def test_beta_caps_allow_just_the_groups_that_beta_likeness_does(table, beta, enhanced, two_sided):
    totals, groups, null = table
    caps = BetaLikeness(beta, enhanced, two_sided).caps(totals, null)
    for group in groups:
        holds = all(
            likeness.beta_holds(g, r, Fraction(beta), enhanced=enhanced, two_sided=two_sided)
            for g, r in views(totals.tolist(), group.tolist(), null)
        )
        assert allowed(caps, group) == holds


@given(
    drawn(),
    st.one_of(st.integers(1, 4), decimals("0.05", "4")),
    st.sampled_from(["break", "ignore"]),
    st.sampled_from(["e", 2]),
)
@settings(max_examples=250, deadline=None)
def test_delta_caps_allow_just_the_groups_that_delta_disclosure_does(table, delta, absent, base):
    totals, groups, null = table
    caps = DeltaDisclosure(delta, absent, base).caps(totals, null)
    for group in groups:
        holds = all(
            likeness.delta_holds(g, r, Fraction(delta), absent=absent, base=base)
            for g, r in views(totals.tolist(), group.tolist(), null)
        )
        assert allowed(caps, group) == holds


@given(drawn(), decimals("0.05", "1"), st.integers(2, 8), st.integers(2, 4))
@settings(max_examples=150, deadline=None)
def test_alpha_l_and_distinct_caps_allow_just_what_their_inequalities_do(table, alpha, k, l):  # noqa: E741
    totals, groups, null = table
    for group in groups:
        found = list(views(totals.tolist(), group.tolist(), null))
        share = max(Fraction(max(g.values()), sum(g.values())) for g, _ in found)
        assert allowed(AlphaKAnonymity(alpha, k).caps(totals, null), group) == (
            share <= Fraction(alpha) and group.sum() >= k
        )
        of_nulls = null >= 0 and group.sum() == group[null]
        assert allowed(ProbabilisticLDiversity(l).caps(totals, null), group) == (share * l <= 1 and not of_nulls)
        distinct = sum(1 for v, c in enumerate(group) if c and v != null)
        assert allowed(DistinctLDiversity(l).caps(totals, null), group) == (distinct >= l)


@pytest.mark.parametrize(
    ("delta", "base"), [(10**6, "e"), (10**6, 2), (Fraction(10**9, 7), 2), (Fraction(1, 10**6), "e")]
)
def test_extreme_deltas_are_capped_at_once(delta, base):
    totals = np.array([1, 10**6, 5 * 10**8])
    cap = DeltaDisclosure(delta, base=base).caps(totals, NO_VALUE)[0]
    rows = int(totals.sum())
    assert (cap.upper[:, 1] <= rows).all() and (cap.lower[:, 1] <= rows).all() and (cap.lower[:, 0] > 0).all()
    assert cap.allows(totals[None]).all()


def test_a_whole_delta_in_base_2_is_strict_at_the_tie():
    cap = DeltaDisclosure(1, base=2).caps(np.array([1, 3]), NO_VALUE)[0]
    assert cap.allows(np.array([[1, 1], [1, 2], [1, 3]])).tolist() == [False, True, True]
    natural = DeltaDisclosure("0.6931471805599453", base="e").caps(np.array([1, 3]), NO_VALUE)[0]
    assert natural.allows(np.array([[1, 1]])).tolist() == [False]


def test_caps_of_one_kind_of_counting_are_joined_and_others_are_kept_apart():
    halves = to_integer_pairs([Fraction(1, 2)] * 3)
    thirds = to_integer_pairs([Fraction(1, 3)] * 3)
    joined = merge_caps(
        [
            Caps(3, least_size=4, upper=halves),
            Caps(3, upper=thirds),
            Caps(3, least_distinct=2, null=2),
            Caps(3, upper=halves, without=2),
            Caps(3, lower=thirds, present_only=True),
            Caps(3, lower=thirds),
        ]
    )
    assert len(joined) == 3
    first = joined[0]
    assert (first.least_size, first.least_distinct, first.null, first.present_only) == (4, 2, 2, True)
    assert first.upper.tolist() == thirds.tolist()


@given(drawn(), st.data())
@settings(max_examples=100, deadline=None)
def test_joined_caps_allow_what_all_of_them_allow(table, data):
    totals, groups, null = table
    makers = [
        AlphaKAnonymity("0.7", 3),
        DistinctLDiversity(2),
        ProbabilisticLDiversity("1.4"),
        BetaLikeness(1, True, True),
        BetaLikeness(2, False),
        DeltaDisclosure(1, "ignore"),
        DeltaDisclosure(2, "break", 2),
    ]
    chosen = data.draw(st.lists(st.sampled_from(makers), min_size=1, max_size=4))
    caps = list(itertools.chain.from_iterable(promise.caps(totals, null) for promise in chosen))
    together = np.logical_and.reduce([cap.allows(groups) for cap in merge_caps(caps)])
    assert together.tolist() == np.logical_and.reduce([cap.allows(groups) for cap in caps]).tolist()
