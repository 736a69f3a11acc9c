"""Round places on a line: the step that a number lies in, the calendar step that a date lies in, and which steps are round.

Everything is exact: numbers are decimals as they are printed, so that what is read back covers what was rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext

import numpy as np
import polars as pl

STEPS = 100
"""A step is chosen so that a column's range has at least as many of it: rounding both ends outwards loses at most 1 % on average."""
_CALENDAR = {"decade": "10y", "year": "1y", "quarter": "1q", "month": "1mo", "week": "1w", "day": "1d"}
_CLOCK = {"hour": "1h", "minute": "1m", "second": "1s"}
_EXACT = Context(prec=60)


@dataclass(frozen=True, eq=False)
class Places:
    """The ends of the step that each value lies in: as printed, and where they stand on the line."""

    lower: tuple[str, ...]
    upper: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, slots=True)
class Place:
    """One end: as it prints, and where it stands."""

    text: str
    at: float


def round_step(low: Decimal, high: Decimal, steps: int = STEPS) -> Decimal:
    """The greatest of 1, 2, 5, 10, 20, ... (and their tenths) of which the range has `steps`; of one value, its third digit."""
    with localcontext(_EXACT):
        wanted = (high - low) / steps or max(abs(high), Decimal(1)) / 100
        power = Decimal(1).scaleb(wanted.adjusted())
        return next(power * times for times in (5, 2, 1) if power * times <= wanted)


def number_places(texts: Sequence[str], step: Decimal, *, whole: bool, origin: int = 0) -> Places:
    """Steps of whole numbers are apart, [35, 39] and [40, 44]; those of others touch, and a multiple of the step is one by itself.

    They stand where the line counts from: at `origin`.
    """
    with localcontext(_EXACT):
        values = [Decimal(text) for text in texts]
        lower = [(value / step).to_integral_value(ROUND_FLOOR) * step for value in values]
        if whole:
            upper = [low + step - 1 for low in lower]
        else:
            upper = [(value / step).to_integral_value(ROUND_CEILING) * step for value in values]
        low, high = ([end - origin for end in ends] for ends in (lower, upper))
        return Places(tuple(map(plain, lower)), tuple(map(plain, upper)), _floats(low), _floats(high))


def date_step(values: pl.Series) -> str:
    """The greatest calendar step of which the range has STEPS; below a day for times."""
    steps = _CALENDAR if values.dtype == pl.Date else {**_CALENDAR, **_CLOCK}
    ends = values.gather([0, -1])
    for name, every in steps.items():
        starts = (
            ends.dt.truncate(every).alias("at").to_frame()
        )  # never as Python's own dates, which begin with the year 1
        steps_between = starts.select(pl.datetime_range(pl.col("at").first(), pl.col("at").last(), every))
        if len(steps_between.head(STEPS + 1)) > STEPS:
            return name
    return next(reversed(steps))


def date_places(values: pl.Series, step: str, origin: int = 0) -> Places:
    """Days: the first and the last one of the step.  Times: its start, and the start of the next."""
    every = {**_CALENDAR, **_CLOCK}[step]
    lower = values.dt.truncate(every)
    after = lower.dt.offset_by(every)
    if values.dtype == pl.Date:
        upper = after.dt.offset_by("-1d")
    else:
        upper = pl.select(pl.when(values == lower).then(values).otherwise(after)).to_series()
    texts, stand = [tuple(iso(ends)) for ends in (lower, upper)], [standing(ends, origin) for ends in (lower, upper)]
    return Places(texts[0], texts[1], stand[0], stand[1])


def standing(values: pl.Series, origin: int = 0) -> np.ndarray:
    """Where dates and times stand on a line that counts from an origin."""
    return (values.to_physical() - origin).cast(pl.Float64).to_numpy()


def iso(values: pl.Series) -> list[str]:
    """Dates and times as labels print them."""
    return (values.cast(pl.String) if values.dtype == pl.Date else values.dt.to_string("iso")).to_list()


def plain(value: Decimal) -> str:
    """A decimal without an exponent and without trailing zeros."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _floats(values: Sequence[Decimal]) -> np.ndarray:
    return np.array([float(value) for value in values], np.float64)
