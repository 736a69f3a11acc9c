"""The eligibility attack counted, listed and mixed: each equal to brute force, and to each other where brute force ends."""

# ruff: noqa: E741  `l` is the field's own letter

from collections import Counter
from fractions import Fraction
from itertools import product
from math import perm

import numpy as np
import pytest

from reticent.attacks.eligibility import posterior_bounds, suppressed_tables
from reticent.attacks.eligibility.attack import compute_posterior, compute_suppression_risk, list_releases
from reticent.attacks.eligibility.suppressed_tables import (
    PRIORS,
    CountPrior,
    PublishedCounts,
    TermLimits,
    compute_joint_weights,
)
from reticent.methods.suppression.stage import SUPPRESSION_KINDS
from tests.support.eligibility_tables import drawn

ZIPF = [1000 // i for i in range(1, 21)]


def shares(weights, table) -> dict[int, Fraction]:
    alike = Counter(table)
    total = sum(alike[count] * weight for count, (weight, _) in weights.items())
    return {count: weight / total for count, (weight, _) in weights.items()}


def enumerated(rows: int, values: int, l: int, kind: str, prior: str):
    for table, weights in compute_joint_weights(rows, values, l, kind, prior).items():
        total = sum(weights.values())
        alike = Counter(table)
        yield table, {count: weight / total / alike[count] for count, weight in weights.items() if weight}


def sizes(most_rows: int, most_values: int):
    return [
        (rows, values, l)
        for rows in range(4, most_rows + 1)
        for values in range(2, min(most_values, rows) + 1)
        for l in range(2, values + 1)
    ]


def test_r_suppression_counted_is_enumeration_on_every_release_of_up_to_20_records():
    checked = 0
    for rows, values, l in sizes(20, 7):
        for table, truth in enumerated(rows, values, l, "randomized", "uniform"):
            found = suppressed_tables.compute_counted_weights(PublishedCounts(table, rows, l))
            assert all(low == high for low, high in found.values())
            assert shares(found, table) == truth, (table, rows, l)
            checked += 1
    assert checked > 2_000


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", SUPPRESSION_KINDS)
def test_listing_the_tables_behind_a_release_is_enumeration(kind, prior):
    for rows, values, l in sizes(12, 5):
        for table, truth in enumerated(rows, values, l, kind, prior):
            found = suppressed_tables.compute_listed_weights(
                PublishedCounts(table, rows, l), SUPPRESSION_KINDS[kind], CountPrior(prior), 10**6
            )
            assert shares(found, table) == truth, (table, rows, l)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", SUPPRESSION_KINDS)
def test_the_attack_is_enumeration_whichever_way_it_goes(kind, prior):
    for rows, values, l in sizes(11, 5):
        for table, truth in enumerated(rows, values, l, kind, prior):
            found = compute_posterior(table, rows, l, kind, prior)
            assert found.exact and found.worst == max(truth.values()), (table, rows, l)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_mixture_of_calibrated_holds_the_truth_on_every_release_of_up_to_18_records(prior):
    met = checked = 0
    for rows, values, l in sizes(18, 6):
        for table, truth in enumerated(rows, values, l, "calibrated", prior):
            found = posterior_bounds.bound_mixture_posteriors(PublishedCounts(table, rows, l), prior)
            assert set(truth) <= set(found)
            assert all(low <= truth.get(count, 0) <= high for count, (low, high) in found.items()), (table, rows, l)
            assert prior in ("shapes", "records") or max(high for _, high in found.values()) <= Fraction(1, l)
            met += all(low == high for low, high in found.values())
            checked += 1
    assert checked > 600 and met > 0.8 * checked


def test_counting_and_listing_agree_on_tables_of_up_to_hundreds_of_records():
    checked = 0
    for number in range(60):
        table, rows, l = drawn(number, "randomized")
        published = PublishedCounts(table, rows, l)
        listed = suppressed_tables.compute_listed_weights(
            published, SUPPRESSION_KINDS["randomized"], CountPrior("uniform"), 1_000
        )
        if listed is not None:  # else there are too many tables behind it
            assert shares(suppressed_tables.compute_counted_weights(published), table) == shares(listed, table)
            checked += 1
    assert checked >= 30


@pytest.mark.parametrize("prior", ["uniform", "records"])
def test_the_mixture_holds_what_listing_finds_on_tables_of_up_to_hundreds_of_records(prior):
    """Listing asks the mechanism for probabilities and knows nothing of its proof."""
    checked = 0
    for number in range(100):
        table, rows, l = drawn(number, "calibrated")
        published = PublishedCounts(table, rows, l)
        listed = suppressed_tables.compute_listed_weights(
            published, SUPPRESSION_KINDS["calibrated"], CountPrior(prior), 1_000
        )
        if listed is not None:
            found = posterior_bounds.bound_mixture_posteriors(published, prior)
            for count, share in shares(listed, table).items():
                assert found[count][0] <= share <= found[count][1]
                assert prior == "records" or found[count][1] <= Fraction(1, l)
            checked += 1
    assert checked >= 30


@pytest.mark.parametrize(
    ("count", "other", "moved"), [(9_000, 4_000, 7_000), (4_000, 9_000, 7_000), (30, 9_000, 2_500)]
)
def test_long_odds_of_independent_records_lie_between_their_bounds(count, other, moved):
    exact = Fraction(perm(count + moved, moved), perm(other + moved, moved))
    low, high = posterior_bounds._bound_record_odds(count, other, moved)
    assert low < exact < high < low * (1 + Fraction(1, 1_000))


def test_the_long_sum_lies_between_its_bounds():
    published = PublishedCounts((313, 313, 250, 200, 166, 142, 125, 125, *ZIPF[8:]), sum(ZIPF), 8)
    exact = suppressed_tables.compute_counted_weights(published)
    assert exact and all(low == high for low, high in exact.values())
    between = suppressed_tables.compute_counted_weights(published, TermLimits(exact_terms=10, blocks=50))
    assert any(low < high for low, high in between.values())
    for count, (weight, _) in exact.items():
        low, high = between[count]
        assert low <= weight <= high <= low * Fraction(21, 20)


@pytest.mark.parametrize(
    ("parts", "total", "cap"), [(1, 4, 3), (2, 5, 3), (3, 7, 4), (4, 9, 3), (3, 6, None), (0, 0, None)]
)
def test_vectors_are_counted(parts, total, cap):
    most = total if cap is None else cap
    assert suppressed_tables.count_vectors(parts, total, cap) == sum(
        sum(v) == total for v in product(range(most + 1), repeat=parts)
    )


@pytest.mark.parametrize(
    ("others", "total", "low", "most"), [(1, 6, 1, 3), (2, 9, 1, 4), (2, 8, 0, 3), (3, 10, 2, 3), (0, 4, 1, 2)]
)
def test_tied_values_lead_in_equal_shares(others, total, low, most):
    counted = Fraction(0)
    for first, *rest in product(range(low, total + 1), repeat=others + 1):
        if first + sum(rest) == total and first >= max([most, *rest]):
            counted += Fraction(1, 1 + rest.count(first))
    assert suppressed_tables.count_led_tables(others, total, low, most) == (others + 1) * counted


@pytest.mark.parametrize(("l", "worst"), [(5, 0.939481635), (8, 0.379482673), (10, 0.339596943)])
def test_all_releases_of_zipf_counts_are_attacked_exactly(l, worst):
    found = compute_suppression_risk(ZIPF, l, "randomized")
    assert found.how == "exact" and found.attacked == found.releases
    assert found.worst_posterior == pytest.approx(worst, abs=1e-8)
    ours = compute_suppression_risk(ZIPF, l, "calibrated")
    assert ours.how == "exact" and ours.worst_posterior == pytest.approx(1 / l)


def test_a_million_records_have_certain_bounds_or_exact_figures():
    counts = [220_000 // i for i in range(1, 51)]
    found = compute_suppression_risk(counts, 8, "randomized", max_releases=12)
    assert found.how == "bounds" and found.attacked < found.releases
    assert 1 / 8 < found.low <= found.worst_posterior <= found.high < found.low + 0.001
    assert compute_suppression_risk(counts, 8, "calibrated", max_releases=12).worst_posterior == 1 / 8
    assert (
        compute_suppression_risk(counts, 8, "unsafe").how == compute_suppression_risk(counts, 8, "safe").how == "exact"
    )


@pytest.mark.parametrize("kind", SUPPRESSION_KINDS)
def test_the_releases_attacked_are_those_the_suppression_may_publish(kind):
    for counts, l in (([10, 4, 2, 1, 1], 3), ([30, 12, 11, 4, 2, 2], 4), ([9, 9, 3, 1], 3)):
        truth: Counter = Counter()
        for chance, table in SUPPRESSION_KINDS[kind].outcomes(np.array(counts), l):
            if chance:
                truth[tuple(sorted(table.tolist(), reverse=True))] += chance
        number, found = list_releases(np.array(counts), l, kind, 1_000)
        assert found == truth and number == len(truth)
