"""A stage that splits quotas once more after the method: rows that are not published keep their group, and count for its label."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

import reticent as rt
from reticent.engines import local
from reticent.methods.mondrian import Mondrian
from reticent.methods.recipe_planning import compose_recipe
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.generalized import GeneralizedWriter
from reticent.recipe.recipe import Recipe


@dataclass(frozen=True)
class OneOfEach:
    """Of each group one row is published, the first of its first entry; every other row is left out."""

    name: ClassVar[str] = "one-of-each"

    def keeps(self, promise) -> bool:
        return False

    def prepare(self, cells, promises, rng):
        from reticent.recipe.recipe import PreparedCells

        return PreparedCells.from_cells(cells, np.zeros(len(cells), np.int64))

    def finish(self, recipe: Recipe, promises, rng) -> Recipe:
        first = np.zeros(len(recipe.group), bool)
        first[np.unique(recipe.group, return_index=True)[1]] = True
        rest = first & (recipe.quota > 1)
        order = np.concatenate([np.arange(len(first)), np.flatnonzero(rest)])
        quota = recipe.quota[order].copy()
        quota[: len(first)][first] = 1
        quota[len(first) :] -= 1
        published = np.concatenate([first, np.zeros(int(rest.sum()), bool)])
        return replace(recipe, cell=recipe.cell[order], group=recipe.group[order], quota=quota, published=published)


def test_a_row_that_is_not_published_keeps_its_group_and_is_not_withheld():
    people = pl.DataFrame({"age": list(range(20, 60)), "illness": ["flu", "gout"] * 20}).lazy()
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    counted = local.count_rows(people, columns)
    promises = Promises.from_iterable([rt.KAnonymity(5)])
    recipe = compose_recipe([OneOfEach()], Mondrian(), counted.cells, promises, Random.from_seed(1))
    recipe.require_conserved()
    whole = compose_recipe([], Mondrian(), counted.cells, promises, Random.from_seed(1))
    assert recipe.groups == whole.groups and recipe.withheld == 0 and not recipe.is_complete
    writer = GeneralizedWriter.from_recipe(recipe, columns)
    rows = writer.frames(local.apply_recipe(counted, writer.recipe, Random.from_seed(2), people))["data"].frame()
    everybody = GeneralizedWriter.from_recipe(whole, columns)
    labels = everybody.frames(local.apply_recipe(counted, everybody.recipe, Random.from_seed(2), people))[
        "data"
    ].frame()
    assert sorted(rows["age"]) == sorted(labels["age"].unique())  # one row of each group, under the whole group's label
    assert writer.fields({})["withheld"] == 0
