"""The release that a screen is about: the newest of the project or the one that was chosen, and its source where it is at hand.

Whether the source is at hand, only the owner's notes of the release say.  A release that somebody received has none, and
so nothing true is ever shown beside it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import FormData

from reticent.catalogue.entries import REPORT_FILE_NAME
from reticent.data.source import Source
from reticent.errors import RequestError, ReticentError
from reticent.format.manifest import Manifest
from reticent.ledger.source_options import read_owner_source
from reticent.redaction import is_address, redact
from reticent.release.bundle import read_manifest
from reticent.studio.desk import Desk, sign_file

MEMORY = "release"  # what the screens about releases remember together


@dataclass(frozen=True, slots=True)
class SourceAtHand:
    """What `--source` is told for a release; empty, with the reason, where the source is not at hand."""

    word: str = ""
    signature: str = ""
    reason: str = ""

    @property
    def words(self) -> list[str]:
        return ["--source", self.word] if self.word else []

    @property
    def shown(self) -> str:
        """The word without a password."""
        return redact(self.word) if is_address(self.word) else self.word


def list_releases(desk: Desk) -> list[Path]:
    """List the releases that can be chosen: those of the project, the newest first, or the folder if it is one."""
    return [desk.project.folder] if desk.project.is_release else desk.project.list_releases()


def find_release(desk: Desk) -> Path | None:
    """Return the release that was chosen, or the newest one; None where there is none."""
    releases = list_releases(desk)
    chosen = desk.remember(MEMORY).get("name")
    return next(
        (folder for folder in releases if name_release(desk, folder) == chosen), releases[0] if releases else None
    )


def choose_release(desk: Desk, form: FormData) -> str | None:
    """Remember the release that a form names.

    Raises:
        RequestError: the project has no such release.
    """
    name = str(form.get("release", ""))
    if name not in [name_release(desk, folder) for folder in list_releases(desk)]:
        raise RequestError("The project has no such release.", attempt="one of the list.")
    desk.remember(MEMORY)["name"] = name
    return None


def require_release(desk: Desk) -> Path:
    """Return the release that screens are about; refused where there is none."""
    folder = find_release(desk)
    if folder is None:
        raise RequestError("The project has no release yet.", attempt="the screen *Publish*.")
    return folder


def name_release(desk: Desk, folder: Path) -> str:
    """Return the folder as a command says it, never as an option."""
    name = desk.project.describe(folder)
    return f"./{name}" if name.startswith("-") else name


def read_chosen_manifest(folder: Path | None) -> tuple[Manifest | None, ReticentError | None]:
    """Read the manifest of a release, or say what is wrong with it."""
    if folder is None:
        return None, None
    try:
        return read_manifest(folder), None
    except ReticentError as error:
        return None, error


def find_own_source(desk: Desk, folder: Path) -> SourceAtHand:
    """Find the data that a release was made from, by the owner's notes of it."""
    if desk.project.is_release:
        return SourceAtHand(reason="You received this release: what is true stays with its owner.")
    source = read_owner_source(folder)
    if source is None:
        return SourceAtHand(
            reason="There are no owner's notes of this release: whose data it is made from is not known."
        )
    if source.url is not None:
        return _find_address(source)
    if source.path is None:
        return SourceAtHand(reason="This release was made from a table in memory.")
    try:
        path = desk.project.resolve(
            str(desk.job_file.path.parent / source.path)
        )  # a job says paths from its own folder
    except RequestError as error:
        return SourceAtHand(reason=f"The data that it was made from is not at hand. {error.what}")
    if not path.exists():
        return SourceAtHand(reason="The data that it was made from is no longer where it was.")
    word = desk.project.describe(path)
    return SourceAtHand(f"./{word}" if word.startswith("-") else word, sign_file(path))


def sign_release(folder: Path, source: SourceAtHand) -> str:
    """Return a short text that changes where the data of a release or its source changes.

    A report that is put into the folder changes nothing of what attacks and questions find.
    """
    signatures = [sign_file(entry) for entry in sorted(folder.iterdir()) if entry.name != REPORT_FILE_NAME]
    return f"{hashlib.sha256(''.join(signatures).encode()).hexdigest()[:16]}:{source.signature}"


def _find_address(source: Source) -> SourceAtHand:
    address = str(source.url)
    return SourceAtHand(address, hashlib.sha256(address.encode()).hexdigest()[:16])
