"""Mondrian on random tables: every group keeps every promise by the oracle's count, rows are conserved, groups disjoint."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reticent import registry
from reticent.data.cells import Cells
from reticent.data.codec import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column
from reticent.data.domain import TreeDomain
from reticent.errors import PromiseUnreachable
from reticent.methods.mondrian import Mondrian
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe
from tests.oracle import measures
from tests.support.pure_kernels import use_pure_kernels
from tests.support.strategies import Table, conjunctions, for_the_oracle, tables

UNHURRIED = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
METHODS = [
    Mondrian(),
    Mondrian(thorough=True),
    Mondrian(labels="sets"),
    Mondrian(cuts="median"),
    Mondrian(cuts="median", labels="sets"),
    Mondrian(cuts="median", fallback=False),
]


def cells_of(table: Table) -> Cells:
    types = {"numeric": pl.Float64, "date": pl.Date}
    frame = pl.DataFrame(
        {
            name: pl.Series([row[name] for row in table.rows], dtype=types.get(column["kind"], pl.String), strict=False)
            for name, column in table.columns.items()
        }
    )
    columns = {
        name: Column(column["role"], column["kind"], column["hierarchy"], column["order"], missing="category")
        for name, column in table.columns.items()
    }
    return encode_cells(frame.group_by(list(columns)).len(name=COUNT_COLUMN), columns)[0]


@st.composite
def requests(draw: st.DrawFn, **shape: object) -> tuple[Table, Cells, list[dict]]:
    table = draw(tables(missing_sensitive=True, **shape))
    promises = draw(conjunctions(hierarchical=table.columns["s"]["hierarchy"] is not None))
    return table, cells_of(table), promises


def plan(method: Mondrian, cells: Cells, promises: list[dict]) -> Recipe:
    return method.plan(cells, Promises.from_iterable([registry.make_promise(p) for p in promises]), Random.from_seed(1))


def published(recipe: Recipe) -> list[Counter]:
    """The sensitive values of each group that a recipient can tell apart."""
    merged, _ = merge_equal_labels(recipe)
    texts = [*merged.cells.sensitive[0].texts, None]
    found: dict[int, Counter] = {}
    for group, cell, quota in zip(merged.group.tolist(), merged.cell.tolist(), merged.quota.tolist(), strict=True):
        found.setdefault(group, Counter())[texts[merged.cells.values[cell, 0]]] += quota
    return list(found.values())


def kept(table: Table, promises: list[dict], groups: list[Counter]) -> bool:
    return measures.all_hold(groups, for_the_oracle(table, promises))


@pytest.mark.parametrize("method", METHODS, ids=str)
@UNHURRIED
@given(requests())
def test_every_group_keeps_every_promise_by_the_oracles_count(method: Mondrian, request_: tuple):
    table, cells, promises = request_
    try:
        recipe = plan(method, cells, promises)
    except PromiseUnreachable:
        assert not kept(table, promises, [Counter(row["s"] for row in table.rows)])
        return
    recipe.require_conserved()
    groups = published(recipe)
    assert kept(table, promises, groups)
    assert sum(groups, Counter()) == Counter(row["s"] for row in table.rows)


@pytest.mark.parametrize("method", METHODS, ids=str)
@settings(UNHURRIED, max_examples=60)
@given(requests())
def test_groups_are_disjoint_as_value_sets(method: Mondrian, request_: tuple):
    _, cells, promises = request_
    try:
        recipe = plan(method, cells, promises)
    except PromiseUnreachable:
        return
    low, high = recipe.find_spans()
    members = [cells.codes[recipe.group == group] for group in range(recipe.groups)]
    for one in range(recipe.groups):
        for other in range(one):
            beyond = (low[one] > high[other]) | (high[one] < low[other])
            assert any(
                not np.intersect1d(members[one][:, j], members[other][:, j]).size
                if isinstance(domain, TreeDomain)
                else beyond[j]
                for j, domain in enumerate(cells.quasi)
            )


@pytest.mark.parametrize("method", METHODS, ids=str)
@settings(UNHURRIED, max_examples=40)
@given(requests(most_rows=60))
def test_the_same_cells_are_cut_the_same_way_twice_and_by_the_interpreter(method: Mondrian, request_: tuple):
    _, cells, promises = request_
    try:
        first = plan(method, cells, promises)
        second = plan(method, cells, promises)
    except PromiseUnreachable:
        return
    np.testing.assert_array_equal(first.group, second.group)
    with pytest.MonkeyPatch.context() as patch:
        use_pure_kernels(patch)
        np.testing.assert_array_equal(first.group, plan(method, cells, promises).group)


@pytest.mark.parametrize("method", [method for method in METHODS if method.cuts == "loss"], ids=str)
@settings(UNHURRIED, max_examples=60)
@given(requests())
def test_a_group_is_left_whole_only_where_a_promise_forbids_its_parts(method: Mondrian, request_: tuple):
    """No range of a group has a value at which both sides would keep every promise."""
    _, cells, promises = request_
    try:
        recipe = plan(method, cells, promises)
    except PromiseUnreachable:
        return
    bound = Promises.from_iterable([registry.make_promise(p) for p in promises]).bind(cells)
    for group in range(recipe.groups):
        mine = np.flatnonzero(recipe.group == group)
        for j, domain in enumerate(cells.quasi):
            for code in np.unique(cells.codes[mine, j])[:-1] if not isinstance(domain, TreeDomain) else ():
                side = (cells.codes[mine, j] > code).astype(np.int64)
                halves = Recipe(cells, mine, side, cells.counts[mine], 2)
                assert not bound.allow(halves.as_groups()).all()
