"""The screen *Hierarchies*."""

from __future__ import annotations

from typing import Any

from reticent.studio.desk import Desk
from reticent.studio.screens.screen import CommandLines, Screen


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    return {}


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that do what this screen does."""
    return CommandLines("reticent --help", "import reticent as rt")


SCREEN = Screen(
    name="hierarchies",
    title="Hierarchies",
    question="What will a label say instead of a value?",
    why="Where a value says too much, the release says a wider one: 30-39 instead of 34. A hierarchy tells which values belong together, so that a wider label still means something.",
    example="`flu` and `bronchitis` become `respiratory`, not `flu or fracture`.",
    docs="hierarchies",
    show=show,
    write_commands=write_commands,
)
