"""The screen *Columns*."""

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
    name="columns",
    title="Columns",
    question="Which columns could single somebody out?",
    why="Somebody who looks for a person in your table already knows things about them: age, sex, where they work. Those columns *describe*. What must not be learned is *sensitive*. Everything was proposed from the data; you decide.",
    example="Age, sex and a postal code single out most people of a city, though each of them alone says little.",
    docs="columns",
    show=show,
    write_commands=write_commands,
)
