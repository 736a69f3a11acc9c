"""Figures of a release that are drawn before anything is tabled: its groups, its labels, and what a group tells.

All are made of the release folder alone, so that the public edition may show them.  A group or a value is named only if
at least `floor` rows hold it (`distributions.find_row_floor`); numbers are counted in bins with round ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from reticent.data.label_grammar import ANY_LABEL
from reticent.drawing.plots import format_count, format_share, merge_thin_ranges, sort_ranges
from reticent.errors import pluralize
from reticent.format.manifest import ColumnEntry
from reticent.labels.label_loss import FlatLabels, read_column_labels
from reticent.release.kind import reader_for
from reticent.release.release import Release
from reticent.report.blocks import Block, make_figure, make_section, make_table
from reticent.report.distributions import (
    BIN_COUNT,
    OTHERS_LABEL,
    choose_round_step,
    find_row_floor,
    format_short_bin,
    spell_value,
)

MAX_RANGE_COLUMNS = 6
MAX_COMPARED_VALUES = 10
SIZE_COLUMN = "G"  # of a kind that draws rows: how many people the group of a row has
STANDS_FOR = "reticent: rows that it stands for"
DAYS_PER_YEAR = 365.2425
RANGE_READING = (
    "Each band is a published range, from its lowest to its highest value. It is as thick as it has rows, and stronger the "
    "more exact it is."
)


def build_picture_sections(release: Release, report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Build the sections of drawings that this kind of release has figures for.

    Parameters: `report` is the audit of the release, as `to_dict` gives it.
    """
    tables = release.tables
    frame = weigh_rows(release, release.frame(bounds=True))
    sections = [
        _build_group_section(release, report, frame),
        _build_label_section(release, report, frame),
        _build_telling_section(release, frame, tables),
    ]
    return [section for section in sections if section is not None]


def measure_group_sizes(release: Release, frame: pl.DataFrame) -> np.ndarray | None:
    """Measure how many rows of the source each group stands for; None where the kind has no groups."""
    if _has_groups(release):
        return frame["group"].value_counts()["count"].to_numpy()
    names = _list_quasi_names(release)
    if not reader_for(release.manifest.kind).labelled or not names or not frame.height:
        return None
    return _count_rows(frame, [pl.struct(names).alias("label")])["rows"].to_numpy()


def _build_group_section(release: Release, report: Mapping[str, Any], frame: pl.DataFrame) -> dict[str, Any] | None:
    """Build the section on the sizes of groups: rows that read the same, or that share a list of sensitive values."""
    sizes = measure_group_sizes(release, frame)
    if sizes is None or not len(sizes):
        return None
    labelled = reader_for(release.manifest.kind).labelled
    several = release.manifest.rows_per_person > 1
    unit = "rows" if several else "people"
    promised = None if several or not labelled else _find_promised_size(report)
    shared = "read the same in every describing column" if labelled else "share one list of sensitive values"
    pronoun = "that" if several else "who"
    figure = make_figure(
        _write_group_title(sizes, promised, unit, labelled),
        f"{pluralize(len(sizes), 'group')} of {unit} {pronoun} {shared}, each by its size.",
        {"type": "group-sizes", "sizes": _list_runs(sizes), "promised": promised, "unit": f"{unit} in the group"},
        make_table("Groups by their size", (f"{unit} in the group", "groups", unit), _bin_sizes(sizes)),
        "Each mark is a group, placed by how many it has. Who knows the describing columns of a person finds that "
        "person's group, and in it not the person."
        if labelled
        else "Each mark is a group, placed by how many it has. Who finds a person's row finds the group's values, and "
        "not which of them is the person's.",
    )
    question = "Does anybody stand alone?" if labelled else "How many share a list of values?"
    return make_section("alone", question, figure)


def _write_group_title(sizes: np.ndarray, promised: int | None, unit: str, labelled: bool) -> str:
    """Write what is found of the sizes of groups: one group, groups that are too small, or the smallest."""
    smallest = int(sizes.min())
    if promised is not None and smallest < promised:
        too_small = pluralize(int((sizes < promised).sum()), "group", "is", "are")
        return f"{too_small} smaller than the promised {promised:,}; the smallest has {_count_units(smallest, unit)}"
    if len(sizes) == 1:
        return f"All {smallest:,} {unit} {'read the same' if labelled else 'share one list of values'}"
    if promised is not None:
        return f"No group is smaller than the promised {promised:,}"
    return f"The smallest group has {_count_units(smallest, unit)}"


def _count_units(number: int, unit: str) -> str:
    return f"1 {'person' if unit == 'people' else 'row'}" if number == 1 else f"{number:,} {unit}"


def _build_label_section(release: Release, report: Mapping[str, Any], frame: pl.DataFrame) -> dict[str, Any] | None:
    """Build the section on labels: ranges on the axis of their column, categories by how exact they are, loss by column."""
    if not reader_for(release.manifest.kind).labelled or not frame.height:
        return None
    columns = release.manifest.find_columns_with_role("quasi-identifying")
    floor = find_row_floor(release)
    figures: list[Block] = []
    levels: list[tuple[str, float, float, float]] = []
    for column in columns:
        if not _has_axis(frame, column):
            counts = _count_rows(frame, [pl.col(column.name).alias("label")]).sort("label")
            levels.append((column.name, *_measure_exactness(column, counts)))
        elif len(figures) < MAX_RANGE_COLUMNS:
            figure = _make_range_figure(frame, column, floor, reading="" if figures else RANGE_READING)
            figures += [] if figure is None else [figure]
    if levels:
        figures.append(_make_level_figure(levels))
    if lost := report["utility"].get("ail_by_column"):
        figures.append(_make_loss_figure(lost))
    return make_section("labels", "What do the labels look like?", *figures) if figures else None


def _build_telling_section(
    release: Release, frame: pl.DataFrame, tables: Mapping[str, pl.DataFrame]
) -> dict[str, Any] | None:
    """Build the section on what the most telling group says of the sensitive column, beside what everybody's says."""
    columns = release.manifest.find_columns_with_role("sensitive")
    if len(columns) != 1:
        return None
    name = columns[0].name
    rows = _list_group_values(release, frame, tables, name)
    if rows is None or not rows.height:
        return None
    floor = find_row_floor(release)
    binned, names = _bin_values(rows, floor)
    if len(names) < 2:
        return None
    counts = np.zeros((int(rows["group"].max()) + 1, len(names)))  # type: ignore[arg-type]  # groups are numbers
    np.add.at(counts, (rows["group"].to_numpy(), binned), rows["rows"].to_numpy())
    sizes = counts.sum(axis=1)
    eligible = np.flatnonzero(sizes >= floor)
    if len(eligible) < 2:
        return None
    whole = counts.sum(axis=0) / counts.sum()
    shares = counts[eligible] / sizes[eligible, None]
    distance = np.abs(shares - whole).sum(axis=1)
    worst = int(np.lexsort((eligible, sizes[eligible], -distance))[0])
    group = shares[worst]
    most = int((group - whole).argmax())
    unit = "rows" if release.manifest.rows_per_person > 1 else "people"
    size = int(sizes[eligible[worst]])
    table = make_table(
        f"{name}: everybody, and the most telling group of {size:,} {unit}",
        (name, "everybody", "this group"),
        [(value, float(all_share), float(share)) for value, all_share, share in zip(names, whole, group, strict=True)],
    )
    drawn = (
        f"Share of {unit} by {name}. Hollow bars: everybody. Marked: the group that differs most, of {size:,} {unit}."
    )
    most_telling = "The most telling group"
    if len(eligible) < np.count_nonzero(sizes):
        most_telling = f"Of the groups of {floor:,} or more, the most telling"
        drawn += " Smaller groups are not looked at on this page."
    title = (
        f"{most_telling} has {format_share(float(group[most]))} at {names[most]}, where everybody has "
        f"{format_share(float(whole[most]))}"
    )
    if distance[worst] == 0:
        title = f"No group differs from everybody in {name}"
    figure = make_figure(
        title,
        drawn,
        {
            "type": "comparison",
            "names": names,
            "whole": _round_shares(whole),
            "group": _round_shares(group),
            "name": name,
        },
        table,
        "What a group tells of all its people together is a statistical conclusion, which a release is for. What a "
        "promise limits is said with the promise.",
    )
    return make_section("tells", f"What does a group tell of {name}?", figure)


def _find_promised_size(report: Mapping[str, Any]) -> int | None:
    """Find the least size of a group that is promised and counted in these files."""
    sizes = [
        promise["asked"]["k"]
        for promise in report["promises"]
        if "k" in promise["asked"] and "population" not in promise["asked"] and "k" in (promise["achieved"] or {})
    ]
    return max((int(size) for size in sizes), default=None)


def _has_groups(release: Release) -> bool:
    """Tell whether rows are in numbered groups, whose sensitive values are in a file of their own."""
    return "sensitive" in reader_for(release.manifest.kind).files


def _draws_rows(release: Release) -> bool:
    return getattr(reader_for(release.manifest.kind), "draws_rows", False)


def _list_quasi_names(release: Release) -> list[str]:
    return [column.name for column in release.manifest.find_columns_with_role("quasi-identifying")]


def weigh_rows(release: Release, frame: pl.DataFrame) -> pl.DataFrame:
    """Add how many rows of the source each row stands for: one, or its share of the group that it was drawn from."""
    weight = pl.lit(1.0)
    if _draws_rows(release):
        weight = pl.col(SIZE_COLUMN) / pl.len().over(_list_quasi_names(release))
    return frame.with_columns(weight.cast(pl.Float64).alias(STANDS_FOR))


def _count_rows(frame: pl.DataFrame, keys: Sequence[pl.Expr]) -> pl.DataFrame:
    """Count the rows of the source that each combination of keys stands for, as `rows`."""
    return frame.group_by(keys).agg(pl.col(STANDS_FOR).sum().round().cast(pl.Int64).alias("rows"))


def _list_runs(sizes: np.ndarray) -> list[list[int]]:
    """List sizes with how many groups have each, so that many groups are few numbers."""
    values, groups = np.unique(sizes, return_counts=True)
    return [[int(size), int(count)] for size, count in zip(values, groups, strict=True)]


def _bin_sizes(sizes: np.ndarray) -> list[tuple[str, int, int]]:
    """Count groups in bins whose ends double, the first of which begins at the smallest size."""
    edges = [int(sizes.min())]
    while edges[-1] <= sizes.max():
        edges.append(edges[-1] * 2)
    rows = []
    for low, high in itertools.pairwise(edges):
        inside = sizes[(sizes >= low) & (sizes < high)]
        if len(inside):
            label = f"{low:,}" if high - low == 1 else f"{low:,} to {high - 1:,}"
            rows.append((label, len(inside), int(inside.sum())))
    return rows


def _has_axis(frame: pl.DataFrame, column: ColumnEntry) -> bool:
    """Tell whether the labels of a column are ranges of numbers or dates, which have places on an axis."""
    end = f"{column.name}_lower"
    if column.type == "categorical" or end not in frame.columns:
        return False
    dtype = frame[end].dtype
    return dtype.is_numeric() or dtype in (pl.Date, pl.Datetime)


def _make_range_figure(frame: pl.DataFrame, column: ColumnEntry, floor: int, reading: str) -> Block | None:
    """Draw the ranges of a column of numbers or dates that at least `floor` rows share; None where there are none."""
    ends = [f"{column.name}_lower", f"{column.name}_upper"]
    counted = _count_rows(frame, [pl.col(ends[0]).alias("low"), pl.col(ends[1]).alias("high")])
    bounded = counted.drop_nulls()
    shown = bounded.filter(pl.col("rows") >= floor)
    if not shown.height:
        return None
    all_ranges, axis_name, value_width = _place_on_axis(bounded, column.name)
    ranges = all_ranges.filter(pl.col("rows") >= floor)
    unbounded = int(counted["rows"].sum()) - int(bounded["rows"].sum())
    few = int(bounded["rows"].sum()) - int(shown["rows"].sum())
    widths = (all_ranges["high"] - all_ranges["low"]).to_numpy()
    rows_of_width = all_ranges["rows"].to_numpy()
    median = _find_weighted_median(np.append(widths, np.inf), np.append(rows_of_width, unbounded))
    all_rows = max(int(rows_of_width.sum()) + unbounded, 1)
    exact = int(all_ranges.filter(pl.col("low") == pl.col("high"))["rows"].sum()) / all_rows
    unit = " years" if axis_name != column.name else ""
    title = f"{column.name}: {_describe_widths(widths, median, exact, unbounded / all_rows, unit)}"
    drawn = f"{pluralize(ranges.height, 'range')} on the axis of {axis_name}."
    if unbounded:
        drawn += f" {unbounded:,} rows without two ends (`*`, missing, beyond a top or bottom) are not drawn."
    if few:
        drawn += f" {few:,} rows whose range fewer than {floor:,} rows share are not drawn."
    bins = np.quantile((ranges["high"] - ranges["low"]).to_numpy(), [0.25, 0.75])
    table = make_table(
        f"{column.name}: how wide its ranges are",
        ("measure", "value"),
        [
            ("different ranges", ranges.height),
            (f"narrower quarter of the ranges, at most{unit and ', in years'}", float(bins[0])),
            (f"half of the rows within{unit and ', in years'}", None if np.isinf(median) else float(median)),
            (f"wider quarter of the ranges, at least{unit and ', in years'}", float(bins[1])),
            ("share of the rows as they were", exact),
        ],
    )
    entries = ranges.select(pl.col("low", "high").cast(pl.Float64), pl.col("rows")).rows()
    bands = merge_thin_ranges(sort_ranges(entries))
    if len(bands) < ranges.height:
        drawn += f" Neighbours are drawn together, as {len(bands):,} bands."
    plot = {
        "type": "ranges",
        "ranges": [[round(low, 6), round(high, 6), rows] for low, high, rows in bands],
        "name": axis_name,
        "value_width": value_width,
    }
    return make_figure(title, drawn, plot, table, reading)


def _describe_widths(widths: np.ndarray, median: float, exact: float, unbounded: float, unit: str) -> str:
    """Describe how wide the ranges of a column are for most of its rows; `exact` and `unbounded` are shares of all rows."""
    if exact == 1:
        return "every row as it was"
    if exact >= 0.5:
        return f"{format_share(exact)} of the rows as they were"
    if np.isinf(median):
        return f"{format_share(unbounded)} of the rows have no range with two ends"
    if unbounded == 0 and widths.min() == widths.max():
        return f"every row within {_format_width(median, unit)}"
    return f"half of the rows within {_format_width(median, unit)} or less"


def _format_width(width: float, unit: str) -> str:
    """Format the width of a range; one of dates in years, or in days where it is less than one."""
    if not unit:
        return format_count(width)
    return pluralize(round(width * DAYS_PER_YEAR), "day") if width < 1 else f"{width:,.3g}{unit}"


def _place_on_axis(ranges: pl.DataFrame, name: str) -> tuple[pl.DataFrame, str, float]:
    """Turn ends into numbers of an axis: dates into years; return them, the axis's name and the width of one value."""
    dtype = ranges["low"].dtype
    if dtype in (pl.Date, pl.Datetime):
        years = [
            (pl.col(end).cast(pl.Date).cast(pl.Int32).cast(pl.Float64) / DAYS_PER_YEAR + 1970).round(3).alias(end)
            for end in ("low", "high")
        ]
        return ranges.with_columns(years), f"{name}, in years", 0.0
    return ranges.with_columns(pl.col("low", "high").cast(pl.Float64)), name, 1.0 if dtype.is_integer() else 0.0


def _find_weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    return float(values[order][int(np.searchsorted(passed, passed[-1] / 2))])


def _measure_exactness(column: ColumnEntry, counts: pl.DataFrame) -> tuple[float, float, float]:
    """Measure the shares of rows whose label is one value, several values, and any value."""
    labels = read_column_labels(column, counts["label"].to_list(), counts["rows"].to_numpy())
    if isinstance(labels, FlatLabels):
        several = np.asarray(labels.extents.several, np.float64)  # type: ignore[attr-defined]  # of a flat column
        texts = counts["label"].fill_null("").to_numpy()
        losses = np.where(several > 0, np.where(texts == ANY_LABEL, 1.0, 0.5), 0.0)
    else:
        losses = np.asarray([labels.scale.loss(extent) for extent in labels.extents], np.float64)
    rows = counts["rows"].to_numpy()
    total = max(int(rows.sum()), 1)
    exact = float(rows[losses == 0].sum() / total)
    anything = float(rows[losses == 1].sum() / total)
    return exact, max(0.0, 1 - exact - anything), anything


def _make_level_figure(levels: Sequence[tuple[str, float, float, float]]) -> Block:
    title = _write_level_title(levels)
    return make_figure(
        title,
        "Share of rows by how exact the label of a category is.",
        {"type": "levels", "rows": [[name, *_round_shares(shares)] for name, *shares in levels]},
        make_table("How exact categories are", ("column", "as it was", "one of several", "any value (*)"), levels),
    )


def _write_level_title(levels: Sequence[tuple[str, float, float, float]]) -> str:
    """Write which category is the most exact, and which the least; all together where they do not differ."""
    most = max(levels, key=lambda level: level[1])
    least = min(levels, key=lambda level: level[1])
    whose = levels[0][0] if len(levels) == 1 else "all categories"
    if least[1] == 1:
        return f"{whose}: every row as it was"
    if min(level[3] for level in levels) == 1:
        return f"{whose}: no row says more than any value"
    if most[1] == 0:
        return f"{whose}: no row as it was"
    title = f"{most[0]}: {format_share(most[1])} of the rows as they were"
    return title if len(levels) == 1 else f"{title}; {least[0]}: {format_share(least[1])}"


def _write_loss_title(ordered: Sequence[tuple[str, float]]) -> str:
    """Write which column loses most; `ordered` has the greatest loss first."""
    name, most = ordered[0]
    if most == 0:
        return "No column lost anything"
    said = format_share(most)
    equal = sum(format_share(loss) == said for _, loss in ordered)
    if len(ordered) == 1:
        return f"{name} loses {said}"
    if equal == len(ordered):
        return f"Every column loses the same: {said}"
    return f"{name} loses most: {said}" if equal == 1 else f"{equal} of {len(ordered)} columns lose most: {said}"


def _make_loss_figure(lost: Mapping[str, float]) -> Block:
    ordered = sorted(lost.items(), key=lambda entry: -entry[1])
    return make_figure(
        _write_loss_title(ordered),
        "How much of its column a label covers, on average over the rows: 0 % is the value itself, 100 % is anything.",
        {"type": "bars", "rows": [[name, round(loss, 6), format_share(loss)] for name, loss in ordered], "full": 1},
        make_table("Loss of each column", ("column", "loss"), ordered),
    )


def _list_group_values(
    release: Release, frame: pl.DataFrame, tables: Mapping[str, pl.DataFrame], name: str
) -> pl.DataFrame | None:
    """List how many rows of each group have each sensitive value, as `group`, `value`, `rows`; None where none is stated."""
    if _has_groups(release):
        values = tables["sensitive"]
        if name not in values.columns:
            return None
        return values.select("group", pl.col(name).alias("value"), pl.col("count").alias("rows"))
    names = _list_quasi_names(release)
    if not reader_for(release.manifest.kind).labelled or _draws_rows(release) or not names:
        return None
    numbered = frame.select(
        pl.struct(names).rank("dense").cast(pl.Int64).alias("group") - 1, pl.col(name).alias("value")
    )
    return numbered.group_by("group", "value").agg(pl.len().alias("rows"))


def _bin_values(rows: pl.DataFrame, floor: int) -> tuple[np.ndarray, list[str]]:
    """Put each value into a bin: numbers of many values between round ends, others by name; return bins and their names."""
    totals = rows.group_by("value").agg(pl.col("rows").sum()).sort("value", nulls_last=True)
    values = rows["value"]
    if values.dtype.is_numeric() and totals.height > MAX_COMPARED_VALUES and not values.is_null().any():
        numbers = values.cast(pl.Float64).to_numpy()
        step = choose_round_step(float(numbers.min()), float(numbers.max()), BIN_COUNT)
        places = np.floor(numbers / step).astype(np.int64)
        first = int(places.min())
        last = int(places.max())
        return places - first, [format_short_bin(number, number + 1, step) for number in range(first, last + 1)]
    ordered = totals.sort("rows", "value", descending=[True, False], nulls_last=True).filter(pl.col("rows") >= floor)
    named = ordered.head(MAX_COMPARED_VALUES - 1)["value"].to_list()
    positions = {value: position for position, value in enumerate(named)}
    binned = np.array([positions.get(value, len(named)) for value in values.to_list()], np.int64)
    names = [spell_value(None if value is None else str(value)) for value in named]
    return binned, names if totals.height == len(named) else [*names, OTHERS_LABEL]


def _round_shares(shares: Sequence[float] | np.ndarray) -> list[float]:
    return [round(float(share), 6) for share in shares]
