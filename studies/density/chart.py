"""The chart of answers.csv: by table and method, the median error of counts evenly and by likelihood, with the range of five seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from statistics import median

COLOURS = {"even": "#d1495b", "likelihood": "#1b6ca8"}
TITLE = (
    "Median relative error of 100 random counts that cut labels, 8,000 rows of each table:",
    "people taken to lie evenly in their labels, or as all labels together make likely.",
    "Marks are medians of five seeds (rows, release and questions drawn anew), bars their ranges; logarithmic, left is better.",
)
LEFT, RIGHT, TOP, LINE = 250, 40, 92, 17
WIDTH = 820
LOW, HIGH = 0.002, 1.2


def draw_errors(rows: Sequence[Mapping[str, str]]) -> str:
    """Draw the rows of answers.csv as SVG."""
    errors: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        if row["workload"] == "all":
            of_pair = errors.setdefault((row["table"], row["method"]), {})
            of_pair.setdefault(row["density"], []).append(float(row["median_error"]))
    height = TOP + LINE * len(errors) + 8 * len({table for table, _ in errors}) + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *(f'<text x="12" y="{20 + 18 * at}" font-size="13">{escape(line)}</text>' for at, line in enumerate(TITLE)),
    ]
    for mark in (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1):
        across = place(mark)
        parts.append(
            f'<line x1="{across:.1f}" x2="{across:.1f}" y1="{TOP - 10}" y2="{height - 40}" stroke="#dddddd"/>'
            f'<text x="{across:.1f}" y="{height - 26}" text-anchor="middle">{mark:g}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{height - 8}" text-anchor="middle">median relative error</text>'
    )
    down = float(TOP)
    earlier = None
    for at, ((table, method), of_pair) in enumerate(errors.items()):
        if table != earlier:
            down += 8 if earlier is not None else 0
            parts.append(f'<text x="12" y="{down + 4:.1f}" font-weight="bold">{escape(table)}</text>')
            earlier = table
        parts.append(f'<text x="{LEFT - 12}" y="{down + 4:.1f}" text-anchor="end">{escape(method)}</text>')
        for density, values in of_pair.items():
            parts += draw_mark(density, values, down, named=at == 0)
        down += LINE
    return "\n".join([*parts, "</svg>", ""])


def draw_mark(density: str, values: Sequence[float], down: float, *, named: bool) -> list[str]:
    """A hollow circle on a dashed bar for evenly, a filled square on a whole one for likelihood; the first are named."""
    colour = COLOURS[density]
    height = down + (-3 if density == "even" else 3)
    low, middle, high = (place(value) for value in (min(values), median(values), max(values)))
    dash = ' stroke-dasharray="4 3"' if density == "even" else ""
    parts = [
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{height}" y2="{height}" stroke="{colour}" stroke-width="2"{dash}/>',
        f'<circle cx="{middle:.1f}" cy="{height}" r="4" fill="#ffffff" stroke="{colour}" stroke-width="2"/>'
        if density == "even"
        else f'<rect x="{middle - 4:.1f}" y="{height - 4}" width="8" height="8" fill="{colour}"/>',
    ]
    if named:
        side = (high + 8, "start") if density == "even" else (low - 8, "end")
        parts.append(
            f'<text x="{side[0]:.1f}" y="{height + 3}" text-anchor="{side[1]}" fill="{colour}">{escape(density)}</text>'
        )
    return parts


def place(error: float) -> float:
    """Where an error lies across the chart."""
    share = (log10(min(max(error, LOW), HIGH)) - log10(LOW)) / (log10(HIGH) - log10(LOW))
    return LEFT + share * (WIDTH - LEFT - RIGHT)
