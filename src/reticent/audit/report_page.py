"""The page in a release folder: is it the one that the owner wrote there?  Only a checksum in the owner's ledger shows it.

It is never made anew: that would run a renderer, and its native code, on a folder that a stranger may have sent.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent import catalogue
from reticent.owner.report_pages import is_page_noted
from reticent.release.bundle import digest
from reticent.release.page import read_page

NOTED = f"{catalogue.REPORT} is, byte for byte, the page that your ledger notes for this release."
UNCHECKED = (
    f"{catalogue.REPORT} was NOT checked and must not be believed: no release lists it, and your ledger does not note it as a "
    "page of this one. `reticent report` makes one that you can trust."
)


@dataclass(frozen=True, slots=True)
class PageCheck:
    """Whether the page in a folder is one that the owner noted."""

    checked: bool

    @property
    def sentence(self) -> str:
        return NOTED if self.checked else UNCHECKED

    def to_dict(self) -> dict[str, Any]:
        return {"file": catalogue.REPORT, "checked": self.checked, "says": self.sentence}


def check_page(folder: Path) -> PageCheck | None:
    """Compare the page in a release folder with the owner's ledger; None where the folder has no page."""
    if not os.path.lexists(folder / catalogue.REPORT):
        return None
    return PageCheck(is_page_noted(digest(folder), read_page(folder)))
