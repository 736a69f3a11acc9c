"""Charts as static SVG, by altair and vl-convert (the extra `charts`), which are loaded when a chart is asked for.

An SVG holds no script and needs no network.  It says in words what it shows, for who cannot see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent.door import door, path
from reticent.errors import DiskError, RequestError


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawn chart: its SVG, which a notebook shows and `save` writes."""

    svg: str
    title: str

    @door(target=path)
    def save(self, target: str | Path) -> Path:
        target = Path(target)
        if target.suffix.lower() != ".svg":
            raise RequestError(f"A chart is saved as SVG, not as {target.suffix or 'a file without an ending'}.",
                               attempt='a name such as "chart.svg".')  # fmt: skip
        try:
            target.write_text(self.svg, encoding="utf-8")
        except OSError as error:
            raise DiskError(f"The chart cannot be written to {target}: {error.strerror}.") from None
        return target

    def _repr_svg_(self) -> str:
        return self.svg


def lines(
    frame: pl.DataFrame, across: str, up: str, title: str, apart: str | None = None, rows: str | None = None
) -> Chart:
    """A line with points of `up` over `across`, one for each value of `apart`, one picture for each of `rows`."""
    altair = _altair()
    # Values are put in by name: a column may be called anything, and altair reads marks such as `:` in a name.
    data = {"x": across, "y": up, "line": apart, "row": rows}
    used = frame.select(pl.col(name).alias(field) for field, name in data.items() if name is not None)
    numeric = used["x"].dtype.is_numeric()
    marks: dict[str, Any] = {
        "x": altair.X("x", type="quantitative" if numeric else "nominal", title=across, axis=_axis(altair, used["x"])),
        "y": altair.Y("y", type="quantitative", title=up, scale=altair.Scale(zero=True)),
    }
    if apart is not None:
        marks |= {
            "color": altair.Color("line", type="nominal", title=apart),
            "strokeDash": altair.StrokeDash("line", type="nominal", title=apart),  # also for who sees no colours
        }
    if rows is not None:
        marks["row"] = altair.Row("row", type="nominal", title=rows)
    values = altair.Data(values=used.to_dicts())
    drawn = altair.Chart(values, title=title, description=title).mark_line(point=True).encode(**marks)
    return Chart(_svg(drawn.properties(width=420, height=260).to_dict()), title)


def frontier(frame: pl.DataFrame, across: str, up: str, title: str) -> Chart:
    """A named point for each row, by its `role`; those with `frontier` are joined by a line."""
    altair = _altair()
    used = frame.select(pl.col(across).alias("x"), pl.col(up).alias("y"), "name", "role", "frontier")
    x = altair.X("x", type="quantitative", title=across, scale=altair.Scale(zero=True))
    y = altair.Y("y", type="quantitative", title=up, scale=altair.Scale(zero=True))

    def chart(rows: pl.DataFrame) -> Any:
        return altair.Chart(altair.Data(values=rows.to_dicts()))

    below = altair.Legend(orient="bottom")
    color = altair.Color("role", type="nominal", title=None, legend=below)
    shape = altair.Shape("role", type="nominal", title=None, legend=below)
    layers = [chart(used.filter("frontier").sort("x")).mark_line(strokeDash=[4, 3], color="#888").encode(x=x, y=y),
              chart(used).mark_point(filled=True, size=70).encode(x=x, y=y, shape=shape, color=color)]  # fmt: skip
    middle = (used["x"].max() or 0) / 2  # type: ignore[operator]  # numbers, as the caller has looked
    for side, rows in (("left", used.filter(pl.col("x") <= middle)), ("right", used.filter(pl.col("x") > middle))):
        written = chart(rows).mark_text(align=side, dx=7 if side == "left" else -7, dy=-6, fontSize=10, aria=False)
        layers.append(written.encode(x=x, y=y, text=altair.Text("name", type="nominal")))
    both = altair.layer(*layers).properties(width=560, height=340, title=title, description=title)
    return Chart(_svg(both.to_dict()), title)


BAR, LEFT, WIDE, LETTERS = 22, 165, 255, 24
"""Of a chart of bars: the height of each, the room for labels, the width of what is drawn, and letters of a label."""


def bars(labels: Sequence[str], values: Sequence[float], title: str, unit: str) -> Chart:
    """A bar for each label, in the order given.

    Room for labels is fixed, not measured, so that the same bars give the same bytes whatever fonts a machine has.
    """
    altair = _altair()
    shown = [label if len(label) <= LETTERS else label[: LETTERS - 1] + "…" for label in labels]
    rows = [{"at": at, "value": value} for at, value in enumerate(values)]
    down = altair.Y("at", type="ordinal", axis=None, scale=altair.Scale(paddingInner=0.25))
    across = altair.X(
        "value", type="quantitative", title=unit, axis=altair.Axis(tickCount=4), scale=altair.Scale(zero=True)
    )
    names = [{"at": at, "label": label} for at, label in enumerate(shown)]
    drawn = altair.Chart(altair.Data(values=rows)).mark_bar(color="#2b5c8a", aria=False).encode(x=across, y=down)
    written = altair.Chart(altair.Data(values=names)).mark_text(align="right", dx=-6, fontSize=12, aria=False)
    both = drawn + written.encode(x=altair.value(0), y=down, text=altair.Text("label", type="nominal"))
    tall = BAR * max(len(shown), 1)
    page = both.properties(width=WIDE, height=tall, description=title).to_dict()
    room = {"left": LEFT, "right": 20, "top": 5, "bottom": 40}
    return Chart(_svg({**page, "autosize": {"type": "none"}, "padding": room}), title)


def _axis(altair: Any, values: pl.Series) -> Any:
    """A tick at each value where there are few; names stand upright where they are short."""
    distinct = values.unique().sort().to_list()
    if len(distinct) > 12:
        return altair.Axis()
    return altair.Axis(values=distinct) if values.dtype.is_numeric() else altair.Axis(labelAngle=0)


def _altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401  both are needed, and one message names them
    except ImportError:
        raise RequestError(
            "Charts need altair and vl-convert, which are not installed.", attempt="pip install 'reticent[charts]'."
        ) from None
    return altair


def _svg(chart: dict[str, Any]) -> str:
    import vl_convert

    return vl_convert.vegalite_to_svg(chart)
