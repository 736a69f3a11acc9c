"""The screen *Attack*."""

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
    name="attack",
    title="Attack",
    question="Who reaches more than chance?",
    why="Each adversary of the literature tries the release, and stands beside its control: what the same adversary reaches without it. The difference is what the release gives away.",
    example="To guess 8 % of the diagnoses right means nothing without the 7 % that anybody guesses.",
    docs="attacks",
    show=show,
    write_commands=write_commands,
)
