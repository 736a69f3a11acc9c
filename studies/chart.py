"""A line chart as SVG, from rows with a `method`: enough for these figures, and nothing to install."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log10

COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8f5bb5", "#e08e2b", "#4a4a4a", "#00a6a6", "#9c6644", "#b0b0b0")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 60, 190, 30, 45


def line_chart(
    rows: Sequence[dict], x: str, y: str, title: str, *, logarithmic: bool = False, doubling: bool = False
) -> str:
    """`logarithmic` is of the height, `doubling` of the width."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        lines.setdefault(str(row.get("method", y)), []).append((float(row[x]), float(row[y])))
    scale = (lambda value: log10(max(value, 1e-9))) if logarithmic else (lambda value: value)
    along = (lambda value: log10(value)) if doubling else (lambda value: value)
    ticks = sorted({point[0] for points in lines.values() for point in points})
    xs = [along(tick) for tick in ticks]
    ys = [scale(point[1]) for points in lines.values() for point in points]
    low, high = (min(ys), max(ys)) if logarithmic else (min(0.0, *ys), max(ys))
    span_x, span_y = (max(xs) - min(xs)) or 1, (high - low) or 1

    def place(point: tuple[float, float]) -> tuple[float, float]:
        across = LEFT + (along(point[0]) - min(xs)) / span_x * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (scale(point[1]) - low) / span_y * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>']  # fmt: skip
    for step in range(5):
        level = low + span_y * step / 4
        value = 10**level if logarithmic else level
        height = HEIGHT - BOTTOM - step / 4 * (HEIGHT - TOP - BOTTOM)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{value:.3g}</text>')  # fmt: skip
    for tick in ticks:
        across, _ = place((tick, 10**low if logarithmic else low))
        parts.append(f'<text x="{across:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:g}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x)}</text>')
    for at, (name, points) in enumerate(lines.items()):
        colour = COLOURS[at % len(COLOURS)]
        placed = [place(point) for point in points]
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in placed)}"/>'
        )
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in placed]
        height = TOP + 14 + 18 * at
        parts.append(f'<rect x="{WIDTH - RIGHT + 14}" y="{height - 9}" width="12" height="4" fill="{colour}"/>'
                     f'<text x="{WIDTH - RIGHT + 32}" y="{height}">{escape(name)}</text>')  # fmt: skip
    return "\n".join([*parts, "</svg>", ""])
