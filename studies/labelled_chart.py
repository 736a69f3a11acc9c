"""A line chart as SVG that reads without colour: each line has a marker and a dash of its own, and its name at its end.

Rows have a `method`, which names their line.  Where rows have a least and a greatest value, of several seeds, a band is
drawn between them.  Both axes are named by what they measure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import log10
from typing import Any

from studies.chart import COLOURS, heights

WIDTH = 760
HEIGHT = 440
LEFT = 78
RIGHT = 190
BOTTOM = 58
TITLE_LETTERS = 96
LINE_HEIGHT = 18
LABEL_HEIGHT = 14  # two names that are nearer are moved apart
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "12 4", "1 4", "6 2 2 2 2 2", "14 3 3 3")
Row = Mapping[str, Any]
Place = Callable[[float, float], tuple[float, float]]


def draw_labelled_lines(
    rows: Sequence[Row],
    x: str,
    y: str,
    title: str,
    *,
    x_label: str,
    y_label: str,
    ends: tuple[str, str] | None = None,
    ticks: Mapping[float, str] | None = None,
    logarithmic: bool = False,
) -> str:
    """Draw the columns `x` and `y` of rows; `ends` names the columns of a band, `ticks` the marks of the x-axis in words.

    With `logarithmic`, equal ratios of `y` are equally high.
    """
    lines: dict[str, list[Row]] = {}
    for row in rows:
        lines.setdefault(str(row["method"]), []).append(row)
    across = sorted({float(row[x]) for row in rows})
    drawn_values = [float(row[column]) for row in rows for column in (y, *(ends or ()))]
    marks = heights(drawn_values, logarithmic)
    title_lines = textwrap.wrap(title, TITLE_LETTERS)
    top = 16 + LINE_HEIGHT * len(title_lines)
    span = (across[-1] - across[0]) or 1.0

    def place(value: float, height: float) -> tuple[float, float]:
        horizontal = LEFT + (value - across[0]) / span * (WIDTH - LEFT - RIGHT)
        low, high, value_height = (_scale_height(entry, logarithmic) for entry in (marks[0], marks[-1], height))
        share = (value_height - low) / ((high - low) or 1.0)
        return horizontal, HEIGHT - BOTTOM - share * (HEIGHT - top - BOTTOM)

    middle = (top + HEIGHT - BOTTOM) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *(
            f'<text x="12" y="{20 + LINE_HEIGHT * number}" font-size="14">{escape(line)}</text>'
            for number, line in enumerate(title_lines)
        ),
        *_draw_axes(marks, across, ticks or {}, place),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text x="16" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 16 {middle:.1f})">{escape(y_label)}'
        f"{' (logarithmic)' if logarithmic else ''}</text>",
    ]
    named_ends = []
    for number, (name, points) in enumerate(lines.items()):
        ordered = sorted(points, key=lambda row: float(row[x]))
        colour = COLOURS[number % len(COLOURS)]
        if ends is not None:
            parts.append(_draw_band(ordered, x, ends, colour, place))
        placed = [place(float(row[x]), float(row[y])) for row in ordered]
        parts += _draw_line(placed, colour, number)
        named_ends.append((placed[-1][1], placed[-1][0], name, colour))
    return "\n".join([*parts, *_draw_names(named_ends), "</svg>", ""])


def average_runs(rows: Sequence[Row], x: str, y: str) -> list[Row]:
    """Average the rows of each method and `x`, which are runs with different seeds: the mean of `y`, its least and its most."""
    runs: dict[tuple[str, float], list[float]] = {}
    for row in rows:
        runs.setdefault((str(row["method"]), float(row[x])), []).append(float(row[y]))
    return [
        {"method": method, x: value, y: sum(run) / len(run), "least": min(run), "most": max(run)}
        for (method, value), run in runs.items()
    ]


def _scale_height(value: float, logarithmic: bool) -> float:
    return log10(max(value, 1e-9)) if logarithmic else value


def _draw_axes(marks: Sequence[float], across: Sequence[float], ticks: Mapping[float, str], place: Place) -> list[str]:
    parts = []
    for mark in marks:
        _, height = place(across[0], mark)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}" stroke="#dddddd"/>'
            f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{mark:.6g}</text>'
        )
    last = float("-inf")
    for value in across:
        horizontal, _ = place(value, marks[0])
        text = ticks.get(value, f"{value:,.6g}")
        if horizontal - last >= max(24, 6.5 * len(text)):
            last = horizontal
            parts.append(
                f'<text x="{horizontal:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{escape(text)}</text>'
            )
    return parts


def _draw_band(ordered: Sequence[Row], x: str, ends: tuple[str, str], colour: str, place: Place) -> str:
    low, high = ends
    upper = [place(float(row[x]), float(row[high])) for row in ordered]
    lower = [place(float(row[x]), float(row[low])) for row in reversed(ordered)]
    outline = " ".join(f"{horizontal:.1f},{vertical:.1f}" for horizontal, vertical in [*upper, *lower])
    return f'<polygon points="{outline}" fill="{colour}" fill-opacity="0.18"/>'


def _draw_line(placed: Sequence[tuple[float, float]], colour: str, number: int) -> list[str]:
    path = " ".join(f"{horizontal:.1f},{vertical:.1f}" for horizontal, vertical in placed)
    dash = DASHES[number % len(DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    line = f'<polyline fill="none" stroke="{colour}" stroke-width="2"{dashed} points="{path}"/>'
    return [line, *(_draw_marker(horizontal, vertical, colour, number) for horizontal, vertical in placed)]


def _draw_marker(horizontal: float, vertical: float, colour: str, number: int) -> str:
    """Draw a circle, square, triangle or diamond: filled for the first four lines, hollow for the next."""
    fill = colour if number % 8 < 4 else "#ffffff"
    style = f'fill="{fill}" stroke="{colour}" stroke-width="1.5"'
    if number % 4 == 0:
        return f'<circle cx="{horizontal:.1f}" cy="{vertical:.1f}" r="4" {style}/>'
    corners = {
        1: [(-4, -4), (4, -4), (4, 4), (-4, 4)],
        2: [(0, -5), (5, 4), (-5, 4)],
        3: [(0, -5), (5, 0), (0, 5), (-5, 0)],
    }[number % 4]
    outline = " ".join(f"{horizontal + right:.1f},{vertical + down:.1f}" for right, down in corners)
    return f'<polygon points="{outline}" {style}/>'


def _draw_names(named_ends: Sequence[tuple[float, float, str, str]]) -> list[str]:
    """Write each line's name beside its last point, moved where another name is there, and never below the axis."""
    ordered = sorted(named_ends)
    heights_of_names: list[float] = []
    for vertical, *_ in ordered:
        least = heights_of_names[-1] + LABEL_HEIGHT if heights_of_names else float("-inf")
        heights_of_names.append(max(vertical + 4, least))
    lowest = float(HEIGHT - BOTTOM)
    for place in range(len(heights_of_names) - 1, -1, -1):
        heights_of_names[place] = min(heights_of_names[place], lowest)
        lowest = heights_of_names[place] - LABEL_HEIGHT
    left = WIDTH - RIGHT + 12
    return [
        f'<line x1="{horizontal + 6:.1f}" y1="{vertical:.1f}" x2="{left - 2}" y2="{height - 4:.1f}" stroke="{colour}" '
        f'stroke-width="0.7"/><text x="{left}" y="{height:.1f}" fill="{colour}">{escape(name)}</text>'
        for height, (vertical, horizontal, name, colour) in zip(heights_of_names, ordered, strict=True)
    ]
