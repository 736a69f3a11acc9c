"""A `report.html` in a release folder: what `reticent report` makes of the folder, byte for byte, or the folder is refused.

Whoever opens a page believes it.  One that says more than the files, or something else, must not travel with them.
"""

from __future__ import annotations

from pathlib import Path

from reticent import catalogue
from reticent.errors import BundleDamaged, RequestError
from reticent.release import closed

LONGEST = 1 << 20
"""Bytes: a public page is a sixth of it at most."""


def refuse_other_page(folder: Path, names: list[str]) -> None:
    """Refuse a folder whose page is another than that of the files named."""
    name = catalogue.REPORT
    written = closed.read_bytes(folder / name, LONGEST)
    try:
        made = catalogue.load(catalogue.REPORTED_BY)(folder, names)
    except RequestError as error:
        raise BundleDamaged(
            f"{name} of {folder} cannot be compared with the page that it should be.",
            why=error.what,
            attempt=f"{error.attempt or 'another version'} Or move {name} out of the folder: the release is whole without it.",
        ) from None
    if made != written:
        raise BundleDamaged(
            f"{name} of {folder} is not what `reticent report` makes of this folder.",
            why="A page of another folder, version or hand may say what the files do not.",
            attempt=f"moving {name} out of the folder, and `reticent report` for a new one.",
        )
