"""A recipe whose sensitive values are redrawn by a matrix of probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells, gather


@dataclass(frozen=True, eq=False)
class RedrawnRecipe(Recipe):
    """`matrix[i][v] / per` is the probability that `occurring[i]` is published as `occurring[v]`."""

    occurring: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    matrix: tuple[tuple[int, ...], ...] = ()
    per: int = 1

    @property
    def redrawn(self) -> tuple[Cells, np.ndarray, np.ndarray]:
        """The cells as they are published, the matrix, and the codes it is about."""
        shown, cells = self.shown, self.cells
        codes, values, quota = cells.codes[self.cell[shown]], self.published_values[shown], self.quota[shown]
        published, _ = gather(cells.quasi, cells.sensitive, codes, values, quota)
        return published, np.array(self.matrix) / self.per, self.occurring
