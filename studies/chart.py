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


MARKERS = ("circle", "square", "triangle", "diamond", "cross")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4")
LABEL_HEIGHT = 15  # what two labels beside a chart need between them


def band_chart(
    rows: Sequence[dict], x: str, y: str, title: str, *, across: str = "", up: str = "", logarithmic: bool = False
) -> str:
    """Draw each method's mean over its rows of one x, with a band from the least to the greatest of them.

    Rows of one method and x are runs with different seeds.  Every line has a colour, a marker and a dash of its own, and its
    name at its end.  `across` and `up` explain the axes.
    """
    runs: dict[str, dict[float, list[float]]] = {}
    for row in rows:
        runs.setdefault(str(row["method"]), {}).setdefault(float(row[x]), []).append(float(row[y]))
    scale = (lambda value: log10(max(value, 1e-9))) if logarithmic else (lambda value: value)
    named = sorted({value for line in runs.values() for value in line})
    marks = heights([value for line in runs.values() for run in line.values() for value in run], logarithmic)
    head = textwrap.wrap(title, LETTERS)
    top = 16 + LINE * len(head)
    low = scale(marks[0])
    high = scale(marks[-1])
    span = (named[-1] - named[0]) or 1

    def place(point: tuple[float, float]) -> tuple[float, float]:
        right = LEFT + (point[0] - named[0]) / span * (WIDTH - LEFT - RIGHT)
        return right, HEIGHT - BOTTOM - (scale(point[1]) - low) / ((high - low) or 1) * (HEIGHT - top - BOTTOM)

    middle = (top + HEIGHT - BOTTOM) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *(f'<text x="12" y="{20 + LINE * at}" font-size="14">{escape(line)}</text>' for at, line in enumerate(head)),
        *axes(marks, named, place, top),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(across or x)}</text>',
        f'<text x="16" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 16 {middle:.1f})">'
        f"{escape(up or y)}{' (logarithmic)' if logarithmic else ''}</text>",
    ]
    ends = []
    for number, (name, line) in enumerate(runs.items()):
        colour = COLOURS[number % len(COLOURS)]
        least = [place((value, min(run))) for value, run in sorted(line.items())]
        greatest = [place((value, max(run))) for value, run in sorted(line.items())]
        mean = [place((value, sum(run) / len(run))) for value, run in sorted(line.items())]
        parts.append(f'<polygon fill="{colour}" fill-opacity="0.18" points="{join_points(least + greatest[::-1])}"/>')
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{DASHES[number % len(DASHES)]}" '
            f'points="{join_points(mean)}"/>'
        )
        parts += [draw_marker(MARKERS[number % len(MARKERS)], point, colour) for point in mean]
        ends.append((mean[-1], name, colour, MARKERS[number % len(MARKERS)]))
    return "\n".join([*parts, *label_ends(ends, top), "</svg>", ""])


def join_points(points: Points) -> str:
    return " ".join(f"{right:.1f},{down:.1f}" for right, down in points)


def draw_marker(shape: str, point: tuple[float, float], colour: str) -> str:
    right, down = point
    if shape == "circle":
        return f'<circle cx="{right:.1f}" cy="{down:.1f}" r="3.5" fill="{colour}"/>'
    if shape == "square":
        return f'<rect x="{right - 3:.1f}" y="{down - 3:.1f}" width="6" height="6" fill="{colour}"/>'
    if shape == "cross":
        return (
            f'<path d="M{right - 3:.1f} {down - 3:.1f}l6 6m0 -6l-6 6" stroke="{colour}" stroke-width="2" fill="none"/>'
        )
    corners = {"triangle": [(0, -4), (4, 3), (-4, 3)], "diamond": [(0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)]}[shape]
    return f'<polygon points="{join_points([(right + a, down + b) for a, b in corners])}" fill="{colour}"/>'


def label_ends(ends: list[tuple[tuple[float, float], str, str, str]], top: float) -> list[str]:
    """Write each line's name beside its end, with a thin line to it where names had to be moved apart."""
    parts = []
    next_free = top
    for (right, down), name, colour, shape in sorted(ends, key=lambda end: end[0][1]):
        height = max(down, next_free)
        next_free = height + LABEL_HEIGHT
        edge = WIDTH - RIGHT
        parts.append(
            f'<path d="M{right + 5:.1f} {down:.1f}L{edge + 14} {height:.1f}" stroke="{colour}" stroke-width="0.7" fill="none"/>'
        )
        parts.append(draw_marker(shape, (edge + 20, height), colour))
        parts.append(f'<text x="{edge + 30}" y="{height + 4:.1f}">{escape(name)}</text>')
    return parts
