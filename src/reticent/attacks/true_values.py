"""The true values of people, for the scorer: how many people of each point have each value.

Most points have few people, and a sensitive column may have a thousand values: only the pairs that occur are held.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class TrueValues:
    """`people` of a `point` have a `value`; sorted by point, then by value, each pair once."""

    point: np.ndarray
    value: np.ndarray
    people: np.ndarray
    points: int
    values: int

    @classmethod
    def count(cls, point: np.ndarray, value: np.ndarray, people: np.ndarray, *, points: int, values: int) -> TrueValues:
        """Add up the people of equal pairs, which may come in any order."""
        pair = point.astype(np.int64) * values + value
        order = np.argsort(pair, kind="stable")
        starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
        added = np.add.reduceat(people[order], starts) if len(starts) else people[:0]
        distinct = pair[order][starts]
        held = added > 0
        distinct = distinct[held]
        return cls(distinct // values, distinct % values, added[held].astype(np.int64), points, values)

    @classmethod
    def of_table(cls, table: np.ndarray) -> TrueValues:
        """Take a dense table of (points, values)."""
        point, value = np.nonzero(table)
        people = table[point, value].astype(np.int64)
        return cls(point, value, people, table.shape[0], table.shape[1])

    @cached_property
    def by_point(self) -> np.ndarray:
        """People of each point."""
        found = np.zeros(self.points, np.int64)
        np.add.at(found, self.point, self.people)
        return found

    @cached_property
    def by_value(self) -> np.ndarray:
        """People with each value."""
        found = np.zeros(self.values, np.int64)
        np.add.at(found, self.value, self.people)
        return found

    @property
    def total(self) -> int:
        return int(self.people.sum())

    def count_hits(self, guess: np.ndarray) -> int:
        """Count the people whose point's guess is their value."""
        return int(self.people[self.value == guess[self.point]].sum())

    def take(self, at: np.ndarray) -> TrueValues:
        """Return these points alone, in this order; each is named once."""
        new = np.full(self.points, -1, np.int64)
        new[at] = np.arange(len(at))
        held = new[self.point] >= 0
        return TrueValues.count(
            new[self.point[held]], self.value[held], self.people[held], points=len(at), values=self.values
        )

    def to_dense(self) -> np.ndarray:
        """Return the table of (points, values)."""
        found = np.zeros((self.points, self.values), np.int64)
        found[self.point, self.value] = self.people
        return found
