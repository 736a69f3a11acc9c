"""Mosaic weighs what snapped labels will lose: less is lost than by snapping the labels of a plan that did not know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.methods.mosaic.kernel_tables import make_loss_space
from reticent.recipe.loss import compute_label_loss

PROMISES = [rt.KAnonymity(5)]


def people() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 60, 4_000),
            "town": rng.choice(list("abcdef"), 4_000),
            "s": rng.choice(["u", "v"], 4_000),
        }
    )


def job(labels: object) -> rt.Job:
    columns = {"age": rt.quasi(numeric=True, labels=labels, domain=(0, 59)), "town": rt.quasi(), "s": rt.sensitive()}
    return rt.Job(columns=columns, promises=PROMISES, method=rt.Mosaic(effort="quick"))


def snapped(step: int) -> dict:
    return {"style": "snapped", "step": step}


@pytest.mark.parametrize("step", [3, 5])
def test_a_plan_that_knows_its_grid_loses_less_than_one_whose_labels_are_snapped_afterwards(step):
    frame = people()
    knowing = rt.plan(job(snapped(step)), frame=frame, seed=1)
    cells = rt.count(job(snapped(step)), frame=frame)
    afterwards = replace(rt.plan(job("tight"), frame=frame, seed=1, merged=False).recipe, cells=cells)
    assert knowing.loss < compute_label_loss(afterwards)


def test_a_span_costs_halfway_between_itself_and_its_label_and_a_single_value_nothing():
    cells = rt.count(job(snapped(5)), frame=people())
    space = make_loss_space(cells)
    age = space.domains[0]
    size = space.domains[0].size
    table = (space.spans[: size * size] / space.weights[0]).reshape(size, size)
    assert not table.diagonal().any()
    assert table[6, 8] == pytest.approx(((8 - 6) / 59 + (9 - 5) / 59) / 2)
    lower, upper = np.triu_indices(size)
    assert (table[lower, upper] >= age.loss(lower, upper)).all(), "a label is no narrower than its span"


def test_tight_and_padded_columns_cost_what_their_spans_lose():
    for labels in ("tight", {"style": "padded", "width": 2}):
        space = make_loss_space(rt.count(job(labels), frame=people()))
        size = space.domains[0].size
        assert np.allclose(space.spans[: size * size], space.weights[0] * space.domains[0].loss_table.ravel())
