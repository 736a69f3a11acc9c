"""The screen *Use*."""

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
    name="use",
    title="Use",
    question="What can still be asked, and how exactly?",
    why="Ask the release what its recipients will ask. Every answer comes with bounds or a standard error; for you, the true answer stands beside it.",
    example="How many people between 30 and 39 earn more than 50,000: about 1,204, between 1,180 and 1,233; truly 1,210.",
    docs="queries",
    show=show,
    write_commands=write_commands,
)
