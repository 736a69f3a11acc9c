"""Distributions of the published values of each column, counted in the data files and nothing else.

A value is named only if at least `floor` rows hold it; the others are counted together. Numbers and ranges of many
values are counted in bins whose ends are round numbers, no person's; a bin of fewer rows is joined with its neighbour.
Rows that are in no bin are named for what they are: a missing value, a label that covers everything (`*`), a range
whose end a top or bottom hides.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from reticent.data.label_grammar import ANY_LABEL
from reticent.errors import RequestError
from reticent.format.schema_checks import parse_fraction
from reticent.release.kind import reader_for
from reticent.release.release import Release
from reticent.report.blocks import Block, make_section, make_table, make_text

MIN_ROWS_PER_VALUE = 5
MAX_NAMED_VALUES = 12
BIN_COUNT = 10
MAX_COLUMNS_SHOWN = 12
"""The fewest rows of a named value, and the most named values, bins and columns that a report shows."""
OTHERS_LABEL = "all other values"
MISSING_LABEL = "(missing)"
ANY_VALUE_LABEL = "* (any value)"
OPEN_RANGE_LABEL = "(range without a stated end)"
INFINITE_LABEL = "(no finite number)"


def build_distribution_section(release: Release) -> dict[str, Any]:
    """Build a table and a chart for each column, the sensitive ones first."""
    floor = find_row_floor(release)
    parts = [
        make_text(
            f"Counted in the data files. A value is named where at least {floor:,} rows hold it; the others are counted together."
        )
    ]
    columns = [
        *release.manifest.find_columns_with_role("sensitive"),
        *(c for c in release.columns if c.role != "sensitive"),
    ]
    frame = release.frame(bounds=True)
    labelled = reader_for(release.manifest.kind).labelled
    for column in columns[:MAX_COLUMNS_SHOWN]:
        sensitive = column.role == "sensitive"
        block = (
            _show_sensitive(release, column.name, floor) if sensitive else _show_column(frame, column, floor, labelled)
        )
        parts.append(block)
    if len(columns) > MAX_COLUMNS_SHOWN:
        parts.append(
            make_text(f"{len(columns) - MAX_COLUMNS_SHOWN:,} further columns are published and not shown here.")
        )
    return make_section("distributions", "What is published", *parts)


def find_row_floor(release: Release) -> int:
    """Find the number of rows that a named value has at least: the greatest k that is promised, or five."""
    promised = [promise.parameters["k"] for promise in release.manifest.promises if "k" in promise.parameters]
    return max([MIN_ROWS_PER_VALUE, *(math.ceil(parse_fraction(k)) for k in promised)])


def _show_sensitive(release: Release, name: str, floor: int) -> Block:
    try:
        return _show_counts(name, _rename_counts(release.value_counts(name)), floor)
    except RequestError as error:
        return make_text(f"{name}: no chart. {error.what}")


def _show_column(frame: pl.DataFrame, column: Any, floor: int, labelled: bool) -> Block:
    """Show labels that are ranges by their middle if there are many, else each value or label by itself."""
    ends = (f"{column.name}_lower", f"{column.name}_upper")
    labelled = labelled and column.role == "quasi-identifying"
    ordered = column.role == "quasi-identifying" and column.type != "categorical" and set(ends) <= set(frame.columns)
    if ordered and (middle := _make_middle_expression(frame, *ends)) is not None:
        counts = frame.group_by(middle.alias("value")).len("count")
        if counts.height > MAX_NAMED_VALUES:
            return _show_counts(
                column.name, counts, floor, _count_without_middle(frame.filter(middle.is_null())[column.name], labelled)
            )
    counts = frame.group_by(pl.col(column.name).alias("value")).len("count")
    if labelled:
        counts = counts.with_columns(pl.col("value").replace({ANY_LABEL: ANY_VALUE_LABEL}))
    return _show_counts(column.name, counts, floor)


def _show_counts(
    name: str, counts: pl.DataFrame, floor: int, without_number: list[tuple[str, int]] | None = None
) -> Block:
    """Show bins of numbers of many values, else the most frequent values.

    `without_number` are rows that have no number, by the reason.
    """
    rows = int(counts["count"].sum())
    if counts["value"].dtype in (pl.Date, pl.Datetime) and counts.height > MAX_NAMED_VALUES:
        name = f"{name} (year)"
        counts = counts.group_by(pl.col("value").dt.year()).agg(pl.col("count").sum())
    if counts["value"].dtype.is_numeric() and counts.height > MAX_NAMED_VALUES:
        numbers = counts.with_columns(pl.col("value").cast(pl.Float64).fill_nan(None))
        finite = numbers.filter(pl.col("value").is_finite())
        if finite.height:
            without_number = _count_without_number(numbers) if without_number is None else without_number
            return _show_bins(name, finite["value"].to_numpy(), finite["count"].to_numpy(), rows, floor, without_number)
    return _show_named_values(name, counts, rows, floor)


def _rename_counts(counts: pl.DataFrame) -> pl.DataFrame:
    """Rename values and their counts so that no column's name clashes."""
    return pl.DataFrame([counts.to_series(0).alias("value"), counts.to_series(1).alias("count")])


def _make_middle_expression(frame: pl.DataFrame, lower: str, upper: str) -> pl.Expr | None:
    """Make an expression for the middle of ranges of numbers, or of the years of dates; None for anything else."""
    dtype = frame[lower].dtype
    ends = [pl.col(lower), pl.col(upper)]
    if dtype in (pl.Date, pl.Datetime):
        ends = [end.dt.year() for end in ends]
    elif not dtype.is_numeric():
        return None
    return (ends[0].cast(pl.Float64) + ends[1].cast(pl.Float64)) / 2


def _count_without_middle(labels: pl.Series, labelled: bool) -> list[tuple[str, int]]:
    """Count the rows whose label has no middle, by the reason; labels are texts only where a release has labels."""
    missing = labels.null_count()
    anything = int((labels == ANY_LABEL).sum()) if labelled else 0
    reasons = [
        (MISSING_LABEL, missing),
        (ANY_VALUE_LABEL, anything),
        (OPEN_RANGE_LABEL, len(labels) - missing - anything),
    ]
    return [(reason, rows) for reason, rows in reasons if rows]


def _count_without_number(numbers: pl.DataFrame) -> list[tuple[str, int]]:
    """Count the rows that hold no finite number, by the reason."""
    missing = int(numbers.filter(pl.col("value").is_null())["count"].sum())
    infinite = int(numbers.filter(pl.col("value").is_infinite())["count"].sum())
    return [(reason, rows) for reason, rows in ((MISSING_LABEL, missing), (INFINITE_LABEL, infinite)) if rows]


def _show_bins(
    name: str, values: np.ndarray, counts: np.ndarray, rows: int, floor: int, without_number: list[tuple[str, int]]
) -> Block:
    """Show rows in bins with round ends: numbers as they are, ranges by their middle.

    Rows without a number come after them.
    """
    step = choose_round_step(float(values.min()), float(values.max()), BIN_COUNT)
    bin_of_value = np.floor(values / step).astype(np.int64)
    bins: list[tuple[int, int, int]] = []
    for number in range(int(bin_of_value.min()), int(bin_of_value.max()) + 1):
        bin_rows = int(counts[bin_of_value == number].sum())
        if bins and (bins[-1][2] < floor or bin_rows < floor):
            bin_rows = bin_rows + bins[-1][2]
            start = bins.pop()[0]
            bins.append((start, number + 1, bin_rows))
        else:
            bins.append((number, number + 1, bin_rows))
    listed = [(format_bin(low, high, step), bin_rows) for low, high, bin_rows in bins]
    return _make_count_table(name, "range, or range of the label's middle", [*listed, *without_number], rows)


def _show_named_values(name: str, counts: pl.DataFrame, rows: int, floor: int) -> Block:
    """Show the most frequent values, and how many rows hold another."""
    spelled = counts.select(value=pl.col("value").cast(pl.String, strict=False), count=pl.col("count").cast(pl.Int64))
    ordered = spelled.sort("count", "value", descending=[True, False], nulls_last=True)
    frequent = ordered.filter(pl.col("count") >= floor).head(MAX_NAMED_VALUES)
    listed = [(spell_value(value), count) for value, count in frequent.iter_rows()]
    if other_rows := rows - sum(count for _, count in listed):
        listed.append((f"{OTHERS_LABEL} ({ordered.height - len(listed):,})", other_rows))
    return _make_count_table(name, "value", listed, rows)


def choose_round_step(low: float, high: float, steps: int) -> float:
    """Choose 1, 2 or 5 times a power of ten, such that about this number of steps cover the range."""
    rough = max(high - low, max(abs(low), abs(high)) * 1e-9, 1e-12) / steps
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))


def format_bin(low: int, high: int, step: float) -> str:
    """Format a bin from one multiple of the step to another."""
    return f"{_format_end(low, step)} to under {_format_end(high, step)}"


def format_short_bin(low: int, high: int, step: float) -> str:
    """Format a bin for the tick of an axis: its ends alone, of whole numbers both included."""
    last = high * step - 1 if step >= 1 else high * step
    return f"{_format_end(low, step)}\u2013{_format_number(last)}" if last != low * step else _format_end(low, step)


def _format_number(number: float) -> str:
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.6g}"


def _format_end(number: int, step: float) -> str:
    end = number * step
    return _format_number(end) if step >= 1 else f"{end:.6g}"


def _make_count_table(name: str, heading: str, listed: list[tuple[str, int]], rows: int) -> Block:
    shares = [(label, count, f"{count / rows:.1%}") for label, count in listed]
    return make_table(f"{name}: {rows:,} rows", (heading, "rows", "share"), shares, bars=(0, 1))


def spell_value(value: str | None) -> str:
    """Spell a value as it is named; one that reads like our word for a missing one is quoted."""
    if value is None:
        return MISSING_LABEL
    return f'"{value}"' if value == MISSING_LABEL else value
