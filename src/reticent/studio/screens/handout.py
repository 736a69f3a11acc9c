"""The screen *Hand out*."""

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
    name="handout",
    title="Hand out",
    question="What do they get, and what stays here?",
    why="Recipients get the folder of the release: data, manifest, README and report. The job, the notes and the ledger stay with you.",
    example="A checksum in a letter tells recipients that the folder they have is the one you made.",
    docs="owner",
    show=show,
    write_commands=write_commands,
)
