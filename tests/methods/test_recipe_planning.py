"""Stages before a method: what they withhold stays withheld, and nothing is counted twice."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.errors import InternalError
from reticent.format.manifest import ComponentEntry
from reticent.methods.mondrian import Mondrian
from reticent.methods.recipe_planning import compose_recipe
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.recipe import WITHHELD_GROUP, PreparedCells, Recipe
from tests.support.random_cells import random_cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinning:
    """A stage for the tests: withholds a random share of each cell."""

    name: ClassVar[str] = "thinning"
    share: float = 0.5

    def keeps(self, promise):
        return False

    def prepare(self, cells, promises, rng):
        return PreparedCells.from_cells(cells, rng.stream("thinning").binomial(cells.counts, self.share))


@dataclass(frozen=True, slots=True)
class Relabelling:
    """A method for the tests: one group, every published value the first."""

    name: ClassVar[str] = "relabelling"

    def plan(self, cells, promises, rng):
        recipe = Recipe.of_groups(cells, np.zeros(len(cells), np.int64))
        return Recipe(cells, recipe.cell, recipe.group, recipe.quota, 1, values=np.zeros_like(cells.values))


PROMISES = Promises.from_iterable([rt.KAnonymity(2)])


@pytest.mark.parametrize("number", range(30))
def test_stages_and_method_give_every_row_of_every_cell_one_outcome(number):
    cells = random_cells(number)
    stages = [Thinning(share=0.3), Thinning(share=0.2)]
    try:
        recipe = compose_recipe(stages, Mondrian(), cells, PROMISES, Random.from_seed(number))
    except rt.PromiseUnreachable:
        return
    recipe.require_conserved()
    assert recipe.cells.counts is cells.counts
    kept = recipe.group != WITHHELD_GROUP
    assert recipe.quota[kept].sum() == cells.rows - recipe.withheld


def test_the_method_plans_on_what_the_stages_kept():
    cells = random_cells(3, null=False)
    stage = Thinning(share=0.4)
    seen = []

    class Watching:
        def plan(self, cells, promises, rng):
            seen.append(cells)
            return Recipe.of_groups(cells, np.zeros(len(cells), np.int64))

    recipe = compose_recipe([stage], Watching(), cells, PROMISES, Random.from_seed(1))
    (kept,) = seen
    assert (kept.counts > 0).all()
    published = np.zeros(cells.sensitive[0].size, np.int64)
    entries = recipe.group != WITHHELD_GROUP
    np.add.at(published, cells.values[recipe.cell[entries], 0], recipe.quota[entries])
    assert kept.totals(0).tolist() == published.tolist(), "the reference distribution is the published table's"


def test_a_stage_that_withholds_nothing_changes_nothing():
    cells = random_cells(5)
    plain = Mondrian().plan(cells, PROMISES, Random.from_seed(1))
    staged = compose_recipe([Thinning(share=0.0)], Mondrian(), cells, PROMISES, Random.from_seed(1))
    for name in ("cell", "group", "quota"):
        assert getattr(plain, name).tolist() == getattr(staged, name).tolist()


def test_published_values_of_a_later_method_survive_composition():
    cells = random_cells(8)
    recipe = compose_recipe([Thinning(share=0.5)], Relabelling(), cells, PROMISES, Random.from_seed(2))
    recipe.require_conserved()
    assert recipe.values is not None and len(recipe.values) == len(recipe.cell)
    assert not recipe.values[recipe.group != WITHHELD_GROUP].any()


def test_a_release_counts_the_rows_its_stages_withheld(monkeypatch):
    frame = pl.DataFrame({"age": [20, 30, 40, 50] * 30, "illness": ["flu", "cold", "gout"] * 40})
    job = rt.Job(
        columns={"age": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.KAnonymity(3)],
        prepare=[Thinning(share=0.25)],
    )
    with pytest.raises(InternalError, match="stage is not one that this version knows"):
        rt.publish(job, frame=frame, seed=4)
    monkeypatch.setitem(catalogue.STAGES, Thinning.name, catalogue.MethodRow("", {"share": catalogue.Field("number")}))
    release = rt.publish(job, frame=frame, seed=4)
    assert release.manifest.withheld > 0
    assert len(release.frame()) + release.manifest.withheld == len(frame)
    assert release.manifest.prepare == (ComponentEntry("thinning", {"share": 0.25}),)
    assert release.audited.kept is True
