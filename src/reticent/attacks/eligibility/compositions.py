"""How many tables there are in which a value leads: compositions, counted in closed form.

A table behind a release is the release and what was withheld: some records of the value that led, some of values that were cut
down to the highest published level.  With the leading value's excess over that level M, the others' f_1 .. f_q, all of one sum S,

    led(q, S, low, most)   vectors with f_i >= low, M >= f_i, M >= most, where of t + 1 tied at the top each leads in 1 / (t + 1)

By symmetry that is one in q + 1 of the vectors of q + 1 parts >= low of sum S whose greatest is at least `most`: no sum over M is left.
Vectors with parts at most some cap are counted by inclusion and exclusion.  All in whole numbers.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

TERMS = 3_000  # so many terms are summed exactly
BLOCKS = 2_000  # and so many blocks of them between bounds
SCALE = 96  # binary digits kept of a term between bounds


def vectors(parts: int, total: int, cap: int | None = None) -> int:
    """Vectors of so many whole numbers >= 0, at most `cap` each, with this sum."""
    if total < 0 or (cap is not None and cap < 0):
        return 0
    if not parts:
        return int(total == 0)
    if cap is None or cap >= total:
        return comb(total + parts - 1, parts - 1)
    found, sign = 0, 1
    for beyond in range(min(parts, total // (cap + 1)) + 1):
        found += sign * comb(parts, beyond) * comb(total - beyond * (cap + 1) + parts - 1, parts - 1)
        sign = -sign
    return found


def led(others: int, total: int, low: int, most: int) -> int:
    """(q + 1) times the number of tables in which the value leads (above)."""
    left = total - (others + 1) * low
    return vectors(others + 1, left) - vectors(others + 1, left, most - 1 - low) if left >= 0 else 0


def highest_low(others: int, total: int, most: int) -> int:
    """The greatest `low` at which there is a vector at all."""
    return min(total // (others + 1), (total - most) // others) if others else total


def by_least(others: int, total: int, most: int, offset: int) -> tuple[Fraction, Fraction]:
    """The sum of led / (least + offset) over the least positive part, M included: exactly, or between bounds where it is long."""
    last = highest_low(others, total, most)
    if last < 1:
        return Fraction(0), Fraction(0)
    if last > TERMS and others:
        return _between(others, total, most, offset, last)
    if not others:
        exact = Fraction(led(0, total, 1, most), total + offset)
        return exact, exact
    counted = [led(others, total, least, most) for least in range(1, last + 2)]
    terms = [(counted[at] - counted[at + 1], at + 1 + offset) for at in range(last)]
    while len(terms) > 1:  # in pairs, without reducing: one common divisor at the end
        odd = terms[len(terms) & ~1 :]
        terms = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(terms[::2], terms[1::2], strict=False)] + odd
    exact = Fraction(*terms[0])
    return exact, exact


def _between(others: int, total: int, most: int, offset: int, last: int) -> tuple[Fraction, Fraction]:
    """The same with the terms in blocks: all of a block's tables at its greatest and at its least divisor, rounded outward."""
    ratio = (last + offset) / (1 + offset)
    edges = {round((1 + offset) * ratio ** (at / BLOCKS)) - offset for at in range(BLOCKS)}
    starts = [*sorted({1, *(edge for edge in edges if 1 < edge <= last)}), last + 1]
    low = high = 0
    counted = led(others, total, 1, most)
    for start, end in pairwise(starts):
        after = led(others, total, end, most)
        tables = (counted - after) << SCALE
        low += tables // (end - 1 + offset)
        high += -(-tables // (start + offset))
        counted = after
    return Fraction(low, 1 << SCALE), Fraction(high, 1 << SCALE)
