"""What commands print: text and tables for people, one object for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from reticent.cli.stages import TOLD
from reticent.cli.stages import stages as stages
from reticent.cli.visible import in_json, one_line, visible


def say(*lines: str) -> None:
    """Plain lines, never wrapped: paths and digests are there to be copied."""
    print(*map(visible, lines), sep="\n")


def note(line: str) -> None:
    """A line for the person at the keyboard that is no part of the result; on stdout where stderr is a log, which travels."""
    print(visible(line), file=sys.stdout if TOLD.stderr_is_log else sys.stderr)


def say_json(value: Any) -> None:
    print(in_json(json.dumps(value, indent=1, ensure_ascii=False)))


def say_table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, indent: int = 0) -> None:
    """A table without lines; as wide as its content where nobody watches, else as the terminal."""
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name in head:
        table.add_column(Text(one_line(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else one_line(str(cell))) for cell in row))
    console = Console(highlight=False, width=None if watched(sys.stdout) else 400)
    console.print(Padding(table, (0, 0, 0, indent), expand=False))


def watched(stream: Any) -> bool:
    """Whether somebody sits in front of a stream; a program may be started without one."""
    return stream is not None and stream.isatty()


def number(value: Any) -> str:
    """A number as people read it; what is no number as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
