"""Quota cuts and their re-solving: groups of least loss for caps, closeness and any conjunction."""

from __future__ import annotations

from typing import Any

import numpy as np

from reticent.kernels.mosaic_cuts import Cutter
from reticent.methods.mosaic.orders import shuffled_cuts
from reticent.methods.mosaic.proposal import Proposal
from reticent.methods.mosaic.rule import Rule
from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.sweeps import GREATEST_SEED, Sweeps, blocks_of
from reticent.methods.mosaic.tiling import Tiling
from reticent.table.cells import Cells
from reticent.table.domain import TreeDomain
from reticent.workers import run_in_workers

BLOCK = 24  # groups that are re-solved among themselves
LEAST_BLOCK = 3  # where only the promises know, a block stands or falls as one
POOL_ROWS = 40_000
BAND_ROWS = 6000  # rows cut anew as one region, more where groups are larger
TRIES = 4  # cuts carved out exactly before the best is taken
DEEP = 2  # columns a box may be narrowed by beyond the first
LARGE_GROUP = 1000
WORST = 0.4  # share of rows, those that lose most, that bands are made of; the rest is one band, too large to be cut
BAND_NOISE = 0.1
RUN, RUN_NOISE, RUN_BITS = (4, 17), 0.3, 0.75
NOISE, MATES, NEARNESS = 0.5, 2, 0.4
DEAR = 1.5  # price of strain up to which bands are cut anew


Way = tuple[float, int, float, float]


def kernel_parts(cells: Cells, space: Space, rule: Rule) -> tuple[Any, Any, Any]:
    values = cells.values[:, rule.column] if rule.column >= 0 else np.zeros(len(cells))
    return (
        (cells.codes, np.ascontiguousarray(values, np.int32)),
        (space.spans, space.places, space.nodes, space.trees),
        rule.arrays,
    )


def top_down(cells: Cells, space: Space, rule: Rule, rows: np.ndarray, way: Way) -> Tiling:
    """Cut the rows (so many of each cell) from the top down."""
    held = np.flatnonzero(rows)
    if not len(held):
        return Tiling.empty()
    room = min(int(rows.sum()), 2 * len(held)) + 64 * len(rule.upper) + 64
    cutter = Cutter(*kernel_parts(cells, space, rule), (room, 1, 1))
    price, deep, bits, favour = way
    favours = np.array([favour if isinstance(domain, TreeDomain) else 1.0 for domain in space.domains])
    items = held.astype(np.int32), rows[held].astype(np.int32)

    def run(_part: int, _worker: int, stop: np.ndarray) -> Tiling:
        return Tiling(*cutter.solve_all(*items, TRIES, price, deep, bits, favours, stop))

    return run_in_workers(run, [0])[0]


class QuotaSweeps:
    """Pools of near groups, or bands of the groups that lose most, cut anew; the cutters' arrays grow with the groups."""

    def __init__(self, cells: Cells, space: Space, rule: Rule, sweeps: Sweeps) -> None:
        self.cells, self.space, self.rule, self.sweeps = cells, space, rule, sweeps
        self.parts = kernel_parts(cells, space, rule)
        self.cutters: list[Cutter] = []
        self.room = (0, 0)

    def pools(self, now: Tiling, draw: np.random.Generator) -> Proposal:
        now = now.taken(shuffled_cuts(*now.boxes(self.cells), self.space, draw))
        blocks = blocks_of(len(now), BLOCK if self.rule.known else LEAST_BLOCK, draw)
        return self._cut(now, blocks, (TRIES, NOISE, MATES, NEARNESS, POOL_ROWS, 0.0, False, DEEP, 0.0))

    def runs(self, now: Tiling, draw: np.random.Generator) -> Proposal:
        """A few neighbours at a time cut anew as one region, large groups as much as small ones."""
        now = now.taken(shuffled_cuts(*now.boxes(self.cells), self.space, draw))
        blocks = blocks_of(len(now), int(draw.integers(*RUN)), draw)
        bits = RUN_BITS * int(draw.integers(2))
        return self._cut(now, blocks, (TRIES, RUN_NOISE, 0, 0.0, 0, 0.0, True, 0 if bits else DEEP, bits))

    def bands(self, now: Tiling, draw: np.random.Generator) -> Proposal:
        now, blocks = _bands(self.cells, self.space, now, draw)
        return self._cut(now, blocks, (TRIES, BAND_NOISE, 0, 0.0, 0, DEAR, True, DEEP, 0.0))

    def large(self, now: Tiling) -> bool:
        """Whether bands are worth their time: beyond caps always, else where some group is large."""
        return not self.rule.capped_only or int(now.sizes().max()) >= LARGE_GROUP

    def _cut(self, now: Tiling, blocks: np.ndarray, setting: tuple) -> Proposal:
        self._make_room(now)

        def run(part: np.ndarray, worker: int, stop: np.ndarray) -> tuple[Tiling, np.ndarray]:
            return _run(now, part, self.cutters[worker], setting, stop)

        found = self.sweeps.over(blocks, run)
        fresh = found[0][0]
        for tiling, _ in found[1:]:
            fresh = fresh.joined(tiling)
        return Proposal.of(now, blocks, fresh, np.concatenate([groups for _, groups in found]))

    def _make_room(self, now: Tiling) -> None:
        if self.room[0] < 2 * len(now.cell) or self.room[1] < 2 * len(now):
            self.room = 4 * len(now.cell) + POOL_ROWS, 4 * len(now) + POOL_ROWS
            sizes = POOL_ROWS + len(self.rule.upper) + 64, *self.room
            self.cutters = [Cutter(*self.parts, sizes) for _ in range(self.sweeps.threads)]


def _bands(cells: Cells, space: Space, now: Tiling, draw: np.random.Generator) -> tuple[Tiling, np.ndarray]:
    """Groups by what they lose, most first, and bands of them that are cut anew as a whole."""
    now = now.taken(np.argsort(-space.per_row(*now.boxes(cells)), kind="stable"))
    most = min(max(BAND_ROWS, 2 * int(now.sizes().max())), POOL_ROWS * 3 // 4)
    rows = most * (0.1 + 0.9 * draw.random())
    reached = np.cumsum(now.sizes())
    band = (np.minimum(reached, WORST * reached[-1]) // rows).astype(np.int64)
    edges = np.append(np.flatnonzero(np.diff(band, prepend=-1)), len(now))
    seeds = draw.integers(1, GREATEST_SEED, len(edges) - 1)
    return now, np.ascontiguousarray(np.column_stack([edges[:-1], edges[1:], seeds]), np.int64)


def _run(
    now: Tiling, blocks: np.ndarray, cutter: Cutter, setting: tuple, stop: np.ndarray
) -> tuple[Tiling, np.ndarray]:
    rows = int(now.quota[now.starts[blocks[0, 0]] : now.starts[blocks[-1, 1]]].sum())
    cell, quota, ends = np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows, np.int64)
    groups = np.zeros(len(blocks), np.int64)
    items, count = cutter.resolve(
        (now.cell, now.quota, now.starts), np.ascontiguousarray(blocks), (cell, quota, ends, groups), setting, stop
    )
    return Tiling(cell[:items].copy(), quota[:items].copy(), np.append(0, ends[:count])), groups
