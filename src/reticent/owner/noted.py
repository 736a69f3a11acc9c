"""The digest that the owner's folder beside a release notes of it, for who audits on the owner's machine."""

from __future__ import annotations

import re
from pathlib import Path

from reticent.owner.notes import owner_folder


def noted_digest(folder: Path) -> str | None:
    """The digest; None where nobody noted one, or it cannot be read."""
    target = Path(folder).absolute()
    path = owner_folder(target) / target.name / "digest.txt"
    try:
        with open(path, encoding="ascii") as notes:
            written = notes.read(80).strip()
    except (OSError, ValueError):
        return None
    return written if re.fullmatch(r"[0-9a-f]{64}", written) else None
