"""Answers as pictures: for each aggregate a figure, and in it a line for each group with its bounds and what is true."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reticent.drawing import plots
from reticent.drawing.svg import LinearScale
from reticent.html_repr import format_share

MAX_DRAWN_LINES = 60  # of a figure; those after them stand in the table of numbers
MAX_TABLE_LINES = 1_000
NUMBERS = ("estimate", "lower", "upper", "std_error", "interval", "true", "error")


def list_lines(result: Any) -> list[Mapping[str, Any]]:
    """List the answers in the JSON of `reticent query`: one, or a line for each group and aggregate."""
    lines = result if isinstance(result, list) else [result]
    return [line for line in lines if isinstance(line, Mapping)]


def list_notes(result: Any) -> list[str]:
    """List what is certain of the answers and what is assumed, each sentence of a line once."""
    return list(dict.fromkeys(line["note"] for line in list_lines(result) if line.get("note")))


def draw_answers(result: Any, groups: Sequence[str], aggregates: Sequence[str]) -> list[dict[str, Any]]:
    """Draw the answers, a figure for each aggregate: its lines, its axis, its numbers, and a title that says the finding."""
    lines = list_lines(result)
    return [
        _draw_figure([line for line in lines if line.get("aggregate", aggregate) == aggregate], groups, aggregate)
        for aggregate in aggregates
    ]


def format_answer(value: Any) -> str:
    """Format an estimate or a bound for people: whole numbers with commas, others with four digits, dates as they are."""
    if value is None:
        return "–"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"


def _draw_figure(lines: Sequence[Mapping[str, Any]], groups: Sequence[str], aggregate: str) -> dict[str, Any]:
    drawn = lines[:MAX_DRAWN_LINES]
    numbers = [number for line in drawn for value in _list_values(line) if (number := _read_number(value)) is not None]
    scale = plots.choose_answer_scale(numbers)
    has_dates = any(isinstance(value, str) for line in drawn for value in _list_values(line))
    format_tick: Callable[[float], str] = _format_date if has_dates else plots.format_count
    level = next((line["level"] for line in lines if line.get("level") is not None), None)
    return {
        "aggregate": aggregate,
        "groups": list(groups),
        "title": _write_title(lines, groups, aggregate),
        "axis": plots.draw_answer_axis(scale, format_tick) if numbers else "",
        "level": None if level is None else format_share(level),
        "has_truth": any("true" in line for line in lines),
        "rows": [_draw_row(line, groups, aggregate, scale) for line in drawn],
        "omitted": len(lines) - len(drawn),
        "table": [
            [_name_line(line, groups), *(_format_cell(line.get(name)) for name in NUMBERS)]
            for line in lines[:MAX_TABLE_LINES]
        ],
    }


def _draw_row(line: Mapping[str, Any], groups: Sequence[str], aggregate: str, scale: LinearScale) -> dict[str, Any]:
    interval = line.get("interval")
    ends = None if interval is None else tuple(_read_number(end) for end in interval)
    drawing = plots.draw_answer(
        scale,
        _read_number(line.get("estimate")),
        _read_number(line.get("lower")),
        _read_number(line.get("upper")),
        interval=ends,  # type: ignore[arg-type]  # an interval has two numbers
        truth=_read_number(line.get("true")),
    )
    published = line.get("published")
    return {
        "name": _name_line(line, groups),
        "drawing": drawing,
        "is_exact": _is_exact(line),
        "is_null": line.get("estimate") is None and line.get("lower") is None and line.get("upper") is None,
        "estimate": _write_estimate(line, aggregate),
        "bounds": _write_bounds(line),
        "interval": "" if interval is None or _is_exact(line) else " to ".join(map(format_answer, interval)),
        "truth": _write_truth(line["true"]) if "true" in line else None,
        "error": line.get("error"),
        "published": "" if not isinstance(published, Mapping) else _write_published(published),
    }


def _write_title(lines: Sequence[Mapping[str, Any]], groups: Sequence[str], aggregate: str) -> str:
    if not lines:
        return "No row is selected"
    if len(lines) > 1 or groups:
        return _write_group_title(lines)
    line = lines[0]
    truly = f"; truly {_write_truth(line['true'])}" if "true" in line else ""
    if line.get("estimate") is None and line.get("lower") is None and line.get("upper") is None:
        return f"There is no answer: nobody with a value is selected, or nothing bounds it{truly}"
    if _is_exact(line):
        return f"Exactly {format_answer(line['lower'])}{truly}"
    bounds = _write_bounds(line)
    return f"About {_write_estimate(line, aggregate)}{f', {bounds} for certain' if bounds else ''}{truly}"


def _write_estimate(line: Mapping[str, Any], aggregate: str) -> str:
    """Write an estimate; one of a number of rows without fractions, unless it is small."""
    estimate = line.get("estimate")
    if aggregate.upper().startswith("COUNT") and isinstance(estimate, int | float) and abs(estimate) >= 10:
        return f"{estimate:,.0f}"
    return format_answer(estimate)


def _write_group_title(lines: Sequence[Mapping[str, Any]]) -> str:
    exact = sum(_is_exact(line) for line in lines)
    title = f"{len(lines):,} answers, {exact:,} of them exact"
    compared = [line for line in lines if _read_number(line.get("true")) is not None and not _is_exact(line)]
    errors = sorted(line["error"] for line in compared if line.get("error") is not None)
    if errors:
        title += f"; half of the estimates are off by {plots.format_share(errors[len(errors) // 2])} or less"
    return title


def _write_bounds(line: Mapping[str, Any]) -> str:
    lower, upper = line.get("lower"), line.get("upper")
    if lower is None and upper is None:
        return ""
    if lower is None:
        return f"at most {format_answer(upper)}"
    if upper is None:
        return f"at least {format_answer(lower)}"
    return f"{format_answer(lower)} to {format_answer(upper)}"


def _write_truth(value: Any) -> str:
    return "nobody" if value is None else format_answer(value)


def _write_published(published: Mapping[str, Any]) -> str:
    bounds = "" if _is_exact(published) else _write_bounds(published)
    return f"{format_answer(published.get('estimate'))}{f', {bounds}' if bounds else ''}"


def _name_line(line: Mapping[str, Any], groups: Sequence[str]) -> str:
    if not groups:
        return "everybody selected"
    return ", ".join("missing" if line.get(name) is None else str(line[name]) for name in groups)


def _is_exact(line: Mapping[str, Any]) -> bool:
    return line.get("lower") is not None and line.get("lower") == line.get("upper")


def _list_values(line: Mapping[str, Any]) -> list[Any]:
    return [line.get(name) for name in ("estimate", "lower", "upper", "true")] + list(line.get("interval") or [])


def _read_number(value: Any) -> float | None:
    """Return a number as it is drawn: a date by its day, None for what is neither."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        moment = dt.datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment.toordinal() + (moment.hour * 3600 + moment.minute * 60 + moment.second) / 86_400


def _format_date(day: float) -> str:
    try:
        return dt.date.fromordinal(int(day)).isoformat()
    except (ValueError, OverflowError):
        return ""


def _format_cell(value: Any) -> str:
    if isinstance(value, list):
        return " to ".join(map(format_answer, value))
    return format_answer(value)
