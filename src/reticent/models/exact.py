"""Exact parameters and exact comparison (ADR 2).

Parameters are fractions.  A cap on a frequency, count / size <= x for a real x, is replaced by count / size <= a / b with
a / b the greatest fraction not above x whose denominator is at most the number of rows: no group is judged differently,
and the comparison is one of integers that fit 64 bits.  Where a logarithm enters, x is irrational and no tie can occur:
precision is raised until the fraction is decided.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from reticent.errors import JobError


def exact(value: object, name: str = "a parameter") -> Fraction:
    """A number as its author wrote it: 0.1 is one tenth."""
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, float):
            return Fraction(repr(value))
        return Fraction(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise JobError(f"{name} must be a number.", attempt='a number such as 4, 0.5 or "1/3".') from None


def whole(value: object, name: str) -> int:
    number = exact(value, name)
    if number.denominator != 1:
        raise JobError(f"{name} must be a whole number.")
    return int(number)


def below(x: Fraction, limit: int, *, strictly: bool = False) -> Fraction:
    """The greatest fraction <= x (or < x) with a denominator of at most `limit`, for 0 <= x."""
    floor = x.numerator // x.denominator
    lower, upper = Fraction(floor), Fraction(floor + 1)
    if strictly and lower == x:
        lower, upper = lower - 1, lower
    a, b, c, d = lower.numerator, 1, upper.numerator, 1
    while b + d <= limit:
        # Walk the Stern-Brocot tree in leaps: as many steps towards c/d, then towards a/b, as stay on their side of x.
        leap = _leap(a, b, c, d, x, strictly, limit, raising=True)
        a, b = a + leap * c, b + leap * d
        if b + d > limit:
            break
        back = _leap(a, b, c, d, x, strictly, limit, raising=False)
        c, d = c + back * a, d + back * b
        if not leap and not back:
            break
    return Fraction(a, b)


def _leap(a: int, b: int, c: int, d: int, x: Fraction, strictly: bool, limit: int, *, raising: bool) -> int:
    """The most steps t for which (a + t c)/(b + t d) stays on the lower side (raising) or (c + t a)/(d + t b) on the upper."""
    p, q = x.numerator, x.denominator
    if raising:
        room = p * b - q * a  # lower side: q(a + t c) <= p(b + t d)
        step = q * c - p * d
        most = (limit - b) // d
        if step <= 0:
            return most
        return min(most, (room - 1) // step if strictly else room // step)
    room = q * c - p * d  # upper side: q(c + t a) > p(d + t b), or >= where the bound is strict
    step = p * b - q * a
    most = (limit - d) // b
    if step <= 0:
        return most
    return min(most, room // step if strictly else (room - 1) // step)


def below_real(enclose: Callable[[int], tuple[Fraction, Fraction]], limit: int) -> Fraction:
    """The same for an irrational number given by ever narrower enclosures: enclose(digits) -> (lower, upper)."""
    digits = 30
    while True:
        lower, upper = enclose(digits)
        found = below(max(lower, Fraction(0)), limit)
        if found == below(max(upper, Fraction(0)), limit):
            return found
        digits *= 2


def log_bounds(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """An enclosure of ln x for a rational x > 0."""
    if x == 1:
        return Fraction(0), Fraction(0)
    down, up = Context(prec=digits, rounding=ROUND_FLOOR), Context(prec=digits, rounding=ROUND_CEILING)
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    ratio = (down.divide(numerator, denominator), up.divide(numerator, denominator))
    # Decimal.ln is correctly rounded whatever the context's direction: one unit in the last place encloses it.
    lower, upper = down.next_minus(down.ln(ratio[0])), up.next_plus(up.ln(ratio[1]))
    return Fraction(lower), Fraction(upper)


def at_most_log(x: Fraction, y: Fraction) -> bool:
    """Whether x <= ln y, exactly, for rationals with y > 0."""
    if y == 1:
        return x <= 0
    digits = 30
    while True:
        lower, upper = log_bounds(y, digits)
        if x <= lower:
            return True
        if x > upper:
            return False
        digits *= 2
