"""Merging groups that break a promise with their nearest, until every group keeps it.

For promises that kernels judge only in part, and for delta-disclosure with absent values ignored, where groups that keep the
promise can break it once equal labels make them one.  One group of all rows keeps every promise that gets here, so this ends.
"""

from __future__ import annotations

import numpy as np

from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.tiling import Tiling, tiling_of
from reticent.models.promises import BoundPromises
from reticent.recipe.group_labels import coalesce
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
    """The groups as a recipient sees them, equal labels in one, each keeping every promise.

    Where groups that keep a promise apart would break it as one, the smallest of them joins a near group that leaves it another
    label, until what shares a label can be one.
    """
    tiling = repair(cells, space, bound, tiling)
    while True:
        recipe, _ = coalesce(recipe_of(cells, tiling))
        label = recipe.group[tiling.starts[:-1]]
        one = tiling_of(recipe.cell, recipe.group, recipe.quota)
        allowed = bound.allow(one.groups(cells))
        if allowed.all():
            return one
        number = np.where(allowed[label], label, len(one) + np.arange(len(tiling)))
        apart = _renumbered(tiling, number)
        where = np.unique(number, return_inverse=True)[1]  # the group of `apart` that each group of `tiling` is in
        clusters = [np.unique(where[label == broken]) for broken in np.flatnonzero(~allowed)]
        pairs = _set_apart(cells, space, bound, apart, clusters)
        tiling = _merged(apart, pairs) if len(pairs) else repair(cells, space, bound, one)


def _set_apart(
    cells: Cells, space: Space, bound: BoundPromises, tiling: Tiling, clusters: list[np.ndarray]
) -> np.ndarray:
    """(group, partner) pairs that share no group: the smallest of each cluster, and the near group it may join at least loss."""
    lower, upper = tiling.boxes(cells)
    sizes = tiling.sizes()
    taken = np.zeros(len(tiling), bool)
    pairs = []
    for cluster in clusters:
        group = cluster[np.argmin(sizes[cluster])]
        loss = space.per_row(np.minimum(lower, lower[group]), np.maximum(upper, upper[group]))
        cost = loss * (sizes + sizes[group])
        cost[cluster] = np.inf
        cost[taken] = np.inf
        near = np.argsort(cost, kind="stable")[:NEAR]
        near = near[np.isfinite(cost[near])]
        mends = np.flatnonzero(bound.allow(_with(tiling, group, near).groups(cells))) if len(near) else near
        if len(mends) and not taken[group]:
            pairs.append((group, near[mends[0]]))
            taken[[group, near[mends[0]]]] = True
    return np.array(pairs, np.int64).reshape(-1, 2)


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
    return _renumbered(tiling, number)


def _renumbered(tiling: Tiling, number: np.ndarray) -> Tiling:
    """Group g becomes number[g]; equal numbers are one group."""
    return tiling_of(tiling.cell, np.repeat(number, np.diff(tiling.starts)), tiling.quota)
