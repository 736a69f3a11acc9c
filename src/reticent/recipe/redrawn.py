"""A recipe whose sensitive values are redrawn by a matrix of probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reticent.recipe.recipe import Recipe


@dataclass(frozen=True, eq=False)
class RedrawnRecipe(Recipe):
    """`matrix[i][v] / per` is the probability that `occurring[i]` is published as `occurring[v]`."""

    occurring: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    matrix: tuple[tuple[int, ...], ...] = ()
    per: int = 1
