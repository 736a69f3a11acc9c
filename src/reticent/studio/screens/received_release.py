"""The screen *Release*."""

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
    name="received_release",
    title="Release",
    question="What did you receive, and is it kept?",
    why="You opened a release that somebody made. Its promises are recounted here from its files alone; nothing is asked of its publisher.",
    example="A folder that was changed on its way does not match its manifest, and is called damaged.",
    docs="gates",
    show=show,
    write_commands=write_commands,
)
