"""Comparison of arrays with fractions against Python's own `Fraction`: long parameters, large groups, ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent import exact_arithmetic

COUNTS = st.lists(
    st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40)) | st.tuples(st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=12,
)
DIGITS = st.integers(1, 40)


@st.composite
def long_fractions(draw: st.DrawFn) -> Fraction:
    """A parameter of up to 40 digits, or one that lies as near to a share of two counts as such digits can say."""
    digits = draw(DIGITS)
    if draw(st.booleans()):
        return Fraction(draw(st.integers(0, 10**digits)), draw(st.integers(1, 10**digits)))
    share = Fraction(draw(st.integers(0, 1 << 40)), draw(st.integers(1, 1 << 40)))
    rounded = Fraction(int(share * 10**digits), 10**digits)
    return max(rounded + Fraction(draw(st.integers(-1, 1)), 10**digits), Fraction(0))


@settings(max_examples=300, deadline=None)
@given(COUNTS, long_fractions())
def test_shares_are_compared_as_fractions_are(counts, limit):
    parts, wholes = (np.array(side, np.int64) for side in zip(*counts, strict=True))
    assert exact_arithmetic.shares_at_most(parts, limit, wholes).tolist() == [a <= limit * b for a, b in counts]
    assert exact_arithmetic.shares_at_least(parts, limit, wholes).tolist() == [a >= limit * b for a, b in counts]


@settings(max_examples=200, deadline=None)
@given(COUNTS, long_fractions())
def test_ties_of_long_fractions_are_decided_exactly(counts, limit):
    """Each pair once as it is, and once such that both sides agree but for one in the last place."""
    tied = [(limit.numerator * a, limit.denominator * a) for a, _ in counts]
    tied += [(limit.numerator * a + 1, limit.denominator * a) for a, _ in counts]
    parts, wholes = (np.array(side, object) for side in zip(*tied, strict=True))
    assert exact_arithmetic.shares_at_most(parts, limit, wholes).tolist() == [a <= limit * b for a, b in tied]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 1 << 40), min_size=1, max_size=12), long_fractions().map(lambda x: x % 1))
def test_the_floor_of_a_share_is_that_of_the_fraction(wholes, share):
    found = exact_arithmetic.floor_shares(np.array(wholes, np.int64), share)
    assert found.dtype == np.int64
    assert found.tolist() == [whole * share // 1 for whole in wholes]


@pytest.mark.parametrize(
    "limit", [Fraction(1, 10**300), Fraction(10**300), Fraction(10**300 + 1, 10**300), Fraction(0)]
)
@pytest.mark.parametrize("pair", [(0, 0), (0, 7), (7, 0), (7, 7), (8, 7), ((1 << 62) - 1, 1), (1, (1 << 62) - 1)])
def test_fractions_beyond_all_doubles_are_compared_exactly(limit, pair):
    part, whole = (np.array([number], np.int64) for number in pair)
    assert exact_arithmetic.shares_at_most(part, limit, whole)[0] == (pair[0] <= limit * pair[1])
    assert exact_arithmetic.shares_at_least(part, limit, whole)[0] == (pair[0] >= limit * pair[1])


def test_arrays_of_other_shapes_are_compared_as_numpy_pairs_them():
    limit = Fraction(10**25 + 1, 2 * 10**25)
    parts = np.arange(12).reshape(3, 4)
    wholes = np.array([[1], [10], [22]])
    found = exact_arithmetic.shares_at_most(parts, limit, wholes)
    assert found.shape == (3, 4)
    assert found.tolist() == [
        [bool(int(parts[row, column]) <= limit * int(wholes[row, 0])) for column in range(4)] for row in range(3)
    ]
    assert not exact_arithmetic.shares_at_most(np.zeros(0, np.int64), limit, np.zeros(0, np.int64)).size


def test_multiples_that_no_word_holds_are_kept_as_python_numbers():
    fine = [Fraction(1, 3 * 10**30), Fraction(2, 7)]
    unit = exact_arithmetic.find_common_denominator(fine)
    found = exact_arithmetic.compute_whole_multiples(fine, unit)
    assert found.tolist() == [number * unit for number in fine]
    assert exact_arithmetic.compute_whole_multiples([Fraction(1, 2)], 2).dtype == np.int64
