"""The page that `report` makes of a folder which may itself hold a `report.html`: made of a copy without it."""

from __future__ import annotations

import shutil
from pathlib import Path

from reticent.owner import staging
from reticent.report.report import report


def page_of(folder: Path, names: list[str]) -> bytes:
    """The public page of the files named, which are all that a release of this folder has."""
    with staging.scratch(None) as room:  # what a killed run leaves of it, the next command removes
        temporary = room()
        for name in names:
            shutil.copyfile(folder / name, temporary / name, follow_symlinks=False)
        return report(temporary).html().encode()
