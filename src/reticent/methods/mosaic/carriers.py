"""Carriers: groups made first, around the rows of rare values, so that the rest need not be wide on their account.

A value with cap f needs 1/f rows around each of its rows: nine rows of a value with f = 1/670 force six thousand rows into
wide groups.  For each such row, rarest value first, the least-loss box that holds enough rows is found exactly and filled with
other rare rows up to their caps, then with rows of the smallest cells, which cost most elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reticent.kernels.mosaic_carriers import carrier_box, fill
from reticent.methods.mosaic.rule import Rule
from reticent.methods.mosaic.segments import quasi_cells
from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.tiling import Tiling, tiling_of
from reticent.table.cells import Cells
from reticent.table.domain import Domain, RangeDomain

RARE = 40  # rows around each row of a value from which it gets a carrier of its own; 12 was too few, 20 to 60 are alike
WORK = 200_000_000  # quasi-identifier cells that all searches together may look at
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
    rare: np.ndarray  # which values are
    bins: tuple[np.ndarray, np.ndarray]  # of the axis
    steps: dict[tuple[int, int, int], tuple[np.ndarray, np.ndarray]]  # of columns and codes met before


def carriers(cells: Cells, space: Space, rule: Rule) -> Iterator[tuple[Tiling, np.ndarray]]:
    """The carriers so far and the rows of each cell that are left: at first none, then those of one rare value more."""
    yield Tiling.empty(), cells.counts
    if rule.column < 0:
        return
    upper, totals = rule.upper, cells.totals(rule.column)
    rare = np.flatnonzero((upper[:, 0] > 0) & (upper[:, 1] > RARE * upper[:, 0]) & (totals > 0))
    rare = rare[np.argsort(upper[rare, 0] / upper[rare, 1], kind="stable")]
    if not len(rare):
        return
    field = _field(cells, space, rule, np.isin(np.arange(len(upper)), rare))
    left = totals.copy()
    # A search looks at every quasi-identifier cell: large tables get fewer carriers, each of several rare rows.
    searches = max(WORK // len(field.held), 16 * len(rare))
    found: list[np.ndarray] = []
    for at, value in enumerate(rare):
        waiting = int(field.free[field.values == value].sum())
        together = -(-waiting * (len(rare) - at) // max(searches - len(found), 1))
        for cell in np.flatnonzero(field.values == value):
            while field.free[cell] > 0:
                taken = _carrier(field, space, rule, int(cell), max(together, 1))
                if taken is None or not _spared(rule, field, taken, left):
                    break
                found.append(taken)
        if found:
            entries = np.concatenate(found)
            group = np.repeat(np.arange(len(found)), [len(entry) for entry in found])
            yield tiling_of(entries[:, 0], group, entries[:, 1]), field.free.copy()


def _spared(rule: Rule, field: Field, taken: np.ndarray, left: np.ndarray) -> bool:
    """Take the rows away, if both they and what is left then keep the promise."""
    held = np.bincount(field.values[taken[:, 0]], weights=taken[:, 1], minlength=len(left)).astype(np.int64)
    if not _keeps(rule, held, int(held.sum())) or not _keeps(rule, left - held, int((left - held).sum())):
        return False
    left -= held
    np.subtract.at(field.free, taken[:, 0], taken[:, 1])
    np.subtract.at(field.held, field.of_cell[taken[:, 0]], taken[:, 1])
    return True


def _size(rule: Rule, value: int, count: int) -> int:
    """Rows a group needs that holds so many of a value."""
    over, under = int(rule.upper[value, 0]), int(rule.upper[value, 1])
    return max(-(-count * under // over), rule.least_size)


def _keeps(rule: Rule, held: np.ndarray, size: int) -> bool:
    caps, _, least, _, _ = rule.arrays
    enough = (held * caps[:, 3] >= caps[:, 2] * size) | ((held == 0) & bool(least[2]))
    return bool(
        size >= least[0]
        and (held > 0).sum() >= least[1]
        and enough.all()
        and (held * caps[:, 1] <= caps[:, 0] * size).all()
    )


def _field(cells: Cells, space: Space, rule: Rule, rare: np.ndarray) -> Field:
    of_cell = quasi_cells(cells.codes)
    starts = np.flatnonzero(np.diff(of_cell, prepend=-1))
    held = np.bincount(of_cell, weights=cells.counts).astype(np.int64)
    numeric = [domain.size if isinstance(domain, RangeDomain) else 0 for domain in cells.quasi]
    axis = int(np.argmax(numeric)) if any(numeric) else -1
    return Field(np.ascontiguousarray(cells.codes[starts]), np.append(starts, len(cells)),
                 np.ascontiguousarray(cells.values[:, rule.column]), cells.counts.copy(), held, of_cell,
                 np.argsort(held, kind="stable").astype(np.int32), axis, rare,
                 _bins(cells.quasi[axis], space.weights[axis]) if axis >= 0 else (np.zeros(0, np.int32), np.zeros((1, 1))), {})  # fmt: skip


def _carrier(field: Field, space: Space, rule: Rule, cell: int, together: int) -> np.ndarray | None:
    """(cell, rows) of a carrier around one row of the cell, with up to `together` rows of its value."""
    centre = field.codes[field.of_cell[cell]]
    level, columns, price, width = _levels(field, space, centre)
    size = need = _size(rule, int(field.values[cell]), together)
    table = np.zeros((len(price), len(width)), np.int64)
    while need <= 64 * size:
        table[:] = 0
        best = np.array(
            [need, level[columns[field.axis, 0] + centre[field.axis]] if field.axis >= 0 else 0, 0], np.int64
        )
        if carrier_box(field.codes, field.held, level, columns, table, price, width, best) >= 1e300:
            return None
        field.free[cell] -= 1
        taken = _filled(field, rule, cell, _box(level, columns, space.sizes, best, field.axis), together)
        field.free[cell] += 1
        if taken is not None:
            return taken
        need += need // 2 + 1
    return None


def _filled(field: Field, rule: Rule, cell: int, box: np.ndarray, together: int) -> np.ndarray | None:
    """The cell's row and others of its value, other rare rows, then the rest."""
    value = int(field.values[cell])
    alone = np.zeros(len(rule.upper), np.int64)
    alone[value] = together - 1
    entries = [np.array([[cell, 1]])]
    if together > 1:
        entries.append(_fill(field, box, together - 1, alone))
    held = 1 + sum(int(entry[:, 1].sum()) for entry in entries[1:])
    size = _size(rule, value, held)
    room = rule.upper[:, 0] * size // rule.upper[:, 1]
    room[value] = 0
    # other rare rows first, as many as may be
    fellows = _fill(field, box, size - held, np.where(field.rare, room, 0))
    np.subtract.at(room, field.values[fellows[:, 0]], fellows[:, 1])
    field.free[fellows[:, 0]] -= fellows[:, 1]
    entries += [fellows, *_others(field, rule, box, size, held + int(fellows[:, 1].sum()), room)]
    field.free[fellows[:, 0]] += fellows[:, 1]
    taken = np.concatenate(entries)
    return taken if taken[:, 1].sum() == size else None


def _others(field: Field, rule: Rule, box: np.ndarray, size: int, held: int, room: np.ndarray) -> list[np.ndarray]:
    """What lower caps ask of each value, none of a value the box has too little of, then any rows."""
    least = -(-rule.lower[:, 0] * size // rule.lower[:, 1])
    least[field.rare] = 0
    if not least.any():
        return [_fill(field, box, size - held, room)]
    first = _fill(field, box, int(least.sum()), least)
    got = np.bincount(field.values[first[:, 0]], weights=first[:, 1], minlength=len(room)).astype(np.int64)
    short = got < least
    first = first[~short[field.values[first[:, 0]]]]
    room[short] = 0
    np.subtract.at(room, field.values[first[:, 0]], first[:, 1])
    field.free[first[:, 0]] -= first[:, 1]
    rest = _fill(field, box, size - held - int(first[:, 1].sum()), room)
    field.free[first[:, 0]] += first[:, 1]
    return [first, rest]


def _fill(field: Field, box: np.ndarray, size: int, room: np.ndarray) -> np.ndarray:
    take = np.zeros(2 * max(size, 0) + 1, np.int64)
    take[0] = max(size, 0)
    entries, _ = fill(field.codes, field.starts, field.values, field.free, field.order, box, room, take)
    return take[1 : 1 + 2 * entries].reshape(-1, 2)


def _levels(field: Field, space: Space, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each code's level around the centre, (offset, stride, levels) by column, price of combinations, width of bins."""
    parts, columns, losses = [], np.zeros((len(centre), 3), np.int64), []
    offset, stride, width = 0, 1, np.zeros((1, 1))
    for j, domain in enumerate(space.domains):
        if j == field.axis:
            part, width = field.bins
            columns[j] = offset, 0, 0
        else:
            key = j, int(centre[j]), COMBINATIONS // stride
            if key not in field.steps:
                field.steps[key] = _steps(domain, key[1], space.weights[j], key[2])
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


def _bins(domain: Domain, weight: float) -> tuple[np.ndarray, np.ndarray]:
    bins = min(domain.size, BINS)
    part = (np.arange(domain.size) * bins // domain.size).astype(np.int32)
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
    part = np.minimum(np.searchsorted(steps, apart), len(steps) - 1).astype(np.int32)
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
