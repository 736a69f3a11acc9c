"""Round positions on a line: the step of a number, the calendar step of a date, and which steps are round.

Everything is exact: numbers are decimals as they are printed, so that a label that is read back covers the values
that were rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext

import numpy as np
import polars as pl

MIN_STEPS_IN_RANGE = 100
"""A step is chosen so that a column's range has at least as many of it: rounding both ends outwards loses at most 1 % on average."""
_CALENDAR_INTERVALS = {"decade": "10y", "year": "1y", "quarter": "1q", "month": "1mo", "week": "1w", "day": "1d"}
_CLOCK_INTERVALS = {"hour": "1h", "minute": "1m", "second": "1s"}
_DECIMAL_CONTEXT = Context(prec=60)


@dataclass(frozen=True, eq=False)
class StepEnds:
    """The ends of the step that each value lies in: as printed, and their positions on the line."""

    lower: tuple[str, ...]
    upper: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, slots=True)
class RangeEnd:
    """One end: as it prints, and its position."""

    text: str
    position: float


def choose_round_step(low: Decimal, high: Decimal, steps: int = MIN_STEPS_IN_RANGE) -> Decimal:
    """Return the greatest of 1, 2, 5, 10, 20, ... (and their tenths) that the range holds `steps` times.

    For a single value, the step is that of its third digit.
    """
    with localcontext(_DECIMAL_CONTEXT):
        max_step = (high - low) / steps or max(abs(high), Decimal(1)) / 100
        power = Decimal(1).scaleb(max_step.adjusted())
        return next(power * factor for factor in (5, 2, 1) if power * factor <= max_step)


def find_number_steps(texts: Sequence[str], step: Decimal, *, are_whole: bool, origin: int = 0) -> StepEnds:
    """Find the step of each number.

    Steps of whole numbers are apart, [35, 39] and [40, 44]; those of others touch, and a multiple of the step is one
    by itself. Positions are relative to `origin`.
    """
    with localcontext(_DECIMAL_CONTEXT):
        values = [Decimal(text) for text in texts]
        lower = [(value / step).to_integral_value(ROUND_FLOOR) * step for value in values]
        if are_whole:
            upper = [low + step - 1 for low in lower]
        else:
            upper = [(value / step).to_integral_value(ROUND_CEILING) * step for value in values]
        return StepEnds(
            tuple(map(format_decimal, lower)),
            tuple(map(format_decimal, upper)),
            _to_floats([end - origin for end in lower]),
            _to_floats([end - origin for end in upper]),
        )


def choose_date_step(values: pl.Series) -> str:
    """Return the greatest calendar step that the range holds MIN_STEPS_IN_RANGE times; below a day for times."""
    steps = _CALENDAR_INTERVALS if values.dtype == pl.Date else {**_CALENDAR_INTERVALS, **_CLOCK_INTERVALS}
    ends = values.gather([0, -1])
    for name, every in steps.items():
        # Never as Python's own dates, which begin with the year 1.
        starts = ends.dt.truncate(every).alias("start").to_frame()
        steps_between = starts.select(pl.datetime_range(pl.col("start").first(), pl.col("start").last(), every))
        if len(steps_between.head(MIN_STEPS_IN_RANGE + 1)) > MIN_STEPS_IN_RANGE:
            return name
    return next(reversed(steps))


def find_date_steps(values: pl.Series, step: str, origin: int = 0) -> StepEnds:
    """Find the step of each value: for days, its first and last day; for times, its start and the start of the next."""
    every = {**_CALENDAR_INTERVALS, **_CLOCK_INTERVALS}[step]
    lower = values.dt.truncate(every)
    after = lower.dt.offset_by(every)
    if values.dtype == pl.Date:
        upper = after.dt.offset_by("-1d")
    else:
        upper = pl.select(pl.when(values == lower).then(values).otherwise(after)).to_series()
    return StepEnds(
        tuple(format_iso(lower)), tuple(format_iso(upper)), to_positions(lower, origin), to_positions(upper, origin)
    )


def to_positions(values: pl.Series, origin: int = 0) -> np.ndarray:
    """Return the positions of dates and times on a line that counts from an origin."""
    return (values.to_physical() - origin).cast(pl.Float64).to_numpy()


def format_iso(values: pl.Series) -> list[str]:
    """Format dates and times as labels print them."""
    return (values.cast(pl.String) if values.dtype == pl.Date else values.dt.to_string("iso")).to_list()


def format_decimal(value: Decimal) -> str:
    """Format a decimal without an exponent and without trailing zeros."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _to_floats(values: Sequence[Decimal]) -> np.ndarray:
    return np.array([float(value) for value in values], np.float64)
