"""Blocks of a report: its facts are sections of blocks, and each block is one of these small dictionaries, plain JSON.

{"text": ...}  {"list": [...]}  {"code": ..., "language": ...}  {"table": {"caption", "head", "rows"}, "chart": ...}
{"figure": {"title", "drawn", "plot", "reading"}, "table": ...}   a drawing by its figures, and the same numbers as a table
{"markdown": ...}   a part of the release's README, in the little Markdown that READMEs are written in
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Block = dict[str, Any]


def make_text(sentence: str) -> Block:
    return {"text": sentence}


def make_list(sentences: Iterable[str]) -> Block:
    return {"list": list(sentences)}


def make_code(lines: Sequence[str], language: str) -> Block:
    return {"code": "\n".join(lines), "language": language}


def make_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], bars: tuple[int, int] | None = None
) -> Block:
    """Make a table; `bars` are the columns that label and measure the bars of its chart."""
    block: Block = {
        "table": {
            "caption": caption,
            "head": list(head),
            "rows": [[convert_to_plain(cell) for cell in row] for row in rows],
        }
    }
    return block if bars is None else {**block, "chart": {"labels": bars[0], "values": bars[1]}}


def make_figure(title: str, drawn: str, plot: Mapping[str, Any], table: Block, reading: str = "") -> Block:
    """Make a figure: a title that says what is found, a line on what is drawn, and the plot's figures.

    `plot` has the `type` of a drawing and its figures, plain JSON; `table` says the same in numbers, for those who cannot
    see it and for forms without drawings; `reading` says how the drawing is read.
    """
    return {"figure": {"title": title, "drawn": drawn, "plot": dict(plot), "reading": reading}, "table": table["table"]}


def make_section(name: str, title: str, *parts: Block | None) -> dict[str, Any]:
    return {"id": name, "title": title, "parts": [part for part in parts if part is not None]}


def convert_to_plain(value: Any) -> Any:
    """Convert a value to plain JSON.

    A number that is no whole one has six digits, so that it reads the same on every machine.
    """
    if isinstance(value, Fraction):
        return int(value) if value == int(value) else convert_to_plain(float(value))
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def format_value(value: Any) -> str:
    """Format a value for people."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {format_value(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(map(format_value, value)) or "none"
    value = convert_to_plain(value)
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:,.6g}"
