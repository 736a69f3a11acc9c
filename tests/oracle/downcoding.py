"""Compositions of a group in one column, by enumeration of everybody's value.  Imports nothing of ours."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product


def cannot_be_cut(values: tuple[int, ...], k: int) -> bool:
    """No place between two values has k people or more on both sides."""
    return not any(
        sum(value < place for value in values) >= k and sum(value >= place for value in values) >= k
        for place in range(1, max(values) + 1)
    )


@cache
def known(people: int, width: int, k: int | None, low: bool, high: bool) -> tuple[Fraction, list[Fraction]] | None:
    """The chance of what is known, and the expected number of people at each value."""
    fits = [
        values
        for values in product(range(width), repeat=people)
        if (not low or 0 in values) and (not high or width - 1 in values) and (k is None or cannot_be_cut(values, k))
    ]
    if not fits:
        return None
    expected = [Fraction(sum(values.count(at) for values in fits), len(fits)) for at in range(width)]
    return Fraction(len(fits), width**people), expected


def possible(
    ranges: list[tuple[int, int]], sizes: list[int], totals: list[int], k: int | None, tight: bool
) -> list[set[int]] | None:
    """Which values somebody of each group may have, the groups' people together having these totals."""
    found: list[set[int]] = [set() for _ in ranges]
    fitted = False
    for deal in _deals(ranges, sizes, list(totals), k, tight):
        fitted = True
        for group, values in enumerate(deal):
            found[group] |= set(values)
    return found if fitted else None


def _deals(ranges, sizes, left, k, tight):
    if not ranges:
        if not any(left):
            yield []
        return
    (low, high), size = ranges[0], sizes[0]
    for values in _sorted(low, high, size):
        if tight and low < high and (values[0] != low or values[-1] != high):
            continue
        if k is not None and not cannot_be_cut(values, k):
            continue
        rest = list(left)
        for value in values:
            rest[value] -= 1
        if min(rest) >= 0:
            for others in _deals(ranges[1:], sizes[1:], rest, k, tight):
                yield [values, *others]


def _sorted(low: int, high: int, size: int):
    if not size:
        yield ()
        return
    for first in range(low, high + 1):
        for rest in _sorted(first, high, size - 1):
            yield (first, *rest)
