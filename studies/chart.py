"""A line chart as SVG, from rows with a `method`: enough for these figures, and nothing to install.

Titles break into lines and are never cut; both axes are named; heights are marked at round numbers.  Colours are written
out in six digits, fonts by family, so that every renderer draws the same.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, log10

COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8f5bb5", "#e08e2b", "#4a4a4a", "#00a6a6", "#9c6644", "#b0b0b0")
WIDTH = 720
HEIGHT = 400
LEFT = 78
RIGHT = 230
BOTTOM = 56
LETTERS = 84
LINE = 18  # of a title: letters in a line, and the height of one
APART = 30  # what two marks of the horizontal axis need between them

Points = list[tuple[float, float]]


def line_chart(
    rows: Sequence[dict], x: str, y: str, title: str, *, logarithmic: bool = False, doubling: bool = False
) -> str:
    """`logarithmic` is of the height, `doubling` of the width."""
    lines: dict[str, Points] = {}
    for row in rows:
        lines.setdefault(str(row.get("method", y)), []).append((float(row[x]), float(row[y])))
    scale = (lambda value: log10(max(value, 1e-9))) if logarithmic else (lambda value: value)
    along = (lambda value: log10(value)) if doubling else (lambda value: value)
    named = sorted({point[0] for points in lines.values() for point in points})
    marks = heights([point[1] for points in lines.values() for point in points], logarithmic)
    head = textwrap.wrap(title, LETTERS)
    top = 16 + LINE * len(head)
    low = scale(marks[0])
    high = scale(marks[-1])
    least = along(named[0])
    span = (along(named[-1]) - along(named[0])) or 1

    def place(point: tuple[float, float]) -> tuple[float, float]:
        across = LEFT + (along(point[0]) - least) / span * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (scale(point[1]) - low) / ((high - low) or 1) * (HEIGHT - top - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *(f'<text x="12" y="{20 + LINE * at}" font-size="14">{escape(line)}</text>' for at, line in enumerate(head)),
        *axes(marks, named, place, top),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x)}</text>',
        f'<text x="16" y="{(top + HEIGHT - BOTTOM) / 2:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 16 {(top + HEIGHT - BOTTOM) / 2:.1f})">{escape(y)}{" (logarithmic)" if logarithmic else ""}</text>',
    ]
    for at, (name, points) in enumerate(lines.items()):
        parts += drawn(name, [place(point) for point in points], COLOURS[at % len(COLOURS)], top + 8 + LINE * at)
    return "\n".join([*parts, "</svg>", ""])


def heights(values: Sequence[float], logarithmic: bool) -> list[float]:
    """Round numbers, from at or below the least value to at or above the greatest; without logarithms from 0."""
    if logarithmic:
        low, high = (log10(max(end, 1e-9)) for end in (min(values), max(values)))
        return [10.0**power for power in range(floor(low), max(ceil(high), floor(low) + 1) + 1)]
    low = min(0.0, *values)
    high = max(0.0, *values)
    rough = ((high - low) or 1) / 4
    power = 10.0 ** floor(log10(rough))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= rough * 0.999)
    first = floor(low / step + 1e-9)
    return [step * at for at in range(first, max(ceil(high / step - 1e-9), first + 1) + 1)]


def axes(
    marks: Sequence[float],
    named: Sequence[float],
    place: Callable[[tuple[float, float]], tuple[float, float]],
    top: int,
) -> list[str]:
    parts = []
    for mark in marks:
        _, height = place((named[0], mark))
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}" stroke="#dddddd"/>'
            f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{mark:.6g}</text>'
        )
    last = float("-inf")
    for value in named:
        across, _ = place((value, marks[0]))
        text = f"{value:,.6g}"
        if across - last >= max(APART, 7 * len(text)):
            last = across
            parts.append(f'<text x="{across:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{text}</text>')
    return parts


def drawn(name: str, placed: Points, colour: str, height: float) -> list[str]:
    """One line with its points, and its name beside the chart."""
    path = " ".join(f"{across:.1f},{down:.1f}" for across, down in placed)
    return [
        f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>',
        *(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3" fill="{colour}"/>' for across, down in placed),
        f'<rect x="{WIDTH - RIGHT + 14}" y="{height - 7:.1f}" width="12" height="4" fill="{colour}"/>'
        f'<text x="{WIDTH - RIGHT + 32}" y="{height:.1f}">{escape(name)}</text>',
    ]
