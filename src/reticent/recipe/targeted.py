"""A recipe whose groups publish nodes of a hierarchy that follow a target distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.recipe.recipe import GroupTable, Recipe


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformedRecipe(Recipe):
    """`listed` counts values of each group by node; the nodes cover `first` .. `last` of the domain's `texts`.

    `weights` has a row for each different target, `target` says which one each group has.  `units` are the domain's numbers times
    `scale`, None where it has none.
    """

    listed: GroupTable
    texts: tuple[str, ...] = ()
    node_labels: tuple[str, ...] = ()
    first: np.ndarray
    last: np.ndarray
    weights: tuple[tuple[int, ...], ...] = ()
    target: np.ndarray
    units: np.ndarray | None = None
    scale: int = 1
    sum_of_ranges: float = 0.0
