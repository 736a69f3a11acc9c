"""SABRE on thousands of random tables: every class passes the oracle, every row has one place."""

import pytest

from reticent.errors import ColumnError
from reticent.methods.sabre import Sabre
from reticent.models.promise import Promises
from reticent.models.t_closeness import TCloseness
from reticent.randomness import Random
from tests.oracle import measures
from tests.support.random_cells import histograms, random_cells

CLOSENESS = ("0.05", "0.1", "0.2", "0.35", "0.5", "1/3")


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("fill", ["curve", "nearest"])
def test_every_class_passes_the_oracle_and_rows_are_conserved(distance: str, fill: str):
    released = split = 0
    for number in range(350):
        cells = random_cells(number)
        promise = TCloseness(CLOSENESS[number % len(CLOSENESS)], distance)
        try:
            recipe = Sabre(fill=fill).plan(cells, Promises.from_iterable([promise]), Random.from_seed(number))
        except ColumnError:
            continue
        recipe.require_conserved()
        groups = histograms(recipe)
        domain = cells.sensitive[0]
        assert sum(sum(group.values()) for group in groups) == cells.rows
        extra = {"ordered": {"order": list(domain.texts)}, "hierarchical": {"tree": domain.hierarchy.rows()}}.get(
            distance, {}
        )
        assert measures.holds("t-closeness", groups, t=promise.t, distance=distance, **extra)
        released += 1
        split += recipe.groups > 1
    assert released > 300
    assert split > 100
