"""A linear programme over how many people of each group have each value: which values remain possible, totals being known?

Variables are counts of (group, value under its label) in one column.  Known are the groups' sizes, the ends that are tight, the number
of people of the whole table at each value (a public statistic), and the inequalities of refused cuts.  A programme over (group,
combination of values) says the same: no inequality ties two columns of a group, and counts by column that add up to the same
people can always be combined.  Refused cuts are a choice ("fewer than k below, or fewer than k above"); relaxed to shares of a
choice they are linear and rule out no table that fits.  So a value whose greatest count is below 1 is impossible; of the others
nothing is claimed.  The optimum is HiGHS's (scipy's `linprog`), and a value is called impossible only below 1 by more than its
tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.errors import RequestError

VARIABLES = 60_000
TOLERANCE = 1e-5
"""What a floating-point optimum may be off by: an adversary's arithmetic, and no check of a promise."""


@dataclass(frozen=True, eq=False)
class Column:
    """Groups with a label in one column: the first code and how many, the people, and which ends are somebody's."""

    first: np.ndarray
    width: np.ndarray
    people: np.ndarray
    tight: np.ndarray  # (groups, 2) bool
    totals: np.ndarray  # (codes,)

    @property
    def begin(self) -> np.ndarray:
        return np.cumsum(self.width) - self.width

    @property
    def code(self) -> np.ndarray:
        """The code of each variable."""
        return np.arange(int(self.width.sum())) - (self.begin - self.first).repeat(self.width)


def possible(column: Column, asked: Sequence[int], k: int | None) -> list[np.ndarray] | None:
    """For each group asked about, which values of its range somebody of it may have; None where the programme is too large."""
    optimum = _solver()
    matrix, rows = _inequalities(column, k)
    if matrix is None:
        return None
    found = []
    for group in asked:
        start = int(column.begin[group])
        fits = [optimum(matrix, rows, start + at, column) >= 1 - TOLERANCE for at in range(int(column.width[group]))]
        found.append(np.array(fits))
    return found


def _inequalities(column: Column, k: int | None) -> tuple[Any, Any]:
    """The equalities (groups, totals) and, of groups that could be cut by their size, those of refused cuts."""
    from scipy.sparse import coo_matrix

    counts = int(column.width.sum())
    cut = np.zeros(0, np.int64) if k is None else np.flatnonzero((column.people >= 2 * k) & (column.width > 1))
    many = counts + int((column.width[cut] - 1).sum())
    if many > VARIABLES:
        return None, None
    groups = len(column.width)
    row = np.concatenate([np.repeat(np.arange(groups), column.width), groups + column.code])
    ones = (np.ones(2 * counts), (row, np.tile(np.arange(counts), 2)))
    fixed = coo_matrix(ones, shape=(groups + len(column.totals), many)).tocsr()
    if k is None or not len(cut):
        return (fixed, None), None
    entries, limit = _refused(column, k, cut.tolist(), counts)
    at, of, by = zip(*entries, strict=True)
    return (fixed, coo_matrix((by, (at, of)), shape=(len(limit), many)).tocsr()), np.array(limit)


def _refused(column: Column, k: int, cut: list[int], choice: int) -> tuple[list[tuple[int, int, float]], list[float]]:
    """below <= k - 1 + (people - k + 1) z   and   below >= (people - k + 1) z,   0 <= z <= 1, for each place of each group."""
    entries: list[tuple[int, int, float]] = []
    limit: list[float] = []
    for group in cut:
        most, start = float(column.people[group]) - k + 1, int(column.begin[group])
        for place in range(1, int(column.width[group])):
            for sign, bound in ((1.0, float(k - 1)), (-1.0, 0.0)):
                entries += [(len(limit), at, sign) for at in range(start, start + place)]
                entries.append((len(limit), choice, -sign * most))
                limit.append(bound)
            choice += 1
    return entries, limit


def _solver() -> Any:
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise RequestError(
            "The linear programme of the attack 'downcoding' needs scipy.",
            attempt="pip install 'reticent[stats]', or programme = False.",
        ) from None

    def optimum(matrix: Any, limit: np.ndarray | None, variable: int, column: Column) -> float:
        """The greatest count that one variable can have."""
        fixed, refused = matrix
        many, counts = fixed.shape[1], int(column.width.sum())
        goal = np.zeros(many)
        goal[variable] = -1.0
        lower, upper = np.zeros(many), np.ones(many)
        upper[:counts] = column.people.repeat(column.width)
        lower[column.begin[column.tight[:, 0]]] = 1.0
        lower[(column.begin + column.width - 1)[column.tight[:, 1]]] = 1.0
        wanted = np.concatenate([column.people, column.totals])
        found = linprog(goal, refused, limit, fixed, wanted,
                        np.column_stack([lower, upper]), method="highs")  # fmt: skip
        return float(-found.fun) if found.status == 0 else float("inf")

    return optimum
