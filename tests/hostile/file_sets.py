"""What may lie among the parts of a source and is no file: each would be left out without a word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

PARTS = 4


def _loop(place: Path) -> None:
    place.symlink_to(place.name)


def _link_to_folder(place: Path) -> None:
    other = place.parent.parent / "elsewhere"
    other.mkdir()
    place.symlink_to(other)


PLANTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link to nothing": (lambda place: place.symlink_to("nowhere"), "is a link to nothing"),
    "a link to itself": (_loop, "is a link to nothing"),
    "a link to a folder": (_link_to_folder, "is a link to a folder"),
    "a folder": (Path.mkdir, "is a folder"),
    "a pipe": (os.mkfifo, "is no regular file"),
}
"""What stands in the place of a part, and what the refusal says of it."""
