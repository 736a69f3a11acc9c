"""What a suppression does to given counts: how much it withholds, and the worst posterior among all that it may publish.

R-suppression publishes one table for each level that S_1 may be cut to, and one for all levels above the one where
`unsafe` stops; calibrated one for each open level, and that of `safe`.  All of them are attacked, or, where they are
more than `most`, as many, evenly spaced, and those next to another value's count: the worst of those is then a lower
bound of the worst of all, and `attacked` and `releases` say so.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reticent.attacks.eligibility.attack import MOST_LISTED, SAMPLES, both
from reticent.attacks.eligibility.mixture import PRIORS
from reticent.attacks.eligibility.posteriors import How, Posterior
from reticent.attacks.eligibility.sampled import MISS
from reticent.methods.suppression.balanced import chance
from reticent.methods.suppression.kinds import Randomized, Safe
from reticent.methods.suppression.levels import cut, eligible, stops
from reticent.methods.suppression.stage import KINDS
from reticent.methods.suppression.violating import Violating

Release = tuple[int, ...]
MANY_ROWS, SMALL = 50_000, 60


@dataclass(frozen=True, slots=True)
class Risk:
    """Mean withheld; the worst posterior of which value led, with its ends and how it was had; its mean over releases where all were
    attacked; and the worst posterior of the value that a withheld person has, with its ends and how it was had."""

    suppressed: float
    worst_posterior: float
    low: float
    high: float
    how: How
    releases: int
    attacked: int
    mean_posterior: float | None
    worst_withheld_posterior: float
    withheld_low: float
    withheld_high: float
    withheld_how: How


def risk(counts: Sequence[int], l: int, kind: str, prior: str = "uniform", *, most: int | None = None, samples: int = SAMPLES,
         rng: np.random.Generator | None = None) -> Risk:  # fmt: skip
    """The attack on every table that the suppression may publish of these counts, or on evenly spaced ones."""
    falling = np.array(sorted((int(count) for count in counts if count), reverse=True))
    rows = int(falling.sum())
    if eligible(falling, l):
        return Risk(0.0, 0.0, 0.0, 0.0, "exact", 1, 1, 0.0, 0.0, 0.0, 0.0, "exact")
    most = most or default_most(rows, kind, prior)
    number, chances = releases(falling, l, kind, most)
    listed, miss = max(MOST_LISTED // len(chances), 50), MISS / len(chances)
    attacked = {
        table: both(table, rows, l, kind, prior, listed=listed, samples=samples, miss=miss, rng=rng)
        for table in chances
    }
    leading, withheld = (_worst([answer[question] for answer in attacked.values()]) for question in (0, 1))
    whole = all(led.exact for led, _ in attacked.values()) and number <= most
    mean = float(sum(chances[table] * led.worst for table, (led, _) in attacked.items())) if whole else None
    suppressed = KINDS[kind].expected(falling, l)
    return Risk(
        suppressed, *_numbers(leading), max(number, len(chances)), len(chances), mean, *_numbers(withheld)
    )  # fmt: skip


def _worst(found: list[Posterior]) -> Posterior:
    """The worst of several releases."""
    low, high = max(one.low for one in found), max(one.high for one in found)
    how: How = "sampled" if any(one.how == "sampled" for one in found) else "exact" if low == high else "bounds"
    return Posterior(max(found, key=lambda one: one.worst).by_count, low, high, how)


def _numbers(worst: Posterior) -> tuple[float, float, float, How]:
    low, high = worst.ends if worst.how == "bounds" else (float(worst.low), float(worst.high))
    return float(worst.worst), low, high, worst.how


def default_most(rows: int, kind: str, prior: str) -> int:
    """How many releases to attack: a thousand, of large tables a hundred, and few where tables must be listed or drawn."""
    closed = {"randomized": ("uniform",), "calibrated": PRIORS}
    if rows > SMALL and prior not in closed.get(kind, (prior,)):
        return 4
    return 1_000 if rows <= MANY_ROWS else 100


def releases(counts: np.ndarray, l: int, kind: str, most: int) -> tuple[int, dict[Release, Fraction]]:
    """How many tables may be published of falling counts, and some or all of them, as falling counts, with their probabilities."""
    ways = {"randomized": _randomized, "calibrated": _calibrated}
    if kind not in ways:
        [(chance, table)] = KINDS[kind].outcomes(counts, l)
        return 1, {_falling(table): chance}
    number, listed = ways[kind](counts, l, most)
    found: dict[Release, Fraction] = defaultdict(Fraction)
    for chance, table in listed:
        if chance:
            found[_falling(table)] += chance
    return len(found) if number <= most else number, dict(found)


def _falling(table: np.ndarray) -> Release:
    return tuple(sorted(table.tolist(), reverse=True))


def _randomized(counts: np.ndarray, l: int, most: int) -> tuple[int, Iterator[tuple[Fraction, np.ndarray]]]:
    intervals = Randomized().intervals(counts, l)
    first, lowest = int(counts[0]), intervals[-1][0]
    above = min(int(stops(counts, l, counts[:1]).level[0]) + 1, first)  # from here on all starts stop alike
    near = [
        int(count) + by for count in counts[1 : l + 1] for by in (-1, 0, 1) if most >= 100
    ]  # ties with another value tell the most
    near = [at for at in near if lowest <= at <= above]
    starts = np.union1d(_spaced(above - lowest + 1, most) + lowest, np.array(near, np.int64))
    found = stops(counts, l, starts)

    def listed() -> Iterator[tuple[Fraction, np.ndarray]]:
        for at, start in enumerate(starts.tolist()):
            last = first if start == above else start
            chances = (
                Fraction(max(min(high, last) - max(low, start) + 1, 0), l * (high - low + 1)) for low, high in intervals
            )
            chance = sum(chances, Fraction(0))
            yield chance, cut(counts, start, int(found.level[at]), int(found.extra[at]))

    return above - lowest + 1, listed()


def _calibrated(counts: np.ndarray, l: int, most: int) -> tuple[int, Iterator[tuple[Fraction, np.ndarray]]]:
    table = Violating(tuple(counts.tolist()), l)

    def listed() -> Iterator[tuple[Fraction, np.ndarray]]:
        left = Fraction(1)
        for number in _spaced(table.width, most - 1).tolist():
            start = table.level(number)
            published = chance(table, start)
            left -= published
            yield published, np.array(table.cut(start)[0])
        yield left, Safe().published(counts, l)

    return table.width + 1, listed()


def _spaced(number: int, most: int) -> np.ndarray:
    """0 .. number - 1, or so many of them."""
    return np.arange(number) if number <= most else np.unique(np.linspace(0, number - 1, most).round().astype(np.int64))
