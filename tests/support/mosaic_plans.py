"""Tables for mosaic, and plans of them with their loss."""

from __future__ import annotations

import numpy as np

from reticent.data.cells import Cells, build_cells
from reticent.data.domain import build_range_domain, build_tree_domain
from reticent.methods.mosaic import Mosaic
from reticent.methods.mosaic.kernel_tables import make_loss_space
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from tests.support.random_cells import random_tree


def table(rows: int, number: int = 0, *, sizes: tuple[int, ...] = (40, 9, 6), values: int = 5) -> Cells:
    """A larger random table: one number, two trees, skewed sensitive values that follow the first column a little."""
    rng = np.random.default_rng(number)
    quasi = (
        build_range_domain("n", "numeric", "Int64", [str(i) for i in range(sizes[0])], np.arange(sizes[0]), null=False),
        *(
            build_tree_domain(f"q{i}", "String", random_tree(rng, size, f"q{i}"), null=False, is_from_steward=True)
            for i, size in enumerate(sizes[1:])
        ),
    )
    codes = np.column_stack([(rng.random(rows) ** 2 * size).astype(np.int32) for size in sizes])
    drawn = np.minimum((rng.random(rows) ** 2 * values * (0.5 + codes[:, 0] / sizes[0])).astype(np.int32), values - 1)
    sensitive = build_tree_domain("s", "String", random_tree(rng, values, "s"), null=False, is_from_steward=True)
    return build_cells(quasi, (sensitive,), codes, drawn[:, None], np.ones(rows, np.int64))[0]


def plan(cells: Cells, *promises: object, seed: int = 1, watch=None, **options: object) -> Recipe:
    options.setdefault("effort", "quick")
    return Mosaic(**options).plan(cells, Promises.from_iterable(promises), Random.from_seed(seed), watch)


def loss_of(recipe: Recipe, weights: dict | None = None) -> float:
    lower, upper = recipe.find_spans()
    return float(
        (make_loss_space(recipe.cells, weights).compute_loss_per_row(lower, upper) * recipe.as_groups().sizes).sum()
        / recipe.cells.rows
    )


def same(one: Recipe, other: Recipe) -> bool:
    return all(np.array_equal(getattr(one, f), getattr(other, f)) for f in ("cell", "group", "quota"))
