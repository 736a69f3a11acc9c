"""The suppressions of the paper, on counts (Xu, Wang, Fu & Wong, "Publishing skewed sensitive microdata", sections 2 to 4).

A kind maps counts F_1 >= ... >= F_m of a table that violates l-eligibility to published counts, value for value.
`draw` gives one outcome, `outcomes` all of them with their probabilities, `likelihood` the probability of one,
`expected` the mean number of records withheld.  The caller sorts the counts and breaks ties at random.

D-suppression withholds one record of a most frequent value after the other; after any number of steps the highest
values are at one level L, `extra` of them at L - 1 (those less frequent in the original table go first: ERRATA 2.4),
and the others are untouched.  So where it stops is found by bisection over levels (`find_stops`): the cost grows with
the number of values and the logarithm of the counts, not with the records withheld.

It stops when both conditions hold for the first time:

    P-eligibility   l F'_1 <= |T_P|                  not monotone (ERRATA 2.5): each step of a level makes it harder, the next
                                                     level easier; at the *start* of levels it is monotone
    l-candidacy     l (F'_l + |T_S|) > |T|           strict and monotone, and reached before the level of F'_l is cut

`EligibleSuppression` is D-suppression that waits for the first condition alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

SuppressionOutcome = tuple[Fraction, np.ndarray]
MAX_LEVELS = 1 << 16  # beyond so many levels a mean is taken over as many, evenly spaced


# ruff: noqa: E741  `l` is the field's own letter


def is_eligible(counts: np.ndarray, l: int) -> bool:
    """Tell whether no value exceeds one in l: F_1 <= |T| / l."""
    return not len(counts) or l * int(counts.max()) <= int(counts.sum())


@dataclass(frozen=True, slots=True)
class StopLevels:
    """For each level that S_1 was first cut to (`start`): where D-suppression stops, and how many records are then withheld."""

    start: np.ndarray
    level: np.ndarray
    extra: np.ndarray
    withheld: np.ndarray


def find_stops(counts: np.ndarray, l: int, start: np.ndarray) -> StopLevels:
    """Find where D-suppression stops on `counts` (falling, l <= m) with F_1 replaced by each of `start`."""
    rest = counts[1:]
    rows = int(counts.sum())
    total = np.append(0, np.cumsum(rest))
    start = np.asarray(start, np.int64)
    gone = int(counts[0]) - start

    def count_above(level: np.ndarray) -> np.ndarray:
        """Records above a level, that is withheld at its start beyond `gone`."""
        higher = np.searchsorted(-rest, -level, side="left")
        return np.maximum(start - level, 0) + total[higher] - higher * level

    next_lower = int(counts[l]) if l < len(counts) else 0
    candidate = np.minimum(int(counts[l - 1]), np.maximum(start, next_lower))  # F'_l once S_1 is cut
    withheld = np.maximum(gone, rows // l + 1 - candidate)
    level = _find_least_level(
        lambda candidate_level: count_above(candidate_level) <= withheld - gone,
        np.maximum(start, int(rest.max(initial=0))),
    )
    extra = withheld - gone - count_above(level)
    fits = l * level <= rows - withheld
    if not fits.all():
        below = _find_least_level(
            lambda candidate_level: l * (candidate_level + 1) > rows - gone - count_above(candidate_level + 1),
            level - 1,
        )
        level = np.where(fits, level, below)
        extra = np.where(fits, extra, 0)
        withheld = np.where(fits, withheld, gone + count_above(level))
    return StopLevels(start, level, extra, withheld)


def cut_counts(counts: np.ndarray, start: int, level: int, extra: int) -> np.ndarray:
    """Return the published counts, value for value: S_1 at `start`, all at most `level`, the last `extra` of the highest one less."""
    published = counts.copy()
    published[0] = start
    highest = np.flatnonzero(published >= level)
    published = np.minimum(published, level)
    if extra:
        published[highest[-extra:]] -= 1
    return published


class SuppressionKind(Protocol):
    name: ClassVar[str]

    def draw(self, counts: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray: ...

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[SuppressionOutcome]: ...

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction: ...

    def compute_expected_withheld(self, counts: np.ndarray, l: int) -> float: ...


class DeterministicSuppression:
    """D-suppression (figure 2) to a stopping condition."""

    name: ClassVar[str]

    def publish_counts(self, counts: np.ndarray, l: int) -> np.ndarray:
        raise NotImplementedError

    def draw(self, counts: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
        return self.publish_counts(counts, l)

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[SuppressionOutcome]:
        yield Fraction(1), self.publish_counts(counts, l)

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction:
        return Fraction(np.array_equal(self.publish_counts(counts, l), published))

    def compute_expected_withheld(self, counts: np.ndarray, l: int) -> float:
        return float(counts.sum() - self.publish_counts(counts, l).sum())


class UnsafeSuppression(DeterministicSuppression):
    """Stops at P-eligibility and l-candidacy: the least any method can withhold (theorem 2), and no protection."""

    name = "unsafe"

    def publish_counts(self, counts: np.ndarray, l: int) -> np.ndarray:
        stops = find_stops(counts, l, counts[:1])
        return cut_counts(counts, int(counts[0]), int(stops.level[0]), int(stops.extra[0]))


class SafeSuppression(DeterministicSuppression):
    """Stops at the start of level F_l (theorem 1): l values share the highest count, and any of them may have been S_1."""

    name = "safe"

    def publish_counts(self, counts: np.ndarray, l: int) -> np.ndarray:
        return np.minimum(counts, counts[l - 1])


class EligibleSuppression(DeterministicSuppression):
    """Stops at P-eligibility alone: the least that leaves the table l-eligible.  It does not hide which value led.

    Steps of a level make eligibility harder, so it first holds at the start of a level: the greatest L with l L <= g(L),
    where g(L) = sum min(F, L).  Nothing eligible withholds less: a subtable whose highest count is M has at least l M
    records and at most g(M), and g(M) - l M is concave and 0 at 0, so M <= L, and it has at most g(L) records.
    """

    name = "eligible"

    def publish_counts(self, counts: np.ndarray, l: int) -> np.ndarray:
        tail = np.cumsum(counts[::-1])[::-1]  # records of each value and those after it
        cut_values = np.arange(1, l)  # l - 1 of them at the most: what is left of l values is eligible
        levels = tail[cut_values] // (l - cut_values)  # the greatest at which so many cut values are eligible
        is_reached = levels >= counts[cut_values]  # no further value is above the level
        return np.minimum(counts, levels[np.argmax(is_reached)])


class RandomizedSuppression:
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
        stops = find_stops(counts, l, rng.integers(low, high, 1, endpoint=True))
        return _cut_at_stop(counts, stops, 0)

    def outcomes(self, counts: np.ndarray, l: int) -> Iterator[SuppressionOutcome]:
        for low, high in self.intervals(counts, l):
            stops = find_stops(counts, l, np.arange(low, high + 1))
            for index in range(len(stops.start)):
                yield Fraction(1, l * (high - low + 1)), _cut_at_stop(counts, stops, index)

    def likelihood(self, counts: np.ndarray, l: int, published: np.ndarray) -> Fraction:
        """By two starts: the published count of S_1, and, where that is the highest level, any start above: all of them stop alike."""
        first = int(published[0])
        level = int(published.max())
        starts = np.array([first, counts[0]] if first == level < counts[0] else [first])
        stops = find_stops(counts, l, starts)
        chance = Fraction(0)
        for index, (lowest, highest) in enumerate([(first, first), (level + 1, int(counts[0]))][: len(starts)]):
            if np.array_equal(_cut_at_stop(counts, stops, index), published):
                for low, high in self.intervals(counts, l):
                    chance += Fraction(max(min(high, highest) - max(low, lowest) + 1, 0), l * (high - low + 1))
        return chance

    def compute_expected_withheld(self, counts: np.ndarray, l: int) -> float:
        means = [
            find_stops(counts, l, _space_levels(low, high, MAX_LEVELS)).withheld.mean()
            for low, high in self.intervals(counts, l)
        ]
        return float(np.mean(means))


def _find_least_level(holds, highest: np.ndarray) -> np.ndarray:
    """Find the least level in 0 .. most at which a condition holds that holds from some level on (at `highest` at the latest)."""
    low = np.zeros_like(highest)
    high = highest.copy()
    while (low < high).any():
        middle = (low + high) // 2
        is_held = holds(middle)
        low = np.where(is_held, low, middle + 1)
        high = np.where(is_held, middle, high)
    return high


def _cut_at_stop(counts: np.ndarray, stops: StopLevels, index: int) -> np.ndarray:
    return cut_counts(counts, int(stops.start[index]), int(stops.level[index]), int(stops.extra[index]))


def _space_levels(low: int, high: int, max_levels: int) -> np.ndarray:
    """Return every level, or, if they are too many, as many as may be, evenly spaced."""
    if high - low <= max_levels:
        return np.arange(low, high + 1)
    return np.append([low, low + 1], np.linspace(low + 2, high, max_levels).astype(np.int64))
