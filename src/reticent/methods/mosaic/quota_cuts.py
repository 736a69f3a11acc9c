"""Quota cuts and their re-solving: groups of least loss for caps, closeness and any conjunction."""

from __future__ import annotations

from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import TreeDomain
from reticent.kernels.mosaic_cuts import Cutter
from reticent.methods.mosaic.kernel_tables import KernelRule, LossSpace
from reticent.methods.mosaic.segments import order_by_noisy_cuts
from reticent.methods.mosaic.tiling import MAX_SEED, SweepBudget, Tiling, TilingProposal, divide_into_blocks
from reticent.workers import run_in_workers

QUOTA_BLOCK_GROUPS = 24  # groups that are re-solved among themselves
MIN_BLOCK_GROUPS = 3  # where only the promises know, a block stands or falls as one
POOL_ROWS = 40_000
BAND_ROWS = 6000  # rows cut anew as one region, more where groups are larger
CUT_TRIES = 4  # cuts carved out exactly before the best is taken
EXTRA_COLUMNS = 2  # columns a box may be narrowed by beyond the first
LARGE_GROUP_ROWS = 1000
WORST_ROWS_SHARE = (
    0.4  # share of rows, those that lose most, that bands are made of; the rest is one band, too large to be cut
)
BAND_NOISE = 0.1
RUN_WIDTHS = (4, 17)
RUN_NOISE = 0.3
RUN_BITS = 0.75
POOL_NOISE = 0.5
POOL_MATES = 2
POOL_NEARNESS = 0.4
MAX_STRAIN_PRICE = 1.5  # price of strain up to which bands are cut anew


CutStrategy = tuple[float, int, float, float]


def make_kernel_arguments(cells: Cells, space: LossSpace, rule: KernelRule) -> tuple[Any, Any, Any]:
    values = cells.values[:, rule.column] if rule.column >= 0 else np.zeros(len(cells))
    return (
        (cells.codes, np.ascontiguousarray(values, np.int32)),
        (space.spans, space.places, space.nodes, space.trees),
        rule.arrays,
    )


def cut_top_down(cells: Cells, space: LossSpace, rule: KernelRule, rows: np.ndarray, way: CutStrategy) -> Tiling:
    """Cut the rows (so many of each cell) from the top down."""
    occurring = np.flatnonzero(rows)
    if not len(occurring):
        return Tiling.empty()
    max_rows = min(int(rows.sum()), 2 * len(occurring)) + 64 * len(rule.upper) + 64
    cutter = Cutter(*make_kernel_arguments(cells, space, rule), (max_rows, 1, 1))
    price, deep, bits, favour = way
    favours = np.array([favour if isinstance(domain, TreeDomain) else 1.0 for domain in space.domains])
    items = occurring.astype(np.int32), rows[occurring].astype(np.int32)

    def run(_part: int, _worker: int, stop: np.ndarray) -> Tiling:
        return Tiling(*cutter.solve_all(*items, CUT_TRIES, price, deep, bits, favours, stop))

    return run_in_workers(run, [0])[0]


class QuotaSweeps:
    """Pools of near groups, or bands of the groups that lose most, cut anew; the cutters' arrays grow with the groups."""

    def __init__(self, cells: Cells, space: LossSpace, rule: KernelRule, sweeps: SweepBudget) -> None:
        self.cells = cells
        self.space = space
        self.rule = rule
        self.sweeps = sweeps
        self.parts = make_kernel_arguments(cells, space, rule)
        self.cutters: list[Cutter] = []
        self.room = (0, 0)

    def sweep_pools(self, now: Tiling, draw: np.random.Generator) -> TilingProposal:
        now = now.take_groups(order_by_noisy_cuts(*now.boxes(self.cells), self.space, draw))
        blocks = divide_into_blocks(len(now), QUOTA_BLOCK_GROUPS if self.rule.known else MIN_BLOCK_GROUPS, draw)
        return self._cut_blocks(
            now, blocks, (CUT_TRIES, POOL_NOISE, POOL_MATES, POOL_NEARNESS, POOL_ROWS, 0.0, False, EXTRA_COLUMNS, 0.0)
        )

    def sweep_runs(self, now: Tiling, draw: np.random.Generator) -> TilingProposal:
        """Cut a few neighbours at a time anew as one region, large groups as much as small ones."""
        now = now.take_groups(order_by_noisy_cuts(*now.boxes(self.cells), self.space, draw))
        blocks = divide_into_blocks(len(now), int(draw.integers(*RUN_WIDTHS)), draw)
        bits = RUN_BITS * int(draw.integers(2))
        return self._cut_blocks(
            now, blocks, (CUT_TRIES, RUN_NOISE, 0, 0.0, 0, 0.0, True, 0 if bits else EXTRA_COLUMNS, bits)
        )

    def sweep_bands(self, now: Tiling, draw: np.random.Generator) -> TilingProposal:
        now, blocks = _select_bands(self.cells, self.space, now, draw)
        return self._cut_blocks(
            now, blocks, (CUT_TRIES, BAND_NOISE, 0, 0.0, 0, MAX_STRAIN_PRICE, True, EXTRA_COLUMNS, 0.0)
        )

    def are_bands_worthwhile(self, now: Tiling) -> bool:
        """Tell whether bands are worth their time: beyond caps always, else where some group is large."""
        return not self.rule.capped_only or int(now.sizes().max()) >= LARGE_GROUP_ROWS

    def _cut_blocks(self, now: Tiling, blocks: np.ndarray, setting: tuple) -> TilingProposal:
        self._grow_cutters(now)

        def run(part: np.ndarray, worker: int, stop: np.ndarray) -> tuple[Tiling, np.ndarray]:
            return _run_cutter(now, part, self.cutters[worker], setting, stop)

        outcomes = self.sweeps.run_blocks(blocks, run)
        fresh = outcomes[0][0]
        for tiling, _ in outcomes[1:]:
            fresh = fresh.join_tiling(tiling)
        return TilingProposal.from_blocks(now, blocks, fresh, np.concatenate([groups for _, groups in outcomes]))

    def _grow_cutters(self, now: Tiling) -> None:
        if self.room[0] < 2 * len(now.cell) or self.room[1] < 2 * len(now):
            self.room = 4 * len(now.cell) + POOL_ROWS, 4 * len(now) + POOL_ROWS
            sizes = POOL_ROWS + len(self.rule.upper) + 64, *self.room
            self.cutters = [Cutter(*self.parts, sizes) for _ in range(self.sweeps.threads)]


def _select_bands(cells: Cells, space: LossSpace, now: Tiling, draw: np.random.Generator) -> tuple[Tiling, np.ndarray]:
    """Order groups by what they lose, most first, and select bands of them that are cut anew as a whole."""
    now = now.take_groups(np.argsort(-space.compute_loss_per_row(*now.boxes(cells)), kind="stable"))
    max_rows = min(max(BAND_ROWS, 2 * int(now.sizes().max())), POOL_ROWS * 3 // 4)
    rows = max_rows * (0.1 + 0.9 * draw.random())
    reached = np.cumsum(now.sizes())
    band = (np.minimum(reached, WORST_ROWS_SHARE * reached[-1]) // rows).astype(np.int64)
    edges = np.append(np.flatnonzero(np.diff(band, prepend=-1)), len(now))
    seeds = draw.integers(1, MAX_SEED, len(edges) - 1)
    return now, np.ascontiguousarray(np.column_stack([edges[:-1], edges[1:], seeds]), np.int64)


def _run_cutter(
    now: Tiling, blocks: np.ndarray, cutter: Cutter, setting: tuple, stop: np.ndarray
) -> tuple[Tiling, np.ndarray]:
    rows = int(now.quota[now.starts[blocks[0, 0]] : now.starts[blocks[-1, 1]]].sum())
    cell = np.empty(rows, np.int32)
    quota = np.empty(rows, np.int32)
    ends = np.empty(rows, np.int64)
    groups = np.zeros(len(blocks), np.int64)
    items, count = cutter.resolve(
        (now.cell, now.quota, now.starts), np.ascontiguousarray(blocks), (cell, quota, ends, groups), setting, stop
    )
    return Tiling(cell[:items].copy(), quota[:items].copy(), np.append(0, ends[:count])), groups
