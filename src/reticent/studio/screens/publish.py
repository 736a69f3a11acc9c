"""The screen *Publish*."""

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
    name="publish",
    title="Publish",
    question="Is it kept, alone and together?",
    why="The release is written to a folder, then recounted from its files by other code, then joined with every earlier release of the same people. Cancel at any moment: the folder is the old one or the new one, never half.",
    example="A release that keeps its promise alone may break it together with last year's.",
    docs="what-else-it-says",
    show=show,
    write_commands=write_commands,
)
