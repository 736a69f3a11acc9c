"""Two candidates are level unless several runs say which of them is better."""

from __future__ import annotations

import pytest

from reticent.compare.level import STUDENT, level, student
from reticent.compare.setting import spread


def test_spreads_that_overlap_are_level():
    assert level(spread([1.0, 3.0]), spread([2.0, 4.0])) and level(spread([1.0]), spread([1.0]))
    assert not level(spread([1.0]), spread([1.1]))  # one run has no spread


def test_three_runs_that_fall_on_one_side_by_chance_are_level():
    """Differences of 3, 3 and 9: their mean is 5, and that of three such may well be 0."""
    assert level(spread([10.0, 11.0, 12.0]), spread([13.0, 14.0, 21.0])) is True
    assert level(spread([10.0, 11.0, 12.0]), spread([15.0, 16.1, 17.0])) is False  # about 5 every time


def test_where_nothing_is_drawn_the_least_difference_counts():
    assert not level(spread([1.0, 1.0, 1.0]), spread([1.1, 1.1, 1.1]))


def test_two_runs_are_compared_by_their_spreads():
    assert not level(spread([10.0, 12.0]), spread([13.0, 19.0]))


def test_runs_that_are_not_the_same_are_compared_by_their_spreads():
    assert not level(spread([1.0, 2.0, 3.0]), spread([4.0]))


def test_the_law_is_student_s():
    assert student(2) == 4.303 and student(10) == 2.228 and list(STUDENT) == sorted(STUDENT, reverse=True)
    assert student(30) == pytest.approx(2.042, abs=0.02) and student(11) == pytest.approx(2.201, abs=0.02)
