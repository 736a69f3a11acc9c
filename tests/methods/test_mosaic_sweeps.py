"""The sweeps that re-solve mosaic's groups: what each may change, and that none of them breaks a promise."""

from fractions import Fraction
from itertools import combinations
from math import ceil
from time import process_time

import numpy as np
import pytest

from reticent.data.cells import Cells
from reticent.kernels.mosaic_cuts import Cutter
from reticent.methods.mondrian import Mondrian
from reticent.methods.mosaic import quota_cuts as mosaic_quotas
from reticent.methods.mosaic.initial_groups import make_initial_tiling
from reticent.methods.mosaic.kernel_tables import make_kernel_rule, make_loss_space
from reticent.methods.mosaic.local_search import MAX_POOL_ROWS, ChainSweeps, SwapSweeps, _compute_needed_rows
from reticent.methods.mosaic.quota_cuts import QuotaSweeps
from reticent.methods.mosaic.tiling import SweepBudget, Tiling, TilingProposal, make_tiling
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.k_anonymity import KAnonymity
from reticent.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from reticent.models.promise import Promises
from reticent.models.t_closeness import TCloseness
from reticent.randomness import Random
from reticent.time_limit import TimeLimitReached, run_within
from tests.support.mosaic_plans import table
from tests.support.pure_kernels import pure


def histograms(cells: Cells, tiling: Tiling) -> np.ndarray:
    found = np.zeros((len(tiling), cells.sensitive[0].size), np.int64)
    np.add.at(
        found, (np.repeat(np.arange(len(tiling)), np.diff(tiling.starts)), cells.values[tiling.cell, 0]), tiling.quota
    )
    return found


def rows_of_cells(cells: Cells, tiling: Tiling) -> list[int]:
    return np.bincount(tiling.cell, weights=tiling.quota, minlength=len(cells)).astype(int).tolist()


def started(cells: Cells, *promises: object) -> tuple:
    given = Promises.from_iterable(promises)
    bound = given.bind(cells)
    space = make_loss_space(cells)
    rule = make_kernel_rule(cells, given, bound)
    sweeps = SweepBudget.from_options("quick", None, 2)
    recipe = Mondrian(cuts="loss").plan(cells, given, Random.from_seed(1))
    strict = make_tiling(recipe.cell, recipe.group, recipe.quota)
    return space, rule, bound, sweeps, make_initial_tiling(cells, space, rule, sweeps, lambda: strict)


@pytest.mark.parametrize("number", range(4))
def test_swaps_keep_every_histogram_and_lose_no_more(number: int):
    cells = table(900, number)
    space, _, _, _, now = started(cells, BetaLikeness(2))
    found = SwapSweeps(cells, space).sweep_swaps(now, np.random.default_rng(number))
    assert np.array_equal(histograms(cells, found), histograms(cells, now))
    assert rows_of_cells(cells, found) == cells.counts.tolist()
    assert found.loss(cells, space) <= now.loss(cells, space)


def test_swaps_shed_the_row_that_makes_a_group_wide():
    """Two groups that each hold the other's row of value 0 give them back."""
    cells = table(400, sizes=(40,), values=2)
    space = make_loss_space(cells)
    order = np.argsort(cells.codes[:, 0], kind="stable")
    group = np.zeros(len(cells), np.int64)
    group[order[len(order) // 2 :]] = 1
    first, last = (next(c for c in side if cells.values[c, 0] == 0) for side in (order, order[::-1]))
    tidy = make_tiling(np.arange(len(cells)), group, cells.counts)
    group[first], group[last] = 1, 0
    mixed = make_tiling(np.arange(len(cells)), group, cells.counts)
    assert mixed.loss(cells, space) > tidy.loss(cells, space)
    # a second sweep may find what the first opened
    found = mixed
    for seed in range(3):
        found = SwapSweeps(cells, space).sweep_swaps(found, np.random.default_rng(seed))
    assert found.loss(cells, space) < mixed.loss(cells, space)


@pytest.mark.parametrize("promise", [BetaLikeness(2), BetaLikeness(1, enhanced=False)], ids=str)
@pytest.mark.parametrize("number", range(3))
def test_chains_keep_caps_by_integers(promise: object, number: int):
    cells = table(700, number)
    space, rule, bound, sweeps, now = started(cells, promise)
    assert rule.exact
    found = ChainSweeps(cells, space, rule, sweeps).sweep_chains(now, np.random.default_rng(number)).fresh
    assert bound.allow(found.groups(cells)).all()
    assert rows_of_cells(cells, found) == cells.counts.tolist()
    assert found.loss(cells, space) <= now.loss(cells, space) * (1 + 1e-9)


BY_DOUBLES = [TCloseness("1/2"), TCloseness("1/5", "ordered"), EntropyLDiversity(2), RecursiveLDiversity(c=3, l=2)]


@pytest.mark.parametrize("promise", BY_DOUBLES, ids=str)
def test_what_chains_judge_by_doubles_the_promise_checks_again(promise: object):
    cells = table(700)
    space, rule, bound, sweeps, now = started(cells, promise)
    proposed = ChainSweeps(cells, space, rule, sweeps).sweep_chains(now, np.random.default_rng(1))
    found = proposed.accept_allowed_blocks(cells, bound)
    # on such a table the doubles are right all along
    assert found is proposed.fresh
    assert bound.allow(found.groups(cells)).all()
    assert rows_of_cells(cells, found) == cells.counts.tolist()


@pytest.mark.parametrize(
    ("promises", "known"),
    [
        ([BetaLikeness(2)], True),
        ([KAnonymity(3), BetaLikeness(2)], True),
        ([TCloseness("1/4")], True),
        ([TCloseness("1/4", "ordered")], True),
        ([TCloseness("1/4", "hierarchical")], False),
        ([BetaLikeness(2, two_sided=True)], False),
        ([BetaLikeness(2), DistinctLDiversity(3)], True),
        ([EntropyLDiversity(2), RecursiveLDiversity(c=3, l=2)], True),
    ],
    ids=str,
)
def test_chains_take_only_promises_they_know_whole(promises: list, known: bool):
    cells = table(300)
    given = Promises.from_iterable(promises)
    assert ChainSweeps.supports(make_kernel_rule(cells, given, given.bind(cells))) is known


def test_needs_are_the_least_sizes_that_keep_a_cap():
    caps = np.array([[1, 3, 0, 1], [2, 7, 0, 1], [0, 1, 0, 1], [1, 1, 0, 1]], np.int64)
    most = np.array([4, 3, 2, 5])
    needs, first = _compute_needed_rows(caps, most)
    for value, (over, under, _, _) in enumerate(caps.tolist()):
        for count in range(most[value] + 2):
            need = int(needs[first[value] + count])
            if over == 0 and count:
                assert need > 10**9
            else:
                assert need == (ceil(count / Fraction(over, under)) if count else 0)


CUT = [[BetaLikeness(3)], [BetaLikeness(3), DistinctLDiversity(2)], *([promise] for promise in BY_DOUBLES)]


@pytest.mark.parametrize("promises", CUT, ids=str)
@pytest.mark.parametrize("number", range(4))
def test_a_chain_is_cut_as_well_as_any_way_of_cutting_it(number: int, promises: list):
    cells = table(9, number, sizes=(12, 4), values=3)
    if (
        not Promises.from_iterable(promises)
        .bind(cells)
        .allow(make_tiling(np.arange(len(cells)), np.zeros(len(cells), int), cells.counts).groups(cells))
        .all()
    ):
        pytest.skip("the whole table breaks it")
    space, rule, bound, sweeps, _ = started(cells, *promises)
    cell = np.repeat(np.arange(len(cells)), cells.counts).astype(np.int32)
    sweep = ChainSweeps(cells, space, rule, sweeps)
    units = np.ascontiguousarray(cells.codes[cell]), sweep.values[cell]
    chainer = pure("mosaic_pools").Chainer(
        units, (space.spans, space.places), sweep.limits, (MAX_POOL_ROWS, 9), np.zeros(len(cell), np.int32)
    )
    chainer.pool[1, : len(cell)] = np.arange(len(cell))
    least = float("inf")
    for cuts in range(len(cell)):
        for inner in combinations(range(1, len(cell)), cuts):
            group = np.searchsorted(inner, np.arange(len(cell)), side="right")
            tiling = make_tiling(cell, group, np.ones(len(cell), np.int64))
            if bound.allow(tiling.groups(cells)).all():
                least = min(least, tiling.loss(cells, space) * cells.rows)
    chainer.pool_size = len(cell)
    assert chainer.cut_chain(0, 1e299) == pytest.approx(least)


@pytest.mark.parametrize("kind", ["sweep_pools", "sweep_runs", "sweep_bands"])
def test_a_block_that_breaks_a_promise_stays_as_it_was(kind: str):
    cells = table(300, 2)
    space, rule, bound, sweeps, now = started(cells, KAnonymity(2), EntropyLDiversity(2))
    assert not rule.exact
    proposed = getattr(QuotaSweeps(cells, space, rule, sweeps), kind)(now, np.random.default_rng(1))
    assert rows_of_cells(cells, proposed.accept_allowed_blocks(cells, bound)) == cells.counts.tolist()
    assert bound.allow(proposed.accept_allowed_blocks(cells, bound).groups(cells)).all()


def test_broken_blocks_are_put_back_and_the_others_taken():
    cells = table(60, sizes=(50,), values=2)
    bound = Promises.from_iterable([KAnonymity(3)]).bind(cells)
    where = np.arange(len(cells))
    quarter = where * 4 // len(cells)
    lone = int(np.flatnonzero(cells.counts < 3)[0])
    old = make_tiling(where, quarter, cells.counts)
    fresh = make_tiling(where, np.where(where == lone, -1, np.maximum(quarter, 1)), cells.counts)
    # the first block becomes a group too small and another, the second one group of two
    halves = np.array([[0, 2, 1], [2, 4, 1]])
    merged = make_tiling(fresh.cell, np.repeat([0, 1, 2, 2], np.diff(fresh.starts)), fresh.quota)
    kept = TilingProposal.from_blocks(old, halves, merged, np.array([2, 1])).accept_allowed_blocks(cells, bound)
    sizes = old.sizes()
    assert sorted(kept.sizes().tolist()) == sorted([*sizes[:2].tolist(), int(sizes[2:].sum())])


class EndlessCutter:
    """Cuts until it is stopped, or gives up after so many CPU seconds that a test ends."""

    ended: list[str]

    def __init__(self, *given: object) -> None:
        pass

    def resolve(self, tiles: object, blocks: object, out: object, setting: object, stop: object = None) -> object:
        return self.cut_on(stop)

    def solve_all(self, *given: object) -> object:
        return self.cut_on(given[-1] if isinstance(given[-1], np.ndarray) and len(given[-1]) == 1 else None)

    def cut_on(self, stop: object) -> object:
        began = process_time()
        while process_time() - began < 5:
            if stop is not None and stop[0]:
                self.ended.append("stopped")
                return 0, 0
        self.ended.append("went on")
        return 0, 0


@pytest.mark.parametrize("threads", [1, 2])
def test_a_limit_on_time_stops_the_threads_that_cut_pools(threads: int, monkeypatch: pytest.MonkeyPatch):
    cells = table(300, 2)
    space, rule, _, _, now = started(cells, BetaLikeness(2))
    monkeypatch.setattr(mosaic_quotas, "Cutter", EndlessCutter)
    EndlessCutter.ended = []
    sweep = QuotaSweeps(cells, space, rule, SweepBudget.from_options("quick", None, threads))
    with pytest.raises(TimeLimitReached):
        run_within(0.1, lambda: sweep.sweep_pools(now, np.random.default_rng(1)))
    assert set(EndlessCutter.ended) == {"stopped"}


def test_a_limit_on_time_stops_the_first_cut_from_the_top(monkeypatch: pytest.MonkeyPatch):
    cells = table(300, 2)
    space, rule, _, _, _ = started(cells, BetaLikeness(2))
    monkeypatch.setattr(mosaic_quotas, "Cutter", EndlessCutter)
    EndlessCutter.ended = []
    way = (0.0, 0, 0.0, 1.0)
    with pytest.raises(TimeLimitReached):
        run_within(0.1, lambda: mosaic_quotas.cut_top_down(cells, space, rule, cells.counts, way))
    assert EndlessCutter.ended == ["stopped"]


@pytest.mark.parametrize("made", ["compiled", "pure"])
def test_kernels_do_nothing_more_once_their_flag_is_set(made: str):
    cells = table(300, 2)
    space, rule, _, _, now = started(cells, BetaLikeness(2))
    cutter_of = Cutter if made == "compiled" else pure("mosaic_cuts").Cutter
    cutter = cutter_of(*mosaic_quotas.make_kernel_arguments(cells, space, rule), (5000, 5000, 5000))
    blocks = np.array([[0, len(now), 1]], np.int64)
    rows = int(now.quota.sum())
    out = np.zeros(rows, np.int32), np.zeros(rows, np.int32), np.zeros(rows, np.int64), np.zeros(1, np.int64)
    setting = (4, 0.5, 2, 0.4, 40_000, 0.0, False, 2, 0.0)
    tiles = now.cell, now.quota, now.starts
    assert cutter.resolve(tiles, blocks, out, setting, np.ones(1, np.int8)) == (0, 0)
    assert cutter.resolve(tiles, blocks, out, setting, np.zeros(1, np.int8))[0] > 0
    held = np.arange(len(cells), dtype=np.int32), cells.counts.astype(np.int32)
    assert len(cutter.solve_all(*held, 4, stop=np.ones(1, np.int8))[2]) == 1
    assert len(cutter.solve_all(*held, 4, stop=np.zeros(1, np.int8))[2]) > 1
