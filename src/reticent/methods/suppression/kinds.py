"""The three suppressions of the paper, on counts (Xu, Wang, Fu & Wong, sections 3 and 4).

A kind maps counts F_1 >= ... >= F_m of a table that violates l-eligibility to published counts, value for value.  `draw` gives
one outcome, `outcomes` all of them with their probabilities, `likelihood` the probability of one, `expected` the mean number of
records withheld.  Ties among the counts are the caller's: whoever sorts breaks them at random.
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

from reticent.methods.suppression.levels import Stops, cut, stops

Outcome = tuple[Fraction, np.ndarray]
MOST_LEVELS = 1 << 16  # beyond so many levels a mean is taken over as many, evenly spaced


class Kind(Protocol):
    name: ClassVar[str]

    def draw(self, counts: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray: ...

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[Outcome]: ...

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction: ...

    def expected(self, counts: np.ndarray, l: int) -> float: ...


class Deterministic:
    """D-suppression (figure 2) to a stopping condition."""

    name: ClassVar[str]

    def published(self, counts: np.ndarray, l: int) -> np.ndarray:
        raise NotImplementedError

    def draw(self, counts: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
        return self.published(counts, l)

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[Outcome]:
        yield Fraction(1), self.published(counts, l)

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction:
        return Fraction(np.array_equal(self.published(counts, l), published))

    def expected(self, counts: np.ndarray, l: int) -> float:
        return float(counts.sum() - self.published(counts, l).sum())


class Unsafe(Deterministic):
    """Stops at P-eligibility and l-candidacy: the least any method can withhold (theorem 2), and no protection."""

    name = "unsafe"

    def published(self, counts: np.ndarray, l: int) -> np.ndarray:
        found = stops(counts, l, counts[:1])
        return cut(counts, int(counts[0]), int(found.level[0]), int(found.extra[0]))


class Safe(Deterministic):
    """Stops at the start of level F_l (theorem 1): l values share the highest count, and any of them may have been S_1."""

    name = "safe"

    def published(self, counts: np.ndarray, l: int) -> np.ndarray:
        return np.minimum(counts, counts[l - 1])


class Randomized:
    """R-suppression as printed (figure 3): S_1 to a random level, then D-suppression to P-eligibility and l-candidacy.

    Departs from it for l = m, where F_{m+1} = 0 could empty the table: 1 is the lowest level (ERRATA 2.3).  Both ends of an
    interval belong to it (ERRATA 2.6).  Theorem 3 does not hold against a Bayesian adversary (ERRATA 2.1).
    """

    name: ClassVar[str] = "randomized"

    def intervals(self, counts: np.ndarray, l: int) -> list[tuple[int, int]]:
        """[F_{h+1}, F_h] for h = 1 .. l."""
        ends = [*counts[: l + 1].tolist(), 1][: l + 1]
        return [(ends[h + 1], ends[h]) for h in range(l)]

    def draw(self, counts: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
        low, high = self.intervals(counts, l)[int(rng.integers(l))]
        found = stops(counts, l, rng.integers(low, high, 1, endpoint=True))
        return _published(counts, found, 0)

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[Outcome]:
        for low, high in self.intervals(counts, l):
            found = stops(counts, l, np.arange(low, high + 1))
            for at in range(len(found.start)):
                yield Fraction(1, l * (high - low + 1)), _published(counts, found, at)

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction:
        """By two starts: the published count of S_1, and, where that is the highest level, any start above: all of them stop alike."""
        first, level = int(published[0]), int(published.max())
        starts = np.array([first, counts[0]] if first == level < counts[0] else [first])
        found, chance = stops(counts, l, starts), Fraction(0)
        for at, (least, most) in enumerate([(first, first), (level + 1, int(counts[0]))][: len(starts)]):
            if np.array_equal(_published(counts, found, at), published):
                for low, high in self.intervals(counts, l):
                    chance += Fraction(max(min(high, most) - max(low, least) + 1, 0), l * (high - low + 1))
        return chance

    def expected(self, counts: np.ndarray, l: int) -> float:
        means = [
            stops(counts, l, _levels(low, high, MOST_LEVELS)).withheld.mean() for low, high in self.intervals(counts, l)
        ]
        return float(np.mean(means))


def _levels(low: int, high: int, most: int) -> np.ndarray:
    """Every level, or where they are too many as many as may be, evenly spaced."""
    if high - low <= most:
        return np.arange(low, high + 1)
    return np.append([low, low + 1], np.linspace(low + 2, high, most).astype(np.int64))


def _published(counts: np.ndarray, found: Stops, at: int) -> np.ndarray:
    return cut(counts, int(found.start[at]), int(found.level[at]), int(found.extra[at]))
