"""The digest that the owner's folder beside a release notes of it, for who audits on the owner's machine."""

from __future__ import annotations

import re
from pathlib import Path

from reticent.owner.places import DIGEST, notes_of


def noted_digest(folder: Path) -> str | None:
    """The digest; None where nobody noted one, or it cannot be read."""
    for notes in notes_of(Path(folder).absolute()):
        try:
            with open(notes / DIGEST, encoding="ascii") as handle:
                written = handle.read(80).strip()
        except (OSError, ValueError):
            continue
        if re.fullmatch(r"[0-9a-f]{64}", written):
            return written
    return None
