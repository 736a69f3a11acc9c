"""Aggregates over rows that are uncertain one by one: each row may be at any point that its labels cover, whatever the others are.

Each row is selected for certain, possibly or not, and if it is, its value lies between two ends.  So

    COUNT  lower those selected for certain, upper those possibly selected
    SUM    every uncertain row that makes it less (more) is taken, no other
    AVG    a fractional choice: of uncertain rows, the lowest (highest) are taken as long as they lower (raise) the mean
    MIN    upper: the least of the greatest ends of those selected for certain; without such, the greatest of all

SUM, AVG, MIN and MAX of no rows are NULL: bounds are over the tables in which some row is selected.  The estimate takes every
point of a row's box to be alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.release.answer import NOTHING, Answer
from reticent.release.asking.pieces import Pieces
from reticent.release.asking.rows import FAR

ROUNDING = 2.0**-52


@dataclass(frozen=True, eq=False)
class Uncertain:
    """Rows alike: how many, the share of each that is expected to be selected, whether it may be and must be, and its value."""

    rows: np.ndarray
    share: np.ndarray
    may: np.ndarray
    must: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    parts: tuple[np.ndarray, np.ndarray] | None = None  # (alike, pieces): share and mean value at each piece

    @classmethod
    def of(cls, pieces: Pieces, cells: dict[str, np.ndarray], rows: np.ndarray, column: str | None) -> Uncertain:
        may = {axis.name: axis.may.astype(float) for axis in pieces.axes}
        share = {axis.name: axis.share for axis in pieces.axes}
        certain = pieces.added(cells, may, None, unmet=True) == 0
        if column is None:
            return cls(rows, pieces.added(cells, share, None), pieces.added(cells, may, None) > 0, certain)
        axis = next(axis for axis in pieces.axes if axis.name == column)
        label = cells[column]
        others = {name: code for name, code in cells.items() if name != column}
        reached = _kept(pieces, others, may, column, len(rows)) > 0
        reached &= axis.may[label]
        expected = _kept(pieces, others, share, column, len(rows)) * axis.share[label]
        value = reached & ~axis.null
        expected = expected * ~axis.null
        must = certain & ~(reached & axis.null).any(axis=1)
        if axis.low is None or axis.high is None or axis.mean is None:
            return cls(rows, expected.sum(axis=1), value.any(axis=1), must & value.any(axis=1))
        low = np.where(value, axis.low[label], _end(axis.low, 1)).min(axis=1)
        high = np.where(value, axis.high[label], _end(axis.high, -1)).max(axis=1)
        return cls(
            rows,
            expected.sum(axis=1),
            value.any(axis=1),
            must & value.any(axis=1),
            low,
            high,
            (expected, axis.mean[label]),
        )


def _kept(
    pieces: Pieces, cells: dict[str, np.ndarray], weights: dict[str, np.ndarray], column: str, many: int
) -> np.ndarray:
    found = pieces.added(cells, weights, column)
    return np.broadcast_to(found, (many, found.shape[1]))


def _end(array: np.ndarray, sign: int) -> Any:
    return sign * (np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max)


def answer(found: Uncertain, aggregate: str) -> Answer:
    if aggregate == "count":
        least, most = int(found.rows[found.must].sum()), int(found.rows[found.may].sum())
        return Answer(between(tidy(found.rows @ found.share), least, most), least, most)
    if not found.may.any():
        return NOTHING
    assert found.low is not None and found.high is not None and found.parts is not None
    kept = found.may
    rows, must, low, high = (array[kept] for array in (found.rows, found.must, found.low, found.high))
    if aggregate in ("min", "max"):
        lower, upper = _extreme(aggregate, must, low, high)
    else:
        ask = _sum if aggregate == "sum" else _avg
        lower, upper = ask(rows, must, low, 1), ask(rows, must, high, -1)
    lower, upper = _known(lower), _known(upper)
    return Answer(between(_expected(found, aggregate), lower, upper), lower, upper)


def _sum(rows: np.ndarray, must: np.ndarray, value: np.ndarray, sign: int) -> Any:
    taken = must | (value * sign < 0)
    if not taken.any():
        return value[np.argmin(value * sign)]
    if _endless(value[taken]):
        return None
    if value.dtype.kind != "f":
        return sum((rows * value.astype(object))[taken].tolist())
    parts = (rows * value)[taken]
    return float(parts.sum()) - sign * ROUNDING * (len(parts) + 2) * float(np.abs(parts).sum())


def _avg(rows: np.ndarray, must: np.ndarray, value: np.ndarray, sign: int) -> Any:
    """The best of the means that taking one more uncertain row after the other gives."""
    if _endless(value[must]) or _endless(value[~must & (value * sign < 0)]):
        return None
    order = np.argsort(np.where(must, -np.inf, value.astype(float) * sign), kind="stable")
    number, total = np.cumsum(rows[order]), np.cumsum((rows * value.astype(float))[order])
    first = max(int(must.sum()) - 1, 0)
    best = first + int(np.argmin((total / number)[first:] * sign))
    chosen = order[: best + 1]
    many = int(rows[chosen].sum())
    if value.dtype.kind != "f":
        return float((rows * value.astype(object))[chosen].sum() / many)
    parts = (rows * value)[chosen]
    return float(parts.sum()) / many - sign * ROUNDING * (len(parts) + 2) * float(np.abs(parts).sum()) / many


def _extreme(aggregate: str, must: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[Any, Any]:
    if aggregate == "min":
        return low.min(), high[must].min() if must.any() else high.max()
    return low[must].max() if must.any() else low.min(), high.max()


def _endless(value: np.ndarray) -> bool:
    return bool((~np.isfinite(value)).any() if value.dtype.kind == "f" else (np.abs(value) >= FAR).any())


def _known(end: Any) -> Any:
    """An end as a number; None where it is not known."""
    if end is None or not np.isfinite(float(end)) or (isinstance(end, int | np.integer) and abs(int(end)) >= FAR):
        return None
    return end.item() if hasattr(end, "item") else end


def tidy(value: Any) -> float:
    found = float(value)
    return int(found) if found.is_integer() else found


def between(value: float | None, lower: Any, upper: Any) -> float | None:
    """Sums of shares are off by roundings: never outside of what is possible."""
    if value is None:
        return None
    value = value if lower is None else max(value, lower)
    return value if upper is None else min(value, upper)


def _expected(found: Uncertain, aggregate: str) -> float | None:
    assert found.parts is not None
    share, mean = found.parts
    weight = found.rows[:, None] * share
    held = weight > 0
    if not held.any() or not np.isfinite(mean[held]).all():
        return None
    if aggregate in ("sum", "avg"):
        total = float((weight[held] * mean[held]).sum())
        return total if aggregate == "sum" else total / float(weight[held].sum())
    return extreme(mean[held], share[held], np.broadcast_to(found.rows[:, None], share.shape)[held], aggregate)


def extreme(value: np.ndarray, chance: np.ndarray, times: np.ndarray, aggregate: str) -> float | None:
    """The mean of the least or greatest of values that are each there with a chance, given that one is."""
    order = np.argsort(value if aggregate == "min" else -value, kind="stable")
    with np.errstate(divide="ignore"):
        none = np.exp(np.cumsum(times[order] * np.log1p(-np.minimum(chance[order], 1.0))))
    first = -np.diff(none, prepend=1.0)
    return float(first @ value[order] / first.sum()) if first.sum() > 0 else None
