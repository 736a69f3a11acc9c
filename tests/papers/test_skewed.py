"""Paper 2: Xu, Wang, Fu & Wong, "Publishing skewed sensitive microdata", with ERRATA section 2."""

# ruff: noqa: E741  `l` is the field's own letter

import random
from collections import defaultdict
from fractions import Fraction
from math import factorial, prod

import numpy as np
import pytest

from reticent.attacks.eligibility.attack import compute_posterior, compute_suppression_risk
from reticent.attacks.eligibility.suppressed_tables import compute_joint_weights, compute_worst_posterior
from reticent.methods.suppression.kinds import cut_counts, find_stops
from reticent.methods.suppression.stage import SUPPRESSION_KINDS
from tests.oracle import skewed

T = np.array([10, 4, 2, 1, 1])
"""Figure 1: {S1:10, S2:4, S3:2, S4:1, S5:1}."""


def published(kind: str, counts, l: int) -> list[int]:
    return SUPPRESSION_KINDS[kind].publish_counts(np.array(counts), l).tolist()


def random_violating(number: int, *, most_values: int = 5, most: int = 7) -> tuple[list[int], int]:
    draw = random.Random(number)
    while True:
        counts = sorted((draw.randint(1, most) for _ in range(draw.randint(2, most_values))), reverse=True)
        l = draw.randint(2, len(counts))
        if l * counts[0] > sum(counts):
            return counts, l


def test_example_1_minimum_suppression_withholds_6_and_leaves_two_candidates():
    assert published("unsafe", T, 3) == [4, 4, 2, 1, 1]
    found = compute_posterior([4, 4, 2, 1, 1], 18, 3, "unsafe")
    assert found.by_count == {4: Fraction(1, 2)}


def test_example_2_the_less_frequent_of_tied_values_goes_first():
    states = list(skewed.d_suppression(tuple(T.tolist())))
    assert states[6] == (4, 4, 2, 1, 1)
    assert states[7] == (4, 3, 2, 1, 1)
    assert states[8] == (3, 3, 2, 1, 1)
    assert cut_counts(T, 10, 4, 1).tolist() == [4, 3, 2, 1, 1]


def test_example_3_unsafe_stops_at_level_4_after_6_and_safe_at_level_2_after_10():
    found = find_stops(T, 3, T[:1])
    assert (found.level[0], found.extra[0], found.withheld[0]) == (4, 0, 6)
    candidacy = [skewed.l_candidate(state, 18, 3) for state in skewed.d_suppression((10, 4, 2, 1, 1))]
    assert candidacy.index(True) == 5
    assert published("safe", T, 3) == [2, 2, 2, 1, 1]
    assert SUPPRESSION_KINDS["safe"].compute_expected_withheld(T, 3) == 10


def test_example_4_h_2_and_level_3_publish_3_3_2_1_1():
    found = find_stops(T, 3, np.array([3]))
    assert cut_counts(T, 3, int(found.level[0]), int(found.extra[0])).tolist() == [3, 3, 2, 1, 1]
    assert found.withheld[0] == 8


@pytest.mark.parametrize("base", [(11, 3, 2, 1, 1), (3, 11, 2, 1, 1), (3, 3, 10, 1, 1)])
def test_example_5_every_reconstruction_is_plausible(base):
    assert (3, 3, 2, 1, 1) in skewed.randomized(base, 3)


def test_example_5_is_not_ambiguous_even_if_every_plausible_table_is_equally_likely():
    """ERRATA 2.1: the example counts three tables; there are more, and they favour S'_3."""
    found = compute_posterior([3, 3, 2, 1, 1], 18, 3, "randomized", "plausible")
    assert found.by_count[2] == Fraction(7, 16)
    assert found.worst > Fraction(1, 3)


@pytest.mark.parametrize("number", range(80))
def test_property_1_order_is_preserved_and_a_level_reached_with_least_suppression(number):
    counts, _ = random_violating(number, most_values=4, most=6)
    for state in skewed.d_suppression(tuple(counts)):
        assert list(state) == sorted(state, reverse=True)
        assert state[0] == max(state), "S_1 is always among the highest"
    for level in range(1, counts[0] + 1):
        least = sum(counts) - sum(min(count, level) for count in counts)
        others = [sum(counts) - sum(p) for p in skewed.subtables(counts) if max(p) == level]
        assert least == min(others)


@pytest.mark.parametrize("number", range(80))
def test_theorem_1_safe_stops_where_l_values_first_share_the_highest_level(number):
    counts, l = random_violating(number)
    first = next(
        state
        for state in skewed.d_suppression(tuple(counts))
        if skewed.p_eligible(state, l) and sum(count == max(state) for count in state) >= l
    )
    assert published("safe", counts, l) == list(first)


@pytest.mark.parametrize("number", range(80))
def test_theorem_2_nothing_eligible_and_candidate_withholds_less_than_unsafe(number):
    counts, l = random_violating(number, most_values=4, most=6)
    found = published("unsafe", counts, l)
    assert tuple(found) == skewed.first(tuple(counts), l)
    rows = sum(counts)
    fitting = [p for p in skewed.subtables(counts) if skewed.p_eligible(p, l) and skewed.l_candidate(p, rows, l)]
    assert sum(found) == max(map(sum, fitting))


def violating(values: int, most_rows: int) -> list[tuple[tuple[int, ...], int]]:
    """Every violating table of so many values up to renaming, with every l."""
    return [
        (table, l)
        for rows in range(values, most_rows + 1)
        for table in skewed.histograms(rows, values)
        for l in range(2, values + 1)
        if skewed.violates(table, l)
    ]


@pytest.mark.parametrize(("values", "number"), [(2, 132), (3, 648), (4, 1611), (5, 2707), (6, 3562)])
def test_theorem_4_no_distribution_of_h_withholds_less_than_r_suppression(values, number):
    """With probabilities of at most 1/l the cheapest choice is the l cheapest intervals: these are the first l."""
    tables = violating(values, 24)
    assert len(tables) == number
    for table, l in tables:
        means = skewed.mean_withheld_by_interval(table, l, skewed.withheld_step_by_step)
        expected = sum(means[:l]) / l
        assert expected == skewed.least_mean_withheld(means, l)
        assert SUPPRESSION_KINDS["randomized"].compute_expected_withheld(np.array(table), l) == pytest.approx(
            float(expected)
        )


@pytest.mark.parametrize("values", [2, 3, 4, 5])
def test_theorem_4_no_second_step_withholds_less_than_d_suppression(values):
    """From whatever level S_1 was cut to: of all ways to withhold more, none meets both conditions with fewer records."""
    for table, l in violating(values, 14):
        least = skewed.mean_withheld_by_interval(table, l, skewed.withheld_at_least)
        assert least == skewed.mean_withheld_by_interval(table, l, skewed.withheld_step_by_step)


def test_theorem_4_is_about_levels_that_are_drawn_evenly():
    """The greatest level of each interval instead of any of them withholds less: 7 instead of 71/9 of the 18 records of figure 1."""
    table = tuple(T.tolist())
    means = skewed.mean_withheld_by_interval(table, 3, skewed.withheld_step_by_step)
    greatest = [skewed.withheld_step_by_step(table, (level, *table[1:]), 3) for level in table[:3]]
    assert Fraction(sum(greatest), 3) == 7
    assert sum(means[:3]) / 3 == Fraction(71, 9)


@pytest.mark.parametrize(("rows", "values", "l"), [(9, 3, 2), (9, 3, 3), (10, 4, 3), (11, 4, 2), (9, 4, 4)])
@pytest.mark.parametrize("kind", ["unsafe", "safe", "randomized", "calibrated"])
def test_the_attack_is_the_oracles(rows, values, l, kind):
    theirs = skewed.attack(rows, values, l, getattr(skewed, kind))
    assert set(compute_joint_weights(rows, values, l, kind, "uniform")) == {
        tuple(sorted(table, reverse=True)) for table in theirs
    }
    for table, names in theirs.items():
        found = compute_posterior(table, rows, l, kind).by_count
        assert {name: found[table[name]] for name in names} == names


@pytest.mark.parametrize("kind", ["randomized", "calibrated"])
@pytest.mark.parametrize("number", range(8))
def test_the_attack_on_a_release_of_dozens_of_records_is_the_oracles(number, kind):
    """Tables too many to enumerate: the oracle lists those behind one release, by name, and breaks ties in every way."""
    counts, l = random_violating(100 + number, most_values=4, most=14)
    rng = np.random.default_rng(number)
    table = tuple(sorted(SUPPRESSION_KINDS[kind].draw(np.array(counts), l, rng).tolist(), reverse=True))
    found = compute_posterior(table, sum(counts), l, kind)
    names = skewed.attack_on(table, sum(counts), l, getattr(skewed, kind))
    assert found.exact
    assert {name: found.by_count[table[name]] for name in names} == names
    assert found.worst == max(names.values())


def test_errata_2_1_theorem_3_fails_against_a_bayesian_adversary():
    assert compute_worst_posterior(12, 4, 2, "randomized") == Fraction(18, 25)
    assert compute_posterior([4, 4, 3, 2, 1], 18, 3, "randomized").worst == Fraction(19, 40)
    assert compute_worst_posterior(18, 5, 3, "randomized") == Fraction(38, 53)


@pytest.mark.parametrize("rows", range(6, 19))
@pytest.mark.parametrize("l", [3, 4])
def test_errata_2_1_no_violation_is_seen_for_l_equal_to_m(rows, l):
    assert compute_worst_posterior(rows, l, l, "randomized") <= Fraction(1, l)


@pytest.mark.parametrize("prior", ["uniform", "shapes", "records", "plausible"])
@pytest.mark.parametrize(("values", "l"), [(2, 2), (3, 2), (3, 3), (4, 2), (4, 3), (5, 3), (5, 4), (6, 3)])
def test_safe_never_exceeds_1_over_l(values, l, prior):
    for rows in range(values + 1, 17):
        if l * (rows - values + 1) > rows:
            assert compute_worst_posterior(rows, values, l, "safe", prior) <= Fraction(1, l)


@pytest.mark.parametrize(
    ("values", "l"), [(2, 2), (3, 2), (3, 3), (4, 2), (4, 3), (5, 3), (5, 4), (6, 3), (7, 3), (7, 5)]
)
def test_calibrated_never_exceeds_1_over_l_under_its_prior(values, l):
    for rows in range(values + 1, 21):
        if l * (rows - values + 1) > rows:
            assert compute_worst_posterior(rows, values, l, "calibrated") <= Fraction(1, l)


def test_as_it_was_calibrated_told_more_than_one_in_l_of_a_withheld_person():
    """It bounded which value led, and no more: a value that is cut as well may be most of what is withheld."""
    told = skewed.withheld(27, 7, 5, skewed.calibrated_for_the_leader)
    assert max(told.values()) == Fraction(11, 43)
    assert sum(share > Fraction(1, 5) for share in told.values()) == 3


@pytest.mark.parametrize(
    ("rows", "values", "l"), [(27, 7, 5), (25, 6, 4), (24, 8, 5), (20, 9, 5), (22, 5, 3), (18, 4, 2)]
)
def test_calibrated_tells_no_more_than_one_in_l_of_a_withheld_person(rows, values, l):
    assert max(skewed.withheld(rows, values, l, skewed.calibrated).values()) <= Fraction(1, l)


def two_dominating(number: int) -> tuple[list[int], int]:
    """Counts of which two or more exceed one in l."""
    draw = random.Random(number)
    while True:
        counts = sorted([draw.randint(1, 6) for _ in range(draw.randint(3, 6))], reverse=True)
        counts = sorted([draw.randint(6, 30), draw.randint(6, 30), *counts], reverse=True)
        l = draw.randint(3, len(counts))
        if l * counts[1] > sum(counts):
            return counts, l


def test_calibrated_publishes_with_the_oracles_probabilities_where_cuts_are_balanced():
    balanced = 0
    for number in range(40):
        counts, l = two_dominating(number)
        ours = defaultdict(Fraction)
        theirs = skewed.calibrated(tuple(counts), l)
        for chance, table in SUPPRESSION_KINDS["calibrated"].outcomes(np.array(counts), l):
            ours[tuple(table.tolist())] += chance
        assert {table: chance for table, chance in ours.items() if chance} == theirs
        balanced += theirs != skewed.calibrated_for_the_leader(tuple(counts), l)
    assert balanced >= 5


def test_calibrated_tells_nearly_all_where_records_are_independent_and_safe_does_not():
    """The oracle lists every table behind a release of 53 records; the attack has a closed form, for 212 records as well."""

    def weigh(table):
        return Fraction(factorial(sum(table)), prod(factorial(count) for count in table))

    counts = (30, 8, 6, 5, 4)
    worst = max(
        (compute_posterior(table, 53, 3, "calibrated", "records").worst, table)
        for table in (
            tuple(sorted(cut.tolist(), reverse=True))
            for chance, cut in SUPPRESSION_KINDS["calibrated"].outcomes(np.array(counts), 3)
            if chance
        )
    )
    theirs = skewed.attack_on(worst[1], 53, 3, skewed.calibrated, weigh)
    assert max(theirs.values()) == worst[0] > Fraction(9, 10)
    assert compute_suppression_risk(counts, 3, "safe", "records").worst_posterior == 1 / 3
    larger = [4 * count for count in counts]
    assert compute_suppression_risk(larger, 3, "calibrated", "records").worst_posterior > 0.99
    assert compute_suppression_risk(larger, 3, "calibrated", "uniform").worst_posterior <= 1 / 3
    assert compute_suppression_risk(larger, 3, "safe", "records").worst_posterior == 1 / 3


def test_calibrated_can_exceed_1_over_l_under_another_prior():
    """The limit of the claim: its prior is the uniform one."""
    assert compute_worst_posterior(18, 5, 3, "calibrated") == Fraction(1, 3)
    assert compute_worst_posterior(18, 5, 3, "calibrated", "shapes") == Fraction(1, 2)


def test_errata_2_2_an_eligible_table_is_left_alone():
    assert compute_suppression_risk([4, 3, 3, 2], 3, "randomized").suppressed == 0


def test_errata_2_3_with_l_equal_to_m_no_value_vanishes():
    for counts in ([9, 2, 1], [5, 1, 1], [4, 4, 1]):
        for chance, table in SUPPRESSION_KINDS["randomized"].outcomes(np.array(counts), 3):
            assert chance > 0 and table.min() >= 1


def test_the_figures_of_example_1_in_one_table():
    found = {kind: compute_suppression_risk(T.tolist(), 3, kind) for kind in SUPPRESSION_KINDS}
    assert {kind: round(one.suppressed, 3) for kind, one in found.items()} == {
        "eligible": 6.0,
        "unsafe": 6.0,
        "safe": 10.0,
        "randomized": 7.889,
        "calibrated": 9.75,
    }
    assert found["safe"].worst_posterior == found["calibrated"].worst_posterior == pytest.approx(1 / 3)
    assert found["randomized"].worst_posterior == pytest.approx(0.46677, abs=1e-5)
    assert found["unsafe"].worst_posterior == 0.5
