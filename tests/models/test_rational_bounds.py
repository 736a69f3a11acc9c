"""Exact parameters, Farey caps, logarithms and long products, each against the obvious slow way."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reticent.errors import JobError
from reticent.exact_arithmetic import products_at_most
from reticent.models import rational_bounds as ex
from reticent.validation import parse_integer

positive = st.fractions(min_value=0, max_value=5, max_denominator=400)
ratios = st.builds(Fraction, st.integers(1, 10**6), st.integers(1, 10**6))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(4), Fraction(4)),
        (Decimal("0.30"), Fraction(3, 10)),
        ("1/3", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        (1e-7, Fraction(1, 10**7)),
        (4, Fraction(4)),
    ],
)
def test_a_parameter_means_what_its_author_wrote(written, meant):
    assert ex.parse_fraction(written) == meant


@pytest.mark.parametrize("nonsense", [True, None, "four", "1/0", float("nan"), float("inf"), Decimal("nan"), [4], {}])
def test_what_is_no_number_is_refused_by_its_name(nonsense):
    with pytest.raises(JobError, match="beta must be a number"):
        ex.parse_fraction(nonsense, "beta")


@pytest.mark.parametrize("nonsense", [2.5, "1/3", "two", False])
def test_a_count_is_whole(nonsense):
    with pytest.raises(JobError, match="k must be a"):
        parse_integer(nonsense, "k")


@pytest.mark.parametrize("nonsense", ["false", 1, 0, None])
def test_a_switch_is_true_or_false_and_no_word_for_it(nonsense):
    with pytest.raises(JobError, match="enhanced must be true or false"):
        ex.flag(nonsense, "enhanced")


def greatest(x: Fraction, limit: int, strictly: bool) -> Fraction:
    """By trying every denominator."""
    found = []
    for denominator in range(1, limit + 1):
        numerator = x.numerator * denominator // x.denominator
        if strictly and Fraction(numerator, denominator) == x:
            numerator -= 1
        found.append(Fraction(numerator, denominator))
    return max(found)


@given(positive, st.integers(1, 80), st.booleans())
@example(Fraction(0), 1, False)
@example(Fraction(1), 1, True)
@example(Fraction(1), 7, True)
@example(Fraction(1, 2), 1, True)
@example(Fraction(399, 400), 399, False)
@settings(max_examples=600, deadline=None)
def test_the_greatest_fraction_below_is_the_one_found_by_trying_all(x, limit, strictly):
    if strictly and x == 0:
        return
    assert ex.find_fraction_below(x, limit, strictly=strictly) == greatest(x, limit, strictly)


@given(positive, st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_no_group_is_judged_differently_by_the_fraction_below(x, rows):
    cap = ex.find_fraction_below(x, rows)
    strict = ex.find_fraction_below(x, rows, strictly=True) if x else None
    for size in range(1, rows + 1):
        for count in range(size + 1):
            assert (Fraction(count, size) <= x) == (count * cap.denominator <= cap.numerator * size)
            if strict is not None:
                assert (Fraction(count, size) < x) == (count * strict.denominator <= strict.numerator * size)


@given(st.fractions(min_value=0, max_value=1), st.integers(10**6, 10**9))
@settings(max_examples=200, deadline=None)
def test_the_fraction_below_has_no_better_neighbour_in_a_large_table(x, rows):
    found = ex.find_fraction_below(x, rows)
    assert found <= x and found.denominator <= rows
    # Its right neighbour in the Farey sequence: c/d with c b - a d = 1 and the greatest d <= rows.
    a = found.numerator
    b = found.denominator
    d = 1 if b == 1 else pow(-a, -1, b) or b
    d += (rows - d) // b * b
    neighbour = Fraction(1 + a * d, b * d)
    assert neighbour.denominator <= rows and neighbour > x


@given(ratios)
@settings(max_examples=200, deadline=None)
def test_a_logarithm_is_enclosed_and_the_enclosure_narrows(ratio):
    widths = []
    for digits in (10, 30, 60):
        lower, upper = ex.enclose_log(ratio, digits)
        with localcontext() as context:
            context.prec = 120
            true = Fraction((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())
        assert lower <= true <= upper
        widths.append(upper - lower)
    assert widths[0] >= widths[1] >= widths[2] and widths[2] < Fraction(1, 10**50)


@given(st.fractions(min_value=-20, max_value=20, max_denominator=10**6))
@settings(max_examples=200, deadline=None)
def test_an_exponential_is_enclosed(x):
    lower, upper = ex.enclose_exp(x, 30)
    with localcontext() as context:
        context.prec = 120
        true = Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())
    assert lower <= true <= upper and upper - lower <= true / 10**27


@given(st.fractions(min_value=-3, max_value=15, max_denominator=1000), ratios)
@settings(max_examples=200, deadline=None)
def test_comparing_with_a_logarithm_agrees_with_doubles_where_these_are_sure(x, ratio):
    gap = float(x) - math.log(ratio)
    if abs(gap) > 1e-9:
        assert ex.is_at_most_log(x, ratio) == (gap < 0)


def test_comparing_with_a_logarithm_is_right_next_to_it():
    with localcontext() as context:
        context.prec = 200
        near = Fraction(Decimal(7).ln())
    step = Fraction(1, 10**190)
    assert ex.is_at_most_log(near - step, Fraction(7)) and not ex.is_at_most_log(near + step, Fraction(7))
    assert ex.is_at_most_log(Fraction(0), Fraction(1)) and not ex.is_at_most_log(step, Fraction(1))


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(-9, 9)), max_size=6))
@example([(4, 3), (8, -2)])
@example([(6, 2), (2, -2), (3, -2)])
@example([(12, 5), (18, -5), (2, -5), (3, 5)])
@example([])
@settings(max_examples=500, deadline=None)
def test_products_of_powers_are_compared_as_whole_numbers_are(terms):
    above = math.prod(base**e for base, e in terms if e > 0)
    below = math.prod(base**-e for base, e in terms if e < 0)
    assert ex.compute_log_sum_sign(terms) == (above > below) - (above < below)


def test_products_far_too_long_to_write_down_are_compared():
    n = 10**12
    assert ex.compute_log_sum_sign([(6, n), (2, -n), (3, -n)]) == 0
    assert ex.compute_log_sum_sign([(6, n), (2, -n), (3, -n), (7, 1), (5, -1)]) == 1
    assert ex.compute_log_sum_sign([(10**9 + 7, n), (10**9 + 9, -n)]) == -1


@given(
    st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)), min_size=1, max_size=8),
    st.integers(1, 2**60),
    st.integers(1, 2**60),
)
@settings(max_examples=200, deadline=None)
def test_products_that_overflow_are_compared_exactly(pairs, p, q):
    left, right = np.array(pairs, np.int64).T
    expected = [a * p <= b * q for a, b in pairs]
    assert products_at_most(left, p, right, q).tolist() == expected


def test_products_that_differ_by_one_in_a_hundred_bits_are_told_apart():
    left = np.array([2**62 - 1, 2**62 - 1, 2**62 - 2], np.int64)
    right = np.array([2**62 - 1, 2**62 - 2, 2**62 - 1], np.int64)
    assert products_at_most(left, 2**50, right, 2**50).tolist() == [True, False, True]


def test_an_irrational_cap_is_decided_by_raising_precision():
    with localcontext() as context:
        context.prec = 60
        root = Fraction(Decimal(2).sqrt())

    def enclose(digits):
        return root - Fraction(1, 10 ** min(digits, 55)), root + Fraction(1, 10 ** min(digits, 55))

    assert ex.find_fraction_below_real(enclose, 1000) == greatest(root, 1000, False)
