"""Exact parameters and exact comparison (ADR 2).

Parameters are fractions.  A cap on a frequency, count / size <= x for a real x, is replaced by count / size <= a / b with
a / b the greatest fraction not above x whose denominator is at most the number of rows: no group is judged differently,
and the comparison is one of integers that fit 64 bits.  Where a logarithm enters, x is irrational and no tie can occur:
precision is raised until the fraction is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import gcd

from reticent.validation import flag as flag
from reticent.validation import parse_fraction as parse_fraction

Number = int | float | str | Decimal | Fraction
"""A parameter as it may be given; it is kept as a fraction."""


def find_fraction_below(x: Fraction, limit: int, *, strictly: bool = False) -> Fraction:
    """Find the greatest fraction <= x (or < x) with a denominator of at most `limit`, for 0 <= x."""
    floor = x.numerator // x.denominator
    lower = Fraction(floor)
    upper = Fraction(floor + 1)
    if strictly and lower == x:
        lower -= 1
        upper -= 1
    a = lower.numerator
    b = 1
    c = upper.numerator
    d = 1
    while b + d <= limit:
        # Walk the Stern-Brocot tree in leaps: as many steps towards c/d, then towards a/b, as stay on their side of x.
        leap = _count_mediant_steps(a, b, c, d, x, strictly, limit, raising=True)
        a = a + leap * c
        b = b + leap * d
        if b + d > limit:
            break
        back = _count_mediant_steps(a, b, c, d, x, strictly, limit, raising=False)
        c = c + back * a
        d = d + back * b
        if not leap and not back:
            break
    return Fraction(a, b)


def find_fraction_below_real(enclose: Callable[[int], tuple[Fraction, Fraction]], limit: int) -> Fraction:
    """Find the same for an irrational number, enclosed ever more narrowly: enclose(digits) -> (lower, upper)."""
    digits = 30
    while True:
        lower, upper = enclose(digits)
        fraction = find_fraction_below(max(lower, Fraction(0)), limit)
        if fraction == find_fraction_below(max(upper, Fraction(0)), limit):
            return fraction
        digits *= 2


def enclose_log(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Enclose ln x for a rational x > 0."""
    if x == 1:
        return Fraction(0), Fraction(0)
    down, up = _make_rounding_contexts(digits)
    low, high = _enclose_quotient(x, down, up)
    # Decimal.ln is correctly rounded whatever the context's direction: one unit in the last place encloses it.
    lower = Decimal(0) if low == 1 else down.next_minus(down.ln(low))
    upper = Decimal(0) if high == 1 else up.next_plus(up.ln(high))
    return Fraction(lower), Fraction(upper)


def enclose_exp(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Enclose e^x for a rational x; callers keep |x| moderate."""
    return enclose_exp_range(x, x, digits)


def enclose_exp_range(lowest: Fraction, highest: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Enclose e^x for every x in lowest .. highest."""
    down, up = _make_rounding_contexts(digits)
    low = _enclose_quotient(lowest, down, up)[0]
    high = _enclose_quotient(highest, down, up)[1]
    return Fraction(down.next_minus(down.exp(low))), Fraction(up.next_plus(up.exp(high)))


def is_at_most_log(x: Fraction, y: Fraction) -> bool:
    """Tell whether x <= ln y, exactly, for rationals with y > 0."""
    if y == 1:
        return x <= 0
    digits = 30
    while True:
        lower, upper = enclose_log(y, digits)
        if x <= lower:
            return True
        if x > upper:
            return False
        digits *= 2


def compute_log_sum_sign(terms: Iterable[tuple[int, int]]) -> int:
    """Compute the sign of the sum of e * ln b over (b, e), whole b > 0 and whole e: compare products of powers.

    The products can be too long to write down.  Their exponents over a coprime base decide whether they are equal;
    where they are not, precision is raised until the sign shows.
    """
    exponents: dict[int, int] = {}
    for base, exponent in terms:
        exponents[base] = exponents.get(base, 0) + exponent
    exponents = {base: e for base, e in exponents.items() if base > 1 and e}
    if not any(_refine_to_coprime_bases(exponents).values()):
        return 0
    digits = 40
    while True:
        lower = Fraction(0)
        upper = Fraction(0)
        for base, e in exponents.items():
            low, high = enclose_log(Fraction(base), digits)
            lower += min(e * low, e * high)
            upper += max(e * low, e * high)
        if lower > 0 or upper < 0:
            return 1 if lower > 0 else -1
        digits *= 2


def _count_mediant_steps(
    a: int, b: int, c: int, d: int, x: Fraction, strictly: bool, limit: int, *, raising: bool
) -> int:
    """Count the most steps t for which the mediant stays on its side of x.

    Raising: (a + t c)/(b + t d) stays on the lower side; else (c + t a)/(d + t b) stays on the upper.
    """
    p = x.numerator
    q = x.denominator
    if raising:
        slack = p * b - q * a  # lower side: q(a + t c) <= p(b + t d)
        step = q * c - p * d
        max_steps = (limit - b) // d
        if step <= 0:
            return max_steps
        return min(max_steps, (slack - 1) // step if strictly else slack // step)
    slack = q * c - p * d  # upper side: q(c + t a) > p(d + t b), or >= where the bound is strict
    step = p * b - q * a
    max_steps = (limit - d) // b
    if step <= 0:
        return max_steps
    return min(max_steps, slack // step if strictly else (slack - 1) // step)


def _make_rounding_contexts(digits: int) -> tuple[Context, Context]:
    return Context(prec=digits, rounding=ROUND_FLOOR), Context(prec=digits, rounding=ROUND_CEILING)


def _enclose_quotient(x: Fraction, down: Context, up: Context) -> tuple[Decimal, Decimal]:
    numerator = Decimal(x.numerator)
    denominator = Decimal(x.denominator)
    return down.divide(numerator, denominator), up.divide(numerator, denominator)


def _refine_to_coprime_bases(exponents: dict[int, int]) -> dict[int, int]:
    """Write the same product over pairwise coprime bases (factor refinement): it is 1 iff every exponent is 0."""
    coprime: dict[int, int] = {}
    waiting = list(exponents.items())
    while waiting:
        base, e = waiting.pop()
        if base == 1 or not e:
            continue
        for other in coprime:
            shared = gcd(base, other)
            if shared > 1:
                f = coprime.pop(other)
                waiting += [(shared, e + f), (base // shared, e), (other // shared, f)]
                break
        else:
            coprime[base] = e
    return coprime
