"""Charts as static SVG, by altair and vl-convert (the extra `charts`), which are loaded when the first chart is drawn.

An SVG holds no script and needs no network.  It has a description in words for readers who cannot see it.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import DiskError, RequestError
from reticent.validation import path, validate_arguments

CHART_WIDTH = 560
CHART_HEIGHT = 340
LETTER_WIDTH = 5.7
LINE_HEIGHT = 12
"""Of a chart of named points: its width and height, and the room that a letter and a line of a name take."""
BAR_HEIGHT = 22
LABEL_WIDTH = 165
MAX_LABEL_LETTERS = 24
"""Of a chart of estimates: the height of each, the room for labels, and letters of a label."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawn chart: its SVG, which a notebook shows and `save` writes."""

    svg: str
    title: str

    @validate_arguments(target=path)
    def save(self, target: str | Path) -> Path:
        target = Path(target)
        if target.suffix.lower() != ".svg":
            raise RequestError(
                f"A chart is saved as SVG, not as {target.suffix or 'a file without an ending'}.",
                attempt='a name such as "chart.svg".',
            )
        try:
            target.write_text(self.svg, encoding="utf-8", newline="\n")
        except OSError as error:
            raise DiskError(f"The chart cannot be written to {target}: {error.strerror}.") from None
        return target

    def _repr_svg_(self) -> str:
        return self.svg


def draw_lines(
    frame: pl.DataFrame, across: str, up: str, title: str, line_by: str | None = None, rows: str | None = None
) -> Chart:
    """Draw lines with points of `up` over `across`: a line for each value of `line_by`, a picture for each of `rows`."""
    altair = load_altair()
    # Values are put in by name: a column may be called anything, and altair reads marks such as `:` in a name.
    data = {"x": across, "y": up, "line": line_by, "row": rows}
    used = frame.select(pl.col(name).alias(field) for field, name in data.items() if name is not None)
    numeric = used["x"].dtype.is_numeric()
    marks: dict[str, Any] = {
        "x": altair.X(
            "x", type="quantitative" if numeric else "nominal", title=across, axis=_make_axis(altair, used["x"])
        ),
        "y": altair.Y("y", type="quantitative", title=up, scale=altair.Scale(zero=True)),
    }
    if line_by is not None:
        marks |= {
            "color": altair.Color("line", type="nominal", title=line_by),
            "strokeDash": altair.StrokeDash("line", type="nominal", title=line_by),  # also for who sees no colours
        }
    if rows is not None:
        marks["row"] = altair.Row("row", type="nominal", title=rows)
    values = altair.Data(values=used.to_dicts())
    chart = altair.Chart(values, title=title, description=title).mark_line(point=True).encode(**marks)
    return Chart(_render_svg(chart.properties(width=420, height=260).to_dict()), title)


def draw_frontier(frame: pl.DataFrame, across: str, up: str, title: str) -> Chart:
    """Draw a named point for each row, by its `role`; those with `frontier` are joined by a line."""
    altair = load_altair()
    used = frame.select(pl.col(across).alias("x"), pl.col(up).alias("y"), "name", "role", "frontier")
    ends = [(float(used[axis].max() or 0) or 1.0) * 1.05 for axis in ("x", "y")]  # type: ignore[arg-type]  # numbers
    x, y = (
        kind(axis, type="quantitative", title=name, scale=altair.Scale(domain=[0, end], nice=False))
        for kind, axis, name, end in zip((altair.X, altair.Y), ("x", "y"), (across, up), ends, strict=True)
    )

    def chart(rows: list[dict[str, Any]]) -> Any:
        return altair.Chart(altair.Data(values=rows))

    legend = altair.Legend(orient="bottom")
    color = altair.Color("role", type="nominal", title=None, legend=legend)
    shape = altair.Shape("role", type="nominal", title=None, legend=legend)
    names = place_names(used.select("x", "y", "name").rows(), ends[0], ends[1])
    texts = chart(names).mark_text(align="left", baseline="middle", fontSize=10, aria=False)
    lines = chart(names).mark_rule(color="#bbb", strokeWidth=0.7, aria=False)
    layers = [
        chart(used.filter("frontier").sort("x").to_dicts()).mark_line(strokeDash=[4, 3], color="#888").encode(x=x, y=y),
        lines.encode(x=x, y=y, x2=altair.X2("near"), y2=altair.Y2("middle")),
        chart(used.to_dicts()).mark_point(filled=True, size=70).encode(x=x, y=y, shape=shape, color=color),
        texts.encode(
            x=altair.X("left", type="quantitative"),
            y=altair.Y("middle", type="quantitative"),
            text=altair.Text("name", type="nominal"),
        ),
    ]
    layered = altair.layer(*layers).properties(width=CHART_WIDTH, height=CHART_HEIGHT, title=title, description=title)
    return Chart(_render_svg(layered.to_dict()), title)


def place_names(points: Sequence[tuple[float, float, str]], wide: float, tall: float) -> list[dict[str, Any]]:
    """Place the name of each point, in its units: `left`, `middle` and the end `near` it; no name covers another."""
    placed_names: list[dict[str, Any]] = []
    boxes = [
        (
            x / wide * CHART_WIDTH - 5,
            y / tall * CHART_HEIGHT - 5,
            x / wide * CHART_WIDTH + 5,
            y / tall * CHART_HEIGHT + 5,
        )
        for x, y, _ in points
    ]
    for x, y, name in sorted(points, key=lambda point: (point[1], point[0])):
        right = x / wide * CHART_WIDTH
        height = y / tall * CHART_HEIGHT
        width = len(name) * LETTER_WIDTH
        candidates = [
            (side, step) for step in range(CHART_HEIGHT // LINE_HEIGHT) for side in (right + 8, right - 8 - width)
        ]
        for left, step in candidates:
            middle = height + 8 + step * LINE_HEIGHT
            box = (left, middle - LINE_HEIGHT / 2, left + width, middle + LINE_HEIGHT / 2)
            free = all(box[2] <= a or c <= box[0] or box[3] <= b or d <= box[1] for a, b, c, d in boxes)
            if free and box[0] >= 0 and box[2] <= CHART_WIDTH and box[3] <= CHART_HEIGHT + LINE_HEIGHT:
                break
        boxes.append(box)
        near = left if left > right else left + width
        ends = {
            "left": left / CHART_WIDTH * wide,
            "near": near / CHART_WIDTH * wide,
            "middle": middle / CHART_HEIGHT * tall,
        }
        placed_names.append({"x": x, "y": y, "name": name, **ends})
    return placed_names


def draw_estimates(rows: Sequence[Mapping[str, Any]], title: str) -> Chart:
    """Draw a point for each estimate on its `line`, a bar between its bounds and a thick one over its interval.

    Rows have `line`, `aggregate`, `estimate`, `lower`, `upper`, `interval_lower` and `interval_upper`, numbers or texts
    of dates, None where there is none; each aggregate has a picture of its own, one below the other.
    """
    altair = load_altair()
    pictures = []
    for aggregate in dict.fromkeys(row["aggregate"] for row in rows):
        drawn = [dict(row) for row in rows if row["aggregate"] == aggregate]
        pictures.append(_draw_error_bars(altair, drawn, aggregate or "estimate"))
    page = altair.vconcat(*pictures).properties(title=altair.Title(_wrap_lines(title), fontSize=11), description=title)
    return Chart(_render_svg(page.to_dict()), title)


def _draw_error_bars(altair: Any, rows: list[dict[str, Any]], measure: str) -> Any:
    is_date = any(isinstance(row["estimate"], str) for row in rows)
    kind = "temporal" if is_date else "quantitative"
    # The estimates' own places: in the order of the answers, whatever lines are called.
    for position, row in enumerate(rows):
        row["at"] = position
        row["label"] = _shorten_label(row["line"])
    down = altair.Y(
        "at",
        type="ordinal",
        title=None,
        axis=altair.Axis(
            labelExpr=f"{json.dumps([row['label'] for row in rows])}[datum.value]", labelLimit=LABEL_WIDTH
        ),
    )

    def draw_bar(low: str, high: str, width: float, color: str) -> Any:
        bounded = [row for row in rows if row[low] is not None and row[high] is not None]
        across = altair.X(low, type=kind, title=measure, scale=altair.Scale(zero=False))
        chart = altair.Chart(altair.Data(values=bounded)).mark_rule(strokeWidth=width, color=color, aria=False)
        return chart.encode(x=across, x2=altair.X2(high), y=down)

    points = altair.Chart(altair.Data(values=rows)).mark_point(filled=True, size=45, color="#1b3a57", opacity=1)
    layers = [
        draw_bar("lower", "upper", 1.5, "#8aa9c4"),
        draw_bar("interval_lower", "interval_upper", 5, "#2b5c8a"),
        points.encode(x=altair.X("estimate", type=kind, title=measure, scale=altair.Scale(zero=False)), y=down),
    ]
    return altair.layer(*layers).properties(width=CHART_WIDTH - LABEL_WIDTH, height=BAR_HEIGHT * len(rows))


def _shorten_label(label: str) -> str:
    return label if len(label) <= MAX_LABEL_LETTERS else label[: MAX_LABEL_LETTERS - 1] + "…"


def _wrap_lines(text: str, letters: int = 90) -> list[str]:
    return textwrap.wrap(text, letters) or [""]


def load_altair() -> Any:
    """Return altair, or raise an error that names the extra."""
    try:
        import altair
        import vl_convert  # noqa: F401  both are needed, and one message names them
    except ImportError:
        raise RequestError(
            "Charts need altair and vl-convert, which are not installed.", attempt="pip install 'reticent[charts]'."
        ) from None
    return altair


def _make_axis(altair: Any, values: pl.Series) -> Any:
    """Make an axis with a tick at each value if there are few; short names are upright."""
    distinct = values.unique().sort().to_list()
    if len(distinct) > 12:
        return altair.Axis()
    return altair.Axis(values=distinct) if values.dtype.is_numeric() else altair.Axis(labelAngle=0)


def _render_svg(chart: dict[str, Any]) -> str:
    import vl_convert

    return vl_convert.vegalite_to_svg(chart)
