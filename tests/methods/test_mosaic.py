from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from reticent.data.cells import Cells, build_cells
from reticent.data.domain import build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.errors import JobError, PromiseUnreachable
from reticent.methods.mosaic import Mosaic
from reticent.methods.mosaic import initial_groups as mosaic_carriers
from reticent.methods.mosaic import local_search as mosaic_chains
from reticent.methods.mosaic import local_search as mosaic_swaps
from reticent.methods.mosaic import quota_cuts as mosaic_quotas
from reticent.methods.mosaic import segments as mosaic_orders
from reticent.methods.mosaic import segments as mosaic_segments
from reticent.methods.mosaic.kernel_tables import make_loss_space
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.k_anonymity import KAnonymity
from reticent.models.l_diversity import DistinctLDiversity, EntropyLDiversity, ProbabilisticLDiversity
from reticent.models.promise import Promises
from reticent.models.t_closeness import TCloseness
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe
from tests.support.mosaic_plans import loss_of, plan, same, table
from tests.support.pure_kernels import pure
from tests.support.random_cells import random_cells, random_tree

SOME = [KAnonymity(4), DistinctLDiversity(2), BetaLikeness(2), TCloseness("1/4"), EntropyLDiversity(2)]


def kept(recipe: Recipe, *promises: object) -> bool:
    recipe.require_conserved()
    return bool(
        Promises.from_iterable(promises).bind(recipe.cells).allow(merge_equal_labels(recipe)[0].as_groups()).all()
    )


@pytest.mark.parametrize("promise", SOME, ids=lambda promise: promise.name)
def test_any_number_of_threads_gives_the_same_recipe(promise: object):
    cells = table(1500)
    assert same(plan(cells, promise, threads=1), plan(cells, promise, threads=3))


@pytest.mark.parametrize("promise", SOME, ids=lambda promise: promise.name)
def test_a_seed_repeats_the_recipe(promise: object):
    cells = table(600)
    assert same(plan(cells, promise, seed=5), plan(cells, promise, seed=5))


@pytest.mark.parametrize("promise", SOME, ids=lambda promise: promise.name)
def test_more_effort_never_gives_more_loss(promise: object):
    for number in range(2):
        cells = table(250, number)
        losses = [
            loss_of(plan(cells, promise, effort=effort, seed=number)) for effort in ("quick", "balanced", "thorough")
        ]
        assert all(after <= before + 1e-12 for before, after in pairwise(losses))


@pytest.mark.parametrize("promise", SOME, ids=lambda promise: promise.name)
def test_stopping_at_any_moment_gives_a_valid_release(promise: object):
    cells = table(400)
    told: list[float] = []
    for stop in (0, 1, 2, 7):
        told.clear()
        recipe = plan(
            cells, promise, effort="balanced", watch=lambda now, stop=stop: told.append(now.loss) or now.sweep >= stop
        )
        assert kept(recipe, promise)
        assert len(told) == stop + 1
        assert all(after <= before + 1e-12 for before, after in pairwise(told))
        assert loss_of(recipe) == pytest.approx(told[-1], abs=1e-9)


def test_an_interrupt_while_resolving_publishes_the_best_so_far():
    def interrupt(now) -> None:
        if now.sweep == 3:
            raise KeyboardInterrupt

    recipe = plan(table(400), BetaLikeness(2), effort="thorough", watch=interrupt)
    assert kept(recipe, BetaLikeness(2))


def test_effort_may_be_cpu_seconds():
    assert kept(plan(table(300), KAnonymity(3), effort=0.05), KAnonymity(3))


@pytest.mark.parametrize("effort", ["fast", 0, -1, True, None])
def test_an_effort_that_is_none_is_refused(effort: object):
    with pytest.raises(JobError):
        Mosaic(effort=effort)


def test_resolving_gains_on_the_first_solution():
    for promise in SOME:
        cells = table(1000)
        told = []
        plan(cells, promise, effort="balanced", watch=lambda now, told=told: told.append(now.loss))
        assert told[-1] < told[0]


def test_a_promise_the_whole_table_breaks_is_refused_with_the_reason():
    with pytest.raises(PromiseUnreachable, match=r"needs 500 rows, and the table has 300"):
        plan(table(300), KAnonymity(500))
    with pytest.raises(PromiseUnreachable, match=r"One value of 's' has a share of 0\.\d+, and may have at most 0\.2"):
        plan(table(300), ProbabilisticLDiversity(5))


def test_a_promise_that_is_not_closed_under_union_is_refused():
    @dataclass(frozen=True)
    class Odd:
        name: ClassVar[str] = "odd-groups"
        needs_sensitive: ClassVar[bool] = False
        union_closed: ClassVar[bool] = False

        def bind(self, cells: Cells, totals=None):
            return lambda groups: groups.sizes % 2 == 1

    with pytest.raises(JobError, match="odd-groups"):
        plan(table(51), Odd())


def test_a_promise_no_kernel_knows_is_kept():
    """At least three different codes of the first column in a group: closed under union, known to the promise alone."""

    @dataclass(frozen=True)
    class Spread:
        name: ClassVar[str] = "spread"
        needs_sensitive: ClassVar[bool] = False
        union_closed: ClassVar[bool] = True

        def bind(self, cells: Cells, totals=None):
            def keeps(groups):
                pairs = np.unique(groups.group * 1000 + cells.codes[groups.cell, 0])
                return np.bincount(pairs // 1000, minlength=len(groups)) >= 3

            return keeps

    for promises in ([Spread()], [Spread(), KAnonymity(4)], [Spread(), BetaLikeness(2)]):
        recipe = plan(table(300), *promises)
        assert kept(recipe, *promises)
        assert recipe.groups > 5


def test_promises_on_two_sensitive_columns_are_both_kept():
    for number in range(20):
        one = random_cells(number, most_rows=80, null=False)
        rng = np.random.default_rng(number)
        other = build_tree_domain("z", "String", Hierarchy.flat(["a", "b", "c"]), null=False, is_from_steward=True)
        rows = np.repeat(np.arange(len(one)), one.counts)
        values = np.column_stack([one.values[rows, 0], rng.integers(0, 3, len(rows))]).astype(np.int32)
        cells = build_cells(one.quasi, (*one.sensitive, other), one.codes[rows], values, np.ones(len(rows), np.int64))[
            0
        ]
        promises = [BetaLikeness(2, column="s"), DistinctLDiversity(2, column="z")]
        try:
            recipe = plan(cells, *promises, seed=number)
        except PromiseUnreachable:
            continue
        assert kept(recipe, *promises)


def quasi_quotas(recipe: Recipe) -> dict:
    """Rows of each quasi-identifier cell in each group, groups named by their boxes."""
    lower, upper = recipe.find_spans()
    found: dict = {}
    for cell, group, quota in zip(recipe.cell.tolist(), recipe.group.tolist(), recipe.quota.tolist(), strict=True):
        key = (tuple(recipe.cells.codes[cell]), tuple(lower[group]), tuple(upper[group]))
        found[key] = found.get(key, 0) + quota
    return found


def test_k_alone_never_looks_at_the_sensitive_column():
    cells = table(500)
    rows = np.repeat(np.arange(len(cells)), cells.counts)
    shuffled = np.random.default_rng(0).permutation(cells.values[rows])
    other = build_cells(cells.quasi, cells.sensitive, cells.codes[rows], shuffled, np.ones(len(rows), np.int64))[0]
    assert quasi_quotas(plan(cells, KAnonymity(4))) == quasi_quotas(plan(other, KAnonymity(4)))


def test_a_column_without_weight_is_generalized_and_the_others_less():
    cells = table(600)
    flat = plan(cells, KAnonymity(5), effort="balanced")
    weighed = plan(cells, KAnonymity(5), effort="balanced", weights={"q0": 0, "n": 3})
    assert loss_of(weighed, {"q0": 0, "n": 3}) < loss_of(flat, {"q0": 0, "n": 3})
    with pytest.raises(JobError, match="'age'"):
        plan(cells, KAnonymity(5), weights={"age": 2})
    with pytest.raises(JobError):
        plan(cells, KAnonymity(5), weights={"n": -1})


def test_kernels_give_the_same_recipes_uncompiled(monkeypatch: pytest.MonkeyPatch):
    def recipes() -> list[Recipe]:
        return [
            plan(random_cells(number, null=False), KAnonymity(2), promise, threads=1, effort="balanced")
            for number in (3, 8, 11)
            for promise in (KAnonymity(2), BetaLikeness(3), TCloseness("1/2"))
        ]

    compiled = recipes()
    carriers = pure("mosaic_carriers")
    monkeypatch.setattr(mosaic_segments, "Segmenter", pure("mosaic_pools").Segmenter)
    monkeypatch.setattr(mosaic_orders, "mosaic_order", pure("mosaic_order"))
    monkeypatch.setattr(mosaic_quotas, "Cutter", pure("mosaic_cuts").Cutter)
    monkeypatch.setattr(mosaic_chains, "Chainer", pure("mosaic_pools").Chainer)
    monkeypatch.setattr(mosaic_swaps, "Swapper", pure("mosaic_swaps").Swapper)
    monkeypatch.setattr(mosaic_carriers, "find_carrier_box", carriers.find_carrier_box)
    monkeypatch.setattr(mosaic_carriers, "take_rows", carriers.take_rows)
    assert all(same(one, other) for one, other in zip(compiled, recipes(), strict=True))


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("size", [50, 3000])
@pytest.mark.parametrize("kind", ["range", "tree"])
def test_kernels_and_domains_agree_on_every_span(kind: str, size: int, null: bool):
    rng = np.random.default_rng(size)
    if kind == "range":
        domain = build_range_domain(
            "q", "numeric", "Int64", [str(i) for i in range(size)], np.sort(rng.random(size)), null=null
        )
    else:
        domain = build_tree_domain("q", "String", random_tree(rng, size, "q"), null=null, is_from_steward=True)
    sensitive = build_tree_domain("s", "String", Hierarchy.flat(["a"]), null=False, is_from_steward=True)
    cells = build_cells(
        (domain,), (sensitive,), np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int32), np.ones(1, np.int64)
    )[0]
    space = make_loss_space(cells)
    span = pure("inline_functions").compute_span
    ends = np.sort(rng.integers(0, domain.size, (300, 2)), axis=1)
    ends = np.vstack([ends, [[0, domain.size - 1], [domain.size - 1] * 2, [domain.size - 2, domain.size - 1]]])
    found = [span(space.spans, space.places, 0, int(lo), int(hi)) for lo, hi in ends]
    assert found == pytest.approx(domain.loss(ends[:, 0], ends[:, 1]), abs=1e-12)


@pytest.mark.parametrize("promise", [KAnonymity(5), BetaLikeness(2)], ids=["k", "beta"])
def test_columns_of_very_many_values_need_no_table(promise: object):
    rng = np.random.default_rng(0)
    size = 100_000
    rows = 3000
    income = build_range_domain(
        "income", "numeric", "Int64", [str(i) for i in range(size)], np.arange(size), null=False
    )
    codes = [[f"c{i}", f"b{i // 30}", f"a{i // 900}", "*"] for i in range(70_000)]
    icd = build_tree_domain("icd", "String", Hierarchy.from_rows(codes), null=False, is_from_steward=True)
    sensitive = build_tree_domain("s", "String", Hierarchy.flat(list("abcde")), null=False, is_from_steward=True)
    drawn = np.column_stack([rng.integers(0, size, rows), rng.integers(0, 70_000, rows)]).astype(np.int32)
    values = np.minimum(rng.integers(0, 7, (rows, 1)), 4).astype(np.int32)
    cells = build_cells((income, icd), (sensitive,), drawn, values, np.ones(rows, np.int64))[0]
    recipe = plan(cells, promise)
    assert kept(recipe, promise)
    assert loss_of(recipe) < 0.45


def least_loss(points: np.ndarray, k: int, size: int) -> Fraction:
    """The least total loss of groups of at least k of these points on a line of `size` values, by trying all partitions."""

    def partitions(items: list[int]):
        if not items:
            yield []
            return
        first = items[0]
        rest = items[1:]
        for smaller in partitions(rest):
            yield [[first], *smaller]
            for at in range(len(smaller)):
                yield [*smaller[:at], [first, *smaller[at]], *smaller[at + 1 :]]

    losses = []
    for parts in partitions(list(range(len(points)))):
        if min(map(len, parts)) >= k:
            spread = [(points[part].max(axis=0) - points[part].min(axis=0)).sum() * len(part) for part in parts]
            losses.append(Fraction(int(sum(spread)), points.shape[1] * (size - 1)))
    return min(losses)


def test_small_tables_are_solved_to_the_least_loss_nearly_always():
    best = 0
    for number in range(40):
        rng = np.random.default_rng(number)
        points = rng.integers(0, 6, (8, 2))
        points[0], points[1] = 0, 5
        quasi = tuple(
            build_range_domain(f"q{j}", "numeric", "Int64", list("012345"), np.arange(6), null=False) for j in range(2)
        )
        sensitive = build_tree_domain("s", "String", Hierarchy.flat(["a"]), null=False, is_from_steward=True)
        cells = build_cells(
            quasi, (sensitive,), points.astype(np.int32), np.zeros((8, 1), np.int32), np.ones(8, np.int64)
        )[0]
        found = loss_of(plan(cells, KAnonymity(2), effort="thorough")) * 8
        optimum = float(least_loss(points, 2, 6))
        assert found >= optimum - 1e-9
        best += found <= optimum + 1e-9
    assert best >= 34
