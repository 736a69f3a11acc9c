"""Several tuples of a group: the posterior against enumeration, and the bound that it never exceeds."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.attacks.drawn_tuples import DrawnTuples, compute_lifts, find_worst_belief
from reticent.models.corruption_guarantees import CorruptionSetting, compute_rho2, delta_holds, find_least_bound
from tests.oracle.corruption import several_tuples

SETTINGS = [
    (size, drawn, domain, Fraction(p))
    for size in range(2, 6)
    for drawn in range(1, size + 1)
    for domain in (2, 3)
    for p in ("1/5", "1/2", "4/5")
    if domain == 2 or size < 5
]


@pytest.mark.parametrize(("size", "drawn"), sorted({setting[:2] for setting in SETTINGS}))
def test_no_odds_grow_by_more_than_the_bound_and_in_every_setting_some_reach_it(size, drawn):
    """Every group, every outcome, every pair of values: a victim drawn with r = drawn / size has odds of at most 1 + r p / u."""
    for _, _, domain, p in (setting for setting in SETTINGS if setting[:2] == (size, drawn)):
        bound = 1 + Fraction(drawn, size) * p / ((1 - p) / domain)
        reached = 0
        for others in combinations_with_replacement(range(domain), size - 1):
            for shown in combinations_with_replacement(range(domain), drawn):
                likelihood = several_tuples(p, domain, shown, size, others, ())
                for value, other in product(likelihood, repeat=2):
                    assert value / other <= bound
                    reached += value / other == bound
        assert reached


@pytest.mark.parametrize(("size", "drawn", "k"), [(4, 2, 2), (5, 2, 2), (3, 1, 3), (5, 1, 3), (4, 4, 1)])
def test_no_prior_and_predicate_exceed_the_guarantees_of_k(size, drawn, k):
    """Several values may be shown, and a predicate may have all of them: rho2 and Delta stand for every predicate and prior."""
    domain = 3
    p = Fraction(1, 2)
    parts = 5
    priors = [
        tuple(Fraction(part, parts) for part in prior)
        for prior in product(range(parts + 1), repeat=domain)
        if sum(prior) == parts and max(prior) < parts
    ]
    growth = {
        skew: find_least_bound(lambda delta, skew=skew: delta_holds(CorruptionSetting(p, k, domain, skew), delta))
        for skew in map(max, priors)
    }
    predicates = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    for others in combinations_with_replacement(range(domain), size - 1):
        for shown in combinations_with_replacement(range(domain), drawn):
            likelihood = several_tuples(p, domain, shown, size, others, ())
            for prior in priors:
                whole = sum(belief * part for belief, part in zip(prior, likelihood, strict=True))
                setting = CorruptionSetting(p, k, domain, max(prior))
                for predicate in predicates:
                    before = sum(prior[x] for x in predicate)
                    after = sum(prior[x] * likelihood[x] for x in predicate) / whole
                    if before < 1:
                        assert after <= compute_rho2(setting, before)
                    assert after - before <= growth[max(prior)]


@st.composite
def situations(draw):
    domain = draw(st.integers(2, 3))
    size = draw(st.integers(2, 5))
    shown = draw(st.lists(st.integers(0, domain - 1), min_size=1, max_size=min(size, 3)))
    corrupted = draw(st.lists(st.integers(0, domain - 1), max_size=size - 1))
    return Fraction(draw(st.integers(1, 19)), 20), domain, size, tuple(shown), tuple(corrupted)


@settings(max_examples=60, deadline=None)
@given(situations())
def test_the_likelihood_of_several_tuples_is_what_enumeration_gives(situation):
    p, domain, size, shown, corrupted = situation
    even = (Fraction(1, domain),) * domain
    enumerated = several_tuples(p, domain, shown, size, corrupted, [even] * (size - 1 - len(corrupted)))
    tuples = DrawnTuples(p, domain, size, dict(Counter(shown)), dict(Counter(corrupted)))
    assert [tuples.likelihood(value) for value in range(domain)] == enumerated
    lifts = tuples.list_lifts()
    holders = np.array([tuples.known.get(value, 0) for value in tuples.shown])
    counts = np.array(list(tuples.shown.values()))
    computed = compute_lifts(counts, holders, size, tuples.unknown, float(p), domain)
    assert computed == pytest.approx([float(lifts[value]) for value in tuples.shown])


def test_lifts_of_a_large_group_are_those_of_fractions():
    shown = {0: 20, 1: 12, 2: 9, 5: 4}
    known = {0: 80, 1: 70, 2: 20, 3: 60}
    for size in (231, 260):
        tuples = DrawnTuples(Fraction(2, 5), 10, size, shown, known)
        lifts = compute_lifts(np.array(list(shown.values())), np.array([80, 70, 20, 0]), size, tuples.unknown, 0.4, 10)
        assert lifts == pytest.approx([float(lift) for lift in tuples.list_lifts().values()], rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=3),
    st.sampled_from([3, 4, 6]),
    st.integers(7, 19),
    st.integers(1, 9),
)
def test_the_worst_belief_is_as_high_as_any_prior_and_predicate_reach(parts, domain, skew, before):
    """Against a grid of priors over the values; the rest of a belief lies on values that are not lifted."""
    lifts = sorted((part / 10 for part in parts), reverse=True)[: domain - 1]
    lambda_ = max(Fraction(skew, 20), Fraction(1, domain))
    rho1 = Fraction(before, 20)
    worst = find_worst_belief(lifts, domain, lambda_, rho1)
    steps = 40
    shares = [[step / steps * float(lambda_) for step in range(steps + 1)] for _ in lifts[:2]]
    for believed in product(*shares):
        lifted = sum(share * lift for share, lift in zip(believed, lifts, strict=False))
        total = sum(believed)
        if total <= rho1:
            assert (float(rho1) + lifted) / (1 + lifted) <= float(worst.posterior) + 1e-9
        if total < 1 and (1 - total) / (domain - len(lifts)) <= lambda_ and len(lifts) < 3:
            assert lifted * (1 - total) / (1 + lifted) <= worst.growth + 1e-9


RNG = np.random.default_rng(3)
ROWS = 4000
DENSE = pl.DataFrame(
    {
        "a": RNG.integers(0, 12, ROWS),
        "b": RNG.choice(list("xy"), ROWS),
        "s": RNG.choice(5, ROWS, p=[0.5, 0.2, 0.1, 0.1, 0.1]),
    }
)
DENSE_JOB = rt.Job(
    columns={"a": rt.quasi(), "b": rt.quasi(), "s": rt.sensitive(domain=[0, 5])},
    promises=[rt.RhoGuarantee("0.2", "0.4", "0.3")],
    method=rt.PerturbedGeneralization(k=5),
)


def test_dense_groups_are_attacked_by_all_of_their_tuples():
    """Groups of some 160 people show some 33 tuples each, and nobody learns more than of one tuple of five."""
    release = rt.publish(DENSE_JOB, frame=DENSE, seed=1)
    assert release.frame()["G"].min() > 100
    everyone = rt.attack(release, DENSE, "corruption", lambda_="0.3", rho1="0.2").to_dict()
    assert 0.2 < everyone["worst_posterior"] <= everyone["bound"] <= 0.4
    assert 0 < everyone["worst_growth"] <= everyone["growth_bound"]
    some = rt.attack(release, DENSE, "corruption", corrupted=DENSE.head(2000), lambda_="0.3", rho1="0.2").to_dict()
    assert some["worst_posterior"] <= some["bound"]
