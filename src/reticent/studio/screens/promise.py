"""The screen *Promise*."""

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
    name="promise",
    title="Promise",
    question="What do you owe the people in the table?",
    why="A promise is a sentence about every group of the release. Move a slider and see what it costs; nothing is written until you publish.",
    example='"Everybody shares their description with at least 10 people" is k-anonymity with k = 10.',
    docs="promises",
    show=show,
    write_commands=write_commands,
)
