"""What an adversary believes after a release: posteriors by published count, and how exactly they are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from typing import Any, Literal

from reticent.attacks.eligibility.counted import PublishedCounts

How = Literal["exact", "bounds", "sampled"]


@dataclass(frozen=True, slots=True)
class Posterior:
    """The posterior of each published count's values (one of them) and the worst, between `low` and `high`.

    `exact`: both are the worst.  `bounds`: it lies between them for certain, and `by_count` has upper ends.  `sampled`: with
    probability 95 %, and `by_count` has estimates.
    """

    by_count: Mapping[int, Fraction | float]
    low: Fraction | float
    high: Fraction | float
    how: How

    @property
    def worst(self) -> Fraction | float:
        return max(self.by_count.values())

    @property
    def exact(self) -> bool:
        return self.how == "exact"

    @property
    def ends(self) -> tuple[float, float]:
        """Low and high as floating-point numbers, rounded outward unless they are one."""
        return (float(self.low), float(self.high)) if self.exact else outward(self.low, self.high)


def nobody(table: PublishedCounts) -> Posterior:
    return Posterior({table.level: Fraction(0)}, Fraction(0), Fraction(0), "exact")


def shares(table: PublishedCounts, weights: Mapping[int, tuple[Any, Any]]) -> Posterior:
    """Posteriors from weights between bounds: a value's own at one end, all others' at the other."""
    if not weights:
        return nobody(table)
    ends = {}
    for count, (low, high) in weights.items():
        others = [
            sum(table.alike[other] * weights[other][end] for other in weights if other != count) for end in (0, 1)
        ]
        least, most = low * table.alike[count] + others[1], high * table.alike[count] + others[0]
        ends[count] = (low / least if low else 0 * low, high / most)
    return between(ends)


def between(ends: Mapping[int, tuple[Any, Any]]) -> Posterior:
    low, high = max(low for low, _ in ends.values()), max(high for _, high in ends.values())
    by_count = {count: high for count, (_, high) in ends.items() if high}
    return Posterior(by_count, low, high, "exact" if low == high else "bounds")


def outward(low: Fraction | float, high: Fraction | float) -> tuple[float, float]:
    """As floating-point numbers that are not nearer to each other."""
    down, up = float(low), float(high)
    return nextafter(down, 0.0) if down > low else down, nextafter(up, 1.0) if up < high else up


def from_draws(table: PublishedCounts, weights: Mapping[int, tuple[float, float, float]]) -> Posterior:
    if not weights:
        return nobody(table)
    ends = shares(table, {count: (Fraction(low), Fraction(high)) for count, (low, _, high) in weights.items()})
    total = sum(table.alike[count] * middle for count, (_, middle, _) in weights.items())
    by_count = {count: middle / total if total else ends.high for count, (_, middle, _) in weights.items()}
    return Posterior(by_count, *outward(ends.low, ends.high), "sampled")
