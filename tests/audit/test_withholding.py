"""What a declared suppression can have withheld: every honest outcome, and none that only another kind gives."""

# ruff: noqa: E741  `l` is the field's own letter

import random
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from reticent.audit.withholding import CutTable, assess_withholding, compute_cut_probability, is_withholding_possible
from reticent.methods.suppression.calibrated_kind import ViolatingTable
from reticent.methods.suppression.calibrated_kind import compute_cut_probability as chance
from reticent.methods.suppression.stage import SUPPRESSION_KINDS, draw_withheld_counts
from tests.oracle import skewed


def violating(number: int, most_values: int = 8, most: int = 40) -> tuple[list[int], int]:
    """Counts in no order, with ties and large ones among them."""
    draw = random.Random(number)
    while True:
        size = draw.choice([3, 10, most])
        counts = [draw.randint(1, draw.choice([size, most])) for _ in range(draw.randint(2, most_values))]
        l = draw.randint(2, len(counts))
        if l * max(counts) > sum(counts):
            return counts, l


@pytest.mark.parametrize("kind", SUPPRESSION_KINDS)
def test_every_honest_outcome_is_possible_with_a_probability_above_0(kind):
    rng = np.random.default_rng(3)
    for number in range(250):
        counts, l = violating(number)
        after = np.array(counts) - draw_withheld_counts(np.array(counts), SUPPRESSION_KINDS[kind], l, rng, "illness")
        found = assess_withholding(kind, Fraction(l), counts, after.tolist())
        assert found.possible is True, (kind, counts, l, after)
        assert found.probability is None or 0 < found.probability <= 1


@pytest.mark.parametrize("kind", SUPPRESSION_KINDS)
def test_what_is_possible_is_the_support_of_the_oracle(kind):
    for number in range(40):
        counts, l = violating(number, 4, 6)
        table = tuple(counts)
        names = list(range(len(table)))
        support = set()
        for turn in range(len(table)):  # ties in every rotation, both ways
            for order in (names[turn:] + names[:turn], (names[turn:] + names[:turn])[::-1]):
                outcomes = getattr(skewed, kind)(table, l, order)
                support |= {published for published, likely in outcomes.items() if likely}
        assert all(is_withholding_possible(kind, Fraction(l), table, published) for published in support)
        if len(set(table)) == len(table):
            given = {one for one in skewed.subtables(table) if is_withholding_possible(kind, Fraction(l), table, one)}
            assert given == support


@pytest.mark.parametrize("number", range(40))
def test_a_cut_is_as_likely_as_the_suppression_makes_it(number):
    counts, l = violating(number)
    falling = tuple(sorted(counts, reverse=True))
    theirs = ViolatingTable(falling, l)
    ours = CutTable(falling, l)
    listed = [theirs.level(at) for at in range(theirs.width)]
    assert sorted(listed) == ours.levels().tolist()
    for level in listed:
        assert compute_cut_probability(ours, level) == chance(theirs, level)


def test_unsafe_or_randomized_outcomes_that_calibrated_cannot_give_are_called_impossible():
    told = defaultdict(int)
    for number in range(200):
        counts, l = violating(number)
        falling = np.array(sorted(counts, reverse=True))
        given = {
            tuple(table.tolist()) for likely, table in SUPPRESSION_KINDS["calibrated"].outcomes(falling, l) if likely
        }
        for kind in ("unsafe", "randomized"):
            table = tuple(SUPPRESSION_KINDS[kind].draw(falling, l, np.random.default_rng(number)).tolist())
            found = is_withholding_possible("calibrated", Fraction(l), falling.tolist(), table)
            assert found is (table in given) or len(set(counts)) < len(counts)
            told[kind] += not found
    assert told["unsafe"] > 60 and told["randomized"] > 30


def test_an_eligible_table_must_be_whole():
    for kind in SUPPRESSION_KINDS:
        assert is_withholding_possible(kind, Fraction(3), [4, 4, 4, 0], [4, 4, 4, 0]) is True
        assert is_withholding_possible(kind, Fraction(3), [4, 4, 4, 0], [4, 3, 4, 0]) is False


def test_what_cannot_be_told_is_not_told():
    assert is_withholding_possible("other", Fraction(3), [9, 1, 1], [1, 1, 1]) is None
    assert is_withholding_possible("safe", Fraction(5, 2), [9, 1, 1], [1, 1, 1]) is None
    assert is_withholding_possible("safe", Fraction(3), [9, 1, 1], [1, 1, 2]) is False
    assert is_withholding_possible("safe", Fraction(3), [9, 1], [1, 1]) is False


def test_a_million_records_are_judged_at_once():
    counts = (220_000 // np.arange(1, 31)).tolist()
    rng = np.random.default_rng(1)
    for kind in SUPPRESSION_KINDS:
        after = np.array(counts) - draw_withheld_counts(np.array(counts), SUPPRESSION_KINDS[kind], 6, rng, "illness")
        assert is_withholding_possible(kind, Fraction(6), counts, after.tolist()) is True


def test_the_least_that_can_be_withheld_is_an_outcome_of_calibrated_that_few_draws_have():
    counts = (220_000 // np.arange(1, 31)).tolist()
    unsafe = SUPPRESSION_KINDS["unsafe"].draw(np.array(counts), 6, np.random.default_rng(1)).tolist()
    found = assess_withholding("calibrated", Fraction(6), counts, unsafe)
    assert found.possible and found.probability < Fraction(1, 10_000)


@pytest.mark.parametrize("kind", ["randomized", "calibrated"])
def test_a_probability_below_x_is_no_likelier_than_x(kind):
    for number in range(25):
        counts, l = violating(number, 6, 15)
        falling = np.array(sorted(counts, reverse=True))
        outcomes = [
            (assess_withholding(kind, Fraction(l), falling.tolist(), table.tolist()).probability, likely)
            for likely, table in SUPPRESSION_KINDS[kind].outcomes(falling, l)
            if likely
        ]
        for x, _ in outcomes:
            assert sum(likely for other, likely in outcomes if other <= x) <= x
