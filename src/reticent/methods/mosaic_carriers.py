"""Carriers: groups made first, around the rows of rare values, so that the rest need not be wide on their account.

A value with cap f needs 1/f rows around each of its rows: nine rows of a value with f = 1/670 force six thousand rows into
wide groups.  For each such row, rarest value first, the least-loss box that holds enough rows is found exactly and filled with
other rare rows up to their caps, then with rows of the smallest cells, which cost most elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.kernels.mosaic_carriers import carrier_box, fill
from reticent.methods.mosaic_loss import Space
from reticent.methods.mosaic_quotas import Tiling, tiling_of
from reticent.methods.mosaic_rule import Rule
from reticent.methods.mosaic_segments import quasi_cells
from reticent.table.cells import Cells
from reticent.table.domain import Domain, RangeDomain

RARE = 40  # rows around each row of a value from which it gets a carrier of its own; 12 was too few, 20 to 60 are alike
COMBINATIONS = 4096
BINS = 256
STEPS = (0, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)


@dataclass(frozen=True, eq=False)
class Field:
    """Where carriers are looked for: the quasi-identifier cells, the axis, and which rows are still free."""

    codes: np.ndarray
    starts: np.ndarray
    values: np.ndarray
    free: np.ndarray  # rows of each cell
    held: np.ndarray  # rows of each quasi-identifier cell
    of_cell: np.ndarray
    order: np.ndarray
    axis: int


def carriers(cells: Cells, space: Space, rule: Rule) -> tuple[Tiling | None, np.ndarray]:
    """The carriers as groups, and the rows of each cell that are left."""
    upper, lower = rule.upper, rule.lower
    rare = np.flatnonzero((upper[:, 0] > 0) & (upper[:, 1] > RARE * upper[:, 0]) & (cells.totals(rule.column) > 0))
    field = _field(cells, space, rule)
    rare = rare[np.argsort(upper[rare, 0] / upper[rare, 1], kind="stable")]
    left, rows = cells.totals(rule.column), cells.rows
    found: list[np.ndarray] = []
    for value in rare:
        size = max(-(-int(upper[value, 1]) // int(upper[value, 0])), rule.least_size)
        room = upper[:, 0] * size // upper[:, 1]
        least = -(-lower[:, 0] * size // lower[:, 1])
        for cell in np.flatnonzero(field.values == value):
            while field.free[cell] > 0:
                taken = _carrier(field, space, int(cell), size, room, least)
                if taken is None:
                    break
                held = np.bincount(field.values[taken[:, 0]], weights=taken[:, 1], minlength=len(left)).astype(np.int64)
                if not _keeps(rule, held, size) or not _keeps(rule, left - held, rows - size):
                    break
                left, rows = left - held, rows - size
                np.subtract.at(field.free, taken[:, 0], taken[:, 1])
                np.subtract.at(field.held, field.of_cell[taken[:, 0]], taken[:, 1])
                found.append(taken)
    if not found:
        return None, field.free
    entries = np.concatenate(found)
    return tiling_of(entries[:, 0], np.repeat(np.arange(len(found)), [len(f) for f in found]), entries[:, 1]), field.free


def _keeps(rule: Rule, held: np.ndarray, size: int) -> bool:
    caps, _, least, _, _ = rule.arrays
    enough = (held * caps[:, 3] >= caps[:, 2] * size) | ((held == 0) & bool(least[2]))
    return bool(size >= least[0] and (held > 0).sum() >= least[1] and enough.all() and (held * caps[:, 1] <= caps[:, 0] * size).all())


def _field(cells: Cells, space: Space, rule: Rule) -> Field:
    of_cell = quasi_cells(cells.codes)
    starts = np.flatnonzero(np.diff(of_cell, prepend=-1))
    held = np.bincount(of_cell, weights=cells.counts).astype(np.int64)
    numeric = [domain.size if isinstance(domain, RangeDomain) else 0 for domain in cells.quasi]
    axis = int(np.argmax(numeric)) if any(numeric) else -1
    return Field(np.ascontiguousarray(cells.codes[starts]), np.append(starts, len(cells)),
                 np.ascontiguousarray(cells.values[:, rule.column]), cells.counts.copy(), held, of_cell,
                 np.argsort(held, kind="stable").astype(np.int32), axis)  # fmt: skip


def _carrier(field: Field, space: Space, cell: int, size: int, room: np.ndarray, least: np.ndarray) -> np.ndarray | None:
    """(cell, rows) of a carrier of `size` rows around one row of the cell."""
    centre = field.codes[field.of_cell[cell]]
    level, columns, price, width = _levels(field, space, centre)
    need = size
    table = np.zeros((len(price), len(width)), np.int64)
    while need <= 64 * size:
        table[:] = 0
        best = np.array([need, level[columns[field.axis, 0] + centre[field.axis]] if field.axis >= 0 else 0, 0], np.int64)
        if carrier_box(field.codes, field.held, level, columns, table, price, width, best) >= 1e300:
            return None
        taken = _filled(field, cell, _box(level, columns, space.sizes, best, field.axis), size, room, least)
        if taken is not None:
            return taken
        need += need // 2 + 1
    return None


def _filled(field: Field, cell: int, box: np.ndarray, size: int, room: np.ndarray, least: np.ndarray) -> np.ndarray | None:
    """The cell's row, what lower caps ask of each value (none of a value the box has too little of), then any rows."""
    room = room.copy()
    free = field.free.copy() if least.any() else field.free
    value = field.values[cell]
    free[cell] -= 1
    room[value] -= 1
    entries = [np.array([[cell, 1]])]
    if least.any():
        first = _fill(field, free, box, int(np.maximum(least, 0).sum()), np.maximum(least - (np.arange(len(least)) == value), 0))
        got = np.bincount(field.values[first[:, 0]], weights=first[:, 1], minlength=len(room)).astype(np.int64)
        short = got < least - (np.arange(len(least)) == value)
        first = first[~short[field.values[first[:, 0]]]]
        room[short] = 0
        free[first[:, 0]] -= first[:, 1]
        np.subtract.at(room, field.values[first[:, 0]], first[:, 1])
        entries.append(first)
    entries.append(_fill(field, free, box, size - sum(int(e[:, 1].sum()) for e in entries), room))
    if not least.any():
        free[cell] += 1
    taken = np.concatenate(entries)
    return taken if taken[:, 1].sum() == size else None


def _fill(field: Field, free: np.ndarray, box: np.ndarray, size: int, room: np.ndarray) -> np.ndarray:
    take = np.zeros(2 * max(size, 0) + 1, np.int64)
    take[0] = max(size, 0)
    entries, _ = fill(field.codes, field.starts, field.values, free, field.order, box, room, take)
    return take[1 : 1 + 2 * entries].reshape(-1, 2)


def _levels(field: Field, space: Space, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each code's level around the centre, (offset, stride, levels) by column, price of combinations, width of bins."""
    parts, columns, losses = [], np.zeros((len(centre), 3), np.int64), []
    offset, stride, width = 0, 1, np.zeros((1, 1))
    for j, domain in enumerate(space.domains):
        if j == field.axis:
            part, width = _bins(domain, space.weights[j])
            columns[j] = offset, 0, 0
        else:
            part, loss = _steps(domain, int(centre[j]), space.weights[j], COMBINATIONS // stride)
            columns[j] = offset, stride, len(loss)
            losses.append((stride, loss))
            stride *= len(loss)
        parts.append(part.astype(np.int32))
        offset += len(part)
    price = np.zeros(stride)
    for step, loss in losses:
        price += loss[(np.arange(stride) // step) % len(loss)]
    return np.concatenate(parts), columns, price, width


def _bins(domain: Domain, weight: float) -> tuple[np.ndarray, np.ndarray]:
    bins = min(domain.size, BINS)
    part = np.arange(domain.size) * bins // domain.size
    first = np.searchsorted(part, np.arange(bins))
    last = np.searchsorted(part, np.arange(bins), side="right") - 1
    lower, upper = np.triu_indices(bins)
    width = np.zeros((bins, bins))
    width[lower, upper] = weight * domain.loss(first[lower], last[upper])
    return part, width


def _steps(domain: Domain, code: int, weight: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The level at which each code joins the centre's, and what a box up to that level loses."""
    codes = np.arange(domain.size)
    apart = domain.loss(np.minimum(codes, code), np.maximum(codes, code))
    steps = np.array(STEPS) if isinstance(domain, RangeDomain) else np.unique(apart)
    if most < len(steps):  # few combinations left: this code alone, or everything
        steps = steps[[0, -1]] if most >= 2 else steps[-1:]
    part = np.minimum(np.searchsorted(steps, apart), len(steps) - 1)
    first, last = (np.array([edge(np.flatnonzero(part <= s)) for s in range(len(steps))]) for edge in (np.min, np.max))
    return part, weight * domain.loss(first, last)


def _box(level: np.ndarray, columns: np.ndarray, sizes: np.ndarray, best: np.ndarray, axis: int) -> np.ndarray:
    box = np.zeros((2, len(sizes)), np.int32)
    for j, (offset, stride, levels) in enumerate(columns):
        part = level[offset : offset + sizes[j]]
        inside = (part >= best[1]) & (part <= best[2]) if j == axis else part <= (best[0] // stride) % levels
        held = np.flatnonzero(inside)
        box[:, j] = held[0], held[-1]
    return box
