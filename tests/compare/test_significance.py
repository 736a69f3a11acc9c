"""Two candidates are level unless several runs say which of them is better."""

from __future__ import annotations

import pytest

from reticent.compare.advise import STUDENT_T_95, get_student_t, is_level
from reticent.compare.metrics import summarize_spread


def test_spreads_that_overlap_are_level():
    assert is_level(summarize_spread([1.0, 3.0]), summarize_spread([2.0, 4.0])) and is_level(
        summarize_spread([1.0]), summarize_spread([1.0])
    )
    assert not is_level(summarize_spread([1.0]), summarize_spread([1.1]))  # one run has no spread


def test_three_runs_that_fall_on_one_side_by_chance_are_level():
    """Differences of 3, 3 and 9: their mean is 5, and that of three such may well be 0."""
    assert is_level(summarize_spread([10.0, 11.0, 12.0]), summarize_spread([13.0, 14.0, 21.0])) is True
    assert (
        is_level(summarize_spread([10.0, 11.0, 12.0]), summarize_spread([15.0, 16.1, 17.0])) is False
    )  # about 5 every time


def test_where_nothing_is_drawn_the_least_difference_counts():
    assert not is_level(summarize_spread([1.0, 1.0, 1.0]), summarize_spread([1.1, 1.1, 1.1]))


def test_two_runs_are_compared_by_their_spreads():
    assert not is_level(summarize_spread([10.0, 12.0]), summarize_spread([13.0, 19.0]))


def test_runs_that_are_not_the_same_are_compared_by_their_spreads():
    assert not is_level(summarize_spread([1.0, 2.0, 3.0]), summarize_spread([4.0]))


def test_the_law_is_student_s():
    assert (
        get_student_t(2) == 4.303
        and get_student_t(10) == 2.228
        and list(STUDENT_T_95) == sorted(STUDENT_T_95, reverse=True)
    )
    assert get_student_t(30) == pytest.approx(2.042, abs=0.02) and get_student_t(11) == pytest.approx(2.201, abs=0.02)
