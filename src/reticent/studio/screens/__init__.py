"""The screens, in the order of the way from a file to a release.  Each is a module here with a template of its name."""

from __future__ import annotations

from importlib import import_module

from reticent.studio.screens.screen import CommandLines, Screen

NAMES = (
    "data",
    "columns",
    "hierarchies",
    "promise",
    "compare",
    "publish",
    "attack",
    "use",
    "handout",
    "ledger",
)
RECEIVED_NAMES = ("received_release", "use")  # of a folder that is a release which somebody received

__all__ = ["NAMES", "RECEIVED_NAMES", "CommandLines", "Screen", "load_screens"]


def load_screens(is_release: bool) -> list[Screen]:
    """Load the screens of a project, or of a release that somebody received."""
    names = RECEIVED_NAMES if is_release else NAMES
    return [import_module(f"reticent.studio.screens.{name}").SCREEN for name in names]
