"""The table `bounds` of a transformed release, recomputed from `sensitive`: each row, and that no slope changes between two rows."""

from __future__ import annotations

import numpy as np
import polars as pl

from reticent.exact import is_whole
from reticent.release.guaranteed import COUNT, GROUP, SELECTED
from reticent.release.manifest import Manifest
from reticent.release.numbers import fraction

_FORMS = ("sum_lower", "sum_upper", "min_lower", "min_upper", "max_lower", "max_upper")


def faulty_bounds(bounds: pl.DataFrame, held: pl.DataFrame, rows: np.ndarray, manifest: Manifest) -> int:
    """How many rows are not what the definition gives, or stand in another order, or lack."""
    if sum(bounds[name].null_count() for name in bounds.columns):
        return len(bounds)
    group, selected = bounds[GROUP].to_numpy().astype(np.int64), bounds[SELECTED].to_numpy().astype(np.int64)
    ascending = (np.diff(group) > 0) | ((np.diff(group) == 0) & (np.diff(selected) > 0))
    fits = (group >= 0) & (group < len(rows))
    if not ascending.all() or not fits.all() or (selected < 1).any() or (selected > rows[group]).any():
        return len(bounds)
    if manifest.sensitive.type != "numeric":
        same = np.array_equal(group, np.arange(len(rows))) and np.array_equal(selected, rows)
        return 0 if same else max(len(bounds), len(rows))
    return _numbers(bounds, held, rows, group, selected)


def _numbers(
    bounds: pl.DataFrame, held: pl.DataFrame, rows: np.ndarray, group: np.ndarray, selected: np.ndarray
) -> int:
    scale, low = _units(held["lower"])
    other, high = _units(held["upper"])
    low, high = low * (max(scale, other) // scale), high * (max(scale, other) // other)
    scale = max(scale, other)
    of, count = held[GROUP].to_numpy().astype(np.int64), held[COUNT].to_numpy().astype(np.int64)
    sums, ends, slopes = [], [], []
    for value, sign in ((low, 1), (high, -1)):
        order = np.lexsort((sign * value, of))
        total, last, changes = _taken(of[order], value[order], count[order], group, selected, rows)
        sums.append(total)
        ends.append(last)
        slopes.append(changes)
    wanted = dict(zip(_FORMS, (sums[0], sums[1], _extreme(of, low, np.minimum)[group], ends[1], ends[0],
                               _extreme(of, high, np.maximum)[group]), strict=True))  # fmt: skip
    wrong = np.zeros(len(bounds), bool)
    for name, values in wanted.items():
        wrong |= ~_same(bounds[name], values, scale, name)
    wide = int(rows.max()) + 1
    needed = np.unique(np.concatenate([*(of * wide + at for of, at in slopes), np.arange(len(rows)) * wide + rows]))
    return int(wrong.sum()) + len(np.setxor1d(needed, group * wide + selected, assume_unique=True))


def _units(series: pl.Series) -> tuple[int, np.ndarray]:
    """Numbers as whole multiples of a decimal unit."""
    if series.dtype.is_integer():
        return 1, series.to_numpy().astype(np.int64)
    distinct = series.unique()
    read = {value: fraction(text) for value, text in zip(distinct, distinct.cast(pl.String), strict=True)}
    scale = 1
    while not all(is_whole(scale * number) for number in read.values()):
        scale *= 10
    return scale, np.array([int(read[value] * scale) for value in series.to_list()], np.int64)


def _taken(
    of: np.ndarray, value: np.ndarray, count: np.ndarray, group: np.ndarray, selected: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Of each (group, selected): the sum of the first so many values, the last of them; and where the next value is another."""
    starts = np.searchsorted(of, np.arange(len(rows)))
    until = np.cumsum(count)
    offset = np.append(0, until)[starts]
    place = np.searchsorted(until, offset[group] + selected)
    paid = np.append(0, np.cumsum(count * value))
    total = paid[place] - paid[starts[group]] + (offset[group] + selected - np.append(0, until)[place]) * value[place]
    inside = until - offset[of]
    differs = np.append((of[1:] == of[:-1]) & (value[1:] != value[:-1]), False) & (inside < rows[of])
    return total, value[place], (of[differs], inside[differs])


def _extreme(of: np.ndarray, value: np.ndarray, take: np.ufunc) -> np.ndarray:
    order = np.argsort(of, kind="stable")
    return take.reduceat(value[order], np.flatnonzero(np.diff(of[order], prepend=-1)))


def _same(series: pl.Series, values: np.ndarray, scale: int, name: str) -> np.ndarray:
    """Whole numbers exactly; others the nearest double on the safe side, at most one further."""
    if series.dtype.is_integer():
        return series.to_numpy() == values
    given, near = series.to_numpy(), values / scale
    if not name.startswith("sum"):
        return given == near
    away = np.nextafter(near, -np.inf if name.endswith("lower") else np.inf)
    return np.where(values % scale == 0, given == near, given == away)
