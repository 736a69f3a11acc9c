"""BUREL on thousands of random tables: every class passes the oracle, every row has one place."""

import numpy as np
import pytest

from reticent.errors import ColumnError, PromiseUnreachable
from reticent.methods.burel import Burel
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.promise import Promises
from reticent.randomness import Random
from tests.oracle import measures
from tests.support.random_cells import histograms, random_cells

BETAS = ("0.3", "1", "1.5", "2", "4", "1/3")


@pytest.mark.parametrize("fill", ["curve", "nearest"])
@pytest.mark.parametrize("form", [{}, {"enhanced": False}, {"two_sided": True}], ids=["enhanced", "basic", "two-sided"])
@pytest.mark.parametrize("part", range(2))
def test_every_class_passes_the_oracle_and_rows_are_conserved(fill: str, form: dict, part: int):
    released = 0
    for number in range(part * 170, (part + 1) * 170):
        cells = random_cells(number)
        promise = BetaLikeness(BETAS[number % len(BETAS)], **form)
        try:
            recipe = Burel(fill=fill).plan(cells, Promises.from_iterable([promise]), Random.from_seed(number))
        except (ColumnError, PromiseUnreachable):
            continue
        recipe.require_conserved()
        assert set(recipe.group.tolist()) == set(range(recipe.groups))
        groups = histograms(recipe)
        assert sum(sum(group.values()) for group in groups) == cells.rows
        assert measures.holds(
            "beta-likeness", groups, beta=promise.beta, enhanced=promise.enhanced, two_sided=promise.two_sided
        )
        released += 1
    assert released > 80


def test_large_tables_pass_the_oracle():
    for number in range(4):
        cells = random_cells(1000 + number, most_rows=1500)
        recipe = Burel().plan(cells, Promises.from_iterable([BetaLikeness(4)]), Random.from_seed(number))
        assert measures.holds("beta-likeness", histograms(recipe), beta=4)
        assert recipe.groups > 1 or cells.rows < 50


def test_a_row_order_changes_no_class():
    from reticent.data.cells import build_cells

    cells = random_cells(11, null=False)
    order = np.random.default_rng(0).permutation(len(cells))
    shuffled, _ = build_cells(
        cells.quasi, cells.sensitive, cells.codes[order], cells.values[order], cells.counts[order]
    )
    one, other = (
        Burel().plan(c, Promises.from_iterable([BetaLikeness(2)]), Random.from_seed(3)) for c in (cells, shuffled)
    )
    assert np.array_equal(one.cell, other.cell)
    assert np.array_equal(one.group, other.group)
