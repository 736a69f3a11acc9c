"""Quota cuts and their re-solving: groups of least loss for caps, closeness and any conjunction.

A tiling is the groups as flat arrays: group g holds quota[i] rows of cell[i] for i in starts[g] .. starts[g + 1].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from reticent.kernels.mosaic_cuts import Cutter
from reticent.methods.mosaic.loss import Space
from reticent.methods.mosaic.rule import Rule
from reticent.methods.mosaic.sweeps import GREATEST_SEED, Sweeps, blocks_of, regrouped, shuffled_order
from reticent.models.promises import BoundPromises
from reticent.models.shapes import Groups
from reticent.table.cells import Cells

BLOCK = 24  # groups that are re-solved among themselves
LEAST_BLOCK = 3  # where only the promises know, a block stands or falls as one
POOL_ROWS = 40_000
BAND_ROWS = 6000  # rows cut anew as one region, more where groups are larger
TRIES = 4  # cuts carved out exactly before the best is taken
DEEP = 2  # columns a box may be narrowed by beyond the first
LARGE_EVERY = 2  # sweeps; for caps only where some group is large
LARGE_GROUP = 1000
WORST = 0.4  # share of rows, those that lose most, that bands are made of; the rest is one band, too large to be cut
BAND_NOISE = 0.1
NOISE, MATES, NEARNESS = 0.5, 2, 0.4
# Top-down starts: (price of strain, columns narrowed beyond the first, power of the bits a cut spends).
CAPPED = (0.3, 0, 0.5)
MORE_CAPPED = ((0.0, 0, 0.0), (0.0, 0, 1.0))
CLOSE = ((0.1, 0, 0.0), (0.7, 2, 0.0))
DEAR = 1.5  # price of strain up to which bands are cut anew


Way = tuple[float, int, float]


@dataclass(frozen=True, eq=False)
class Tiling:
    cell: np.ndarray
    quota: np.ndarray
    starts: np.ndarray

    @classmethod
    def empty(cls) -> Tiling:
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def groups(self, cells: Cells) -> Groups:
        return Groups(cells, self.cell, self.quota, self.starts)

    def sizes(self) -> np.ndarray:
        return np.add.reduceat(self.quota, self.starts[:-1]).astype(np.int64)

    def boxes(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        codes = cells.codes[self.cell]
        return np.minimum.reduceat(codes, self.starts[:-1]), np.maximum.reduceat(codes, self.starts[:-1])

    def loss(self, cells: Cells, space: Space) -> float:
        return float((space.per_row(*self.boxes(cells)) * self.sizes()).sum() / cells.rows)

    def taken(self, groups: np.ndarray) -> Tiling:
        """Some of the groups, in the order given."""
        source, starts = regrouped(self.starts, groups)
        return Tiling(self.cell[source], self.quota[source], starts)

    def joined(self, other: Tiling) -> Tiling:
        return Tiling(np.concatenate([self.cell, other.cell]), np.concatenate([self.quota, other.quota]),
                      np.concatenate([self.starts, other.starts[1:] + self.starts[-1]]))  # fmt: skip


def tiling_of(cell: np.ndarray, group: np.ndarray, quota: np.ndarray) -> Tiling:
    """Groups from entries in any order; entries of one cell in one group are added up."""
    order = np.lexsort((cell, group))
    cell, group, quota = cell[order], group[order], quota[order]
    fresh = np.ones(len(cell), bool)
    fresh[1:] = (cell[1:] != cell[:-1]) | (group[1:] != group[:-1])
    at = np.flatnonzero(fresh)
    starts = np.append(np.flatnonzero(np.diff(group[at], prepend=group[0] - 1)), len(at))
    return Tiling(cell[at].astype(np.int32), np.add.reduceat(quota, at).astype(np.int32), starts.astype(np.int64))


def kernel_parts(cells: Cells, space: Space, rule: Rule) -> tuple:
    values = cells.values[:, rule.column] if rule.column >= 0 else np.zeros(len(cells))
    return (
        (cells.codes, np.ascontiguousarray(values, np.int32)),
        (space.spans, space.places, space.nodes, space.trees),
        rule.arrays,
    )


def top_down(cells: Cells, space: Space, rule: Rule, rows: np.ndarray, ways: Iterable[Way]) -> Tiling:
    """Cut the rows (so many of each cell) from the top down, in the best of some ways."""
    held = np.flatnonzero(rows)
    if not len(held):
        return Tiling.empty()
    room = min(int(rows.sum()), 2 * len(held)) + 64 * len(rule.upper) + 64
    cutter = Cutter(*kernel_parts(cells, space, rule), (room, 1, 1))
    items = held.astype(np.int32), rows[held].astype(np.int32)
    found = [Tiling(*cutter.solve_all(*items, TRIES, *way)) for way in ways]
    return min(found, key=lambda tiling: tiling.loss(cells, space))


def resolve(cells: Cells, space: Space, rule: Rule, bound: BoundPromises, start: Tiling, sweeps: Sweeps,
            draw: np.random.Generator) -> Tiling:  # fmt: skip
    """Re-solve for as long as the sweeps last; a block that the promises do not allow stays as it was."""
    parts = kernel_parts(cells, space, rule)
    cutters: list[Cutter] = []
    room = [0, 0]

    def sweep(now: Tiling, number: int) -> Tiling | None:
        if len(now) < 2:
            return None
        if _large_due(rule, now, number):
            now, blocks = _bands(cells, space, now, draw)
            setting = (TRIES, BAND_NOISE, 0, 0.0, 0, DEAR, True, DEEP)
        else:
            now = now.taken(shuffled_order(*now.boxes(cells), space.sizes, draw))
            blocks = blocks_of(len(now), BLOCK if rule.known else LEAST_BLOCK, draw)
            setting = (TRIES, NOISE, MATES, NEARNESS, POOL_ROWS, 0.0, False, DEEP)
        if room[0] < 2 * len(now.cell) or room[1] < 2 * len(now):
            room[:] = 4 * len(now.cell) + POOL_ROWS, 4 * len(now) + POOL_ROWS
            cutters[:] = [Cutter(*parts, (POOL_ROWS + len(rule.upper) + 64, *room)) for _ in range(sweeps.threads)]
        found = list(sweeps.over(blocks, lambda part, worker: _run(now, part, cutters[worker], setting)))
        return _allowed(cells, bound, rule, now, blocks, found)

    return sweeps.improve(start, lambda tiling: tiling.loss(cells, space), sweep)


def _large_due(rule: Rule, now: Tiling, number: int) -> bool:
    return number % LARGE_EVERY == LARGE_EVERY - 1 and (not rule.capped_only or int(now.sizes().max()) >= LARGE_GROUP)


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


def _run(now: Tiling, blocks: np.ndarray, cutter: Cutter, setting: tuple) -> tuple[Tiling, np.ndarray]:
    rows = int(now.quota[now.starts[blocks[0, 0]] : now.starts[blocks[-1, 1]]].sum())
    cell, quota, ends = np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows, np.int64)
    groups = np.zeros(len(blocks), np.int64)
    items, count = cutter.resolve((now.cell, now.quota, now.starts), np.ascontiguousarray(blocks),
                                  (cell, quota, ends, groups), setting)  # fmt: skip
    return Tiling(cell[:items].copy(), quota[:items].copy(), np.append(0, ends[:count])), groups


def _allowed(cells: Cells, bound: BoundPromises, rule: Rule, now: Tiling, blocks: np.ndarray,
             found: list[tuple[Tiling, np.ndarray]]) -> Tiling:  # fmt: skip
    fresh = found[0][0]
    for tiling, _ in found[1:]:
        fresh = fresh.joined(tiling)
    if rule.exact:
        return fresh
    block = np.repeat(np.arange(len(blocks)), np.concatenate([groups for _, groups in found]))
    broken = np.zeros(len(blocks), bool)
    broken[block[~bound.allow(fresh.groups(cells))]] = True
    if not broken.any():
        return fresh
    old = np.repeat(np.arange(len(blocks)), blocks[:, 1] - blocks[:, 0])
    return fresh.taken(np.flatnonzero(~broken[block])).joined(now.taken(np.flatnonzero(broken[old])))
