"""D-suppression by levels (Xu, Wang, Fu & Wong, "Publishing skewed sensitive microdata", sections 2 to 4).

A table is its counts F_1 >= ... >= F_m.  D-suppression withholds one record of a most frequent value after the other; after
any number of steps the highest values stand at one level L, `extra` of them at L - 1 (those less frequent in the original
table go first: ERRATA 2.4), and the others are untouched.  So where it stops is found by bisection over levels: the cost grows
with the number of values and the logarithm of the counts, not with the records withheld.

It stops when both conditions hold for the first time:

    P-eligibility   l F'_1 <= |T_P|                  not monotone (ERRATA 2.5): each step of a level makes it harder, the next
                                                     level easier; at the *start* of levels it is monotone
    l-candidacy     l (F'_l + |T_S|) > |T|           strict and monotone, and reached before the level of F'_l is cut
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def eligible(counts: np.ndarray, l: int) -> bool:
    """No value exceeds one in l: F_1 <= |T| / l."""
    return not len(counts) or l * int(counts.max()) <= int(counts.sum())


@dataclass(frozen=True, slots=True)
class Stops:
    """For each level that S_1 was first cut to (`start`): where D-suppression stops, and how many records are then withheld."""

    start: np.ndarray
    level: np.ndarray
    extra: np.ndarray
    withheld: np.ndarray


def stops(counts: np.ndarray, l: int, start: np.ndarray) -> Stops:
    """Where D-suppression stops on `counts` (falling, l <= m) with F_1 replaced by each of `start`."""
    rest, rows = counts[1:], int(counts.sum())
    total = np.append(0, np.cumsum(rest))
    start = np.asarray(start, np.int64)
    gone = int(counts[0]) - start

    def above(level: np.ndarray) -> np.ndarray:
        """Records above a level, that is withheld at its start beyond `gone`."""
        higher = np.searchsorted(-rest, -level, side="left")
        return np.maximum(start - level, 0) + total[higher] - higher * level

    next_lower = int(counts[l]) if l < len(counts) else 0
    candidate = np.minimum(int(counts[l - 1]), np.maximum(start, next_lower))  # F'_l once S_1 is cut
    withheld = np.maximum(gone, rows // l + 1 - candidate)
    level = _least(lambda at: above(at) <= withheld - gone, np.maximum(start, int(rest.max(initial=0))))
    extra = withheld - gone - above(level)
    fits = l * level <= rows - withheld
    if not fits.all():
        below = _least(lambda at: l * (at + 1) > rows - gone - above(at + 1), level - 1)
        level, extra = np.where(fits, level, below), np.where(fits, extra, 0)
        withheld = np.where(fits, withheld, gone + above(level))
    return Stops(start, level, extra, withheld)


def _least(holds, most: np.ndarray) -> np.ndarray:
    """The least level in 0 .. most at which a condition holds that holds from some level on (at `most` at the latest)."""
    low, high = np.zeros_like(most), most.copy()
    while (low < high).any():
        middle = (low + high) // 2
        there = holds(middle)
        low, high = np.where(there, low, middle + 1), np.where(there, middle, high)
    return high


def cut(counts: np.ndarray, start: int, level: int, extra: int) -> np.ndarray:
    """The published counts, value for value: S_1 at `start`, all at most `level`, the last `extra` of the highest one less."""
    found = counts.copy()
    found[0] = start
    highest = np.flatnonzero(found >= level)
    found = np.minimum(found, level)
    if extra:
        found[highest[-extra:]] -= 1
    return found
