"""The screen *Ledger*."""

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
    name="ledger",
    title="Ledger",
    question="Who is in how many releases?",
    why="Two releases of the same people can be joined, and together they may say more than either promised. The ledger remembers what you published, so that the next release is judged with the earlier ones.",
    example="People who were in last year's release and in this one are protected by neither alone.",
    docs="owner",
    show=show,
    write_commands=write_commands,
)
