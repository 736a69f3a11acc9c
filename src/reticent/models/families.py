"""beta-likeness of families of values: caps on how many rows of a family a group may hold.

A family is a set of values (a node's leaves, a window's values); families may overlap.  With p and q the family's frequencies in the
table and in a group, the inequalities are those of `beta_likeness`, exact in the same way, with and without the null rows.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from reticent.models.beta_likeness import BetaLikeness
from reticent.models.caps import NEVER, fractions, left_out, ways
from reticent.models.shapes import Check, Groups


class Sets:
    """Families as sets of values: `member` is (values, families), 1 where a value belongs to a family."""

    def __init__(self, member: np.ndarray):
        self.member = member

    def sums(self, counts: np.ndarray) -> np.ndarray:
        """Counts by value, added up by family."""
        return counts @ self.member

    def only(self, kept: np.ndarray) -> Sets:
        return Sets(self.member[:, kept])

    def family(self) -> np.ndarray | None:
        """Of each value its family, where each has one."""
        return self.member.argmax(axis=1) if (self.member.sum(axis=1) == 1).all() else None


class Runs:
    """Families as runs of codes, `first` .. `last`: as many as twice the values, so that no matrix of both would fit."""

    def __init__(self, first: np.ndarray, last: np.ndarray, values: int):
        self.first, self.last, self.values = first, last, values

    def sums(self, counts: np.ndarray) -> np.ndarray:
        until = np.zeros((*counts.shape[:-1], self.values + 1), np.int64)
        np.cumsum(counts, axis=-1, out=until[..., 1:])
        return until[..., self.last + 1] - until[..., self.first]

    def only(self, kept: np.ndarray) -> Runs:
        return Runs(self.first[kept], self.last[kept], self.values)

    def family(self) -> np.ndarray | None:
        within = np.bincount(self.first, minlength=self.values + 1) - np.bincount(
            self.last + 1, minlength=self.values + 1
        )
        if not (np.cumsum(within)[:-1] == 1).all():
            return None
        order = np.argsort(self.first)
        return np.repeat(order, (self.last - self.first + 1)[order])


def family_check(like: BetaLikeness, at: int, families: Sets | Runs, totals: np.ndarray, null: int) -> Check:
    """Which groups keep every family within its caps."""
    views = [_View(like, families, totals, without) for without in ways(totals, null)]

    def keeps(groups: Groups) -> np.ndarray:
        counts = groups.histogram(at)
        return np.logical_and.reduce([view.within(counts) for view in views])

    if (family := families.family()) is not None:  # what a kernel can ask about many groups
        nothing = NEVER if null < 0 else int(family[null])
        caps = like.caps(families.sums(totals), nothing)
        cast("Any", keeps).caps = tuple((at, replace(cap, family=family)) for cap in caps)
    return keeps


class _View:
    """The table as published, or without its null rows."""

    def __init__(self, like: BetaLikeness, families: Sets | Runs, totals: np.ndarray, without: int):
        self.without = without
        totals = left_out(totals, without)
        rows, held = int(totals.sum()), families.sums(totals)
        self.families = families.only(held > 0)
        counts, which = np.unique(held[held > 0], return_inverse=True)  # families of one size have one cap
        frequency = [Fraction(int(count), rows) for count in counts]
        self.upper = fractions([like.cap(p, rows) for p in frequency])[which]
        self.lower = fractions([like.floor(p, rows) for p in frequency])[which] if like.two_sided else None

    def within(self, counts: np.ndarray) -> np.ndarray:
        counts = left_out(counts, self.without)
        size, held = counts.sum(axis=1)[:, None], self.families.sums(counts)
        fine = (held * self.upper[:, 1] <= self.upper[:, 0] * size).all(axis=1)
        if self.lower is not None:
            fine &= (held * self.lower[:, 1] >= self.lower[:, 0] * size).all(axis=1)
        return fine
