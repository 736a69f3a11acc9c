"""What the owner's folder keeps of each release: its digest, audit and job, its place, and a README."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reticent.owner.places import DIGEST, PLACE, written_place
from reticent.owner.together import owners_readme


def notes_on(
    entry: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], target: Path, owned: Mapping[str, Any]
) -> dict[str, bytes | str]:
    """The files of a release's notes."""
    return {
        DIGEST: entry["digest"] + "\n",
        PLACE: written_place(target),
        "audit.json": json.dumps(owned["audit"], indent=1) + "\n",
        "job.toml": owned["job"],
        "README.md": owners_readme([*earlier, entry], owned.get("notices", ())),
    }
