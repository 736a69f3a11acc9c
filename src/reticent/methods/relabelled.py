"""Labels that are wider than their groups may coincide, and groups that read the same are one: do the promises still hold?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reticent.errors import PromiseUnreachable
from reticent.models.promises import Promises
from reticent.recipe.recipe import WITHHELD, Recipe
from reticent.table.cells import Cells


def check_relabelled(promises: Promises, cells: Cells, planned: int, recipe: Recipe) -> None:
    """Of `planned` groups those that read the same are one in the `recipe`; a promise that a union can break is checked again."""
    if recipe.groups == planned or promises.union_closed:
        return
    kept = recipe.group != WITHHELD
    counts = np.bincount(recipe.cell[kept], weights=recipe.quota[kept], minlength=len(cells)).astype(np.int64)
    groups = replace(recipe, cells=cells).as_groups()
    broken = int((~promises.bind(replace(cells, counts=counts)).allow(groups)).sum())
    if broken:
        names = " and ".join(promise.name for promise in promises)
        raise PromiseUnreachable(
            f"{names} cannot be kept with these labels.",
            why=f"{planned - recipe.groups} of {planned} groups read the same as another, and {broken} of the groups that "
            "they make together break the promise.",
            attempt='a smaller step, or labels = "tight" for the columns that are snapped or padded.',
        )
