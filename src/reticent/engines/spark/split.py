"""Quotas split over partitions: how many of a partition's rows of a cell get which entry of the recipe.

Of a cell's rows, N in all, the rows of entry e are a uniform subset of its quota's size; so the partitions' shares of the
quotas are multivariate hypergeometric, drawn partition by partition and within one entry by entry (ADR 9).  NumPy refuses
populations of 10^9; there each item is taken by itself with the probability n / N, and what is too much or too little is
put right by as many uniform draws: every subset of the size n stays equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST = 10**9  # NumPy's bound on either kind of a hypergeometric population


@dataclass(frozen=True, eq=False)
class Share:
    """One partition's part: rows of `cell` get `entry` as often as `quota` says; by cell, and within one by entry."""

    cell: np.ndarray
    entry: np.ndarray
    quota: np.ndarray


def shares(
    cell: np.ndarray, entry: np.ndarray, quota: np.ndarray, held: list[tuple[np.ndarray, np.ndarray]],
    draw: np.random.Generator,
) -> list[Share]:  # fmt: skip
    """The share of each partition, given the entries (sorted by cell) and, of each partition, cells with their rows."""
    left = quota.astype(np.int64).copy()
    cells, first = np.unique(cell, return_index=True)
    until = np.append(first, len(cell))[1:]
    found = []
    for here, rows in held:
        at = np.searchsorted(cells, here)
        begins, ends = first[at], until[at]
        many = ends - begins
        place = np.repeat(begins - (np.cumsum(many) - many), many) + np.arange(int(many.sum()))
        drawn = _several(left[place], many, rows.astype(np.int64), draw)
        left[place] -= drawn
        some = drawn > 0
        found.append(Share(cell[place][some], entry[place][some], drawn[some]))
    return found


def _several(left: np.ndarray, many: np.ndarray, rows: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """For each cell, whose entries stand one after the other (`many` of them), a draw of so many rows without replacement."""
    found = np.zeros(len(left), np.int64)
    first = np.cumsum(many) - many
    total = np.add.reduceat(left, first) if len(left) else left
    wanted, nth, open_ = rows.copy(), 0, np.arange(len(many))
    while len(open_):
        place = first[open_] + nth
        good, last = left[place], many[open_] == nth + 1
        bad = total[open_] - good
        taken = np.where(last, wanted[open_], hypergeometric(good, bad, wanted[open_], draw))
        found[place] = taken
        wanted[open_] -= taken
        total[open_] = bad
        nth += 1
        open_ = open_[~last & (wanted[open_] > 0)]
    return found


def hypergeometric(good: np.ndarray, bad: np.ndarray, sample: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """How many good ones are among `sample` drawn without replacement, whatever the size of the population."""
    small = (good < MOST) & (bad < MOST) & (good + bad < MOST)
    found = np.zeros(len(good), np.int64)
    found[small] = draw.hypergeometric(good[small], bad[small], sample[small])
    for at in np.flatnonzero(~small):
        found[at] = _large(int(good[at]), int(bad[at]), int(sample[at]), draw)
    return found


def _large(good: int, bad: int, sample: int, draw: np.random.Generator) -> int:
    """Each item with the probability sample / (good + bad), and then as many more or fewer as are wanted."""
    share = sample / (good + bad)
    taken, others = int(draw.binomial(good, share)), int(draw.binomial(bad, share))
    short = sample - taken - others
    if short >= 0:
        return taken + _few(good - taken, bad - others, short, draw)
    return taken - _few(taken, others, -short, draw)


def _few(good: int, bad: int, sample: int, draw: np.random.Generator) -> int:
    """A sample that is small beside its population: different numbers below the population's size, those below `good` counted."""
    seen = np.zeros(0, np.int64)
    while len(seen) < sample:
        seen = np.unique(np.append(seen, draw.integers(0, good + bad, sample - len(seen))))
    return int((seen < good).sum())
