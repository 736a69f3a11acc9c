"""Rows that stand where they stood in the source, though their labels say nothing: told by what the rows bear."""

import itertools
import random
from math import exp

import numpy as np
import pytest

from reticent.audit.order import CANONICAL_ORDER, assess_agreement, assess_order


@pytest.mark.parametrize("source", [[0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 1]])
def test_the_p_value_is_never_below_the_share_of_orders_that_agree_as_much(source):
    """Every order of six rows, so the tail is exact."""
    theirs = np.array(source)
    agreeing = [int((np.array(order) == theirs).sum()) for order in itertools.permutations(source)]
    for order in set(itertools.permutations(source)):
        agree = int((np.array(order) == theirs).sum())
        tail = sum(other >= agree for other in agreeing) / len(agreeing)
        assert assess_agreement(np.array(order), theirs).p_value >= tail


def test_rows_in_source_order_are_found_and_shuffled_ones_are_not():
    draw = random.Random(3)
    theirs = np.array([draw.choice([0, 0, 1, 2, 3]) for _ in range(200)])
    assert not assess_agreement(theirs, theirs).shuffled
    assert assess_order(np.zeros(200), shared_values=(theirs, theirs)).statistic == "agreement in place"
    for seed in range(50):
        assert assess_agreement(np.random.default_rng(seed).permutation(theirs), theirs).shuffled


def test_rows_that_were_withheld_at_the_end_hide_nothing():
    theirs = np.arange(100) % 7
    assert not assess_agreement(theirs[:80], theirs).shuffled


def test_rows_that_all_bear_the_same_say_nothing():
    same = np.zeros(50, np.int64)
    assert assess_agreement(same, same).p_value == 1
    assert assess_agreement(same[:0], same).p_value == 1


def test_the_bound_is_the_one_that_is_cited():
    theirs = np.arange(40)
    found = assess_agreement(theirs, theirs)
    assert found.p_value == pytest.approx(2 * exp(-(39**2) / (4 * 1 + 2 * 39)))
    assert found.correlation == pytest.approx(1)


def test_no_score_at_all_is_the_canonical_order():
    assert assess_order(None, shared_values=None) is CANONICAL_ORDER
