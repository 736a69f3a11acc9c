"""A release is regular files, all of them listed, in a real folder: links, sub-folders, pipes and the like are refused unread.

A link may show one file to who checks and another to who reads later; a pipe never ends; what is not listed may be raw data.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reticent.errors import BundleDamaged

SHOWN = 5  # faults that a message lists
NAME = 80  # characters of a name that a message shows
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}


def entries(folder: Path) -> dict[str, int]:
    """The name and size of every file of a folder that holds nothing but regular files."""
    try:
        own = os.lstat(folder)
    except (OSError, ValueError):
        raise BundleDamaged(f"There is no release folder {folder}.", attempt="the folder that publish made.") from None
    if not stat.S_ISDIR(own.st_mode):
        raise BundleDamaged(
            f"{folder} is no folder but {_kind(own.st_mode)}.",
            why="What a link leads to can be exchanged after it was checked.",
            attempt="the folder itself that publish made.",
        )
    found, faults = {}, []
    for entry in _listed(folder):
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(facts.st_mode):
            found[entry.name] = facts.st_size
        else:
            faults.append(f"{shown(entry.name)} is {_kind(facts.st_mode)}")
    if faults:
        raise damaged(folder, faults)
    return found


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as inside:
            return sorted(inside, key=lambda entry: entry.name)
    except OSError as error:
        raise BundleDamaged(f"The folder {folder} cannot be read.", why=f"{os.strerror(error.errno or 0)}.") from None


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "a file" if stat.S_ISREG(mode) else "no regular file")


def damaged(folder: Path, faults: list[str]) -> BundleDamaged:
    """One error for all faults; a message is never longer than a screen."""
    more = f"; and {len(faults) - SHOWN:,} more" if len(faults) > SHOWN else ""
    return BundleDamaged(
        f"The release {folder} is damaged or incomplete.",
        why="; ".join(faults[:SHOWN]) + more + ".",
        attempt="getting the folder again from its publisher.",
    )


def shown(name: str) -> str:
    """A file's name in a message: what a terminal would obey is escaped, and a long name is cut."""
    plain = name if name.isprintable() else ascii(name)
    return plain if len(plain) <= NAME else plain[:NAME] + "..."


def read_bytes(path: Path, most: int) -> bytes:
    """A small file whole, through one handle that is no link; a longer one is refused before it is read."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        raise BundleDamaged(f"{shown(path.name)} of {path.parent} cannot be opened as a file.") from None
    with os.fdopen(handle, "rb") as stream:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise BundleDamaged(f"{shown(path.name)} of {path.parent} is {_kind(facts.st_mode)}.")
        if facts.st_size > most:
            raise BundleDamaged(
                f"{shown(path.name)} of {path.parent} is too long to be a release's.",
                why=f"It has {facts.st_size:,} bytes, and {most:,} are the most.",
            )
        return stream.read(facts.st_size + 1)[: facts.st_size]
