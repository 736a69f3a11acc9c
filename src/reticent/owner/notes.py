"""What the owner's folder keeps of each release: its digest, audit and job, its place, and a README."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reticent.owner.places import DIGEST, PLACE, written_place
from reticent.owner.together import owners_readme
from reticent.owner.witness import WITNESS


def notes_on(
    entry: Mapping[str, Any],
    earlier: Sequence[Mapping[str, Any]],
    target: Path,
    owned: Mapping[str, Any],
    witness: bytes | None = None,
) -> dict[str, bytes | str]:
    """The files of a release's notes; `witness` is the encrypted one, of a kind that has one."""
    notes: dict[str, bytes | str] = {
        DIGEST: entry["digest"] + "\n",
        PLACE: written_place(target),
        "audit.json": json.dumps(owned["audit"], indent=1) + "\n",
        "job.toml": owned["job"],
        "README.md": owners_readme([*earlier, entry], owned.get("notices", ()), witnessed=witness is not None),
    }
    if witness is not None:
        notes[WITNESS] = witness
    return notes
