"""Mondrian, seen from outside: what it cuts, what it refuses, and what it says when it does."""

from __future__ import annotations

import numpy as np
import pytest

from reticent.data.cells import Cells, build_cells
from reticent.data.domain import Domain, build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.errors import JobError, PromiseUnreachable
from reticent.methods.mondrian import Mondrian
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.k_anonymity import KAnonymity
from reticent.models.l_diversity import DistinctLDiversity, ProbabilisticLDiversity
from reticent.models.promise import Promises
from reticent.models.t_closeness import TCloseness
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe

RNG = Random.from_seed(1)


def numbers(name: str, size: int, *, null: bool = False) -> Domain:
    return build_range_domain(name, "numeric", "Int64", [str(i) for i in range(size)], np.arange(size), null=null)


def tree(name: str, rows: list[list[str]], *, null: bool = False) -> Domain:
    return build_tree_domain(name, "String", Hierarchy.from_rows(rows), null=null, is_from_steward=True)


def flat(name: str, values: str) -> Domain:
    return tree(name, [[value, "*"] for value in values])


def table(quasi: list[Domain], codes: list, values: list | None = None, sensitive: Domain | None = None) -> Cells:
    """Cells of rows given as codes; every row has the same sensitive value where none is given."""
    sensitive = sensitive or flat("disease", "xyz")
    held = np.array(values if values is not None else [0] * len(codes), np.int32).reshape(-1, 1)
    matrix = np.array(codes, np.int32).reshape(len(codes), len(quasi))
    return build_cells(tuple(quasi), (sensitive,), matrix, held, np.ones(len(codes), np.int64))[0]


def labels(recipe: Recipe) -> set[tuple]:
    """What each group publishes."""
    merged, found = merge_equal_labels(recipe)
    return {tuple(found.texts[j][found.of_group[g, j]] for j in range(len(found.texts))) for g in range(merged.groups)}


def ail(recipe: Recipe) -> float:
    low, high = recipe.find_spans()
    sizes = recipe.as_groups().sizes
    columns = recipe.cells.quasi
    lost = sum(domain.loss(low[:, j], high[:, j]) for j, domain in enumerate(columns))
    return float((lost * sizes).sum() / sizes.sum() / len(columns))


def plan(cells: Cells, *promises: object, **how: object) -> Recipe:
    recipe = Mondrian(**how).plan(cells, Promises.from_iterable(promises), RNG)
    recipe.require_conserved()
    return recipe


def census(rows: int = 3000, seed: int = 5) -> Cells:
    """A correlated table with ranges, a tree and a flat column."""
    rng = np.random.default_rng(seed)
    place = [[f"s{i}", f"r{i // 4}", f"d{i // 12}", "*"] for i in range(24)]
    quasi = [numbers("age", 60), tree("place", place), flat("sex", "fm"), numbers("hours", 40)]
    age = np.clip(rng.normal(30, 15, rows), 0, 59).astype(int)
    codes = np.column_stack(
        [age, rng.integers(0, 24, rows), rng.integers(0, 2, rows), np.clip(age // 2 + rng.integers(0, 12, rows), 0, 39)]
    )
    values = np.minimum(rng.geometric(0.35, rows) - 1, 7)
    return table(quasi, codes.tolist(), values.tolist(), flat("disease", "abcdefgh"))


@pytest.mark.parametrize("cuts", ["loss", "median"])
def test_a_range_is_cut_between_values_until_groups_would_be_too_small(cuts):
    cells = table([numbers("age", 8)], [[i] for i in range(8)])
    assert labels(plan(cells, KAnonymity(2), cuts=cuts)) == {("[0, 1]",), ("[2, 3]",), ("[4, 5]",), ("[6, 7]",)}


@pytest.mark.parametrize("cuts", ["loss", "median"])
def test_a_tree_is_cut_along_its_nodes(cuts):
    column = tree("job", [["a", "A", "*"], ["b", "A", "*"], ["c", "B", "*"], ["d", "B", "*"]])
    cells = table([column], [[0], [1], [2], [3]])
    assert labels(plan(cells, KAnonymity(2), cuts=cuts)) == {("A",), ("B",)}


def test_median_cuts_never_part_a_child_before_its_parent():
    column = tree("job", [["a", "A", "*"], ["b", "A", "*"], ["c", "B", "*"]])
    cells = table([column], [[0]] * 6 + [[1]] * 2 + [[2]])
    assert labels(plan(cells, KAnonymity(2), cuts="median")) == {("*",)}
    assert labels(plan(cells, KAnonymity(2), cuts="loss")) == {("a",), ("*",)}


def test_one_leaf_may_be_cut_from_the_rest_and_sets_say_exactly_what_is_left():
    cells = table([flat("job", "abcd")], [[0], [1], [1], [1], [2], [3]])
    assert labels(plan(cells, KAnonymity(3))) == {("b",), ("*",)}
    assert labels(plan(cells, KAnonymity(3), labels="sets")) == {("b",), ("{a, c, d}",)}


def test_without_fallback_a_node_stays_whole_where_its_widest_column_cannot_be_cut():
    wide = numbers("wide", 100)
    narrow = numbers("narrow", 100)
    cells = table([wide, narrow], [[0, 0], [99, 0], [99, 50], [99, 50]])
    assert plan(cells, KAnonymity(2), cuts="median", fallback=True).groups == 2
    assert plan(cells, KAnonymity(2), cuts="median", fallback=False).groups == 1


def test_the_null_is_never_inside_a_range():
    cells = table([numbers("age", 4, null=True)], [[0], [1], [2], [3], [4]])
    assert labels(plan(cells, KAnonymity(2))) == {("[0, 1]",), ("*",)}
    cells = table([numbers("age", 4, null=True)], [[0], [1], [2], [3], [4], [4]])
    assert labels(plan(cells, KAnonymity(2))) == {("[0, 1]",), ("[2, 3]",), (None,)}


@pytest.mark.parametrize(
    "promise", [KAnonymity(5), DistinctLDiversity(3), BetaLikeness(2), TCloseness("0.3")], ids=repr
)
def test_cuts_by_loss_lose_less_than_median_cuts_and_thorough_ones_no_more(promise):
    cells = census()
    median, loss, thorough = (plan(cells, promise, **how) for how in ({"cuts": "median"}, {}, {"thorough": True}))
    assert ail(thorough) < ail(median) and ail(loss) < ail(median)
    assert ail(thorough) <= ail(loss) * 1.02


def test_a_weight_moves_the_loss_to_the_other_columns():
    cells = census()
    kept = {}
    for weights in (None, {"age": 50}):
        recipe = plan(cells, KAnonymity(20), weights=weights)
        low, high = recipe.find_spans()
        kept[weights is None] = (cells.quasi[0].loss(low[:, 0], high[:, 0]) * recipe.as_groups().sizes).sum()
    assert kept[False] < kept[True]


def test_every_promise_of_a_conjunction_is_kept():
    cells = census()
    asked = [KAnonymity(4), ProbabilisticLDiversity(2), BetaLikeness(3), TCloseness("0.4")]
    recipe = plan(cells, *asked)
    assert recipe.groups > 10
    assert Promises.from_iterable(asked).bind(cells).allow(recipe.as_groups()).all()


def test_promises_on_two_sensitive_columns_are_both_kept():
    rng = np.random.default_rng(3)
    values = np.column_stack([rng.integers(0, 4, 400), rng.integers(0, 3, 400)]).astype(np.int32)
    codes = rng.integers(0, 50, (400, 2)).astype(np.int32)
    sensitive = flat("disease", "abcd"), flat("wage", "lmh")
    cells = build_cells((numbers("age", 50), numbers("hours", 50)), sensitive, codes, values, np.ones(400, np.int64))[0]
    asked = [
        ProbabilisticLDiversity(2, column="disease"),
        TCloseness("0.35", column="wage"),
        DistinctLDiversity(3, column="wage"),
    ]
    for cuts in ("loss", "median"):
        recipe = plan(cells, *asked, cuts=cuts)
        groups = recipe.as_groups()
        assert recipe.groups > 5
        assert (groups.histogram(0).max(axis=1) * 2 <= groups.sizes).all()
        assert (groups.histogram(1) > 0).all()


def test_a_table_without_quasi_identifiers_is_one_group():
    cells = table([], [[] for _ in range(5)])
    assert plan(cells, KAnonymity(3)).groups == 1


def test_many_values_of_one_flat_column_do_not_make_a_cut_for_each():
    """Peeling one value at a time from a column of thousands would take thousands of passes over all rows."""
    values = 3000
    domain = tree("city", [[f"c{i}", "*"] for i in range(values)])
    rng = np.random.default_rng(2)
    codes = np.concatenate([np.arange(values), rng.integers(0, values, 2 * values)])
    cells = table(
        [domain, numbers("age", 10)],
        [[int(c), int(a)] for c, a in zip(codes, rng.integers(0, 10, len(codes)), strict=True)],
    )
    recipe = plan(cells, KAnonymity(2))
    assert recipe.as_groups().sizes.min() >= 2
    assert recipe.groups > values // 2


@pytest.mark.parametrize("cuts", ["loss", "median"])
def test_numbers_with_hundreds_of_thousands_of_values_are_cut_like_few(cuts):
    rng = np.random.default_rng(8)
    far = np.sort(rng.choice(300_000, 600, replace=False))
    wide = build_range_domain("wage", "numeric", "Int64", [""] * 300_000, np.arange(300_000), null=False)
    near = build_range_domain("wage", "numeric", "Int64", [""] * 600, far, null=False, declared=(0, 299_999))
    other = rng.integers(0, 9, 600)
    one = plan(table([wide, numbers("age", 9)], np.column_stack([far, other]).tolist()), KAnonymity(7), cuts=cuts)
    two = plan(
        table([near, numbers("age", 9)], np.column_stack([np.arange(600), other]).tolist()), KAnonymity(7), cuts=cuts
    )
    np.testing.assert_array_equal(one.group, two.group)


def refusal(cells: Cells, *promises: object) -> str:
    with pytest.raises(PromiseUnreachable) as caught:
        plan(cells, *promises)
    return str(caught.value)


def test_a_group_size_beyond_the_table_is_refused_with_both_numbers():
    said = refusal(table([numbers("age", 3)], [[0], [1], [2]]), KAnonymity(5))
    assert "k-anonymity" in said and "5" in said and "3" in said


def test_a_share_above_its_cap_is_told_without_the_value():
    secret = flat("disease", "xyz")
    cells = table([numbers("age", 4)], [[i % 4] for i in range(8)], [0] * 6 + [1, 2], secret)
    said = refusal(cells, ProbabilisticLDiversity(2))
    assert "'disease'" in said and "0.7500" in said and "0.5000" in said
    assert not {"'x'", " x ", "x,"} & set(said.split())


def test_too_few_distinct_values_are_told_by_number():
    cells = table([numbers("age", 4)], [[i % 4] for i in range(8)], [0, 1] * 4)
    said = refusal(cells, KAnonymity(2), DistinctLDiversity(3))
    assert "distinct-l-diversity" in said and "3 distinct values" in said and "has 2" in said


def test_an_empty_table_is_refused_and_not_published_empty():
    cells = Cells(
        (numbers("age", 3),),
        (flat("disease", "xyz"),),
        np.zeros((0, 1), np.int32),
        np.zeros((0, 1), np.int32),
        np.zeros(0, np.int64),
    )
    assert "no rows" in refusal(cells, KAnonymity(2))


@pytest.mark.parametrize(
    "how",
    [
        {"cuts": "widest"},
        {"labels": "ranges"},
        {"weights": {"age": -1}},
        {"weights": {"age": "2"}},
        {"weights": {"age": float("nan")}},
    ],
    ids=str,
)
def test_a_wrong_parameter_is_refused_when_the_method_is_made(how):
    with pytest.raises(JobError):
        Mondrian(**how)


def test_a_weight_for_an_unknown_column_names_the_known_ones():
    with pytest.raises(JobError, match="'age'"):
        plan(table([numbers("age", 3)], [[0], [1], [2]]), KAnonymity(2), weights={"aeg": 2})


def test_a_promise_about_a_mechanism_is_refused():
    class Growth:
        name = "delta-growth"

        def verify(self) -> None: ...

    with pytest.raises(JobError, match="delta-growth"):
        plan(table([numbers("age", 3)], [[0], [1], [2]]), KAnonymity(2), Growth())
