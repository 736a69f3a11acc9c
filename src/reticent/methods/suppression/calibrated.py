"""Calibrated suppression: randomized, and sound against an adversary who knows the algorithm and its probabilities.

Ours.  R-suppression fails because the tables that can lead to one published table do so with unequal probabilities
(ERRATA 2.1).  Here they are made equal.  For a table B that violates l-eligibility, with S_1 the single most frequent
value and the others r, and a level F < F_1, the *cut* of B at F is

    P = F for S_1, min(r, k) for the others,   k = the greatest level with l k <= |P|,   F <= k.

J are the values that k cuts.  Let H be the values outside J with the l highest counts in P (and ties), S_1 among
them.  If each value i of H would, with the F_1 - F records of S_1 added to it instead, be the single most frequent
value and violating, then each of these tables B_i has a cut at p_i, and it is P again, with the same J, k and H: the
B_i are a *family* of |H| >= l tables that differ in which value is S_1.  Call F *open* for B, and let w(B) be the
number of open levels (`violating`).

The mechanism draws one of the w(B) open levels uniformly and keeps it with probability w(B) p, where p is the same
for all tables of the family and at most its capacity, 1 / max_i w(B_i), or 0 where a safe suppression of some B_i
would withhold less; else it withholds as `safe` does.  So every B_i of a family publishes P by it with the same
probability p.  Hence, with equal prior weight on all violating count vectors of |T| records in the same values, two
things hold exactly for each value:

    which value led       the posterior of S_1 given P is a mixture of uniform distributions on at least l values (those of
                          families, and those of `safe`, which are uniform by symmetry): at most 1/l
    whom it withheld      the mean share of a value among the withheld records given P, that is the posterior that a withheld
                          person has it, is at most 1/l: for values of H and for `safe` by the same symmetry, for values of J
                          because p is less than the capacity where a value of J alone is more than one in l of what a
                          cut withholds (`balanced`)

It never withholds more than `safe`.  Open levels of J's size j form an interval, so w(B) is a sum of at most l
lengths.
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

import numpy as np

from reticent.exact import ratio_of
from reticent.methods.suppression.balanced import chance
from reticent.methods.suppression.kinds import Outcome, Safe
from reticent.methods.suppression.violating import Violating

MOST_LEVELS = 512  # beyond so many open levels a mean is taken over as many, evenly spaced


class Calibrated:
    """A cut with the probability that all its tables share, else `safe`."""

    name: ClassVar[str] = "calibrated"

    def draw(self, counts: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
        table = _table(counts, l)
        if table.width:
            start = table.level(int(rng.integers(table.width)))
            if _happens(chance(table, start) * table.width, rng):
                return np.array(table.cut(start)[0])
        return Safe().published(counts, l)

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[Outcome]:
        table, left = _table(counts, l), Fraction(1)
        for number in range(table.width):
            start = table.level(number)
            published = chance(table, start)
            left -= published
            yield published, np.array(table.cut(start)[0])
        yield left, Safe().published(counts, l)

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction:
        table = _table(counts, l)
        by_cut = _by_cut(table, published)
        if np.array_equal(Safe().published(counts, l), published):
            by_cut += 1 - sum((chance(table, table.level(number)) for number in range(table.width)), Fraction(0))
        return by_cut

    def estimate(self, counts: np.ndarray, l: int, published: np.ndarray, rng: np.random.Generator) -> Fraction:
        """A number in [0, 1] whose mean is the likelihood: where `safe` gives the same, one open level, drawn, stands for all."""
        table = _table(counts, l)
        if not np.array_equal(Safe().published(counts, l), published):
            return _by_cut(table, published)
        if not table.width:
            return Fraction(1)
        start = table.level(int(rng.integers(table.width)))
        return 1 - table.width * chance(table, start) if table.cut(start)[0] != published.tolist() else Fraction(1)

    def expected(self, counts: np.ndarray, l: int) -> float:
        table = _table(counts, l)
        saved = _mean(
            float(chance(table, level)) * (table.withheld_safely - table.rows + sum(table.cut(level)[0]))
            for level in _levels(table)
        )
        return table.withheld_safely - table.width * saved


def _table(counts: np.ndarray, l: int) -> Violating:
    return Violating(tuple(int(count) for count in counts), l)


def _happens(probability: Fraction, rng: np.random.Generator) -> bool:
    """True with exactly this probability."""
    numerator, denominator = ratio_of(probability)
    if denominator < 1 << 62:
        return int(rng.integers(denominator)) < numerator
    digits = denominator.bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes(digits // 8 + 1)) >> (8 - digits % 8)
        if drawn < denominator:
            return drawn < numerator


def _by_cut(table: Violating, published: np.ndarray) -> Fraction:
    """The probability with which a table is published by a cut."""
    start = int(published[0])
    if any(low <= start <= high for low, high in table.open) and table.cut(start)[0] == published.tolist():
        return chance(table, start)
    return Fraction(0)


def _levels(table: Violating) -> Iterator[int]:
    if table.width <= MOST_LEVELS:
        return (table.level(number) for number in range(table.width))
    return (table.level(number * (table.width - 1) // (MOST_LEVELS - 1)) for number in range(MOST_LEVELS))


def _mean(values: Iterator[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
