"""Mosaic on thousands of random tables: every published group passes the oracle, every row has one place."""

import numpy as np
import pytest

from reticent.errors import PromiseUnreachable
from reticent.methods.mosaic import Mosaic
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe
from tests.oracle import measures
from tests.support.mosaic_promises import ASKED
from tests.support.random_cells import histograms, random_cells

TABLES = 130  # of each kind of promise; 14 kinds


def published(recipe: Recipe) -> list:
    """The groups as a recipient sees them: equal labels are one."""
    return histograms(merge_equal_labels(recipe)[0])


def holds(model: str, asked: dict, groups: list, recipe: Recipe) -> bool:
    domain = recipe.cells.sensitive[0]
    extra = {"ordered": {"order": list(domain.texts)}, "hierarchical": {"tree": domain.hierarchy.rows()}}
    return measures.holds(model, groups, **asked, **extra.get(asked.get("distance"), {}))


@pytest.mark.parametrize("kind", ASKED)
def test_every_published_group_passes_the_oracle_and_rows_are_conserved(kind: str):
    kept = 0
    for number in range(TABLES):
        cells = random_cells(number, most_rows=60)
        model, promise, asked = ASKED[kind][number % len(ASKED[kind])]
        try:
            recipe = Mosaic(effort="quick", threads=1).plan(
                cells, Promises.from_iterable([promise(**asked)]), Random.from_seed(number)
            )
        except PromiseUnreachable:
            # closed under union: where it is refused, all rows in one group must break it
            whole = histograms(Recipe.of_groups(cells, np.zeros(len(cells), np.int64)))
            assert not holds(model, asked, whole, Recipe.of_groups(cells, np.zeros(len(cells), np.int64)))
            continue
        recipe.require_conserved()
        assert holds(model, asked, published(recipe), recipe), number
        kept += 1
    assert kept > TABLES // 4


def test_conjunctions_pass_the_oracle():
    kinds = sorted(ASKED)
    kept = 0
    for number in range(300):
        cells = random_cells(number, most_rows=80)
        draw = np.random.default_rng(number)
        chosen = [ASKED[kinds[i]] for i in draw.choice(len(kinds), 2 + number % 2, replace=False)]
        asked = [some[int(draw.integers(len(some)))] for some in chosen]
        promises = Promises.from_iterable([promise(**parameters) for _, promise, parameters in asked])
        try:
            recipe = Mosaic(effort="quick", threads=1).plan(cells, promises, Random.from_seed(number))
        except PromiseUnreachable:
            continue
        recipe.require_conserved()
        groups = published(recipe)
        for model, _, parameters in asked:
            assert holds(model, parameters, groups, recipe), (number, model)
        kept += 1
    assert kept > 60
