"""How the published values of each column are distributed: counted in the data files, and nothing but them.

A value is named only if at least `floor` rows hold it; the others are counted together.  Numbers and ranges of many values are
counted in bins whose ends are round numbers, no person's; a bin of fewer rows is joined with its neighbour.  What no bin
holds is named for what it is: a missing value, a label that says nothing (`*`), a range whose end a top or bottom hides.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.opened import Release
from reticent.release.kind import reader
from reticent.release.numbers import fraction
from reticent.report.parts import Part, section, table, text
from reticent.table.grammar import ANY

FLOOR, NAMED, BINS, DRAWN = 5, 12, 10, 12
"""Rows that hold a named value at least, named values, bins, and columns that a report shows, at most."""

OTHERS, MISSING = "all other values", "(missing)"
ANY_VALUE = "* (any value)"
OPEN = "(range without a stated end)"
INFINITE = "(no finite number)"


def published(release: Release) -> dict[str, Any]:
    """A table and a chart for each column, the sensitive ones first."""
    floor = least(release)
    parts = [
        text(
            f"Counted in the data files. A value is named where at least {floor:,} rows hold it; the others are counted together."
        )
    ]
    columns = [*release.manifest.named("sensitive"), *(c for c in release.columns if c.role != "sensitive")]
    frame = release.frame(bounds=True)
    labelled = reader(release.manifest.kind).labelled
    for column in columns[:DRAWN]:
        sensitive = column.role == "sensitive"
        shown = _sensitive(release, column.name, floor) if sensitive else _column(frame, column, floor, labelled)
        parts.append(shown)
    if len(columns) > DRAWN:
        parts.append(text(f"{len(columns) - DRAWN:,} further columns are published and not shown here."))
    return section("distributions", "What is published", *parts)


def least(release: Release) -> int:
    """The rows that a named value has at least: the greatest k that is promised, or five."""
    asked = [promise.parameters["k"] for promise in release.manifest.promises if "k" in promise.parameters]
    return max([FLOOR, *(math.ceil(fraction(k)) for k in asked)])


def _sensitive(release: Release, name: str, floor: int) -> Part:
    try:
        return _shown(name, _named_plainly(release.value_counts(name)), floor)
    except RequestError as error:
        return text(f"{name}: no chart. {error.what}")


def _named_plainly(counts: pl.DataFrame) -> pl.DataFrame:
    """Values and how many rows hold each, by names that no column has a part in."""
    return pl.DataFrame([counts.to_series(0).alias("value"), counts.to_series(1).alias("count")])


def _column(frame: pl.DataFrame, column: Any, floor: int, labelled: bool) -> Part:
    """Labels that are ranges by their middle where there are many, else each value or label by itself."""
    ends = (f"{column.name}_lower", f"{column.name}_upper")
    labelled = labelled and column.role == "quasi-identifying"
    ordered = column.role == "quasi-identifying" and column.type != "categorical" and set(ends) <= set(frame.columns)
    if ordered and (middle := _middle(frame, *ends)) is not None:
        counts = frame.group_by(middle.alias("value")).len("count")
        if counts.height > NAMED:
            return _shown(
                column.name, counts, floor, _without_middle(frame.filter(middle.is_null())[column.name], labelled)
            )
    counts = frame.group_by(pl.col(column.name).alias("value")).len("count")
    if labelled:
        counts = counts.with_columns(pl.col("value").replace({ANY: ANY_VALUE}))
    return _shown(column.name, counts, floor)


def _without_middle(labels: pl.Series, labelled: bool) -> list[tuple[str, int]]:
    """How many rows have no middle of their label, by the reason; labels are texts only where a release has labels."""
    missing = labels.null_count()
    anything = int((labels == ANY).sum()) if labelled else 0
    reasons = [(MISSING, missing), (ANY_VALUE, anything), (OPEN, len(labels) - missing - anything)]
    return [(reason, rows) for reason, rows in reasons if rows]


def _middle(frame: pl.DataFrame, lower: str, upper: str) -> pl.Expr | None:
    """Of ranges of numbers, or of the years of dates; None of anything else."""
    dtype, ends = frame[lower].dtype, [pl.col(lower), pl.col(upper)]
    if dtype in (pl.Date, pl.Datetime):
        ends = [end.dt.year() for end in ends]
    elif not dtype.is_numeric():
        return None
    return (ends[0].cast(pl.Float64) + ends[1].cast(pl.Float64)) / 2


def _shown(name: str, counts: pl.DataFrame, floor: int, left: list[tuple[str, int]] | None = None) -> Part:
    """Bins of numbers of many values, else the most frequent values; `left` are rows that have no number, by the reason."""
    rows = int(counts["count"].sum())
    if counts["value"].dtype in (pl.Date, pl.Datetime) and counts.height > NAMED:
        name, counts = f"{name} (year)", counts.group_by(pl.col("value").dt.year()).agg(pl.col("count").sum())
    if counts["value"].dtype.is_numeric() and counts.height > NAMED:
        numbers = counts.with_columns(pl.col("value").cast(pl.Float64).fill_nan(None))
        held = numbers.filter(pl.col("value").is_finite())
        if held.height:
            left = _without_number(numbers) if left is None else left
            return _binned(name, held["value"].to_numpy(), held["count"].to_numpy(), rows, floor, left)
    return _named(name, counts, rows, floor)


def _without_number(numbers: pl.DataFrame) -> list[tuple[str, int]]:
    """How many rows hold no finite number, by the reason."""
    missing = int(numbers.filter(pl.col("value").is_null())["count"].sum())
    infinite = int(numbers.filter(pl.col("value").is_infinite())["count"].sum())
    return [(reason, rows) for reason, rows in ((MISSING, missing), (INFINITE, infinite)) if rows]


def _named(name: str, counts: pl.DataFrame, rows: int, floor: int) -> Part:
    """The most frequent values, and how many rows hold another."""
    spelled = counts.select(value=pl.col("value").cast(pl.String, strict=False), count=pl.col("count").cast(pl.Int64))
    ordered = spelled.sort("count", "value", descending=[True, False], nulls_last=True)
    shown = ordered.filter(pl.col("count") >= floor).head(NAMED)
    listed = [(_spelled(value), count) for value, count in shown.iter_rows()]
    if left := rows - sum(count for _, count in listed):
        listed.append((f"{OTHERS} ({ordered.height - len(listed):,})", left))
    return _counted(name, "value", listed, rows)


def _spelled(value: str | None) -> str:
    """A value as it is named; one that reads like our word for a missing one is quoted."""
    if value is None:
        return MISSING
    return f'"{value}"' if value == MISSING else value


def _binned(
    name: str, values: np.ndarray, counts: np.ndarray, rows: int, floor: int, left: list[tuple[str, int]]
) -> Part:
    """Rows in bins with round ends; numbers as they are, ranges by their middle; what has no number after them."""
    step = _round_step(float(values.min()), float(values.max()))
    at = np.floor(values / step).astype(np.int64)
    found: list[tuple[int, int, int]] = []
    for number in range(int(at.min()), int(at.max()) + 1):
        held = int(counts[at == number].sum())
        if found and (found[-1][2] < floor or held < floor):
            held, start = held + found[-1][2], found.pop()[0]
            found.append((start, number + 1, held))
        else:
            found.append((number, number + 1, held))
    listed = [(f"{_end(low, step)} to under {_end(high, step)}", held) for low, high, held in found]
    return _counted(name, "range, or range of the label's middle", [*listed, *left], rows)


def _counted(name: str, what: str, listed: list[tuple[str, int]], rows: int) -> Part:
    shares = [(label, count, f"{count / rows:.1%}") for label, count in listed]
    return table(f"{name}: {rows:,} rows", (what, "rows", "share"), shares, bars=(0, 1))


def _round_step(low: float, high: float) -> float:
    """1, 2 or 5 times a power of ten, such that about ten cover the range."""
    rough = max(high - low, max(abs(low), abs(high)) * 1e-9, 1e-12) / BINS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))


def _end(number: int, step: float) -> str:
    end = number * step
    return f"{end:,.0f}" if step >= 1 and 1e4 <= abs(end) < 1e15 else f"{end:.6g}"
