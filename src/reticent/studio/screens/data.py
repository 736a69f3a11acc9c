"""The screen *Data*."""

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
    name="data",
    title="Data",
    question="Was your file read as you meant it?",
    why="Everything that follows rests on how the table is read: which texts mean missing, which lines were set aside, and whether a row is a person.",
    example="A hospital's export has `unknown` in 436 birth dates. Read as a text, it is a value that singles people out; declared as missing, it is none.",
    docs="sources",
    show=show,
    write_commands=write_commands,
)
