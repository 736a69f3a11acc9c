"""Buckets of sensitive values for beta-likeness (Cao & Karras, VLDB 2012, section 4.3, function DPpartition).

Values in ascending order of frequency are cut into as few runs as possible such that a class which draws from each bucket
in proportion to its size keeps every value within its cap, even if all it draws from a bucket is one value (lemma 2).

Departs from the paper as the errata say: the least frequent value of v_b .. v_e is v_b (1.1), `Combinable` is `<=` as in
lemma 2 (1.2), and frequencies are compared as integers (1.3).  Of several least partitions the one that the printed
recursion finds is taken.  Lower caps (two-sided) and the null hold only where a bucket is one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reticent.exact import ratio_of
from reticent.models.caps import Caps

WHOLE = Fraction(1)


@dataclass(frozen=True, eq=False)
class Buckets:
    """`of_value[v]` is the bucket of value v (-1: does not occur); `sizes` are rows; `alone` is the null's own bucket or -1.

    `upper[w, b]` and `lower[w, b]` are the strictest caps of bucket b's values under the w-th way of counting.
    """

    of_value: np.ndarray
    sizes: np.ndarray
    alone: int
    upper: np.ndarray  # (ways, buckets, 2)
    lower: np.ndarray
    leaves_out: tuple[bool, ...]  # which ways leave the null rows out

    def allow(self, nodes: np.ndarray) -> np.ndarray:
        """Theorem 1: which classes with so many rows of each bucket keep their caps whatever values the rows have."""
        fine = nodes.sum(axis=1) > 0
        for way, without in enumerate(self.leaves_out):
            size = nodes.sum(axis=1) - (nodes[:, self.alone] if without else 0)
            drawn = nodes.copy()
            if without:
                drawn[:, self.alone] = 0
            fine &= (drawn * self.upper[way, :, 1] <= self.upper[way, :, 0] * size[:, None]).all(axis=1)
            fine &= (drawn * self.lower[way, :, 1] >= self.lower[way, :, 0] * size[:, None]).all(axis=1)
        return fine


def bucket_values(totals: np.ndarray, caps: Sequence[Caps], null: int = -1, share: Fraction = WHOLE) -> Buckets:
    """The fewest buckets that use at most `share` of these caps; each value alone where some have lower caps."""
    occurring = np.flatnonzero(totals)
    ascending = occurring[np.argsort(totals[occurring], kind="stable")].tolist()
    alone = null if null >= 0 and totals[null] else -1
    single = any(cap.lower is not None for cap in caps)
    runs = [[v] for v in ascending if single or v == alone]
    if not single:
        runs += dp_partition([v for v in ascending if v != alone], totals, caps, share)
    of_value = np.full(len(totals), -1)
    for b, run in enumerate(runs):
        of_value[run] = b
    sizes = np.array([int(totals[run].sum()) for run in runs], np.int64)
    upper = np.array([[_least(cap.upper, run, (1, 1)) for run in runs] for cap in caps], np.int64)
    lower = np.array([[_least(cap.lower, run, (0, 1)) for run in runs] for cap in caps], np.int64)
    return Buckets(
        of_value,
        sizes,
        int(of_value[alone]) if alone >= 0 else -1,
        upper.reshape(len(caps), len(runs), 2),
        lower.reshape(len(caps), len(runs), 2),
        tuple(cap.without >= 0 for cap in caps),
    )


def dp_partition(
    ascending: Sequence[int], totals: np.ndarray, caps: Sequence[Caps], share: Fraction = WHOLE
) -> list[list[int]]:
    """Equation 6: the fewest runs of consecutive values, each combinable."""
    counts = [int(totals[v]) for v in ascending]
    bounds = [([_pair(cap.upper[v]) for v in ascending], _rows(totals, cap)) for cap in caps if cap.upper is not None]
    share_numerator, share_denominator = ratio_of(share)
    fewest, start = [0], [0]
    for e in range(1, len(ascending) + 1):
        best, first = fewest[e - 1] + 1, e
        together, strictest = counts[e - 1], [pairs[e - 1] for pairs, _ in bounds]
        for b in range(e - 1, 0, -1):
            together += counts[b - 1]
            strictest = [_smaller(pairs[b - 1], cap) for (pairs, _), cap in zip(bounds, strictest, strict=True)]
            if any(
                together * d * share_denominator > n * rows * share_numerator
                for (n, d), (_, rows) in zip(strictest, bounds, strict=True)
            ):
                break  # more values and a rarer one: no longer run is combinable
            if fewest[b - 1] + 1 < best:
                best, first = fewest[b - 1] + 1, b
        fewest.append(best)
        start.append(first)
    runs, e = [], len(ascending)
    while e > 0:
        runs.append(list(ascending[start[e] - 1 : e]))
        e = start[e] - 1
    return runs[::-1]


def _rows(totals: np.ndarray, cap: Caps) -> int:
    return int(totals.sum() - (totals[cap.without] if cap.without >= 0 else 0))


def _pair(cap: np.ndarray) -> tuple[int, int]:
    return int(cap[0]), int(cap[1])


def _smaller(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one if one[0] * other[1] <= other[0] * one[1] else other


def _least(pairs: np.ndarray | None, run: list[int], otherwise: tuple[int, int]) -> tuple[int, int]:
    """The strictest cap of a run; lower caps are only asked of runs of one value."""
    if pairs is None:
        return otherwise
    found = _pair(pairs[run[0]])
    for v in run[1:]:
        found = _smaller(_pair(pairs[v]), found)
    return found
