"""Is this the folder that was published?  No file in a folder can show it: only a digest that was kept elsewhere does.

Whoever can change a folder can seal it again.  A promise that was loosened, groups that were deleted and called withheld, values that
changed places between groups of equal histograms: the files are then those of another release, and every count of them is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.owner.noted import noted_digest
from reticent.release import bundle

UNPROVEN = "Nothing here proves that this is the folder that was published; give --expect-digest."
EXPECTED = "The digest is the one expected: this is the folder that was published."
OWNED = "The digest is the one in the owner's folder beside it, which proves it to whoever keeps that folder and to nobody else."
CHANGED = (
    "The digest is NOT the one in the owner's folder beside it: somebody changed the release after it was published."
)


@dataclass(frozen=True, slots=True)
class Identity:
    """The folder's digest, and what it was compared with: "expected", the "owner"'s note, or None; and whether it is the `same`."""

    digest: str
    compared_with: str | None = None
    same: bool | None = None

    @property
    def sentence(self) -> str:
        if self.same is False:
            return CHANGED
        return {None: UNPROVEN, "expected": EXPECTED, "owner": OWNED}[self.compared_with]

    def to_dict(self) -> dict[str, Any]:
        return {"digest": self.digest, "compared_with": self.compared_with, "same": self.same, "says": self.sentence}


def identified(folder: Path, expected: str | None) -> Identity:
    """Compared with the digest expected, which `bundle.verify` did, or else with what the owner's folder beside it notes."""
    digest = bundle.digest(folder)
    if expected is not None:
        return Identity(digest, "expected", True)
    noted = noted_digest(folder)
    return Identity(digest) if noted is None else Identity(digest, "owner", noted == digest)
