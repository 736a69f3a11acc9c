"""Where a report may be written: a public one anywhere but among a release's files, an internal one with the owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from reticent import catalogue
from reticent.errors import OutputExists, RequestError
from reticent.owner import private, staging
from reticent.owner.places import notes_folder, owner_folder
from reticent.owner.report_pages import note_page
from reticent.release.bundle import MANIFEST, digest
from reticent.release.disk import writing

ENDINGS = {"html": ".html", "md": ".md", "json": ".json"}


def public_place(release: Path, given: Path | None, form: str, force: bool) -> Path:
    """The file that is asked for, or one beside the working directory's files, named after the release."""
    target = given if given is not None else Path(f"{release.resolve().name}-report{ENDINGS[form]}")
    holder = release_around(target)
    if holder is not None and not (holder == release.resolve() and target.name == catalogue.REPORT and form == "html"):
        raise RequestError(
            f"{target} lies in the release folder {holder}.",
            why=f"A release holds what its manifest lists and, at most, its own public page as {catalogue.REPORT}.",
            attempt=f"a file elsewhere, or -o {release / catalogue.REPORT}.",
        )
    refuse_existing(target, force)
    return target


def internal_place(release: Path, given: Path | None, form: str, force: bool) -> Path:
    """A file among the owner's notes of the release."""
    place = release.resolve()
    owned = owner_folder(place).resolve()
    target = given if given is not None else notes_folder(place) / f"report{ENDINGS[form]}"
    if (holder := release_around(target)) is not None:
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
    refuse_existing(target, force)
    return target


def write_public(target: Path, text: str, force: bool) -> None:
    """Write the page; one that goes into its release folder is noted in the ledger, by which an audit knows it."""
    holder = release_around(target)
    if holder is not None:
        note_page(digest(holder), text.encode())
    try:
        with staging.new_file(target, only_new=not force, near=holder) as staged:
            staged.write_text(text, encoding="utf-8")
    except FileExistsError:
        raise OutputExists(f"{target} exists by now: another process made it.", attempt="another name.") from None


def write_internal(target: Path, text: str) -> None:
    """Readable by its owner alone, as the notes beside it are."""
    with writing(target):
        private.make_folder(target.parent, inside=True)
        private.write(target, text)


def release_around(target: Path) -> Path | None:
    """The release folder that a file would lie in."""
    place = Path(os.path.abspath(target)).parent.resolve()
    return next((folder for folder in (place, *place.parents) if (folder / MANIFEST).is_file()), None)


def refuse_existing(target: Path, force: bool) -> None:
    if target.is_dir():
        raise OutputExists(f"{target} is a folder.", attempt="the name of a file.")
    if os.path.lexists(target) and not force:
        raise OutputExists(f"{target} exists.", attempt="another name, or --force.")
