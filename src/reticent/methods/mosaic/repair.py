"""Merging groups that break a promise with their nearest, until every group keeps it.

For promises that kernels judge only in part, and for delta-disclosure with absent values ignored, where groups that keep the
promise can break it once equal labels make them one.  One group of all rows keeps every promise that gets here, so this ends.
"""

from __future__ import annotations

import numpy as np

from reticent.methods.mosaic.loss import Space
from reticent.methods.mosaic.quotas import Tiling, tiling_of
from reticent.models.promises import BoundPromises
from reticent.recipe.labels import coalesce
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells

AT_ONCE = 256
NEAR = 400


def repair(cells: Cells, space: Space, bound: BoundPromises, tiling: Tiling) -> Tiling:
    while len(tiling) > 1:
        broken = np.flatnonzero(~bound.allow(tiling.groups(cells)))
        if not len(broken):
            break
        tiling = _merged(tiling, _partners(cells, space, bound, tiling, broken[:AT_ONCE]))
    return tiling


def published(cells: Cells, space: Space, bound: BoundPromises, tiling: Tiling) -> Tiling:
    """The groups as a recipient sees them, equal labels in one, each keeping every promise."""
    while True:
        recipe, _ = coalesce(recipe_of(cells, tiling))
        one = tiling_of(recipe.cell, recipe.group, recipe.quota)
        tiling = repair(cells, space, bound, one)
        if len(tiling) == len(one):
            return tiling


def recipe_of(cells: Cells, tiling: Tiling) -> Recipe:
    group = np.repeat(np.arange(len(tiling)), np.diff(tiling.starts))
    return Recipe(cells, tiling.cell.astype(np.int64), group, tiling.quota.astype(np.int64), len(tiling))


def _partners(cells: Cells, space: Space, bound: BoundPromises, tiling: Tiling, broken: np.ndarray) -> np.ndarray:
    """(broken group, partner) pairs: the group it loses least with of those that mend it, or of all where none near does."""
    lower, upper = tiling.boxes(cells)
    sizes = tiling.sizes()
    pairs = np.empty((len(broken), 2), np.int64)
    for at, group in enumerate(broken):
        loss = space.per_row(np.minimum(lower, lower[group]), np.maximum(upper, upper[group]))
        cost = loss * (sizes + sizes[group])
        cost[group] = np.inf
        near = np.argsort(cost, kind="stable")[: min(NEAR, len(cost) - 1)]
        mends = np.flatnonzero(bound.allow(_with(tiling, group, near).groups(cells)))
        pairs[at] = group, near[mends[0] if len(mends) else 0]
    return pairs


def _with(tiling: Tiling, group: int, others: np.ndarray) -> Tiling:
    """The group joined to each of the others in turn."""
    both = np.column_stack([np.full(len(others), group), others]).ravel()
    found = tiling.taken(both)
    return Tiling(found.cell, found.quota, found.starts[::2])


def _merged(tiling: Tiling, pairs: np.ndarray) -> Tiling:
    number = np.arange(len(tiling))
    for one, other in pairs:
        a, b = number[one], number[other]
        if a != b:
            number[number == max(a, b)] = min(a, b)
    group = np.repeat(number, np.diff(tiling.starts))
    return tiling_of(tiling.cell, group, tiling.quota)
