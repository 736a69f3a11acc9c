"""The tables that can lie behind one release, up to renaming: the eligibility attack on it, exactly, for every kind and prior.

A table B behind the published counts P, highest level L, holds besides P the withheld records: of the value that leads, M above L, and
of the values that were cut to L or, x of them, to L - 1: excesses f_1 >= ... >= f_q over L, g of them positive (as in
`counted`, which needs no such list, for R-suppression and the uniform prior).  Values of equal published count are
alike, so the f are partitions, each standing for its arrangements.  What each table publishes, with what probability, is asked
of the suppression itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, factorial

import numpy as np

from reticent.attacks.eligibility.counted import Between, PublishedCounts, greatest_chance
from reticent.attacks.eligibility.priors import Prior, arrangements
from reticent.methods.suppression.kinds import Kind

Likelihood = Callable[[np.ndarray, int, np.ndarray], Fraction]
FEW = 200  # so many records are split by recurrence
TWICE = ("unsafe", "randomized")  # kinds that cut some values to one below the level


@dataclass(frozen=True)
class Stratum:
    """Tables with one published count of the leading value, one x and one g."""

    published: PublishedCounts
    count: int
    extra: int
    higher: int

    @property
    def at_lower(self) -> int:
        """Values, but the leading one, that are published at L - 1."""
        return self.published.alike[self.published.level - 1] - (self.count == self.published.level - 1)

    @property
    def cut(self) -> int:
        return self.published.alike[self.published.level] - (self.count == self.published.level) + self.extra

    @property
    def total(self) -> int:
        return self.published.withheld - self.extra - self.published.level + self.count

    @property
    def ways(self) -> Fraction:
        """Which values are above L, and which of them go first: each alike."""
        chosen = Fraction(comb(self.at_lower, self.extra), comb(self.cut, self.extra))
        return chosen * comb(self.cut, self.higher)

    @property
    def number(self) -> int:
        """About how many tables, up to renaming."""
        room = self.total - self.published.least_excess - self.higher
        if room > FEW:
            return comb(room + self.higher, self.higher) // factorial(self.higher)
        return sum(partitions(left, self.higher) for left in range(room + 1))

    def greatest(self, kind: Kind) -> Fraction:
        """What Pr(P | B) exceeds for no table of the stratum."""
        if kind.name != "randomized":
            return Fraction(1)
        return greatest_chance(self.published, self.count, self.extra, self.cut, self.higher, self.total)

    def tables(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """M and the positive excesses, falling."""
        for most in range(self.published.least_excess, self.total - self.higher + 1):
            for parts in falling(self.total - most, self.higher, most):
                yield most, parts

    def table(self, most: int, parts: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Counts of the table and of the release, S_1 first, then falling."""
        level, counts = self.published.level, self.published.counts
        left = [count for count in counts if count < level]
        for gone in [level - 1] * self.extra + [self.count] * (self.count < level):
            left.remove(gone)
        at_level = self.cut - self.higher
        base = [level + most, *(level + part for part in parts), *[level] * at_level, *left]
        seen = [self.count, *[level] * (self.cut - self.extra), *[level - 1] * self.extra, *left]
        return np.array(base), np.array(seen)

    def value(self, most: int, parts: Sequence[int], likelihood: Likelihood, prior: Prior) -> Fraction:
        """The weight of one named table, but for ties with the leading value and the choice of x."""
        base, seen = self.table(most, parts)
        chance = likelihood(base, self.published.l, seen)
        if not prior.plausible or not chance:
            return chance and chance * prior.weight(base.tolist())
        excess = [*parts, *[0] * (self.cut - self.higher)]
        first, then = excess[: self.cut - self.extra], excess[self.cut - self.extra :]
        named = Fraction(
            arrangements(first) * arrangements(then) * comb(self.cut, self.extra) * (1 + list(parts).count(most)),
            arrangements(excess),
        )
        return named / self._leaders(base, seen, likelihood)

    def _leaders(self, base: np.ndarray, seen: np.ndarray, likelihood: Likelihood) -> int:
        """How many of the values tied at the top may have led: of a table that counts once, each has an equal share."""
        counts, pairs, found = base.tolist(), sorted(zip(base.tolist(), seen.tolist(), strict=True)), 0
        for first in {led for count, led in pairs if count == counts[0]}:
            others = sorted(seen.tolist(), reverse=True)
            others.remove(first)
            same = sorted(zip(counts, [first, *others], strict=True)) == pairs
            if same and likelihood(base, self.published.l, np.array([first, *others])):
                found += pairs.count((counts[0], first))
        return found


def strata(published: PublishedCounts, kind: Kind) -> Iterator[Stratum]:
    for count in published.alike:
        lower = published.alike[published.level - 1] - (count == published.level - 1)
        for extra in range(lower + 1 if kind.name in TWICE and published.late else 1):
            found = Stratum(published, count, extra, 0)
            for higher in range(found.cut + 1):
                found = Stratum(published, count, extra, higher)
                if found.total - higher < published.least_excess:
                    break
                yield found


def weigh(stratum: Stratum, kind: Kind, prior: Prior) -> Fraction:
    """The weight of the stratum's tables, by listing them."""
    found = Fraction(0)
    for most, parts in stratum.tables():
        value = stratum.value(most, parts, kind.likelihood, prior)
        if value:
            found += value * arrangements(parts) / (1 + parts.count(most))
    return found * stratum.ways


def cost(published: PublishedCounts, kind: Kind, prior: Prior) -> int:
    """What the weight of a table costs: where `safe` may have published it, all cuts of a calibrated suppression are asked for;
    the prior `records` takes factorials."""
    cuts = 1 + 3 * published.level if kind.name == "calibrated" and published.safe else 1
    return cuts * (1 + published.rows // FEW if prior.name == "records" else 1)


def weights(published: PublishedCounts, kind: Kind, prior: Prior, most: int) -> dict[int, Between] | None:
    """For each published count the weight of one of its values; nothing where more than `most` tables would have to be listed."""
    listed, number = list(strata(published, kind)), 0
    for stratum in listed:
        number += stratum.number
        if number * cost(published, kind, prior) > most:
            return None
    found: dict[int, Between] = {}
    for stratum in listed:
        weight = weigh(stratum, kind, prior)
        if weight:
            sofar = found.get(stratum.count, (Fraction(0),))[0]
            found[stratum.count] = (sofar + weight, sofar + weight)
    return found


def falling(total: int, parts: int, most: int) -> Iterator[tuple[int, ...]]:
    """Falling positive numbers, at most `most`, with this sum."""
    if not parts:
        if not total:
            yield ()
        return
    for first in range(min(total - parts + 1, most), -(-total // parts) - 1, -1):
        for others in falling(total - first, parts - 1, first):
            yield (first, *others)


@cache
def partitions(total: int, parts: int) -> int:
    """Partitions into at most so many parts."""
    if total <= 0 or not parts:
        return int(total == 0)
    return partitions(total, parts - 1) + partitions(total - parts, parts)
