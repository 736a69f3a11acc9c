"""Aggregates over independent rows: each row may be at any point that its labels cover, whatever the others are.

Each row is selected for certain, possibly or not, and if it is, its value lies between two ends.  So

    COUNT  lower those selected for certain, upper those possibly selected
    SUM    every uncertain row that makes it less (more) is taken, no other
    AVG    a fractional choice: of uncertain rows, the lowest (highest) are taken as long as they lower (raise) the mean
    MIN    upper: the least of the greatest ends of those selected for certain; without such, the greatest of all

SUM, AVG, MIN and MAX of no rows are NULL: bounds are over the tables in which some row is selected.  The estimate
assumes that every point of a row's box is equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.estimate.answer import NO_ANSWER, Answer
from reticent.estimate.condition import ENDLESS, ConditionPieces, convert_to_doubles
from reticent.exact_arithmetic import as_ratio

ROUNDING_ERROR = 2.0**-52


NOT_KNOWN = "Somebody may be in the selection, and nothing that is published limits their numbers."


@dataclass(frozen=True, eq=False)
class UncertainRows:
    """Equal rows: their number, the expected share that is selected, whether a row may and must be selected, and its value."""

    rows: np.ndarray
    share: np.ndarray
    may: np.ndarray
    must: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    parts: tuple[np.ndarray, np.ndarray] | None = None  # (alike, pieces): share and mean value at each piece
    unpublished: int = (
        0  # how many of the last of them are of rows that are not published, of which nothing is expected
    )

    @classmethod
    def from_pieces(
        cls, pieces: ConditionPieces, cells: dict[str, np.ndarray], rows: np.ndarray, column: str | None
    ) -> UncertainRows:
        may = {axis.name: axis.may.astype(float) for axis in pieces.axes}
        share = {axis.name: axis.share for axis in pieces.axes}
        certain = pieces.sum_weights(cells, may, None, unmet=True) == 0
        if column is None:
            return cls(rows, pieces.sum_weights(cells, share, None), pieces.sum_weights(cells, may, None) > 0, certain)
        axis = next(axis for axis in pieces.axes if axis.name == column)
        label = cells[column]
        others = {name: code for name, code in cells.items() if name != column}
        reached = _add_up_pieces(pieces, others, may, column, len(rows)) > 0
        reached &= axis.may[label]
        expected = _add_up_pieces(pieces, others, share, column, len(rows)) * axis.share[label]
        value = reached & ~axis.null
        expected = expected * ~axis.null
        must = certain & ~(reached & axis.null).any(axis=1)
        if axis.low is None or axis.high is None or axis.mean is None:
            return cls(rows, expected.sum(axis=1), value.any(axis=1), must & value.any(axis=1))
        low = np.where(value, axis.low[label], _get_extreme_end(axis.low, 1)).min(axis=1)
        high = np.where(value, axis.high[label], _get_extreme_end(axis.high, -1)).max(axis=1)
        return cls(
            rows,
            expected.sum(axis=1),
            value.any(axis=1),
            must & value.any(axis=1),
            low,
            high,
            (expected, axis.mean[label]),
        )

    def append(self, other: UncertainRows | None) -> UncertainRows:
        """Add other rows, of which nothing is expected: rows that are not published are not estimated here."""
        if other is None:
            return self
        low = _append_ends(self.low, other.low)
        high = _append_ends(self.high, other.high)
        parts = None
        if self.parts is not None and other.parts is not None:
            share, mean = self.parts
            parts = (np.vstack([share, np.zeros((1, share.shape[1]))]), np.vstack([mean, np.zeros((1, mean.shape[1]))]))
        return UncertainRows(
            np.append(self.rows, other.rows),
            np.append(self.share, 0.0),
            np.append(self.may, other.may),
            np.append(self.must, other.must),
            low,
            high,
            parts,
            unpublished=1,
        )


def _append_ends(ends: np.ndarray | None, others: np.ndarray | None) -> np.ndarray | None:
    """Append the ends of both, as whole numbers if both are."""
    if ends is None or others is None:
        return None
    if ends.dtype.kind == others.dtype.kind:
        return np.append(ends, others)
    return np.append(convert_to_doubles(ends), convert_to_doubles(others))


def _add_up_pieces(
    pieces: ConditionPieces, cells: dict[str, np.ndarray], weights: dict[str, np.ndarray], column: str, many: int
) -> np.ndarray:
    found = pieces.sum_weights(cells, weights, column)
    return np.broadcast_to(found, (many, found.shape[1]))


def _get_extreme_end(array: np.ndarray, sign: int) -> Any:
    return sign * (np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max)


def answer_aggregate(found: UncertainRows, aggregate: str) -> Answer:
    if aggregate == "count":
        least = int(found.rows[found.must].sum())
        most = int(found.rows[found.may].sum())
        return Answer(clamp_to_bounds(tidy_number(found.rows @ found.share), least, most), least, most)
    if not found.may.any():
        return NO_ANSWER
    assert found.low is not None and found.high is not None and found.parts is not None
    kept = found.may
    rows, must, low, high = (array[kept] for array in (found.rows, found.must, found.low, found.high))
    if aggregate in ("min", "max"):
        lower, upper = _bound_extreme(aggregate, must, low, high)
    else:
        ask = _bound_sum if aggregate == "sum" else _bound_mean
        lower = ask(rows, must, low, 1)
        upper = ask(rows, must, high, -1)
    lower = _convert_end(lower)
    upper = _convert_end(upper)
    estimate = clamp_to_bounds(_estimate_expected(found, aggregate), lower, upper)
    if estimate is None and lower is None and upper is None:
        return Answer(None, note=NOT_KNOWN)
    return Answer(estimate, lower, upper)


def add_unpublished_count(found: Answer, beside: UncertainRows | None) -> Answer:
    """Add rows that may or must be counted too to a count of published rows."""
    if beside is None or found.lower is None or found.upper is None:
        return found
    least, most = (int(beside.rows[side].sum()) for side in (beside.must, beside.may))
    return Answer(found.estimate, found.lower + least, found.upper + most)


def _bound_sum(rows: np.ndarray, must: np.ndarray, value: np.ndarray, sign: int) -> Any:
    taken = must | (value * sign < 0)
    if not taken.any():
        return value[np.argmin(value * sign)]
    if _is_endless(value[taken]):
        return None
    if value.dtype.kind != "f":
        return sum((rows * value.astype(object))[taken].tolist())
    parts = (rows * value)[taken]
    return float(parts.sum()) - sign * ROUNDING_ERROR * (len(parts) + 2) * float(np.abs(parts).sum())


def _bound_mean(rows: np.ndarray, must: np.ndarray, value: np.ndarray, sign: int) -> Any:
    """Return the best of the means that result from taking one more uncertain row after the other."""
    if _is_endless(value[must]) or _is_endless(value[~must & (value * sign < 0)]):
        return None
    order = np.argsort(np.where(must, -np.inf, value.astype(float) * sign), kind="stable")
    number = np.cumsum(rows[order])
    total = np.cumsum((rows * value.astype(float))[order])
    first = max(int(must.sum()) - 1, 0)
    best = first + int(np.argmin((total / number)[first:] * sign))
    chosen = order[: best + 1]
    if value.dtype.kind != "f":
        return round_to_double(_find_exact_mean(rows[order].tolist(), value[order].tolist(), first, best, sign), -sign)
    many = int(rows[chosen].sum())
    parts = (rows * value)[chosen]
    return float(parts.sum()) / many - sign * 2 * ROUNDING_ERROR * (len(parts) + 2) * float(np.abs(parts).sum()) / many


def _find_exact_mean(rows: list[int], value: list[int], first: int, best: int, sign: int) -> Fraction:
    """Find the best mean of ordered rows, those up to `first` taken in any case; `best` is where doubles found it."""
    many = sum(rows[: best + 1])
    total = sum(row * number for row, number in zip(rows[: best + 1], value, strict=False))
    while best > first and value[best] * many * sign > total * sign:
        many = many - rows[best]
        total = total - rows[best] * value[best]
        best -= 1
    while best + 1 < len(rows) and value[best + 1] * many * sign < total * sign:
        best += 1
        many = many + rows[best]
        total = total + rows[best] * value[best]
    return Fraction(total, many)


def round_to_double(value: Fraction, sign: int) -> float:
    """Return the nearest double that is not less (sign 1), or not more (sign -1)."""
    numerator, denominator = as_ratio(value)
    found = numerator / denominator
    if (Fraction(found) - value) * sign < 0:
        found = float(np.nextafter(found, sign * np.inf))
    return found


def _bound_extreme(aggregate: str, must: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[Any, Any]:
    if aggregate == "min":
        return low.min(), high[must].min() if must.any() else high.max()
    return low[must].max() if must.any() else low.min(), high.max()


def _is_endless(value: np.ndarray) -> bool:
    return bool(
        (~np.isfinite(value)).any() if value.dtype.kind == "f" else ((value >= ENDLESS) | (value <= -ENDLESS)).any()
    )


def _convert_end(end: Any) -> Any:
    """Convert an end to a number; None if it is not known."""
    if end is None or not np.isfinite(float(end)) or (isinstance(end, int | np.integer) and abs(int(end)) >= ENDLESS):
        return None
    return end.item() if hasattr(end, "item") else end


def tidy_number(value: Any) -> float:
    found = float(value)
    return int(found) if found.is_integer() else found


def clamp_to_bounds(value: float | None, lower: Any, upper: Any) -> float | None:
    """Clamp a value to what is possible: sums of shares are off by roundings."""
    if value is None:
        return None
    value = value if lower is None else max(value, lower)
    return value if upper is None else min(value, upper)


def _estimate_expected(found: UncertainRows, aggregate: str) -> float | None:
    assert found.parts is not None
    share, mean = found.parts
    weight = found.rows[:, None] * share
    held = weight > 0
    if not held.any():
        return _estimate_unexpected(found, aggregate)
    if not np.isfinite(mean[held]).all():
        return None
    if aggregate in ("sum", "avg"):
        total = float((weight[held] * mean[held]).sum())
        return total if aggregate == "sum" else total / float(weight[held].sum())
    return estimate_extreme(mean[held], share[held], np.broadcast_to(found.rows[:, None], share.shape)[held], aggregate)


def _estimate_unexpected(found: UncertainRows, aggregate: str) -> float | None:
    """Estimate rows that may be selected and are not expected to be: as if all were, with their numbers in the middle."""
    assert found.low is not None and found.high is not None and found.parts is not None
    kept = found.may & (found.rows > 0)
    kept[len(kept) - found.unpublished :] = False
    low, high = (convert_to_doubles(side[kept]) for side in (found.low, found.high))
    if aggregate == "sum" or not kept.any() or not (np.isfinite(low) & np.isfinite(high)).all():
        return None
    middle = low / 2 + high / 2
    if aggregate == "avg":
        return float(middle @ found.rows[kept] / found.rows[kept].sum())
    return float(middle.min() if aggregate == "min" else middle.max())


def estimate_extreme(value: np.ndarray, chance: np.ndarray, times: np.ndarray, aggregate: str) -> float | None:
    """Return the mean of the least or greatest of values that are each present with a chance, given that one is."""
    order = np.argsort(value if aggregate == "min" else -value, kind="stable")
    with np.errstate(divide="ignore"):
        none = np.exp(np.cumsum(times[order] * np.log1p(-np.minimum(chance[order], 1.0))))
    first = -np.diff(none, prepend=1.0)
    return float(first @ value[order] / first.sum()) if first.sum() > 0 else None
