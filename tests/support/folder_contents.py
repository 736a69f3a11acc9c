"""The files of a folder with their bytes: what a command changed shows in them."""

from __future__ import annotations

from pathlib import Path


def contents(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
