"""Counts that the measures are computed from: how many rows of each group hold each sensitive value.

Entries are (group, value, count) with count > 0, in order of group and then of value; values are numbered in the order
of their domain, a null last. A missing value may never help a promise, so every measure is taken on two tables where
there are nulls: as published, the null being one more value, and without the null rows (`list_views`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

_MAX_SUM = 1 << 62


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Counts by group and value, as 64-bit integers.

    `totals` are the rows of each value in the whole table, 0 for a value of the domain that is not published. `emptied`
    is how many groups had nothing but null rows, and are left out of this view.
    """

    group: np.ndarray  # 0 .. groups - 1, none skipped
    value: np.ndarray
    count: np.ndarray  # > 0
    totals: np.ndarray
    emptied: int = 0

    @cached_property
    def rows(self) -> int:
        return int(self.totals.sum())

    @cached_property
    def groups(self) -> int:
        return int(self.group[-1]) + 1 if len(self.group) else 0

    @cached_property
    def starts(self) -> np.ndarray:
        """The first entry of each group."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.add.reduceat(self.count, self.starts) if len(self.group) else self.count

    @cached_property
    def occurring(self) -> int:
        """How many values are published at all."""
        return int(np.count_nonzero(self.totals))

    @property
    def complete(self) -> bool:
        """Whether every published value occurs in every group."""
        return len(self.group) == self.groups * self.occurring

    def integers(self, terms: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (counts, sizes, totals) in a type in which `terms` products of rows and a size cannot overflow."""
        largest_sum = self.rows * int(self.sizes.max(initial=1)) * terms
        kind: type = np.int64 if largest_sum < _MAX_SUM else object
        return self.count.astype(kind), self.sizes.astype(kind), self.totals.astype(kind)

    def drop_values(self, unknown: np.ndarray) -> GroupCounts:
        """Return the table without the rows of some values."""
        is_known = ~unknown[self.value]
        group = self.group[is_known]
        number = np.cumsum(np.diff(group, prepend=-1) != 0) - 1
        groups_left = int(number[-1]) + 1 if len(number) else 0
        return GroupCounts(
            number,
            self.value[is_known],
            self.count[is_known],
            np.where(unknown, 0, self.totals),
            self.groups - groups_left,
        )


def list_views(counts: GroupCounts, unknown: np.ndarray) -> list[GroupCounts]:
    """List the tables a promise must hold on; `unknown` marks the values that are or hold a null."""
    if not (unknown & (counts.totals > 0)).any():
        return [counts]
    return [counts, counts.drop_values(unknown)]
