"""Columns of very many values: incomes, codes of diseases.  Orders by a tree of cuts, and what mosaic makes of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data.cells import Cells, build_cells
from reticent.data.domain import MAX_LOSS_TABLE_CODES, build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.methods.mosaic import Mosaic, segments
from reticent.methods.mosaic import segments as mosaic_segments
from reticent.methods.mosaic.kernel_tables import make_loss_space
from reticent.methods.mosaic.segments import order_by_cuts, order_by_noisy_cuts
from reticent.models.k_anonymity import KAnonymity
from reticent.models.l_diversity import DistinctLDiversity
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe
from tests.support.pure_kernels import pure
from tests.support.random_cells import random_cells


def many_values(rows: int, number: int = 0, *, null: bool = False) -> Cells:
    """Every row its own income, one of 2,600 codes in a hierarchy by prefix, a sex and a state."""
    rng = np.random.default_rng(number)
    income = np.sort(np.exp(rng.normal(10, 1, rows)).round(2) + np.arange(rows) / 1000)
    prefixes = Hierarchy.from_rows(
        [[f"{a}{b:02}", f"{a}{b // 10}-", f"{a}--", "*"] for a in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for b in range(100)]
    )
    quasi = (
        build_range_domain("income", "numeric", "Float64", [str(x) for x in income], income, null=null),
        build_tree_domain("code", "String", prefixes, null=null, is_from_steward=True),
        build_tree_domain("sex", "String", Hierarchy.flat(["f", "m"]), null=False, is_from_steward=True),
        build_tree_domain(
            "state", "String", Hierarchy.flat([f"{i:02}" for i in range(20)]), null=False, is_from_steward=True
        ),
    )
    codes = np.column_stack([(rng.random(rows) ** 2 * domain.size).astype(np.int32) for domain in quasi])
    codes[:, 0] = rng.permutation(rows)
    if null:
        codes[rng.random(rows) < 0.1, 0] = quasi[0].size - 1
    sensitive = build_tree_domain("s", "String", Hierarchy.flat(list("abcdef")), null=False, is_from_steward=True)
    values = rng.integers(0, 6, (rows, 1)).astype(np.int32)
    return build_cells(quasi, (sensitive,), codes, values, np.ones(rows, np.int64))[0]


def plan(cells: Cells, *promises: object, **options: object) -> Recipe:
    return Mosaic(**{"effort": "quick", **options}).plan(cells, Promises.from_iterable(promises), Random.from_seed(1))


def same(one: Recipe, other: Recipe) -> bool:
    return all(np.array_equal(getattr(one, f), getattr(other, f)) for f in ("cell", "group", "quota"))


@settings(deadline=None, max_examples=60)
@given(number=st.integers(0, 10**6), least=st.integers(1, 12), leaf=st.integers(1, 30), null=st.booleans())
def test_an_order_by_cuts_holds_every_point_once(number: int, least: int, leaf: int, null: bool):
    cells = random_cells(number, null=null)
    draw = np.random.default_rng(number)
    space = make_loss_space(cells)
    noise = (draw.random(len(cells.quasi)) + 0.1, 1.0, 7)
    for order in (
        order_by_cuts(cells.codes, space, least, leaf),
        order_by_cuts(cells.codes, space, least, leaf, noise),
        order_by_noisy_cuts(cells.codes, cells.codes, space, draw),
    ):
        assert np.array_equal(np.sort(order), np.arange(len(cells)))


def test_an_order_of_no_points_or_no_columns_is_no_order():
    space = make_loss_space(many_values(50))
    assert len(order_by_cuts(np.zeros((0, 4), np.int32), space, 2, 3)) == 0
    assert np.array_equal(order_by_cuts(np.zeros((3, 0), np.int32), space, 2, 3), [0, 1, 2])


def test_groups_along_an_order_by_cuts_are_narrow_in_several_columns_of_many_values():
    rows = 4000
    rng = np.random.default_rng(3)
    texts = [str(i) for i in range(rows)]
    quasi = tuple(build_range_domain(name, "numeric", "Int64", texts, np.arange(rows), null=False) for name in "abc")
    codes = np.column_stack([rng.permutation(rows) for _ in quasi]).astype(np.int32)
    sensitive = build_tree_domain("s", "String", Hierarchy.flat(["a"]), null=False, is_from_steward=True)
    cells = build_cells(quasi, (sensitive,), codes, np.zeros((rows, 1), np.int32), np.ones(rows, np.int64))[0]
    space = make_loss_space(cells)
    least = (5, 1)
    units = mosaic_segments.find_free_units(cells.codes, np.zeros(rows, np.int64), cells.counts, least, space)
    by_key = mosaic_segments.segment_units(units, least, space)
    best, by_cuts = mosaic_segments.start_segments(cells.codes, np.zeros(rows, np.int64), cells.counts, least, space)
    assert (
        mosaic_segments.compute_segment_loss(best, space, by_cuts)
        < mosaic_segments.compute_segment_loss(units, space, by_key) / 3
    )


def test_rows_with_equal_values_are_neighbours():
    codes = np.repeat(np.array([[0, 0, 0, 0], [700, 40, 1, 3], [999, 2599, 1, 19]], np.int32), 40, axis=0)
    mixed = np.random.default_rng(1).permutation(len(codes))
    order = order_by_cuts(codes[mixed], make_loss_space(many_values(1000)), 5, 9)
    assert (np.diff(codes[mixed][order], axis=0) != 0).any(axis=1).sum() == 2


def test_a_column_in_which_nothing_can_be_told_apart_is_left_for_the_others():
    rows = 400
    quasi = (
        build_tree_domain(
            "id", "String", Hierarchy.flat([f"{i:04}" for i in range(rows)]), null=False, is_from_steward=True
        ),
        build_range_domain("n", "numeric", "Int64", [str(i) for i in range(rows)], np.arange(rows), null=False),
    )
    sensitive = build_tree_domain("s", "String", Hierarchy.flat(["a"]), null=False, is_from_steward=True)
    codes = np.column_stack([np.random.default_rng(2).permutation(rows), np.arange(rows)]).astype(np.int32)
    cells = build_cells(quasi, (sensitive,), codes, np.zeros((rows, 1), np.int32), np.ones(rows, np.int64))[0]
    numbers = cells.codes[order_by_cuts(cells.codes, make_loss_space(cells), 5, 9), 1]
    assert np.abs(np.diff(numbers)).max() < 40


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("promise", [KAnonymity(5), DistinctLDiversity(3)], ids=lambda promise: promise.name)
def test_a_promise_is_kept_on_columns_of_very_many_values(promise: object, null: bool):
    recipe = plan(many_values(3000, null=null), promise)
    recipe.require_conserved()
    assert Promises.from_iterable([promise]).bind(recipe.cells).allow(merge_equal_labels(recipe)[0].as_groups()).all()


def test_groups_longer_than_a_pool_stay_whole():
    cells = many_values(4000)
    rare = np.where(np.arange(len(cells)) % 400 == 0, 1, 0).astype(np.int32)[:, None]
    cells = build_cells(cells.quasi, cells.sensitive, cells.codes, rare, cells.counts)[0]
    recipe = plan(cells, DistinctLDiversity(2), effort="balanced")
    recipe.require_conserved()
    assert recipe.as_groups().sizes.max() > mosaic_segments.LONG_POOL_UNITS
    assert (
        Promises.from_iterable([DistinctLDiversity(2)])
        .bind(cells)
        .allow(merge_equal_labels(recipe)[0].as_groups())
        .all()
    )


def test_columns_of_many_values_need_no_table_of_ranges():
    cells = many_values(60_000)
    space = make_loss_space(cells)
    assert space.sizes.max() > 20 * MAX_LOSS_TABLE_CODES
    assert len(space.spans) < 10 * space.sizes.sum()
    told = []
    recipe = Mosaic(effort="quick").plan(
        cells, Promises.from_iterable([KAnonymity(5)]), Random.from_seed(1), lambda now: told.append(now.loss) or True
    )
    assert len(told) == 1
    assert recipe.as_groups().sizes.min() >= 5


@pytest.mark.parametrize("promise", [KAnonymity(4), DistinctLDiversity(3)], ids=lambda promise: promise.name)
def test_any_number_of_threads_gives_the_same_recipe_of_many_values(promise: object):
    cells = many_values(3000)
    assert same(plan(cells, promise, threads=1), plan(cells, promise, threads=3))


def test_k_never_looks_at_the_sensitive_column_of_many_values():
    cells = many_values(1500)
    other = Cells(cells.quasi, cells.sensitive, cells.codes, (cells.values + 1) % 6, cells.counts)
    assert same(plan(cells, KAnonymity(5)), plan(other, KAnonymity(5)))


@pytest.mark.parametrize("null", [False, True])
def test_orders_are_the_same_pure(monkeypatch: pytest.MonkeyPatch, null: bool):
    def found() -> list[np.ndarray]:
        tables = [many_values(250, null=null), *(random_cells(number, null=null) for number in range(20))]
        return [
            order
            for cells in tables
            for order in (
                order_by_cuts(cells.codes, make_loss_space(cells), 3, 5),
                order_by_noisy_cuts(cells.codes, cells.codes, make_loss_space(cells), np.random.default_rng(1)),
            )
        ]

    compiled = found()
    monkeypatch.setattr(segments, "mosaic_order", pure("mosaic_order"))
    assert all(np.array_equal(one, other) for one, other in zip(compiled, found(), strict=True))
