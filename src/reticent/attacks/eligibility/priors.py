"""What an adversary may believe, before seeing a release, about how often each sensitive value occurs.

A prior weighs count vectors of |T| records in m named values, each occurring.  All of these know no value by name: they weigh
a vector and any renaming of it alike.  A prior that does know the leading value is beyond every method.

    uniform     every vector alike
    shapes      every histogram up to names alike: skewed tables weigh more than under `uniform`
    records     every record's value drawn alike, independently: near-even tables weigh most
    plausible   every vector that could have led to the release alike, however improbable that was: the paper's "without further
                information, the adversary cannot tell which reconstruction is more likely" (example 5)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, lgamma, prod
from typing import Any

from reticent.errors import JobError, suggest


def arrangements(counts: Sequence[Any]) -> int:
    """How many ways to give these counts to as many names."""
    return factorial(len(counts)) // prod(factorial(times) for times in Counter(counts).values())


@dataclass(frozen=True, slots=True)
class Prior:
    name: str

    def __post_init__(self) -> None:
        if self.name not in PRIORS:
            raise JobError(f"Unknown prior {self.name!r}.", attempt=suggest(self.name, PRIORS))

    @property
    def plausible(self) -> bool:
        return self.name == "plausible"

    def weight(self, counts: Sequence[int]) -> Fraction:
        """The weight of one vector."""
        if self.name == "shapes":
            return Fraction(1, arrangements(counts))
        if self.name == "records":
            return Fraction(factorial(sum(counts)), prod(factorial(count) for count in counts))
        return Fraction(1)

    def log_weight(self, counts: Sequence[int]) -> float:
        if self.name == "shapes":
            return -lgamma(len(counts) + 1) + sum(lgamma(times + 1) for times in Counter(counts).values())
        if self.name == "records":
            return lgamma(sum(counts) + 1) - sum(lgamma(count + 1) for count in counts)
        return 0.0


PRIORS = ("uniform", "shapes", "records", "plausible")
