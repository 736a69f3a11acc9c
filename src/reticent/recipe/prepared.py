"""What a stage made of cells: those that still have rows, and how many rows of each were withheld."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reticent.recipe.recipe import WITHHELD, Recipe
from reticent.table.cells import Cells


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a stage made of `original`: the cells that still have rows, which cell each was, and the rows withheld of each."""

    original: Cells
    cells: Cells
    origin: np.ndarray  # (cells,) the original cell
    withheld: np.ndarray  # (original cells,) int64

    @classmethod
    def of(cls, cells: Cells, withheld: np.ndarray) -> Prepared:
        """The cells with so many rows of each taken out; a cell without rows is gone."""
        left = cells.counts - withheld
        origin = np.flatnonzero(left)
        if len(origin) == len(left) and not withheld.any():
            return cls(cells, cells, origin, withheld)
        kept = replace(cells, codes=cells.codes[origin], values=cells.values[origin], counts=left[origin])
        return cls(cells, kept, origin, withheld)

    def then(self, later: Prepared) -> Prepared:
        """This stage followed by one that prepared what it kept."""
        withheld = self.withheld.copy()
        withheld[self.origin] += later.withheld
        return Prepared(self.original, later.cells, self.origin[later.origin], withheld)

    def complete(self, recipe: Recipe) -> Recipe:
        """A recipe for the kept cells as one for the original cells."""
        taken = np.flatnonzero(self.withheld)
        values, published = recipe.values, recipe.published
        if values is not None:
            values = np.concatenate([values, self.original.values[taken]])
        if published is not None:
            published = np.concatenate([published, np.zeros(len(taken), bool)])
        return replace(
            recipe,
            cells=self.original,
            cell=np.concatenate([self.origin[recipe.cell], taken]),
            group=np.concatenate([recipe.group, np.full(len(taken), WITHHELD, np.int64)]),
            quota=np.concatenate([recipe.quota, self.withheld[taken]]),
            values=values,
            published=published,
        )
