"""Paths at which a report may be written.

A public report may be anywhere but among a release's files, an internal one with the owner alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from reticent import catalogue
from reticent.errors import OutputExists, RequestError
from reticent.format.folder import translate_disk_errors
from reticent.ledger import private_files, staging
from reticent.ledger.notes import record_page
from reticent.ledger.paths import resolve_notes_folder, resolve_owner_folder
from reticent.release.bundle import MANIFEST_FILE, compute_digest

FILE_ENDINGS = {"html": ".html", "md": ".md", "json": ".json", "pdf": ".pdf"}


def choose_public_path(release: Path, requested: Path | None, form: str, force: bool) -> Path:
    """Choose the file that is asked for, or one in the working directory, named after the release."""
    target = requested if requested is not None else Path(f"{release.resolve().name}-report{FILE_ENDINGS[form]}")
    holder = find_enclosing_release(target)
    if holder is not None and not (
        holder == release.resolve() and target.name == catalogue.REPORT_FILE_NAME and form == "html"
    ):
        raise RequestError(
            f"{target} lies in the release folder {holder}.",
            why=f"A release holds what its manifest lists and, at most, its own public page as {catalogue.REPORT_FILE_NAME}.",
            attempt=f"a file elsewhere, or -o {release / catalogue.REPORT_FILE_NAME} with --format html.",
        )
    require_new_file(target, force)
    return target


def choose_internal_path(release: Path, requested: Path | None, form: str, force: bool, name: str = "report") -> Path:
    """Choose a file among the owner's notes of the release, by default of this name."""
    place = release.resolve()
    owned = resolve_owner_folder(place).resolve()
    target = requested if requested is not None else resolve_notes_folder(place) / f"{name}{FILE_ENDINGS[form]}"
    if (holder := find_enclosing_release(target)) is not None:
        raise RequestError(
            f"{target} lies in the release folder {holder}.",
            why="The internal edition tells what the release keeps back, and a release is handed out whole.",
            attempt="leaving -o out: it goes to the owner's folder.",
        )
    if owned not in Path(os.path.abspath(target)).resolve().parents:
        raise RequestError(
            f"{target} lies outside of the owner's folder {owned}.",
            why="The internal edition tells what the release keeps back: it stays with the owner.",
            attempt="leaving -o out, or RETICENT_OWNER for another owner's folder.",
        )
    require_new_file(target, force)
    return target


def write_public_report(target: Path, content: bytes, force: bool) -> None:
    """Write the page; one that goes into its release folder is noted in the ledger, by which an audit recognizes it."""
    holder = find_enclosing_release(target)
    if holder is not None:
        record_page(compute_digest(holder), content)
    try:
        with staging.stage_file(target, only_new=not force, near=holder) as staged:
            staged.write_bytes(content)
    except FileExistsError:
        raise OutputExists(f"{target} exists by now: another process made it.", attempt="another name.") from None


def write_internal_report(target: Path, content: bytes) -> None:
    """Write the report readable by its owner alone, as the notes beside it are."""
    with translate_disk_errors(target):
        private_files.make_folder(target.parent, inside=True)
        private_files.write_file(target, content)


def find_enclosing_release(target: Path) -> Path | None:
    """Find the release folder that a file would lie in."""
    place = Path(os.path.abspath(target)).parent.resolve()
    return next((folder for folder in (place, *place.parents) if (folder / MANIFEST_FILE).is_file()), None)


def require_new_file(target: Path, force: bool) -> None:
    if target.is_dir():
        raise OutputExists(f"{target} is a folder.", attempt="the name of a file.")
    if os.path.lexists(target) and not force:
        raise OutputExists(f"{target} exists.", attempt="another name, or --force.")
