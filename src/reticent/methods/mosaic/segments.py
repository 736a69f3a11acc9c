"""Order, segment, re-solve: groups of least loss for k-anonymity and distinct l-diversity.

1. A cell of quasi-identifiers that is a valid group by itself keeps a core of its rows at home; a few more may be lent to
   others or go home at no cost.  Smaller cells are free.
2. The free rows are put in order, by a reflected mixed-radix key, smallest domain first, and by a tree of cuts; each order is
   cut optimally, and the better one taken.
3. Pools of near groups are cut anew, again and again.

For k alone the sensitive column is never looked at.

The tree of cuts (`order_by_cuts`, `order_by_noisy_cuts`) orders rows, or groups, such that neighbours are near in every
column, however many values a column has.  A reflected key (`tiling.order_by_gray_code`) is one order of the columns:
where the last ones have many values, neighbours agree in all columns but these and are far apart in them.  In the tree
cuts are chosen region by region, each for what it saves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import TreeDomain
from reticent.kernels import mosaic_order
from reticent.kernels.mosaic_pools import Segmenter
from reticent.methods.mosaic.kernel_tables import LossSpace
from reticent.methods.mosaic.tiling import MAX_SEED, SweepBudget, divide_into_blocks, order_by_gray_code, reorder_groups

MAX_CHAINED_POINTS = 64
# A hierarchy's cuts go first: what is not told apart while a region has enough rows of each value never is, and costs a
# whole node, where a number's range grows little by little.
TREE_CUT_FAVOUR = 4.0
CutNoise = tuple[np.ndarray, float, int]  # factor of each column, noise of each cut, seed
SEGMENT_BLOCK_GROUPS = 50
SEGMENT_MATES = 2
SEGMENT_NOISE = 1.0
LONG_POOL_UNITS = 256
INFEASIBLE_LOSS = 1e300


def order_by_cuts(
    codes: np.ndarray, space: LossSpace, min_points: int, max_leaf: int, noise: CutNoise | None = None
) -> np.ndarray:
    """Order points by a tree of cuts; a part of fewer than `min_points` points saves nothing, one of `max_leaf` is not cut."""
    n, d = codes.shape
    if n == 0 or d == 0:
        return np.arange(n, dtype=np.int32)
    codes = np.ascontiguousarray(codes, np.int32)
    # 16 bits are sorted by radix
    columns = [codes[:, j].astype(np.uint16 if space.sizes[j] <= 1 << 16 else np.int32) for j in range(d)]
    by = np.stack([np.argsort(column, kind="stable") for column in columns]).astype(np.int32)
    code = np.ascontiguousarray(np.take_along_axis(codes.T, by, axis=1))
    out = np.zeros(n, np.int32)
    sizes = np.arange(n + 1, dtype=np.float64)
    work = (
        sizes * np.log(np.maximum(sizes, 1.0)),
        np.zeros(n, np.int32),
        np.zeros((2, n), np.int32),
        np.zeros(n + 2, np.int64),
        np.zeros((n + 1, 2), np.int64),
        out,
    )
    tree = np.array([isinstance(domain, TreeDomain) for domain in space.domains])
    mosaic_order.Orderer(
        (codes, by, code),
        (space.spans, space.places, space.nodes, np.column_stack([space.trees, tree])),
        (min_points, max_leaf, MAX_CHAINED_POINTS),
        work,
        noise or (np.where(tree, TREE_CUT_FAVOUR, 1.0), 0.0, 1),
    ).run()
    return out


def order_by_noisy_cuts(
    lower: np.ndarray, upper: np.ndarray, space: LossSpace, draw: np.random.Generator
) -> np.ndarray:
    """Order groups by noisy cuts of random points of their boxes: another neighbourhood every time."""
    point = lower + (draw.random(lower.shape) * (upper - lower + 1)).astype(np.int64)
    tree = np.array([isinstance(domain, TreeDomain) for domain in space.domains])
    factor = np.where(tree, TREE_CUT_FAVOUR ** draw.random(), 1.0) * np.exp(draw.random(len(tree)) - 0.5)
    return order_by_cuts(point, space, 4, 10, (factor, 0.5, int(draw.integers(1, MAX_SEED))))


@dataclass(frozen=True, eq=False)
class FreeUnits:
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


def number_quasi_combinations(codes: np.ndarray) -> np.ndarray:
    """Number the combination of quasi-identifiers of each cell; cells are in lexicographic order."""
    fresh = np.ones(len(codes), bool)
    fresh[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    return np.cumsum(fresh) - 1


def number_alike_cells(cells: Cells, column: int) -> np.ndarray:
    """Number each cell's combination of quasi-identifiers and of the value in one sensitive column; -1 for no column.

    Cells that differ in another sensitive column alone are alike: two rows of one value are one distinct value.
    """
    home = number_quasi_combinations(cells.codes)
    if column < 0:
        return home
    if len(cells.sensitive) == 1:
        return np.arange(len(cells))
    key = home * cells.sensitive[column].size + cells.values[:, column]
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def start_segments(
    codes: np.ndarray, value: np.ndarray, counts: np.ndarray, limits: tuple[int, int], space: LossSpace
) -> tuple[FreeUnits, Segments]:
    """Find the free rows and their best cuts; where too few are free to be a group, the nearest home is given up to them."""
    units = find_free_units(codes, value, counts, limits, space)
    groups = segment_units(units, limits, space)
    if groups is None:
        units = find_free_units(codes, value, counts, limits, space, _find_nearest_home(units, codes, counts, space))
        groups = segment_units(units, limits, space)
        assert groups is not None
    return min(
        (units, groups),
        _segment_along_cuts(units, limits, space),
        key=lambda candidate: compute_segment_loss(candidate[0], space, candidate[1]),
    )


def find_free_units(
    codes: np.ndarray,
    value: np.ndarray,
    counts: np.ndarray,
    limits: tuple[int, int],
    space: LossSpace,
    given_up: int = -1,
) -> FreeUnits:
    """Split the rows into cores that stay and units that are free; value -1 never counts as distinct."""
    k, min_distinct = limits
    home = number_quasi_combinations(codes)
    homes = int(home[-1]) + 1
    total = np.bincount(home, weights=counts, minlength=homes).astype(np.int64)
    distinct = np.bincount(home, weights=value >= 0, minlength=homes).astype(np.int64)
    settled = (total >= k) & (distinct >= min_distinct if min_distinct > 1 else True) & (np.arange(homes) != given_up)
    core = _compute_cores(home, value, counts, settled, k, min_distinct)
    free = counts - core
    # more than k rows to lend (and k of each value) never helps
    lent = np.minimum(free, k)
    before = np.cumsum(lent) - lent
    before -= before[np.flatnonzero(np.diff(home, prepend=-1))][home]
    lent = np.clip(max(k, 2 * min_distinct) - before, 0, lent)
    free = np.where(settled[home], lent, free)
    cell = np.repeat(np.arange(len(counts)), free)
    order = order_by_gray_code(codes[cell], space.sizes, np.argsort(space.sizes, kind="stable"))
    cell = cell[order]
    marks = np.column_stack([np.where(settled[home], home, -1)[cell], value[cell]]).astype(np.int32)
    return FreeUnits(cell, np.ascontiguousarray(codes[cell], np.int32), marks, counts - free, home)


def segment_units(units: FreeUnits, limits: tuple[int, int], space: LossSpace) -> Segments | None:
    """Find the optimal cuts of the whole order, None if it has no valid ones."""
    n = len(units.cell)
    k, min_distinct = limits
    if n == 0:
        return Segments(np.zeros(0, np.int32), np.zeros(1, np.int64))
    segmenter = Segmenter(
        (units.codes, units.marks),
        (space.spans, space.places),
        _make_limits(k, min_distinct),
        (0, 0),
        np.zeros(0, np.int32),
    )
    loss, ends = segmenter.cut_units()
    if loss >= INFEASIBLE_LOSS:
        return None
    return Segments(np.arange(n, dtype=np.int32), np.append(0, np.flatnonzero(ends) + 1))


def compute_segment_loss(units: FreeUnits, space: LossSpace, groups: Segments) -> float:
    if len(groups.starts) == 1:
        return 0.0
    codes = units.codes[groups.members]
    lower = np.minimum.reduceat(codes, groups.starts[:-1])
    upper = np.maximum.reduceat(codes, groups.starts[:-1])
    return float((space.compute_loss_per_row(lower, upper) * np.diff(groups.starts)).sum())


def resolve_segments(
    units: FreeUnits,
    thresholds: tuple[int, int],
    space: LossSpace,
    start: Segments,
    sweeps: SweepBudget,
    draw: np.random.Generator,
    rows: int,
) -> Segments:
    """Re-solve for as long as the sweeps last."""
    if len(start.starts) <= 2:
        return start
    limits = _make_limits(*thresholds)
    n = len(units.codes)
    # where a value is rare, segments are long; the few still longer than a pool stay as they are
    pool = max(4 * int(limits[2]), 64, min(3 * int(np.diff(start.starts).max()), LONG_POOL_UNITS))
    # a unit is in one block: workers share `next_unit`, the rest is a worker's own
    next_unit = np.zeros(n, np.int32)
    segmenters = [
        Segmenter((units.codes, units.marks), (space.spans, space.places), limits, (pool, n), next_unit)
        for _ in range(sweeps.threads)
    ]

    def sweep(now: Segments, number: int) -> Segments:
        codes = units.codes[now.members]
        lower = np.minimum.reduceat(codes, now.starts[:-1])
        upper = np.maximum.reduceat(codes, now.starts[:-1])
        source, starts = reorder_groups(now.starts, order_by_noisy_cuts(lower, upper, space, draw))
        members = now.members[source]
        ends = np.zeros(n, np.int8)
        blocks = divide_into_blocks(len(starts) - 1, SEGMENT_BLOCK_GROUPS, draw)

        def run(part: np.ndarray, worker: int, stop: np.ndarray) -> None:
            segmenters[worker].resolve(
                members, ends, starts, np.ascontiguousarray(part), (SEGMENT_MATES, SEGMENT_NOISE, 0.0), stop
            )

        sweeps.run_blocks(blocks, run)
        return Segments(members, np.append(0, np.flatnonzero(ends) + 1))

    return sweeps.improve(start, lambda groups: compute_segment_loss(units, space, groups) / rows, sweep)


def assemble_groups(units: FreeUnits, groups: Segments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (cell, group, quota): units that are all of one home go there, the others are groups of their own."""
    length = np.diff(groups.starts)
    group = np.repeat(np.arange(len(length)), length)
    homes = units.marks[groups.members, 0].astype(np.int64)
    if len(length):
        first_home = np.minimum.reduceat(homes, groups.starts[:-1])
        is_home = (first_home == np.maximum.reduceat(homes, groups.starts[:-1])) & (first_home >= 0)
    else:
        first_home = np.zeros(0, np.int64)
        is_home = np.zeros(0, bool)
    base = int(units.home[-1]) + 1
    group = np.where(is_home[group], first_home[group], base + group)
    stay = np.flatnonzero(units.core)
    cell = np.concatenate([units.cell[groups.members], stay])
    group = np.concatenate([group, units.home[stay]])
    quota = np.concatenate([np.ones(len(groups.members), np.int64), units.core[stay]])
    return cell, group, quota


def _find_nearest_home(units: FreeUnits, codes: np.ndarray, counts: np.ndarray, space: LossSpace) -> int:
    """Find the home that loses least when it takes in all the rows that have none."""
    lone = units.codes[units.marks[:, 0] < 0]
    homes = np.unique(units.home[units.core > 0])
    first_cells = np.searchsorted(units.home, homes)
    rows = np.bincount(units.home, weights=counts)[homes] + len(lone)
    loss = space.compute_loss_per_row(
        np.minimum(codes[first_cells], lone.min(axis=0)), np.maximum(codes[first_cells], lone.max(axis=0))
    )
    return int(homes[np.argmin(rows * loss)])


def _segment_along_cuts(units: FreeUnits, limits: tuple[int, int], space: LossSpace) -> tuple[FreeUnits, Segments]:
    """Put the same units in the order of a tree of cuts, and find their best cuts."""
    min_points = max(limits)
    order = order_by_cuts(units.codes, space, min_points, 2 * min_points - 1)
    units = replace(units, cell=units.cell[order], codes=units.codes[order], marks=units.marks[order])
    groups = segment_units(units, limits, space)
    assert groups is not None  # whether all the units are a group does not depend on their order
    return units, groups


def _compute_cores(
    home: np.ndarray, value: np.ndarray, counts: np.ndarray, settled: np.ndarray, k: int, min_distinct: int
) -> np.ndarray:
    """Compute the least rows a settled home keeps: one of each of its `min_distinct` most frequent values, then the most frequent up to k."""
    order = np.lexsort((-counts, value < 0, home))
    rank = np.arange(len(order)) - np.flatnonzero(np.diff(home[order], prepend=-1))[home[order]]
    core = np.zeros(len(order), np.int64)
    core[order] = (rank < min_distinct) & settled[home[order]] if min_distinct > 1 else 0
    missing = np.maximum(k - np.bincount(home, weights=core, minlength=len(settled)).astype(np.int64), 0) * settled
    rest = (counts - core)[order]
    before = np.cumsum(rest) - rest
    before -= before[np.flatnonzero(np.diff(home[order], prepend=-1))][home[order]]
    core[order] += np.clip(missing[home[order]] - before, 0, rest)
    return core


def _make_limits(k: int, min_distinct: int) -> np.ndarray:
    return np.array(
        [k, min_distinct, 2 * max(k, min_distinct) - 1 + (min_distinct if min_distinct > 1 else 0)], np.int64
    )
