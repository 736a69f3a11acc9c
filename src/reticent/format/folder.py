"""The folder of a release: regular files, all of them listed, in a real folder; anything else is refused unread.

Links, sub-folders, pipes and the like are refused: a link may show one file to a check and another to a later reader;
a pipe never ends; what is not listed may be raw data.

`translate_disk_errors` turns what a disk refuses into one error: libraries report it in words only, each in its own.

`read_report_page` reads the `report.html` of a release folder: one regular file of a page's size, which readers
neither open nor render again. People believe a page that they open, and rendering it again to compare would run a
renderer on an untrusted folder. So the audit states of every page whether its checksum is one that the owner
recorded, and otherwise that it was not checked.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reticent import catalogue
from reticent.errors import BundleDamaged, DiskError
from reticent.operating_system import NO_WAIT, open_unlinked

MAX_FAULTS_SHOWN = 5  # faults that a message lists
MAX_NAME_LENGTH = 80  # characters of a name that a message shows
_FILE_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}
_ERROR_NUMBER_PATTERN = re.compile(r"os error (\d+)")
MAX_REPORT_BYTES = 1 << 20
"""A public page is a sixth of it at most."""


def list_files(folder: Path) -> dict[str, int]:
    """Return the name and size of every file of a folder that holds nothing but regular files."""
    try:
        folder_facts = os.lstat(folder)
    except (OSError, ValueError):
        raise BundleDamaged(f"There is no release folder {folder}.", attempt="the folder that publish made.") from None
    if not stat.S_ISDIR(folder_facts.st_mode):
        raise BundleDamaged(
            f"{folder} is no folder but {_describe_file_kind(folder_facts.st_mode)}.",
            why="What a link leads to can be exchanged after it was checked.",
            attempt="the folder itself that publish made.",
        )
    sizes = {}
    faults = []
    for entry in _scan_folder(folder):
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(facts.st_mode):
            sizes[entry.name] = facts.st_size
        else:
            faults.append(f"{escape_name(entry.name)} is {_describe_file_kind(facts.st_mode)}")
    if faults:
        raise make_damage_error(folder, faults)
    return sizes


def make_damage_error(folder: Path, faults: list[str]) -> BundleDamaged:
    """Make one error for all faults; a message is never longer than a screen."""
    more = f"; and {len(faults) - MAX_FAULTS_SHOWN:,} more" if len(faults) > MAX_FAULTS_SHOWN else ""
    return BundleDamaged(
        f"The release {folder} is damaged or incomplete.",
        why="; ".join(faults[:MAX_FAULTS_SHOWN]) + more + ".",
        attempt="getting the folder again from its publisher.",
    )


def escape_name(name: str) -> str:
    """Escape a file's name for a message: control characters are escaped, and a long name is cut."""
    plain = name if name.isprintable() else ascii(name)
    return plain if len(plain) <= MAX_NAME_LENGTH else plain[:MAX_NAME_LENGTH] + "..."


def read_small_file(path: Path, max_bytes: int) -> bytes:
    """Read a small file whole, through one handle that is no link; a longer one is refused before it is read."""
    try:
        handle = open_unlinked(path, os.O_RDONLY | NO_WAIT)
    except (OSError, ValueError):
        raise BundleDamaged(f"{escape_name(path.name)} of {path.parent} cannot be opened as a file.") from None
    with os.fdopen(handle, "rb") as stream:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise BundleDamaged(f"{escape_name(path.name)} of {path.parent} is {_describe_file_kind(facts.st_mode)}.")
        if facts.st_size > max_bytes:
            raise BundleDamaged(
                f"{escape_name(path.name)} of {path.parent} is too long to be a release's.",
                why=f"It has {facts.st_size:,} bytes, and {max_bytes:,} are the most.",
            )
        return stream.read(facts.st_size + 1)[: facts.st_size]


@contextmanager
def translate_disk_errors(target: str | Path | None) -> Iterator[None]:
    """Turn errors of the disk in this block into a DiskError; everything else passes."""
    try:
        yield
    except Exception as error:
        number = _find_error_number(error)
        if number is None:
            raise
        raise DiskError(
            f"{target or 'A temporary folder'} cannot be written: {os.strerror(number)}.",
            why="Nothing was kept.",
            attempt="more room, a folder you may write to, or another disk.",
        ) from None


def read_report_page(folder: Path) -> bytes:
    """Return the bytes of a folder's page; BundleDamaged for what is no regular file, or too long to be a page."""
    return read_small_file(folder / catalogue.REPORT_FILE_NAME, MAX_REPORT_BYTES)


def _describe_file_kind(mode: int) -> str:
    return _FILE_KINDS.get(stat.S_IFMT(mode), "a file" if stat.S_ISREG(mode) else "no regular file")


def _scan_folder(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as inside:
            return sorted(inside, key=lambda entry: entry.name)
    except OSError as error:
        raise BundleDamaged(f"The folder {folder} cannot be read.", why=f"{os.strerror(error.errno or 0)}.") from None


def _find_error_number(error: Exception) -> int | None:
    """Return the system's number of an error.

    Polars reports it in words (the error is recognized by its module, which need not be loaded).
    """
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    if isinstance(error, OSError) or type(error).__module__.startswith("polars."):
        match = _ERROR_NUMBER_PATTERN.search(str(error))
        return int(match[1]) if match else None
    return None
