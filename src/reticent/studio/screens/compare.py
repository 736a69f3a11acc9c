"""The screen *Compare*."""

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
    name="compare",
    title="Compare",
    question="Which way, and is it worth it?",
    why="The same promise can be kept in several ways, and some lose less. Beside them stand the yardsticks that need no method: the honest answer may be to use none.",
    example="A table with its columns apart answers simple counts well, and says nothing about how columns go together.",
    docs="choosing",
    show=show,
    write_commands=write_commands,
)
