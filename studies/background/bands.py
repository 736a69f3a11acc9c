"""A line chart with bands: the mean of several runs, and from the least to the most of them behind it.

A line's name stands at its end.  Names are "table, variant": a table has a colour and a marker, a variant has a dash.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from studies.chart import BOTTOM, COLOURS, HEIGHT, LEFT, LETTERS, LINE, RIGHT, WIDTH, axes, heights

DASHES = ("6 4", "")
NAME_HEIGHT = 15
Points = list[tuple[float, float]]


def band_chart(rows: Sequence[dict], x: str, y: str, title: str) -> str:
    """Draw `y` by `x`, a line for each `method`, with a band from `least` to `most`."""
    lines: dict[str, list[dict]] = {}
    for row in rows:
        lines.setdefault(str(row["method"]), []).append(row)
    tables = list(dict.fromkeys(name.partition(", ")[0] for name in lines))
    variants = list(dict.fromkeys(name.partition(", ")[2] for name in lines))
    named = sorted({float(row[x]) for row in rows})
    marks = heights([float(row["most"]) for row in rows], False)
    head = textwrap.wrap(title, LETTERS)
    top = 16 + LINE * len(head)
    span = (named[-1] - named[0]) or 1

    def place(point: tuple[float, float]) -> tuple[float, float]:
        across = LEFT + (point[0] - named[0]) / span * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (point[1] - marks[0]) / ((marks[-1] - marks[0]) or 1) * (HEIGHT - top - BOTTOM)

    middle = (top + HEIGHT - BOTTOM) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *(f'<text x="12" y="{20 + LINE * at}" font-size="14">{escape(line)}</text>' for at, line in enumerate(head)),
        *axes(marks, named, place, top),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x)}</text>',
        f'<text x="16" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 16 {middle:.1f})">{escape(y)}</text>',
    ]
    ends = []
    for name, points in lines.items():
        table, _, variant = name.partition(", ")
        number = tables.index(table)
        colour = COLOURS[number % len(COLOURS)]
        placed = [place((float(row[x]), float(row[y]))) for row in points]
        low = [place((float(row[x]), float(row["least"]))) for row in points]
        high = [place((float(row[x]), float(row["most"]))) for row in points]
        dash = DASHES[variants.index(variant) % len(DASHES)]
        parts += [
            f'<polygon fill="{colour}" fill-opacity="0.13" points="{_join([*low, *high[::-1]])}"/>',
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash or "none"}" points="{_join(placed)}"/>',
            *(_draw_marker(number, point, colour) for point in placed),
        ]
        ends.append((placed[-1], name, colour))
    return "\n".join([*parts, *_draw_names(ends, top), "</svg>", ""])


def _join(points: Points) -> str:
    return " ".join(f"{across:.1f},{down:.1f}" for across, down in points)


def _draw_marker(number: int, point: tuple[float, float], colour: str) -> str:
    """Draw a circle, square, triangle or diamond."""
    across, down = point
    if number % 4 == 0:
        return f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3.5" fill="{colour}"/>'
    shapes = (
        ((-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)),
        ((0, -4.5), (4.5, 3.5), (-4.5, 3.5)),
        ((0, -5), (5, 0), (0, 5), (-5, 0)),
    )
    corners = [(across + right, down + lower) for right, lower in shapes[number % 4 - 1]]
    return f'<polygon fill="{colour}" points="{_join(corners)}"/>'


def _draw_names(ends: list[tuple[tuple[float, float], str, str]], top: int) -> list[str]:
    """Draw the name of each line beside its end, far enough apart, with a thin line from one to the other."""
    parts = []
    height = float(top)
    for (across, down), name, colour in sorted(ends):
        height = max(height + NAME_HEIGHT, down)
        text = WIDTH - RIGHT + 26
        parts += [
            f'<line x1="{across + 6:.1f}" y1="{down:.1f}" x2="{text - 4}" y2="{height - 4:.1f}" stroke="{colour}" stroke-width="0.7"/>',
            f'<text x="{text}" y="{height:.1f}" fill="{colour}">{escape(name)}</text>',
        ]
    return parts
