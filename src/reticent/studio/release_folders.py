"""Release folders of a project: which there are, which one a page is about, and signs by which results are found again.

A folder may come from a stranger.  What is read here is read as such: few entries, small files, no links.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from reticent.catalogue import REPORT_FILE_NAME
from reticent.errors import RequestError
from reticent.format.folder import escape_name, list_files, make_damage_error, read_report_page, read_small_file
from reticent.release.bundle import MANIFEST_FILE, README_FILE, read_manifest
from reticent.studio.desk import Desk
from reticent.studio.project import Project

MAX_SIGNED_ENTRIES = 1_000
MAX_README_BYTES = 400_000
MAX_LISTED_RELEASES = 100


def list_release_folders(project: Project) -> list[Path]:
    """List the releases of a project, the newest first: folders in it, and batches in a folder of them."""
    releases = project.list_releases()
    for manifest in itertools.islice(project.folder.glob("*/*/manifest.json"), MAX_LISTED_RELEASES):
        try:
            folder = project.resolve(str(manifest.parent.relative_to(project.folder)))
        except RequestError:
            continue
        if folder.parent not in releases and folder == manifest.parent:
            releases.append(folder)
    return releases[:MAX_LISTED_RELEASES]


def choose_release(desk: Desk, screen: str) -> Path | None:
    """Return the release that a screen is about: the one that was chosen there, else the newest; None where there is none."""
    releases = list_release_folders(desk.project)
    chosen = desk.remember(screen).get("release")
    for folder in releases:
        if desk.project.describe(folder) == chosen:
            return folder
    return releases[0] if releases else None


def require_release(desk: Desk, screen: str, name: str) -> Path:
    """Return the release of this name, and remember it for a screen.

    Raises:
        RequestError: the project has no release of this name.
    """
    for folder in list_release_folders(desk.project):
        if desk.project.describe(folder) == name:
            desk.remember(screen)["release"] = name
            return folder
    raise RequestError("The project has no release of this name.", attempt="one of the list.")


def sign_release(folder: Path) -> str:
    """Return a short text that changes where a release folder changes: names, sizes and times of its files."""
    facts = []
    try:
        with os.scandir(folder) as entries:
            for entry in itertools.islice(entries, MAX_SIGNED_ENTRIES):
                status = entry.stat(follow_symlinks=False)
                facts.append(f"{entry.name}:{status.st_mode}:{status.st_size}:{status.st_mtime_ns}")
    except OSError:
        facts.append("unreadable")
    return hashlib.sha256("\n".join(sorted(facts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_readme(folder: Path) -> str:
    """Return the text of a release's README; what is no text is shown by marks.

    Raises:
        BundleDamaged: it is not there, is a link, or is too long to be a README.
    """
    return read_small_file(folder / README_FILE, MAX_README_BYTES).decode("utf-8", "replace")


def list_handed_out_files(folder: Path) -> list[tuple[str, int, str]]:
    """List what recipients get: name, bytes and SHA-256 of each file as the manifest states it, the manifest first.

    The page in the folder has no checksum in the manifest: it is computed.

    Raises:
        BundleDamaged: the folder is no whole release.
    """
    manifest = read_manifest(folder)
    sizes = list_files(folder)
    unlisted = sorted(sizes.keys() - manifest.files.keys() - {MANIFEST_FILE, REPORT_FILE_NAME})
    if unlisted:
        raise make_damage_error(folder, [f"{escape_name(name)} is not listed in the manifest" for name in unlisted])
    entries = [(MANIFEST_FILE, sizes[MANIFEST_FILE], hash_file(folder / MANIFEST_FILE))]
    entries += [(name, int(facts["bytes"]), str(facts["sha256"])) for name, facts in sorted(manifest.files.items())]
    if REPORT_FILE_NAME in sizes and REPORT_FILE_NAME not in manifest.files:
        page = read_report_page(folder)
        entries.append((REPORT_FILE_NAME, len(page), hashlib.sha256(page).hexdigest()))
    return entries


def hash_file(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def quote_place(desk: Desk, path: Path) -> str:
    """Return a path as a word of a command: relative to the project's folder, and never taken for an option."""
    place = desk.project.describe(path)
    return f"./{place}" if place.startswith("-") else place


def join_words(words: Sequence[str]) -> str:
    """Return a command as a shell takes it."""
    return shlex.join(["reticent", *words])
