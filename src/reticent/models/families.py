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
from reticent.models.caps import NEVER, Caps, fractions, left_out, ways
from reticent.models.shapes import Check, Groups


def family_check(like: BetaLikeness, at: int, member: np.ndarray, totals: np.ndarray, null: int) -> Check:
    """Which groups keep every family within its caps; `member` is (values, families), 1 where a value belongs to a family."""
    views = [_View(like, member, totals, without) for without in ways(totals, null)]

    def keeps(groups: Groups) -> np.ndarray:
        counts = groups.histogram(at)
        return np.logical_and.reduce([view.within(counts) for view in views])

    if (member.sum(axis=1) == 1).all():
        cast("Any", keeps).caps = _caps(like, at, member, totals, null)
    return keeps


def _caps(
    like: BetaLikeness, at: int, member: np.ndarray, totals: np.ndarray, null: int
) -> tuple[tuple[int, Caps], ...]:
    """The same as caps over families, where each value belongs to one: what a kernel can ask about many groups."""
    family = member.argmax(axis=1)
    nothing = NEVER if null < 0 else int(family[null])
    return tuple((at, replace(cap, family=family)) for cap in like.caps(totals @ member, nothing))


class _View:
    """The table as published, or without its null rows."""

    def __init__(self, like: BetaLikeness, member: np.ndarray, totals: np.ndarray, without: int):
        self.without = without
        totals = left_out(totals, without)
        rows, held = int(totals.sum()), totals @ member
        self.member = member[:, held > 0]
        frequency = [Fraction(int(count), rows) for count in held[held > 0]]
        self.upper = fractions([like.cap(p, rows) for p in frequency])
        self.lower = fractions([like.floor(p, rows) for p in frequency]) if like.two_sided else None

    def within(self, counts: np.ndarray) -> np.ndarray:
        counts = left_out(counts, self.without)
        size, held = counts.sum(axis=1)[:, None], counts @ self.member
        fine = (held * self.upper[:, 1] <= self.upper[:, 0] * size).all(axis=1)
        if self.lower is not None:
            fine &= (held * self.lower[:, 1] >= self.lower[:, 0] * size).all(axis=1)
        return fine
