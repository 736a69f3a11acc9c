"""Who stands in which group: persons with several rows, counted by the column that names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reticent.release.reading.cover import Regions

MAX_PAIRS = 20_000_000
"""So many pairs of a box and a row under it are held at once."""


@dataclass(frozen=True, eq=False)
class GroupPersons:
    """`person` is in `group`, each pair once; `most` is how many rows one person has at the most."""

    group: np.ndarray
    person: np.ndarray
    groups: int
    most: int

    @classmethod
    def of(cls, person: np.ndarray, group: np.ndarray, groups: int) -> GroupPersons:
        """From the number of the person and of the group of every row; rows without a person are those of one."""
        persons = int(person.max(initial=0)) + 1
        distinct = np.unique(group.astype(np.int64) * persons + person)
        return cls(distinct // persons, distinct % persons, groups, int(np.bincount(person).max(initial=1)))

    @property
    def count(self) -> int:
        return len(np.unique(self.person))

    @property
    def each(self) -> np.ndarray:
        """How many persons each group has."""
        return np.bincount(self.group, minlength=self.groups)

    def within(self, groups: np.ndarray) -> int:
        """How many persons have a row in one of these groups, which a mask chooses."""
        return len(np.unique(self.person[groups[self.group]]))


def count_persons_under(regions: Regions, person: np.ndarray, boxes: int) -> np.ndarray:
    """How many persons lie under each box, where every point is a row of one `person`."""
    found = np.zeros(boxes, np.int64)
    persons = int(person.max(initial=0)) + 1
    for chosen in _chunks(regions):
        point, box = Regions(regions.order, regions.box[chosen], regions.start[chosen], regions.stop[chosen]).pairs()
        distinct = np.unique(box.astype(np.int64) * persons + person[point])
        found += np.bincount(distinct // persons, minlength=boxes)
    return found


def _chunks(regions: Regions) -> Iterator[np.ndarray]:
    """Stretches of whole boxes, with at most MAX_PAIRS pairs unless one box has more."""
    order = np.argsort(regions.box, kind="stable")
    boxes, starts = np.unique(regions.box[order], return_index=True)
    if not len(boxes):
        return
    pairs = np.add.reduceat((regions.stop - regions.start)[order], starts)
    chunk = np.cumsum(pairs) // MAX_PAIRS
    ends = np.append(starts[1:], len(order))
    for first in np.flatnonzero(np.diff(chunk, prepend=-1)).tolist():
        last = int(np.searchsorted(chunk, chunk[first], side="right")) - 1
        yield order[starts[first] : ends[last]]
