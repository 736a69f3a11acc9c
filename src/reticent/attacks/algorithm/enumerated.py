"""The posterior by enumeration: every multiset of values behind a group, run through the method again.

With fakes algorithm 2 decides what is published, and that has no short description: where the multisets are few each is tried, beyond
that they are drawn from the target and those that give the published group are kept.  With the *exact* table distribution as
the target of several groups the totals are known too, and the groups are taken together (errata 4.7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, factorial, prod

import numpy as np

from reticent.attacks.score import wilson

FEW = 3_000
DRAWS = 2_000

Run = Callable[[np.ndarray], bytes]


@dataclass(frozen=True, eq=False)
class Believed:
    """`low` and `high` are an interval for the greatest belief, equal to it where it is exact."""

    shares: np.ndarray
    low: float
    high: float
    how: str


def exactly(shares: np.ndarray) -> Believed:
    return Believed(shares, float(shares.max()), float(shares.max()), "exact")


def multisets(rows: int, values: int) -> Iterator[tuple[int, ...]]:
    """Counts of each value that add up to `rows`."""
    if values == 1:
        yield (rows,)
        return
    for first in range(rows + 1):
        for rest in multisets(rows - first, values - 1):
            yield (first, *rest)


def behind(rows: int, p: Sequence[float], published: bytes, run: Run, rng: np.random.Generator) -> Believed:
    """The belief in each value, each person's value drawn from p beforehand."""
    held = [at for at, share in enumerate(p) if share > 0]
    if comb(rows + len(held) - 1, rows) > FEW:
        return _drawn(rows, np.asarray(p), published, run, rng)
    total = np.zeros(len(p))
    for counts in multisets(rows, len(held)):
        full = np.zeros(len(p), np.int64)
        full[held] = counts
        if run(full) == published:
            chance = prod(p[at] ** count / factorial(count) for at, count in zip(held, counts, strict=True))
            total += chance * full
    return exactly(total / total.sum())


def _drawn(rows: int, p: np.ndarray, published: bytes, run: Run, rng: np.random.Generator) -> Believed:
    kept = [counts for counts in rng.multinomial(rows, p / p.sum(), DRAWS) if run(counts) == published]
    if not kept:
        return Believed(p / p.sum(), 0.0, 1.0, "unknown")
    shares = np.sum(kept, axis=0) / (rows * len(kept))
    # People of one draw are not independent: the interval counts draws, not people.
    low, high = wilson(round(float(shares.max()) * len(kept)), len(kept))
    return Believed(shares, low, high, "sampled")


def together(
    rows: Sequence[int], published: Sequence[bytes], runs: Sequence[Run], totals: Sequence[int]
) -> list[np.ndarray] | None:
    """The belief in each group when all groups together hold `totals`, every assignment of values to people being equally likely.

    None where there are too many multisets to try.
    """
    values = len(totals)
    if sum(comb(n + values - 1, n) for n in rows) > FEW:
        return None
    options = []
    for n, wanted, run in zip(rows, published, runs, strict=True):
        fit = [c for c in multisets(n, values) if all(a <= b for a, b in zip(c, totals, strict=True))]
        options.append([(c, factorial(n) // prod(map(factorial, c))) for c in fit if run(np.array(c)) == wanted])
    return [_of_group(at, options, totals) for at in range(len(options))]


def _of_group(at: int, options: Sequence[Sequence[tuple[tuple[int, ...], int]]], totals: Sequence[int]) -> np.ndarray:
    """One group's counts, weighed by the ways to fill all others with the rest."""
    ways: dict[tuple[int, ...], int] = {tuple(totals): 1}
    for other, option in enumerate(options):
        if other == at:
            continue
        fewer: dict[tuple[int, ...], int] = {}
        for left, way in ways.items():
            for counts, weight in option:
                need = tuple(a - b for a, b in zip(left, counts, strict=True))
                if min(need) >= 0:
                    fewer[need] = fewer.get(need, 0) + way * weight
        ways = fewer
    total = np.zeros(len(totals))
    for counts, weight in options[at]:
        total += weight * ways.get(counts, 0) * np.array(counts)
    return total / total.sum() if total.sum() else total
