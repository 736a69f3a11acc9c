"""beta-likeness (Cao & Karras, VLDB 2012, section 3) and delta-disclosure (Brickell & Shmatikov 2008).

p is a value's frequency in the published table, q that in a group.

basic      q <= p (1 + beta)
enhanced   q <= p (1 + min(beta, -ln p))
two-sided  also q >= p / (1 + bound), with the same bound (ERRATA 1.12)
delta      |log(q / p)| < delta, strictly, for every value of the table; a value absent from a group breaks it
           unless absent = "ignore"
"""

import math
from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction

from tests.oracle.logarithm import compare_ln, compare_log2

Histogram = Mapping[Hashable, int]


def frequencies(group: Histogram, reference: Histogram) -> Iterator[tuple[Fraction, Fraction]]:
    """(p, q) of every value of the reference."""
    n = sum(reference.values())
    s = sum(group.values())
    for value, count in reference.items():
        if count > 0:
            yield Fraction(count, n), Fraction(group.get(value, 0), s)


def gain_within_logarithm(p: Fraction, gain: Fraction) -> bool:
    """gain <= -ln p.  No tie for p < 1; for p = 1 both are 0."""
    return compare_ln(1 / p, gain) >= 0


def gains(p: Fraction, q: Fraction, two_sided: bool) -> list[Fraction] | None:
    """What must stay within the bound: q/p - 1 and, two-sided, p/q - 1.  None where no bound could hold it."""
    if not two_sided:
        return [q / p - 1]
    return None if q == 0 else [q / p - 1, p / q - 1]


def beta_holds(
    group: Histogram, reference: Histogram, beta: Fraction, *, enhanced: bool = True, two_sided: bool = False
) -> bool:
    for p, q in frequencies(group, reference):
        found = gains(p, q, two_sided)
        if found is None or any(gain > beta for gain in found):
            return False
        if enhanced and not all(gain_within_logarithm(p, gain) for gain in found):
            return False
    return True


def beta_achieved(
    group: Histogram, reference: Histogram, *, enhanced: bool = True, two_sided: bool = False
) -> Fraction | None:
    """The least beta that holds, at least 0; None where none does."""
    least = Fraction(0)
    for p, q in frequencies(group, reference):
        found = gains(p, q, two_sided)
        if found is None or (enhanced and not all(gain_within_logarithm(p, gain) for gain in found)):
            return None
        least = max(least, *found)
    return least


def delta_holds(
    group: Histogram, reference: Histogram, delta: Fraction, *, absent: str = "break", base: object = "e"
) -> bool:
    compare = compare_log2 if str(base) == "2" else compare_ln
    for p, q in frequencies(group, reference):
        if q == 0:
            if absent == "ignore":
                continue
            return False
        if compare(q / p, delta) >= 0 or compare(q / p, -delta) <= 0:
            return False
    return True


def delta_achieved(
    group: Histogram, reference: Histogram, *, absent: str = "break", base: object = "e"
) -> float | None:
    """max |log(q / p)|, for display (`delta_holds` decides); every delta above it holds.  None where none does."""
    logarithm = math.log2 if str(base) == "2" else math.log
    greatest = 0.0
    for p, q in frequencies(group, reference):
        if q == 0 and absent == "ignore":
            continue
        if q == 0:
            return None
        ratio = q / p
        greatest = max(greatest, abs(logarithm(ratio.numerator) - logarithm(ratio.denominator)))
    return greatest
