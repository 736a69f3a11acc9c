"""Preparing stages and a method as one recipe.

A stage keeps some rows of each cell and withholds the others; the method plans on the cells that are kept, so that their
totals, which are the published table's, are the reference distribution of every promise.  The composed recipe speaks of the
cells as they were counted: what a stage withheld is withheld in it, and every row of every cell has one outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reticent.errors import JobError
from reticent.models.promises import Promises
from reticent.randomness import Random
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
        values = recipe.values
        if values is not None:
            values = np.concatenate([values, self.original.values[taken]])
        return replace(
            recipe,
            cells=self.original,
            cell=np.concatenate([self.origin[recipe.cell], taken]),
            group=np.concatenate([recipe.group, np.full(len(taken), WITHHELD, np.int64)]),
            quota=np.concatenate([recipe.quota, self.withheld[taken]]),
            values=values,
        )


def plan(stages: Sequence[Any], method: Any, cells: Cells, promises: Promises, rng: Random) -> Recipe:
    """The stages one after the other, then the method on what they kept, for the promises that no stage keeps."""
    prepared = None
    for stage in stages:
        step = stage.prepare(cells, promises, rng)
        prepared, cells = step if prepared is None else prepared.then(step), step.cells
    recipe = method.plan(cells, left_to_method(stages, promises), rng)
    return recipe if prepared is None else prepared.complete(recipe)


def left_to_method(stages: Sequence[Any], promises: Promises) -> Promises:
    """What the stages do not keep by themselves; there must be something, or the rows would be published as they are."""
    left = tuple(promise for promise in promises if not any(stage.keeps(promise) for stage in stages))
    if not left:
        names = " and ".join(promise.name for promise in promises)
        raise JobError(
            f"{names} speaks of the whole table, and nothing is promised of its groups.",
            attempt='a further [[promise]], such as model = "probabilistic-l-diversity".',
        )
    return Promises(left)
