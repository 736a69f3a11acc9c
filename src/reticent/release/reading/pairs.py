"""Points and the boxes that cover them, as a list of pairs: for large tables, where most boxes cover few of the points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

AT_ONCE = 100_000  # pairs whose values are held together


@dataclass(frozen=True, eq=False)
class Pairs:
    """`box` covers `point`; sorted by point, then by box."""

    point: np.ndarray
    box: np.ndarray

    @classmethod
    def of(cls, point: np.ndarray, box: np.ndarray) -> Pairs:
        order = np.lexsort((box, point))
        return cls(point[order], box[order])

    def added_up(self, of_boxes: np.ndarray, found: np.ndarray) -> np.ndarray:
        """(points, ...): what the boxes over each point hold, added up in `found`, some points at a time."""
        starts = np.flatnonzero(np.diff(self.point, prepend=-1))
        stops = np.append(starts[1:], len(self.point))
        first = 0
        while first < len(starts):
            last = max(int(np.searchsorted(stops, starts[first] + AT_ONCE, side="right")), first + 1)
            here = slice(starts[first], stops[last - 1])
            found[self.point[starts[first:last]]] = np.add.reduceat(
                of_boxes[self.box[here]], starts[first:last] - starts[first], axis=0
            )
            first = last
        return found

    def densest(
        self, density: np.ndarray, people: np.ndarray, nearest: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(point, box, people): the densest boxes over each point, at most `nearest`, sharing its people by their density."""
        dense = density[self.box] > 0
        point, box = self.point[dense], self.box[dense]
        order = np.lexsort((box, -density[box], point))
        point, box = point[order], box[order]
        starts = np.flatnonzero(np.diff(point, prepend=-1))
        lengths = np.diff(np.append(starts, len(point)))
        kept = np.arange(len(point)) - np.repeat(starts, lengths) < nearest
        point, box = point[kept], box[kept]
        whole = np.bincount(point, weights=density[box], minlength=len(people))
        return point, box, density[box] / whole[point] * people[point]
