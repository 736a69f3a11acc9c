"""A tiling: the groups as flat arrays.

Group g holds quota[i] rows of cell[i] for i in starts[g] .. starts[g + 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.sweeps import regrouped
from reticent.models.shapes import Groups
from reticent.table.cells import Cells


@dataclass(frozen=True, eq=False)
class Tiling:
    cell: np.ndarray
    quota: np.ndarray
    starts: np.ndarray

    @classmethod
    def empty(cls) -> Tiling:
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def groups(self, cells: Cells) -> Groups:
        return Groups(cells, self.cell, self.quota, self.starts)

    def sizes(self) -> np.ndarray:
        return np.add.reduceat(self.quota, self.starts[:-1]).astype(np.int64)

    def boxes(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        codes = cells.codes[self.cell]
        return np.minimum.reduceat(codes, self.starts[:-1]), np.maximum.reduceat(codes, self.starts[:-1])

    def loss(self, cells: Cells, space: Space) -> float:
        return float((space.per_row(*self.boxes(cells)) * self.sizes()).sum() / cells.rows)

    def taken(self, groups: np.ndarray) -> Tiling:
        """Some of the groups, in the order given."""
        source, starts = regrouped(self.starts, groups)
        return Tiling(self.cell[source], self.quota[source], starts)

    def joined(self, other: Tiling) -> Tiling:
        return Tiling(np.concatenate([self.cell, other.cell]), np.concatenate([self.quota, other.quota]),
                      np.concatenate([self.starts, other.starts[1:] + self.starts[-1]]))  # fmt: skip


def tiling_of(cell: np.ndarray, group: np.ndarray, quota: np.ndarray) -> Tiling:
    """Groups from entries in any order; entries of one cell in one group are added up."""
    order = np.lexsort((cell, group))
    cell, group, quota = cell[order], group[order], quota[order]
    fresh = np.ones(len(cell), bool)
    fresh[1:] = (cell[1:] != cell[:-1]) | (group[1:] != group[:-1])
    at = np.flatnonzero(fresh)
    starts = np.append(np.flatnonzero(np.diff(group[at], prepend=group[0] - 1)), len(at))
    return Tiling(cell[at].astype(np.int32), np.add.reduceat(quota, at).astype(np.int32), starts.astype(np.int64))
