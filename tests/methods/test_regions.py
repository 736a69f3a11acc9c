"""A plan in two levels keeps every promise of the whole table, and loses little."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.errors import PromiseUnreachable
from reticent.methods.regions import RegionTree, plan_regions
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.loss import compute_label_loss

QUASI = ("age", "gender", "education", "marital_status", "work_class")


def census(rows: int) -> rt.Job:
    columns = {**{name: rt.quasi() for name in QUASI}, "salary_class": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], release=rt.Output(undeclared="drop"))
    return rt.count(job, frame=rt.datasets.load("census", rows=rows, seed=2))


@pytest.mark.parametrize(
    "promises", [[rt.KAnonymity(5)], [rt.KAnonymity(5), rt.BetaLikeness(4)], [rt.TCloseness("3/10")]], ids=str
)
def test_every_group_keeps_what_is_promised_of_the_whole_table_also_where_labels_of_regions_are_equal(promises):
    cells = census(6_000)
    asked = Promises.from_iterable(promises)
    rng = Random.from_seed(1)
    recipe = plan_regions(rt.Mondrian(), cells, asked, rng, 8, sample_size=1_500)
    recipe.require_conserved()
    merged = merge_equal_labels(recipe)[0]
    assert asked.bind(cells).allow(recipe.as_groups()).all()
    assert asked.bind(cells).allow(merged.as_groups()).all()
    one = compute_label_loss(merge_equal_labels(rt.Mondrian().plan(cells, asked, rng))[0])
    assert compute_label_loss(merged) <= 1.1 * one


def test_a_region_alone_is_judged_by_the_whole_tables_distribution():
    """In a part where everybody has the rare value its own share says nothing; the whole table's forbids it."""
    rows = pl.DataFrame({"q": [1] * 50 + [2] * 50, "s": ["a"] * 50 + ["b"] * 25 + ["c"] * 25})
    job = rt.Job(columns={"q": rt.quasi(), "s": rt.sensitive()}, promises=[rt.BetaLikeness("1/10", enhanced=False)])
    cells = rt.count(job, frame=rows)
    recipe = plan_regions(rt.Mondrian(), cells, job.promises, Random.from_seed(1), 2)
    assert recipe.groups == 1


def test_a_promise_out_of_reach_is_told_before_regions_are_cut():
    cells = census(100)
    with pytest.raises(PromiseUnreachable):
        plan_regions(rt.Mondrian(), cells, Promises.from_iterable([rt.KAnonymity(1_000)]), Random.from_seed(1), 4)


def test_cuts_of_which_a_side_is_not_fine_are_taken_back_with_all_below_them():
    tree = RegionTree()
    left, right = tree.cut(0, 0, 0, 4)
    inner = tree.cut(left, 1, 2, 2)
    codes = np.array([[0, 2], [4, 0], [5, 2]])
    assert tree.route(codes).tolist() == [inner[0], inner[1], right]
    fine = np.ones(5, bool)
    fine[inner[1]] = False
    assert tree.prune(fine).route(codes).tolist() == [1, 1, 2]
    fine[right] = False
    assert tree.prune(fine).route(codes).tolist() == [0, 0, 0]


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), st.sampled_from("abc")), min_size=6, max_size=80),
    regions=st.integers(2, 9),
    sample=st.integers(4, 40),
)
def test_random_tables_are_conserved_and_keep_the_promise_in_any_regions(rows, regions, sample):
    frame = pl.DataFrame(rows, schema=["p", "q", "s"], orient="row")
    columns = {"p": rt.quasi(), "q": rt.quasi(), "s": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(2), rt.BetaLikeness(1)])
    cells = rt.count(job, frame=frame)
    try:
        recipe = plan_regions(rt.Mondrian(), cells, job.promises, Random.from_seed(3), regions, sample_size=sample)
    except PromiseUnreachable:
        with pytest.raises(PromiseUnreachable):
            rt.Mondrian().plan(cells, job.promises, Random.from_seed(3))
        return
    recipe.require_conserved()
    assert job.promises.bind(cells).allow(merge_equal_labels(recipe)[0].as_groups()).all()
