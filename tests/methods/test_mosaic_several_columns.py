"""Several sensitive columns, and none: a promise on one of them sees rows, whatever stands in the others."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import datasets
from reticent.data.cells import Cells, build_cells
from reticent.data.domain import build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.methods.mosaic import Mosaic, segments
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe
from tests.oracle import measures

SENSITIVE = ("marital_status", "work_class", "salary_class")


def cells_of(rows: list[tuple[int, str, str]]) -> Cells:
    """Rows (n, s, z): a number and two sensitive letters, `-` where the first is missing."""
    null = any(row[1] == "-" for row in rows)
    quasi = build_range_domain("n", "numeric", "Int64", [str(i) for i in range(9)], np.arange(9), null=False)
    domains = [
        build_tree_domain(
            name, "String", Hierarchy.flat(list(letters)), null=null and name == "s", is_from_steward=True
        )
        for name, letters in (("s", "abcd"), ("z", "uvwxyz"))
    ]
    codes = np.array([[row[0]] for row in rows], np.int32)
    values = np.array([["abcd-".index(row[1]), "uvwxyz".index(row[2])] for row in rows], np.int32)
    return build_cells((quasi,), tuple(domains), codes, values, np.ones(len(rows), np.int64))[0]


def plan(cells: Cells, *promises: object, **options: object) -> Recipe:
    recipe = Mosaic(**{"effort": "quick", **options}).plan(cells, Promises.from_iterable(promises), Random.from_seed(1))
    recipe.require_conserved()
    return merge_equal_labels(recipe)[0]


def groups_of(recipe: Recipe, column: int) -> list[Counter]:
    found: dict[int, Counter] = {}
    texts = [*recipe.cells.sensitive[column].texts, None]
    for cell, group, quota in zip(recipe.cell.tolist(), recipe.group.tolist(), recipe.quota.tolist(), strict=True):
        found.setdefault(group, Counter())[texts[recipe.cells.values[cell, column]]] += quota
    return list(found.values())


def test_two_cells_of_one_value_are_one_distinct_value():
    rows = [(0, "a", "x"), (0, "a", "y"), (8, "b", "x"), (8, "b", "y")]
    found = groups_of(plan(cells_of(rows), rt.DistinctLDiversity(2, column="s")), 0)
    assert measures.holds("distinct-l-diversity", found, l=2)


def test_a_home_keeps_one_row_of_each_value_it_needs_not_of_each_cell():
    rows = [(4, "a", z) for z in "uvwxyz"] + [(4, "b", "x"), (0, "a", "x"), (8, "c", "x"), (1, "b", "y")]
    for l in (2, 3):  # noqa: E741
        found = groups_of(plan(cells_of(rows), rt.DistinctLDiversity(l, column="s")), 0)
        assert measures.holds("distinct-l-diversity", found, l=l)


def test_missing_values_in_several_cells_are_no_distinct_values():
    rows = [(0, "-", z) for z in "uvw"] + [(0, "a", "x"), (1, "a", "y"), (7, "b", "x"), (8, "b", "z"), (8, "c", "z")]
    found = groups_of(plan(cells_of(rows), rt.DistinctLDiversity(2, column="s")), 0)
    assert measures.holds("distinct-l-diversity", found, l=2)


def test_another_sensitive_column_changes_no_box_of_a_promise_on_one():
    """The search sees quasi-identifiers and the promised column; rows alike in both are dealt out at random."""
    rng = np.random.default_rng(3)
    rows = [
        (int(n), "abcd"[s], "uvwxyz"[z])
        for n, s, z in zip(rng.integers(0, 9, 50), rng.integers(0, 4, 50), rng.integers(0, 6, 50), strict=True)
    ]
    plain = [(n, s, "x") for n, s, _ in rows]
    promise = rt.DistinctLDiversity(4, column="s")
    boxes = [
        sorted(map(tuple, np.column_stack([*recipe.find_spans(), recipe.as_groups().sizes]).tolist()))
        for recipe in (plan(cells_of(rows), promise), plan(cells_of(plain), promise))
    ]
    assert boxes[0] == boxes[1]


def test_cells_alike_in_one_column_are_numbered_by_quasi_identifiers_and_value():
    cells = cells_of([(0, "b", "x"), (0, "a", "x"), (0, "a", "y"), (1, "a", "x"), (0, "b", "y"), (0, "b", "x")])
    assert segments.number_alike_cells(cells, 0).tolist() == [0, 0, 1, 1, 2]
    assert segments.number_alike_cells(cells, 1).tolist() == [0, 1, 0, 1, 2]
    assert segments.number_alike_cells(cells, -1).tolist() == [0, 0, 0, 0, 1]


def test_rows_are_conserved_where_the_promised_column_orders_cells_otherwise():
    rows = [(0, "a", "y"), (0, "a", "y"), (0, "b", "x"), (3, "a", "z"), (5, "b", "x"), (5, "c", "w"), (5, "c", "w")]
    found = groups_of(plan(cells_of(rows), rt.DistinctLDiversity(2, column="z")), 1)
    assert measures.holds("distinct-l-diversity", found, l=2)


@pytest.mark.parametrize(("l", "effort"), [(2, "quick"), (3, "balanced"), (4, "quick")])
def test_the_census_with_several_sensitive_columns_passes_its_own_audit(l: int, effort: str):  # noqa: E741
    frame = datasets.load("census", rows=600, seed=l)
    quasi = {"age": rt.quasi(numeric=True), "gender": rt.quasi(), "education": rt.quasi(numeric=True)}
    for few in (2, 3):
        names = SENSITIVE[-few:]
        each = [rt.DistinctLDiversity(l, column=name) for name in names]
        together = [rt.DistinctLDiversity(l)]
        asked = [(each, False), (each[:1], False), (each[-1:], False), (together, True), (together + each[:1], True)]
        for promises, jointly in asked:
            job = rt.Job(
                columns={**quasi, **{name: rt.sensitive() for name in names}},
                promises=promises,
                jointly=jointly,
                method=Mosaic(effort=effort, threads=1),
                release=rt.Output(undeclared="drop"),
            )
            release = rt.publish(job, frame=frame, seed=1)
            assert all(verdict.kept for verdict in release.audited.promises)


@pytest.mark.parametrize("beside", [[], [rt.KAnonymity(3)]], ids=["alone", "with k"])
def test_k_map_needs_no_sensitive_column(beside: list):
    people = pl.DataFrame({"age": [i % 40 for i in range(400)]})
    job = rt.Job(
        columns={"age": rt.quasi(numeric=True)},
        promises=[rt.KMap(25, population=people), *beside],
        method=Mosaic(effort="quick"),
    )
    release = rt.publish(job, frame=people[:90], seed=1)
    assert all(verdict.kept for verdict in release.audited.promises)
