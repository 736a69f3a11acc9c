"""Paths of the owner's data: the ledger, the owner's folder, each release's notes; and where no release may be.

`read_recorded_digest` returns the digest in the owner's folder beside a release, for audits on the owner's machine.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

from reticent import operating_system
from reticent.errors import OutputExists, RequestError

OWNER_FOLDER = "reticent-owner"
PLACE_FILE = "place.txt"
DIGEST_FILE = "digest.txt"


def resolve_ledger_folder(given: str | Path | None = None) -> Path:
    """Return the ledger's folder: the given one, else RETICENT_LEDGER, else one in the user's state folder."""
    if given or os.environ.get("RETICENT_LEDGER"):
        return Path(given or os.environ["RETICENT_LEDGER"])
    try:
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "reticent"
    except RuntimeError:
        raise RequestError(
            "There is no home folder to keep the ledger in.", attempt="--ledger FOLDER (ledger=), or RETICENT_LEDGER."
        ) from None


def resolve_owner_folder(target: Path) -> Path:
    return Path(os.environ.get("RETICENT_OWNER") or target.parent / OWNER_FOLDER)


def resolve_notes_folder(target: Path) -> Path:
    """Return where a release's notes are, or will be: by its name, or by its name and place if another has the name.

    Only RETICENT_OWNER can hold notes of two releases of one name. The `place.txt` of a folder names the release that
    its notes are on; notes of an earlier version lack one and are this release's if they have its digest.
    """
    notes = resolve_owner_folder(target) / target.name
    if not os.environ.get("RETICENT_OWNER") or not notes.exists():
        return notes
    place = encode_place(target)
    try:
        is_own = (notes / PLACE_FILE).read_bytes() == place
    except FileNotFoundError:
        is_own = read_digest_file(notes) == compute_release_digest(target) is not None
    except OSError:
        is_own = False
    return notes if is_own else notes.with_name(f"{notes.name}-{hashlib.sha256(place).hexdigest()[:8]}")


def list_notes_folders(target: Path) -> list[Path]:
    """List where the notes of a release may be: its own folder, or that of the batch it is in."""
    return [resolve_notes_folder(target), resolve_notes_folder(target.parent) / target.name]


def encode_place(target: Path) -> bytes:
    """Encode a release's place as its notes hold it."""
    return os.fsencode(target.resolve()) + b"\n"


def compute_release_digest(folder: Path) -> str | None:
    """Compute a release's digest as `bundle.compute_digest` does, without importing the readers.

    It is None if there is no manifest.
    """
    try:
        with open(folder / "manifest.json", "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return None


def read_digest_file(notes: Path) -> str | None:
    try:
        return (notes / DIGEST_FILE).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None


def find_enclosing_release(folder: Path) -> Path | None:
    """Return the release that a folder is, or is in."""
    return next((place for place in (folder, *folder.parents) if _is_release(place)), None)


def is_foreign_link(folder: Path) -> bool:
    """Tell whether a path is a symbolic link that another user than this one, or root, made."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) and operating_system.belongs_to_other_user(status, trusts_root=True)


def require_separate_folders(target: Path, ledger: Path) -> None:
    """Require that a release is not inside the owner's folders, nor these in it: a release is handed out whole."""
    try:
        place = target.resolve()
        owner_folders = {"owner's folder": resolve_owner_folder(target).resolve(), "ledger": ledger.resolve()}
    except (OSError, RuntimeError, ValueError):  # a circle of links, a name that no file can have
        raise RequestError(f"{target} is no place for a release.", attempt="another name.") from None
    for folder in (resolve_owner_folder(target), ledger):
        if is_foreign_link(folder):
            raise RequestError(
                f"{folder} is a link that another user made.",
                why="What stays with you would be written to wherever it leads.",
                attempt="another place for the release; or RETICENT_OWNER, and --ledger (RETICENT_LEDGER).",
            )
    if (holder := find_enclosing_release(place.parent)) is not None:
        raise OutputExists(
            f"{target} lies in the release {holder}.",
            why="A release holds what its manifest lists, and nothing else.",
            attempt="another place for the release.",
        )
    for what, folder in owner_folders.items():
        setting = "RETICENT_OWNER" if what != "ledger" else "--ledger (RETICENT_LEDGER)"
        if place in folder.parents:
            raise RequestError(
                f"The {what} {folder} lies inside the release {target}.",
                why="A release is handed out whole, and what stays with you would be in it.",
                attempt=f"{setting} for a folder elsewhere.",
            )
        if folder == place or folder in place.parents:
            raise OutputExists(
                f"{target} lies in the {what} {folder}.",
                why="What lies there stays with you, and a release is handed out.",
                attempt="another place for the release.",
            )
        if folder.exists() and not folder.is_dir():
            raise RequestError(f"The {what} {folder} is no folder.", attempt=f"{setting} for another one.")
        if (holder := find_enclosing_release(folder)) is not None:
            raise RequestError(
                f"The {what} {folder} lies in the release {holder}.",
                why="That release is handed out whole, and what stays with you would be in it.",
                attempt=f"{setting} for a folder elsewhere.",
            )
    if OWNER_FOLDER in place.parts:
        raise OutputExists(
            f"{target} lies in a folder {OWNER_FOLDER!r}.",
            why="What lies there stays with you, and a release is handed out.",
            attempt="another place for the release.",
        )


def read_recorded_digest(folder: Path) -> str | None:
    """Return the recorded digest; None if there is none, or it cannot be read."""
    for notes in list_notes_folders(Path(folder).absolute()):
        try:
            with open(notes / DIGEST_FILE, encoding="ascii") as handle:
                digest = handle.read(80).strip()
        except (OSError, ValueError):
            continue
        if re.fullmatch(r"[0-9a-f]{64}", digest):
            return digest
    return None


def _is_release(folder: Path) -> bool:
    """Tell whether a folder is a release.

    Other programs write a manifest.json, too; ours states the version that wrote it.
    """
    try:
        with open(folder / "manifest.json", "rb") as handle:
            return b'"reticent"' in handle.read(64 << 20)
    except OSError:
        return False
