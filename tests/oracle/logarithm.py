"""Logarithms of rationals, compared with rationals without error.

ln r is irrational for every rational r other than 1 (Lindemann), and log2 r is rational only where r is a power of
two.  Outside these cases no tie can occur, so bounds of growing precision decide every comparison.
"""

from decimal import Decimal, localcontext
from fractions import Fraction


def exact(number: object) -> Fraction:
    """A parameter as it was written: 0.1 is one tenth, not the nearest double."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(str(number))


def ln_bounds(ratio: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Rationals below and above ln(ratio).  `Decimal.ln` is rounded correctly: a unit in the last place is ample."""
    low = high = Fraction(0)
    for integer, sign in ((ratio.numerator, 1), (ratio.denominator, -1)):
        with localcontext() as context:
            context.prec = digits
            logarithm = Decimal(integer).ln()
        unit = Fraction(10) ** (logarithm.adjusted() - digits + 1) if logarithm else Fraction(0)
        low += sign * Fraction(logarithm) - unit
        high += sign * Fraction(logarithm) + unit
    return low, high


def compare_ln(ratio: Fraction, bound: Fraction) -> int:
    """The sign of ln(ratio) - bound."""
    if ratio == 1:
        return (bound < 0) - (bound > 0)
    digits = 20
    while True:
        low, high = ln_bounds(ratio, digits)
        if low > bound:
            return 1
        if high < bound:
            return -1
        digits *= 2


def compare_log2(ratio: Fraction, bound: Fraction) -> int:
    """The sign of log2(ratio) - bound."""
    power = power_of_two(ratio)
    if power is not None:
        return (power > bound) - (power < bound)
    digits = 20
    while True:
        low, high = ln_bounds(ratio, digits)
        two_low, two_high = ln_bounds(Fraction(2), digits)
        products = (bound * two_low, bound * two_high)
        if low > max(products):
            return 1
        if high < min(products):
            return -1
        digits *= 2


def power_of_two(ratio: Fraction) -> int | None:
    """j where ratio = 2**j for a whole j."""
    if ratio < 1:
        inverse = power_of_two(1 / ratio)
        return None if inverse is None else -inverse
    power = ratio.numerator.bit_length() - 1
    return power if ratio == 2**power else None
