"""Aggregates over independent rows: each row may be at any point that its labels cover, whatever the others are.

Each row is selected for certain, possibly or not, and if it is, its value lies between two ends.  So

    COUNT  lower those selected for certain, upper those possibly selected
    SUM    every uncertain row that makes it less (more) is taken, no other
    AVG    a fractional choice: of uncertain rows, the lowest (highest) are taken as long as they lower (raise) the mean
    MIN    upper: the least of the greatest ends of those selected for certain; without such, the greatest of all

SUM, AVG, MIN and MAX of no rows are NULL: bounds are over the tables in which some row is selected.  The estimate
takes rows to lie within their boxes as shares have it (`density`).
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
    unpublished: int = 0
    """How many of the last entries are of rows that are not published, of which nothing is expected."""

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
        is_reachable = _add_up_pieces(pieces, others, may, column, len(rows)) > 0
        is_reachable &= axis.may[label]
        expected = _add_up_pieces(pieces, others, share, column, len(rows)) * axis.share[label]
        has_number = is_reachable & ~axis.null
        expected = expected * ~axis.null
        must = certain & ~(is_reachable & axis.null).any(axis=1)
        if axis.low is None or axis.high is None or axis.mean is None:
            return cls(rows, expected.sum(axis=1), has_number.any(axis=1), must & has_number.any(axis=1))
        low = np.where(has_number, axis.low[label], _get_extreme_end(axis.low, 1)).min(axis=1)
        high = np.where(has_number, axis.high[label], _get_extreme_end(axis.high, -1)).max(axis=1)
        return cls(
            rows,
            expected.sum(axis=1),
            has_number.any(axis=1),
            must & has_number.any(axis=1),
            low,
            high,
            (expected, axis.mean[label]),
        )

    def leave_open(self) -> bool:
        """Tell whether some row may be selected or not, or its number is not known."""
        if (self.may & ~self.must & (self.rows > 0)).any():
            return True
        return self.low is not None and self.high is not None and bool((self.may & (self.low < self.high)).any())

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


def answer_aggregate(rows_alike: UncertainRows, aggregate: str) -> Answer:
    if aggregate == "count":
        lower_count = int(rows_alike.rows[rows_alike.must].sum())
        upper_count = int(rows_alike.rows[rows_alike.may].sum())
        return Answer(
            clamp_to_bounds(tidy_number(rows_alike.rows @ rows_alike.share), lower_count, upper_count),
            lower_count,
            upper_count,
        )
    if not rows_alike.may.any():
        return NO_ANSWER
    assert rows_alike.low is not None and rows_alike.high is not None and rows_alike.parts is not None
    may_be_selected = rows_alike.may
    rows, must, low, high = (
        array[may_be_selected] for array in (rows_alike.rows, rows_alike.must, rows_alike.low, rows_alike.high)
    )
    if aggregate in ("min", "max"):
        lower, upper = _bound_extreme(aggregate, must, low, high)
    else:
        bound = _bound_sum if aggregate == "sum" else _bound_mean
        lower = bound(rows, must, low, 1)
        upper = bound(rows, must, high, -1)
    lower = _convert_end(lower)
    upper = _convert_end(upper)
    estimate = clamp_to_bounds(_estimate_expected(rows_alike, aggregate), lower, upper)
    if estimate is None and lower is None and upper is None:
        return Answer(None, note=NOT_KNOWN)
    return Answer(estimate, lower, upper)


def add_unpublished_count(published: Answer, withheld_rows: UncertainRows | None) -> Answer:
    """Add rows that may or must be counted too to a count of published rows."""
    if withheld_rows is None or published.lower is None or published.upper is None:
        return published
    must_count, may_count = (int(withheld_rows.rows[side].sum()) for side in (withheld_rows.must, withheld_rows.may))
    return Answer(published.estimate, published.lower + must_count, published.upper + may_count)


def round_to_double(value: Fraction, sign: int) -> float:
    """Return the nearest double that is not less (sign 1), or not more (sign -1)."""
    numerator, denominator = as_ratio(value)
    double = numerator / denominator
    if (Fraction(double) - value) * sign < 0:
        double = float(np.nextafter(double, sign * np.inf))
    return double


def tidy_number(value: Any) -> float:
    number = float(value)
    return int(number) if number.is_integer() else number


def clamp_to_bounds(value: float | None, lower: Any, upper: Any) -> float | None:
    """Clamp a value to what is possible: sums of shares are off by roundings."""
    if value is None:
        return None
    value = value if lower is None else max(value, lower)
    return value if upper is None else min(value, upper)


def estimate_extreme(value: np.ndarray, chance: np.ndarray, multiplicity: np.ndarray, aggregate: str) -> float | None:
    """Return the mean of the least or greatest of values that are each present with a chance, given that one is."""
    order = np.argsort(value if aggregate == "min" else -value, kind="stable")
    with np.errstate(divide="ignore"):
        none_present = np.exp(np.cumsum(multiplicity[order] * np.log1p(-np.minimum(chance[order], 1.0))))
    first = -np.diff(none_present, prepend=1.0)
    return float(first @ value[order] / first.sum()) if first.sum() > 0 else None


def _add_up_pieces(
    pieces: ConditionPieces, cells: dict[str, np.ndarray], weights: dict[str, np.ndarray], column: str, row_count: int
) -> np.ndarray:
    sums = pieces.sum_weights(cells, weights, column)
    return np.broadcast_to(sums, (row_count, sums.shape[1]))


def _get_extreme_end(array: np.ndarray, sign: int) -> Any:
    return sign * (np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max)


def _append_ends(ends: np.ndarray | None, others: np.ndarray | None) -> np.ndarray | None:
    """Append the ends of both, as whole numbers if both are."""
    if ends is None or others is None:
        return None
    if ends.dtype.kind == others.dtype.kind:
        return np.append(ends, others)
    return np.append(convert_to_doubles(ends), convert_to_doubles(others))


def _bound_extreme(aggregate: str, must: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[Any, Any]:
    if aggregate == "min":
        return low.min(), high[must].min() if must.any() else high.max()
    return low[must].max() if must.any() else low.min(), high.max()


def _bound_sum(rows: np.ndarray, must: np.ndarray, value: np.ndarray, sign: int) -> Any:
    is_taken = must | (value * sign < 0)
    if not is_taken.any():
        return value[np.argmin(value * sign)]
    if _is_endless(value[is_taken]):
        return None
    if value.dtype.kind != "f":
        return sum((rows * value.astype(object))[is_taken].tolist())
    parts = (rows * value)[is_taken]
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
    selected = order[: best + 1]
    if value.dtype.kind != "f":
        return round_to_double(_find_exact_mean(rows[order].tolist(), value[order].tolist(), first, best, sign), -sign)
    row_count = int(rows[selected].sum())
    parts = (rows * value)[selected]
    return (
        float(parts.sum()) / row_count
        - sign * 2 * ROUNDING_ERROR * (len(parts) + 2) * float(np.abs(parts).sum()) / row_count
    )


def _convert_end(end: Any) -> Any:
    """Convert an end to a number; None if it is not known."""
    if end is None or not np.isfinite(float(end)) or (isinstance(end, int | np.integer) and abs(int(end)) >= ENDLESS):
        return None
    return end.item() if hasattr(end, "item") else end


def _estimate_expected(rows_alike: UncertainRows, aggregate: str) -> float | None:
    assert rows_alike.parts is not None
    share, mean = rows_alike.parts
    weight = rows_alike.rows[:, None] * share
    is_expected = weight > 0
    if not is_expected.any():
        return _estimate_unexpected(rows_alike, aggregate)
    if not np.isfinite(mean[is_expected]).all():
        return None
    if aggregate in ("sum", "avg"):
        total = float((weight[is_expected] * mean[is_expected]).sum())
        return total if aggregate == "sum" else total / float(weight[is_expected].sum())
    return estimate_extreme(
        mean[is_expected],
        share[is_expected],
        np.broadcast_to(rows_alike.rows[:, None], share.shape)[is_expected],
        aggregate,
    )


def _is_endless(value: np.ndarray) -> bool:
    return bool(
        (~np.isfinite(value)).any() if value.dtype.kind == "f" else ((value >= ENDLESS) | (value <= -ENDLESS)).any()
    )


def _find_exact_mean(rows: list[int], value: list[int], first: int, best: int, sign: int) -> Fraction:
    """Find the best mean of ordered rows, those up to `first` taken in any case; `best` is where doubles found it."""
    row_count = sum(rows[: best + 1])
    total = sum(row * number for row, number in zip(rows[: best + 1], value, strict=False))
    while best > first and value[best] * row_count * sign > total * sign:
        row_count = row_count - rows[best]
        total = total - rows[best] * value[best]
        best -= 1
    while best + 1 < len(rows) and value[best + 1] * row_count * sign < total * sign:
        best += 1
        row_count = row_count + rows[best]
        total = total + rows[best] * value[best]
    return Fraction(total, row_count)


def _estimate_unexpected(rows_alike: UncertainRows, aggregate: str) -> float | None:
    """Estimate rows that may be selected and are not expected to be: as if all were, with their numbers in the middle."""
    assert rows_alike.low is not None and rows_alike.high is not None and rows_alike.parts is not None
    is_possible = rows_alike.may & (rows_alike.rows > 0)
    is_possible[len(is_possible) - rows_alike.unpublished :] = False
    low, high = (convert_to_doubles(side[is_possible]) for side in (rows_alike.low, rows_alike.high))
    if aggregate == "sum" or not is_possible.any() or not (np.isfinite(low) & np.isfinite(high)).all():
        return None
    middle = low / 2 + high / 2
    if aggregate == "avg":
        return float(middle @ rows_alike.rows[is_possible] / rows_alike.rows[is_possible].sum())
    return float(middle.min() if aggregate == "min" else middle.max())
