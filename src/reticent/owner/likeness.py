"""How much of an earlier table is in a new one, and how much tables of different people have in common anyway.

The new table is at hand as a whole, the earlier one as its sample (`fingerprint`).  The overlap is the number of
rows that both hold, with repetitions; the share is the overlap over the rows of the smaller table, so that a subset
and a table that has grown are told as well.  The columns are those that both have: where the earlier table has
others besides, its rows count as held if the new table has their shared part at all.

Coarse tables are alike without a person in common.  What strangers share is estimated from the larger table alone,
as if the smaller one were drawn from the same population: a combination with r rows is met at the rate r, for small
r at Good and Turing's (r + 1) N(r + 1) / N(r), where N(r) combinations have r rows.  A table is a near repeat if it
misses at most half of what strangers would miss, and strangers would miss at least twenty rows.  Where all rows
differ, that is half of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, exp, pi, sqrt

import numpy as np

from reticent.owner.fingerprint import Content, Hashed, combine

MISSED = 20  # rows that strangers must miss for a likeness to mean anything
_TURING = 5  # up to so many rows the rate at which a combination is met is estimated by Good and Turing
_POISSON = 30  # up to so many rows its overlap is summed, beyond them it is taken as normal


@dataclass(frozen=True, slots=True)
class Likeness:
    """The share of the smaller table's rows that the other holds too, and that of strangers."""

    share: float
    strangers: float
    telling: bool  # whether strangers would miss enough rows

    @property
    def near(self) -> bool:
        return self.telling and 1 - self.share <= (1 - self.strangers) / 2


def likeness(table: Hashed, earlier: Content) -> Likeness | None:
    """Of a new table with an earlier one; None where the two have no column in common."""
    shared = tuple(name for name in earlier.columns if name in table.hashes)
    if not shared:
        return None
    whole = len(shared) == len(earlier.columns)
    smaller = min(table.rows, earlier.rows)
    share = min(_overlap(table, earlier, shared, whole) / smaller, 1.0)
    if not whole:
        expected = _covered(*table.sizes(shared)) * earlier.rows
    elif earlier.rows > table.rows:
        expected = _strangers(earlier.sizes, earlier.times, table.rows)
    else:
        expected = _strangers(*table.sizes(shared), earlier.rows)
    strangers = min(expected / smaller, 1.0)
    looked_at = len(earlier.counts) * smaller / earlier.rows if np.isfinite(earlier.rate) else smaller
    return Likeness(share, strangers, looked_at * (1 - strangers) >= MISSED)


def _overlap(table: Hashed, earlier: Content, shared: tuple[str, ...], whole: bool) -> float:
    """Rows of the earlier table that the new one holds too, estimated where the earlier one is a sample."""
    places = [earlier.columns.index(name) for name in shared]
    held = table.held(shared, combine(earlier.hashes[:, place] for place in places))
    part = np.minimum(held / earlier.counts, 1.0) if whole else (held > 0).astype(np.float64)
    weight = earlier.stands_for
    return float((weight * part).sum() / weight.sum()) * earlier.rows


def _covered(sizes: np.ndarray, times: np.ndarray) -> float:
    """The chance that a stranger's combination is among these (Good and Turing): one less the share of single rows."""
    return 1 - float(times[sizes == 1].sum()) / float(sizes @ times)


def _strangers(sizes: np.ndarray, times: np.ndarray, others: int) -> float:
    """How many of so many strangers' rows would be, with repetitions, in a table with combinations of these sizes."""
    of_size = dict(zip(sizes.tolist(), times.tolist(), strict=True))
    share, expected = others / int(sizes @ times), 0.0
    for size, many in of_size.items():
        rate = min((size + 1) * of_size.get(size + 1, 0) / many, size) if size <= _TURING else size
        expected += many * _least(rate * share, size, share)
    return expected


def _least(rate: float, size: int, share: float) -> float:
    """The mean of min(X, size), X being how many strangers have a combination that is met `rate` times on average."""
    if size <= _POISSON:
        chance, below, mean = exp(-rate), 0.0, 0.0
        for times in range(size):
            below += chance
            mean += 1 - below
            chance *= rate / (times + 1)
        return max(mean, 0.0)
    spread, over = sqrt(rate * (1 + share)), size - rate
    normal = (1 + erf(over / spread / sqrt(2))) / 2
    return size - (over * normal + spread * exp(-((over / spread) ** 2) / 2) / sqrt(2 * pi))
