"""The first groups of Mosaic: carriers of rare values, then cuts from the top down in a few ways, of which the best is taken.

Carriers (`generate_carriers`) are groups made first, around the rows of rare values, so that the rest need not be wide
on their account.  A value with cap f needs 1/f rows around each of its rows: nine rows of a value with f = 1/670 force
six thousand rows into wide groups.  For each such row, rarest value first, the least-loss box that holds enough rows is
found exactly and filled with other rare rows up to their caps, then with rows of the smallest cells, which cost most
elsewhere.

`make_initial_tiling` then cuts the rest from the top down.  Which way is best depends on the table, and a wrong one
costs more than a search makes good.  A way is (price of strain, columns narrowed beyond the first, power of the bits a
cut spends, favour of hierarchies).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import Domain, RangeDomain
from reticent.kernels.mosaic_carriers import find_carrier_box, take_rows
from reticent.methods.mosaic.kernel_tables import KernelRule, LossSpace
from reticent.methods.mosaic.quota_cuts import CutStrategy, cut_top_down
from reticent.methods.mosaic.segments import number_quasi_combinations
from reticent.methods.mosaic.tiling import SweepBudget, Tiling, make_tiling

RARE_VALUE_ROWS = (
    40  # rows around each row of a value from which it gets a carrier of its own; 12 was too few, 20 to 60 are alike
)
MAX_SEARCHED_CELLS = 200_000_000  # quasi-identifier cells that all searches together may look at
MAX_COMBINATIONS = 4096
MAX_BINS = 256
LEVEL_WIDTHS = (0, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
CAPPED_STRATEGY = (0.3, 0, 0.5, 4.0)
CAPPED_ALTERNATIVE = (0.0, 0, 0.75, 4.0)
CARRIER_STRATEGY = (0.3, 0, 0.5, 1.0)
CARRIER_ALTERNATIVE = (0.0, 0, 0.0, 1.0)  # what carriers leave is more even: greed does well
LOOSE_STRATEGY = (0.1, 0, 0.0, 1.0)
LOOSE_ALTERNATIVE = (0.3, 0, 0.5, 2.0)
TIGHT_STRATEGY = (0.7, 2, 0.0, 1.0)
TIGHT_ALTERNATIVE = (0.7, 2, 0.5, 1.0)
SMALL_GROUP_ROWS = 64  # rows of a group, on average
MANY_CELLS = 300_000  # cells from which one way must do
MAX_START_TIME_SHARE = 0.35  # share of the time after which no other way is tried


@dataclass(frozen=True, eq=False)
class CarrierField:
    """The search space of carriers: the quasi-identifier cells, the axis, and which rows are still free."""

    codes: np.ndarray
    starts: np.ndarray
    values: np.ndarray
    free: np.ndarray  # rows of each cell
    rows: np.ndarray  # rows of each quasi-identifier cell
    of_cell: np.ndarray
    order: np.ndarray
    axis: int
    rare: np.ndarray  # which values are
    bins: tuple[np.ndarray, np.ndarray]  # of the axis
    steps: dict[tuple[int, int, int], tuple[np.ndarray, np.ndarray]]  # of columns and codes met before


def generate_carriers(cells: Cells, space: LossSpace, rule: KernelRule) -> Iterator[tuple[Tiling, np.ndarray]]:
    """Yield the carriers so far and the rows of each cell that are left: at first none, then those of one rare value more."""
    yield Tiling.empty(), cells.counts
    if rule.column < 0:
        return
    upper = rule.upper
    totals = cells.totals(rule.column)
    rare = np.flatnonzero((upper[:, 0] > 0) & (upper[:, 1] > RARE_VALUE_ROWS * upper[:, 0]) & (totals > 0))
    rare = rare[np.argsort(upper[rare, 0] / upper[rare, 1], kind="stable")]
    if not len(rare):
        return
    field = _make_carrier_field(cells, space, rule, np.isin(np.arange(len(upper)), rare))
    remaining = totals.copy()
    # A search looks at every quasi-identifier cell: large tables get fewer carriers, each of several rare rows.
    searches = max(MAX_SEARCHED_CELLS // len(field.rows), 16 * len(rare))
    carriers: list[np.ndarray] = []
    for rank, value in enumerate(rare):
        waiting = int(field.free[field.values == value].sum())
        rows_per_carrier = -(-waiting * (len(rare) - rank) // max(searches - len(carriers), 1))
        for cell in np.flatnonzero(field.values == value):
            while field.free[cell] > 0:
                carrier = _find_carrier(field, space, rule, int(cell), max(rows_per_carrier, 1))
                if carrier is None or not _take_if_spared(rule, field, carrier, remaining):
                    break
                carriers.append(carrier)
        if carriers:
            entries = np.concatenate(carriers)
            group = np.repeat(np.arange(len(carriers)), [len(entry) for entry in carriers])
            yield make_tiling(entries[:, 0], group, entries[:, 1]), field.free.copy()


def make_initial_tiling(
    cells: Cells, space: LossSpace, rule: KernelRule, sweeps: SweepBudget, strict: Callable[[], Tiling]
) -> Tiling:
    """Make the first groups; `strict` makes Mondrian's groups."""
    if rule.capped_only:
        return _start_with_carriers(cells, space, rule, sweeps)
    return _start_near_proportions(cells, space, rule, sweeps, strict())


def _make_carrier_field(cells: Cells, space: LossSpace, rule: KernelRule, rare: np.ndarray) -> CarrierField:
    of_cell = number_quasi_combinations(cells.codes)
    starts = np.flatnonzero(np.diff(of_cell, prepend=-1))
    rows = np.bincount(of_cell, weights=cells.counts).astype(np.int64)
    numeric = [domain.size if isinstance(domain, RangeDomain) else 0 for domain in cells.quasi]
    axis = int(np.argmax(numeric)) if any(numeric) else -1
    return CarrierField(
        np.ascontiguousarray(cells.codes[starts]),
        np.append(starts, len(cells)),
        np.ascontiguousarray(cells.values[:, rule.column]),
        cells.counts.copy(),
        rows,
        of_cell,
        np.argsort(rows, kind="stable").astype(np.int32),
        axis,
        rare,
        _compute_bins(cells.quasi[axis], space.weights[axis])
        if axis >= 0
        else (np.zeros(0, np.int32), np.zeros((1, 1))),
        {},
    )


def _find_carrier(
    field: CarrierField, space: LossSpace, rule: KernelRule, cell: int, max_own_rows: int
) -> np.ndarray | None:
    """Find (cell, rows) of a carrier around one row of the cell, with up to `max_own_rows` rows of its value."""
    centre = field.codes[field.of_cell[cell]]
    level, columns, price, width = _compute_levels(field, space, centre)
    size = need = _compute_needed_size(rule, int(field.values[cell]), max_own_rows)
    table = np.zeros((len(price), len(width)), np.int64)
    while need <= 64 * size:
        table[:] = 0
        best = np.array(
            [need, level[columns[field.axis, 0] + centre[field.axis]] if field.axis >= 0 else 0, 0], np.int64
        )
        if find_carrier_box(field.codes, field.rows, level, columns, table, price, width, best) >= 1e300:
            return None
        field.free[cell] -= 1
        carrier = _fill_carrier(
            field, rule, cell, _find_level_box(level, columns, space.sizes, best, field.axis), max_own_rows
        )
        field.free[cell] += 1
        if carrier is not None:
            return carrier
        need += need // 2 + 1
    return None


def _take_if_spared(rule: KernelRule, field: CarrierField, carrier: np.ndarray, remaining: np.ndarray) -> bool:
    """Take the rows away, if both they and the rest then keep the promise."""
    value_rows = np.bincount(field.values[carrier[:, 0]], weights=carrier[:, 1], minlength=len(remaining)).astype(
        np.int64
    )
    if not _keeps_promise(rule, value_rows, int(value_rows.sum())) or not _keeps_promise(
        rule, remaining - value_rows, int((remaining - value_rows).sum())
    ):
        return False
    remaining -= value_rows
    np.subtract.at(field.free, carrier[:, 0], carrier[:, 1])
    np.subtract.at(field.rows, field.of_cell[carrier[:, 0]], carrier[:, 1])
    return True


def _start_with_carriers(cells: Cells, space: LossSpace, rule: KernelRule, sweeps: SweepBudget) -> Tiling:
    """Make carriers for as many rare values as lower the loss, rarest first, and cut the rest from the top down."""
    best = Tiling.empty()
    set_apart = Tiling.empty()
    remaining = cells.counts
    least_loss = float("inf")
    worse = 0
    for carriers, rows in generate_carriers(cells, space, rule):
        tiling = cut_top_down(cells, space, rule, rows, CARRIER_STRATEGY if len(carriers) else CAPPED_STRATEGY)
        loss = tiling.join_tiling(carriers).loss(cells, space)
        worse = worse + 1 if loss >= least_loss else 0
        if loss < least_loss:
            best = tiling
            set_apart = carriers
            remaining = rows
            least_loss = loss
        # carriers of values less rare take still more rows
        if worse == (2 if len(cells) < MANY_CELLS else 1) or not sweeps.has_time_left(MAX_START_TIME_SHARE):
            break
    if _has_time_left(cells, sweeps):
        best = _choose_better(
            cells, space, rule, remaining, best, CARRIER_ALTERNATIVE if len(set_apart) else CAPPED_ALTERNATIVE
        )
    return best.join_tiling(set_apart)


def _start_near_proportions(
    cells: Cells, space: LossSpace, rule: KernelRule, sweeps: SweepBudget, strict: Tiling
) -> Tiling:
    """Promises beyond caps.  Where Mondrian's groups are small they are re-solved at once: chains do better there than any cut
    from the top.  Where they are large, a tight promise needs strain to be dear, a loose one does not."""
    if cells.rows <= SMALL_GROUP_ROWS * len(strict):
        return strict
    loose, tight = (cut_top_down(cells, space, rule, cells.counts, way) for way in (LOOSE_STRATEGY, TIGHT_STRATEGY))
    start, alternative = (
        (loose, LOOSE_ALTERNATIVE)
        if loose.loss(cells, space) < tight.loss(cells, space)
        else (tight, TIGHT_ALTERNATIVE)
    )
    if _has_time_left(cells, sweeps):
        start = _choose_better(cells, space, rule, cells.counts, start, alternative)
    return min(start, strict, key=lambda tiling: tiling.loss(cells, space))


def _compute_bins(domain: Domain, weight: float) -> tuple[np.ndarray, np.ndarray]:
    bins = min(domain.size, MAX_BINS)
    part = (np.arange(domain.size) * bins // domain.size).astype(np.int32)
    first = np.searchsorted(part, np.arange(bins))
    last = np.searchsorted(part, np.arange(bins), side="right") - 1
    lower, upper = np.triu_indices(bins)
    width = np.zeros((bins, bins))
    width[lower, upper] = weight * domain.loss(first[lower], last[upper])
    return part, width


def _compute_levels(
    field: CarrierField, space: LossSpace, centre: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute each code's level around the centre, (offset, stride, levels) by column, price of combinations, width of bins."""
    parts = []
    columns = np.zeros((len(centre), 3), np.int64)
    losses = []
    offset = 0
    stride = 1
    width = np.zeros((1, 1))
    for j, domain in enumerate(space.domains):
        if j == field.axis:
            part, width = field.bins
            columns[j] = offset, 0, 0
        else:
            key = j, int(centre[j]), MAX_COMBINATIONS // stride
            if key not in field.steps:
                field.steps[key] = _compute_level_steps(domain, key[1], space.weights[j], key[2])
            part, loss = field.steps[key]
            columns[j] = offset, stride, len(loss)
            losses.append((stride, loss))
            stride *= len(loss)
        parts.append(part)
        offset += len(part)
    price = np.zeros(stride)
    for step, loss in losses:
        price += loss[(np.arange(stride) // step) % len(loss)]
    return np.concatenate(parts), columns, price, width


def _compute_needed_size(rule: KernelRule, value: int, count: int) -> int:
    """Compute how many rows a group needs that holds so many of a value."""
    numerator = int(rule.upper[value, 0])
    denominator = int(rule.upper[value, 1])
    return max(-(-count * denominator // numerator), rule.least_size)


def _fill_carrier(
    field: CarrierField, rule: KernelRule, cell: int, box: np.ndarray, max_own_rows: int
) -> np.ndarray | None:
    """Take the cell's row and others of its value, other rare rows, then the rest."""
    value = int(field.values[cell])
    alone = np.zeros(len(rule.upper), np.int64)
    alone[value] = max_own_rows - 1
    entries = [np.array([[cell, 1]])]
    if max_own_rows > 1:
        entries.append(_take_rows_in_box(field, box, max_own_rows - 1, alone))
    own_rows = 1 + sum(int(entry[:, 1].sum()) for entry in entries[1:])
    size = _compute_needed_size(rule, value, own_rows)
    limits = rule.upper[:, 0] * size // rule.upper[:, 1]
    limits[value] = 0
    # other rare rows first, as many as may be
    fellows = _take_rows_in_box(field, box, size - own_rows, np.where(field.rare, limits, 0))
    np.subtract.at(limits, field.values[fellows[:, 0]], fellows[:, 1])
    field.free[fellows[:, 0]] -= fellows[:, 1]
    entries += [fellows, *_take_other_rows(field, rule, box, size, own_rows + int(fellows[:, 1].sum()), limits)]
    field.free[fellows[:, 0]] += fellows[:, 1]
    carrier = np.concatenate(entries)
    return carrier if carrier[:, 1].sum() == size else None


def _find_level_box(
    level: np.ndarray, columns: np.ndarray, sizes: np.ndarray, best: np.ndarray, axis: int
) -> np.ndarray:
    box = np.zeros((2, len(sizes)), np.int32)
    for j, (offset, stride, levels) in enumerate(columns):
        part = level[offset : offset + sizes[j]]
        inside = (part >= best[1]) & (part <= best[2]) if j == axis else part <= (best[0] // stride) % levels
        codes = np.flatnonzero(inside)
        box[:, j] = codes[0], codes[-1]
    return box


def _keeps_promise(rule: KernelRule, value_rows: np.ndarray, size: int) -> bool:
    caps, _, thresholds, _, _ = rule.arrays
    enough = (value_rows * caps[:, 3] >= caps[:, 2] * size) | ((value_rows == 0) & bool(thresholds[2]))
    return bool(
        size >= thresholds[0]
        and (value_rows > 0).sum() >= thresholds[1]
        and enough.all()
        and (value_rows * caps[:, 1] <= caps[:, 0] * size).all()
    )


def _has_time_left(cells: Cells, sweeps: SweepBudget) -> bool:
    return len(cells) < MANY_CELLS and sweeps.has_time_left(MAX_START_TIME_SHARE)


def _choose_better(
    cells: Cells, space: LossSpace, rule: KernelRule, rows: np.ndarray, first_tiling: Tiling, way: CutStrategy
) -> Tiling:
    return min(first_tiling, cut_top_down(cells, space, rule, rows, way), key=lambda tiling: tiling.loss(cells, space))


def _compute_level_steps(domain: Domain, code: int, weight: float, max_levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the level at which each code joins the centre's, and what a box up to that level loses."""
    codes = np.arange(domain.size)
    distances = domain.loss(np.minimum(codes, code), np.maximum(codes, code))
    steps = np.array(LEVEL_WIDTHS) if isinstance(domain, RangeDomain) else np.unique(distances)
    if max_levels < len(steps):  # few combinations left: this code alone, or everything
        steps = steps[[0, -1]] if max_levels >= 2 else steps[-1:]
    part = np.minimum(np.searchsorted(steps, distances), len(steps) - 1).astype(np.int32)
    first, last = (np.array([edge(np.flatnonzero(part <= s)) for s in range(len(steps))]) for edge in (np.min, np.max))
    return part, weight * domain.loss(first, last)


def _take_rows_in_box(field: CarrierField, box: np.ndarray, size: int, limits: np.ndarray) -> np.ndarray:
    take = np.zeros(2 * max(size, 0) + 1, np.int64)
    take[0] = max(size, 0)
    entries, _ = take_rows(field.codes, field.starts, field.values, field.free, field.order, box, limits, take)
    return take[1 : 1 + 2 * entries].reshape(-1, 2)


def _take_other_rows(
    field: CarrierField, rule: KernelRule, box: np.ndarray, size: int, taken_rows: int, limits: np.ndarray
) -> list[np.ndarray]:
    """Take what lower caps require of each value, none of a value the box has too little of, then any rows."""
    required = -(-rule.lower[:, 0] * size // rule.lower[:, 1])
    required[field.rare] = 0
    if not required.any():
        return [_take_rows_in_box(field, box, size - taken_rows, limits)]
    first = _take_rows_in_box(field, box, int(required.sum()), required)
    got = np.bincount(field.values[first[:, 0]], weights=first[:, 1], minlength=len(limits)).astype(np.int64)
    short = got < required
    first = first[~short[field.values[first[:, 0]]]]
    limits[short] = 0
    np.subtract.at(limits, field.values[first[:, 0]], first[:, 1])
    field.free[first[:, 0]] -= first[:, 1]
    rest = _take_rows_in_box(field, box, size - taken_rows - int(first[:, 1].sum()), limits)
    field.free[first[:, 0]] += first[:, 1]
    return [first, rest]
