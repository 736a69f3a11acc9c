"""Order, segment, re-solve: groups of least loss for k-anonymity and distinct l-diversity.

1. A cell of quasi-identifiers that is a valid group by itself keeps a core of its rows at home; a few more may be lent to
   others or go home at no cost.  Smaller cells are free.
2. The free rows are put in order, by a reflected mixed-radix key, smallest domain first, and by a tree of cuts; each order is
   cut optimally, and the better one taken.
3. Pools of near groups are cut anew, again and again.

For k alone the sensitive column is never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reticent.kernels import mosaic_segment as kernel
from reticent.methods.mosaic.orders import cut_order, shuffled_cuts
from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.sweeps import Sweeps, blocks_of, gray_order, regrouped
from reticent.table.cells import Cells

BLOCK = 50
MATES = 2
NOISE = 1.0
LONG_POOL = 256
INFEASIBLE = 1e300


@dataclass(frozen=True, eq=False)
class Units:
    """Free rows in order: their cell, codes and marks (home, value); and the core that stays at home."""

    cell: np.ndarray
    codes: np.ndarray
    marks: np.ndarray
    core: np.ndarray  # rows of each cell that stay
    home: np.ndarray  # the home of each cell


@dataclass(frozen=True, eq=False)
class Segments:
    members: np.ndarray  # units, group by group
    starts: np.ndarray


def quasi_cells(codes: np.ndarray) -> np.ndarray:
    """Which combination of quasi-identifiers each cell has; cells are in lexicographic order."""
    fresh = np.ones(len(codes), bool)
    fresh[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    return np.cumsum(fresh) - 1


def alike_cells(cells: Cells, column: int) -> np.ndarray:
    """Which combination of quasi-identifiers and of the value in one sensitive column each cell has; -1 for no column.

    Cells that differ in another sensitive column alone are alike: two rows of one value are one distinct value.
    """
    home = quasi_cells(cells.codes)
    if column < 0:
        return home
    if len(cells.sensitive) == 1:
        return np.arange(len(cells))
    key = home * cells.sensitive[column].size + cells.values[:, column]
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def start(
    codes: np.ndarray, value: np.ndarray, counts: np.ndarray, least: tuple[int, int], space: Space
) -> tuple[Units, Segments]:
    """Free rows and their best cuts; where too few are free to be a group, the nearest home is given up to them."""
    units = free_units(codes, value, counts, least, space)
    found = segment(units, least, space)
    if found is None:
        units = free_units(codes, value, counts, least, space, _nearest_home(units, codes, counts, space))
        found = segment(units, least, space)
        assert found is not None
    return min((units, found), _along_cuts(units, least, space), key=lambda one: segment_loss(one[0], space, one[1]))


def _along_cuts(units: Units, least: tuple[int, int], space: Space) -> tuple[Units, Segments]:
    """The same units in the order of a tree of cuts, and their best cuts."""
    few = max(least)
    order = cut_order(units.codes, space, few, 2 * few - 1)
    units = replace(units, cell=units.cell[order], codes=units.codes[order], marks=units.marks[order])
    found = segment(units, least, space)
    assert found is not None  # whether all the units are a group does not depend on their order
    return units, found


def _nearest_home(units: Units, codes: np.ndarray, counts: np.ndarray, space: Space) -> int:
    """The home that loses least when it takes in all the rows that have none."""
    lone = units.codes[units.marks[:, 0] < 0]
    homes = np.unique(units.home[units.core > 0])
    at = np.searchsorted(units.home, homes)
    rows = np.bincount(units.home, weights=counts)[homes] + len(lone)
    loss = space.per_row(np.minimum(codes[at], lone.min(axis=0)), np.maximum(codes[at], lone.max(axis=0)))
    return int(homes[np.argmin(rows * loss)])


def free_units(codes: np.ndarray, value: np.ndarray, counts: np.ndarray, least: tuple[int, int], space: Space,
               given_up: int = -1) -> Units:  # fmt: skip
    """Split the rows into cores that stay and units that are free; value -1 never counts as distinct."""
    k, few = least
    home = quasi_cells(codes)
    homes = int(home[-1]) + 1
    total = np.bincount(home, weights=counts, minlength=homes).astype(np.int64)
    distinct = np.bincount(home, weights=value >= 0, minlength=homes).astype(np.int64)
    settled = (total >= k) & (distinct >= few if few > 1 else True) & (np.arange(homes) != given_up)
    core = _core(home, value, counts, settled, k, few)
    free = counts - core
    # more than k rows to lend (and k of each value) never helps
    lent = np.minimum(free, k)
    before = np.cumsum(lent) - lent
    before -= before[np.flatnonzero(np.diff(home, prepend=-1))][home]
    lent = np.clip(max(k, 2 * few) - before, 0, lent)
    free = np.where(settled[home], lent, free)
    cell = np.repeat(np.arange(len(counts)), free)
    order = gray_order(codes[cell], space.sizes, np.argsort(space.sizes, kind="stable"))
    cell = cell[order]
    marks = np.column_stack([np.where(settled[home], home, -1)[cell], value[cell]]).astype(np.int32)
    return Units(cell, np.ascontiguousarray(codes[cell], np.int32), marks, counts - free, home)


def _core(home: np.ndarray, value: np.ndarray, counts: np.ndarray, settled: np.ndarray, k: int, few: int) -> np.ndarray:
    """Least rows a settled home keeps: one of each of its `few` most frequent values, then the most frequent up to k."""
    order = np.lexsort((-counts, value < 0, home))
    rank = np.arange(len(order)) - np.flatnonzero(np.diff(home[order], prepend=-1))[home[order]]
    one = np.zeros(len(order), np.int64)
    one[order] = (rank < few) & settled[home[order]] if few > 1 else 0
    missing = np.maximum(k - np.bincount(home, weights=one, minlength=len(settled)).astype(np.int64), 0) * settled
    rest = (counts - one)[order]
    before = np.cumsum(rest) - rest
    before -= before[np.flatnonzero(np.diff(home[order], prepend=-1))][home[order]]
    one[order] += np.clip(missing[home[order]] - before, 0, rest)
    return one


def segment(units: Units, least: tuple[int, int], space: Space) -> Segments | None:
    """The optimal cuts of the whole order, None where it has no valid ones."""
    n, k, few = len(units.cell), *least
    if n == 0:
        return Segments(np.zeros(0, np.int32), np.zeros(1, np.int64))
    limits = _limits(k, few)
    back, ends = np.zeros(n + 1, np.int32), np.zeros(n, np.int8)
    box, seen = _scratch(units, space)
    loss = kernel.cut_all(np.arange(n, dtype=np.int32), units.codes, units.marks, (space.spans, space.places), limits, back,
                                 (np.zeros(n + 1), box, seen))  # fmt: skip
    if loss >= INFEASIBLE:
        return None
    kernel.ends_of(back, ends)
    return Segments(np.arange(n, dtype=np.int32), np.append(0, np.flatnonzero(ends) + 1))


def _limits(k: int, few: int) -> np.ndarray:
    return np.array([k, few, 2 * max(k, few) - 1 + (few if few > 1 else 0)], np.int64)


def _scratch(units: Units, space: Space) -> tuple[np.ndarray, np.ndarray]:
    width = max(len(space.sizes), MATES + 2)
    return np.zeros((3, width), np.int32), np.zeros(int(units.marks[:, 1].max(initial=0)) + 3, np.int64)


def segment_loss(units: Units, space: Space, found: Segments) -> float:
    if len(found.starts) == 1:
        return 0.0
    codes = units.codes[found.members]
    lower = np.minimum.reduceat(codes, found.starts[:-1])
    upper = np.maximum.reduceat(codes, found.starts[:-1])
    return float((space.per_row(lower, upper) * np.diff(found.starts)).sum())


def resolve(units: Units, least: tuple[int, int], space: Space, start: Segments, sweeps: Sweeps,
            draw: np.random.Generator, rows: int) -> Segments:  # fmt: skip
    """Re-solve for as long as the sweeps last."""
    if len(start.starts) <= 2:
        return start
    limits = _limits(*least)
    n, d = units.codes.shape
    # where a value is rare, segments are long; the few still longer than a pool stay as they are
    pool = max(4 * int(limits[2]), 64, min(3 * int(np.diff(start.starts).max()), LONG_POOL))
    # a unit is in one block: `follow` is shared, the rest is a worker's own
    follow = np.zeros(n, np.int32)
    works = [(follow, np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros((n, 2, d), np.int32), np.zeros(n),
              np.zeros((3, pool), np.int32), np.zeros(pool + 1), np.zeros((2, pool + 1), np.int32),
              *_scratch(units, space), NOISE, MATES) for _ in range(sweeps.threads)]  # fmt: skip

    def sweep(now: Segments, number: int) -> Segments:
        codes = units.codes[now.members]
        lower = np.minimum.reduceat(codes, now.starts[:-1])
        upper = np.maximum.reduceat(codes, now.starts[:-1])
        source, starts = regrouped(now.starts, shuffled_cuts(lower, upper, space, draw))
        members, ends = now.members[source], np.zeros(n, np.int8)
        blocks = blocks_of(len(starts) - 1, BLOCK, draw)

        def run(part: np.ndarray, worker: int, stop: np.ndarray) -> None:
            kernel.resolve(
                members,
                ends,
                starts,
                np.ascontiguousarray(part),
                (units.codes, units.marks),
                (space.spans, space.places),
                limits,
                works[worker],
                stop,
            )

        sweeps.over(blocks, run)
        return Segments(members, np.append(0, np.flatnonzero(ends) + 1))

    return sweeps.improve(start, lambda found: segment_loss(units, space, found) / rows, sweep)


def assemble(units: Units, found: Segments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(cell, group, quota): units that are all of one home go there, the others are groups of their own."""
    length = np.diff(found.starts)
    group = np.repeat(np.arange(len(length)), length)
    homes = units.marks[found.members, 0].astype(np.int64)
    if len(length):
        one = np.minimum.reduceat(homes, found.starts[:-1])
        alike = (one == np.maximum.reduceat(homes, found.starts[:-1])) & (one >= 0)
    else:
        one, alike = np.zeros(0, np.int64), np.zeros(0, bool)
    base = int(units.home[-1]) + 1
    group = np.where(alike[group], one[group], base + group)
    stay = np.flatnonzero(units.core)
    cell = np.concatenate([units.cell[found.members], stay])
    group = np.concatenate([group, units.home[stay]])
    quota = np.concatenate([np.ones(len(found.members), np.int64), units.core[stay]])
    return cell, group, quota
