"""Several rows of a person, drawn and perturbed apart: no belief exceeds what the bounds allow, and some reaches them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from reticent.models.corruption_guarantees import CorruptionSetting, compute_rho2, delta_holds, find_least_bound
from tests.oracle.corruption import rows_of_one_person

HALF = Fraction(1, 2)
CASES = [
    # Each group: its rows, how many of them are drawn, how many are the victim's; a group has 2 k rows for each row drawn.
    (((4, 1, 1), (4, 1, 1)), 2, 2),
    (((4, 1, 1), (5, 1, 1)), 2, 2),
    (((4, 1, 2),), 2, 2),
    (((8, 2, 2),), 2, 2),
    (((4, 1, 1), (4, 1, 1)), 2, 3),
    (((4, 1, 2),), 2, 3),
    (((6, 1, 1), (6, 1, 1)), 3, 2),
    (((6, 1, 2), (6, 1, 1)), 2, 2),
]


def list_likelihoods(groups, domain, p):
    """List the chance of what is shown by each set of values of the victim, in every situation."""
    situations = []
    for size, drawn, rows in groups:
        others = combinations_with_replacement(range(domain), size - rows)
        shown = combinations_with_replacement(range(domain), drawn)
        situations.append([(show, rows, rest) for show, rest in product(shown, others)])
    for situation in product(*situations):
        yield rows_of_one_person(p, domain, situation)


@pytest.mark.parametrize(("groups", "k", "domain"), CASES)
@pytest.mark.parametrize("p", [Fraction(1, 5), Fraction(4, 5)])
def test_odds_of_a_persons_rows_multiply_by_at_most_those_of_each(groups, k, domain, p):
    """Every situation, every two sets of values; rows in groups of their own reach the product where k divides a group."""
    rows = sum(rows for *_, rows in groups)
    bound = (1 + p / (k * rows * (1 - p) / domain)) ** rows
    least = min(size // drawn for size, drawn, _ in groups)
    assert least >= k * rows
    greatest = Fraction(0)
    for likelihood in list_likelihoods(groups, domain, p):
        odds = max(likelihood.values()) / min(likelihood.values())
        greatest = max(greatest, odds)
    assert greatest <= bound
    if all(rows_here == 1 and size == k * rows * drawn for size, drawn, rows_here in groups):
        assert greatest == bound


@pytest.mark.parametrize(("groups", "k", "domain"), CASES)
def test_no_prior_of_a_persons_rows_and_no_condition_exceed_the_guarantees(groups, k, domain):
    """Priors over all sets of values, their rows alike or not: rho2 and Delta hold for the most that is believed of a row's value."""
    draw = np.random.default_rng(7)
    rows = sum(rows for *_, rows in groups)
    sets = list(product(range(domain), repeat=rows))
    likelihoods = list(list_likelihoods(groups, domain, HALF))
    chosen = [likelihoods[place] for place in draw.permutation(len(likelihoods))[:60]]
    alike = [tuple([value] * rows) for value in range(domain)]
    priors = []
    for _ in range(12):
        of = alike if draw.random() < 0.5 else sets
        weights = draw.integers(0, 6, len(of))
        if weights.max() < weights.sum():
            priors.append(
                {values: Fraction(int(part), int(weights.sum())) for values, part in zip(of, weights, strict=True)}
            )
    reached = Fraction(0)
    for prior in priors:
        skew = max(
            sum(part for values, part in prior.items() if values[row] == value)
            for row in range(rows)
            for value in range(domain)
        )
        if skew == 1:
            continue
        setting = CorruptionSetting(HALF, k, domain, skew, rows)
        growth = find_least_bound(lambda delta, setting=setting: delta_holds(setting, delta))
        for likelihood in chosen:
            whole = sum(part * likelihood[values] for values, part in prior.items())
            gains = sorted(prior, key=lambda values, likelihood=likelihood: -likelihood[values])
            for count in range(1, len(gains)):  # conditions that gain most, of each size
                condition = gains[:count]
                before = sum(prior[values] for values in condition)
                after = sum(prior[values] * likelihood[values] for values in condition) / whole
                if before < 1:
                    assert after <= compute_rho2(setting, before)
                    reached = max(reached, after - before)
                    assert after - before <= growth
    assert reached > 0


@pytest.mark.parametrize("w", [Fraction(1, 10), Fraction(1, 5), HALF])
def test_the_bound_on_a_belief_is_reached_by_a_person_whose_rows_are_alike(w):
    """Two rows in two groups of k = 2, nobody else with what both show."""
    p = HALF
    likelihood = rows_of_one_person(p, 2, [((0,), 1, (1, 1, 1))] * 2)
    prior = {(0, 0): w, (1, 1): 1 - w}
    whole = sum(part * likelihood[values] for values, part in prior.items())
    after = w * likelihood[0, 0] / whole
    assert after == compute_rho2(CorruptionSetting(p, 2, 2, max(w, 1 - w), 2), w)


def test_one_row_of_a_person_has_the_bounds_that_it_had():
    for p, k, domain, w in product([Fraction(1, 5), Fraction(3, 4)], [1, 2, 7], [2, 9], [Fraction(1, 9), HALF]):
        setting = CorruptionSetting(p, k, domain, w)
        assert setting.resistance == k * setting.u / p
