"""Folders reached by open handles, so that nobody can exchange what was checked for something else before it is used.

A path names whatever lies there at the moment.  A handle stays with one folder: what is opened, renamed or removed relative to
it is in that folder, whatever happens to its name.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SUPPORTED = (
    hasattr(os, "geteuid")
    and hasattr(os, "O_NOFOLLOW")
    and hasattr(os, "O_DIRECTORY")
    and {os.open, os.mkdir, os.rename, os.unlink, os.rmdir, os.stat} <= os.supports_dir_fd
    and os.listdir in os.supports_fd
    and shutil.rmtree.avoids_symlink_attacks
)
"""Whether this system has user ids, modes and folder handles; one without them recovers nothing."""

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
MAX_FILE_BYTES = 1 << 26
"""Bytes of a file that is read for recovery: more than any record, intent or note of ours."""

Identity = tuple[int, int]
"""A device and an inode: which folder a name means."""


def current_user() -> int:
    """Return the id of the user who owns what this process makes; -1 where a system has no such ids."""
    return os.geteuid() if hasattr(os, "geteuid") else -1


def identity_of(folder: str | Path | int) -> Identity:
    """Return the device and inode of a folder, by path or by handle."""
    status = os.stat(folder)
    return status.st_dev, status.st_ino


@contextmanager
def open_folder(name: str | Path, parent: int | None = None) -> Iterator[int]:
    """Open a folder that is no link; `parent` is the handle of the folder that holds it."""
    handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        yield handle
    finally:
        os.close(handle)


def is_private_folder(handle: int) -> bool:
    """Tell whether an open folder is this user's, with the mode 700 exactly."""
    status = os.fstat(handle)
    return status.st_uid == current_user() and stat.S_IMODE(status.st_mode) == PRIVATE_FOLDER


def is_private_file(handle: int) -> bool:
    """Tell whether an open file is a regular one of this user's, with the mode 600 exactly and no second name."""
    status = os.fstat(handle)
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_uid == current_user()
        and stat.S_IMODE(status.st_mode) == PRIVATE_FILE
        and status.st_nlink == 1
    )


def read_private_file(name: str, parent: int) -> bytes:
    """Read a file of an open folder; PermissionError unless it is a private one."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    with os.fdopen(handle, "rb") as stream:
        if not is_private_file(handle) or os.fstat(handle).st_size > MAX_FILE_BYTES:
            raise PermissionError(f"{name} is not private")
        return stream.read(MAX_FILE_BYTES)


def write_private_file(name: str, parent: int, content: bytes) -> None:
    """Write a new file into an open folder, and put it on the disk."""
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE_FILE, dir_fd=parent)
    with os.fdopen(handle, "wb") as stream:
        if stat.S_IMODE(os.fstat(handle).st_mode) != PRIVATE_FILE:
            os.fchmod(handle, PRIVATE_FILE)
        stream.write(content)
        stream.flush()
        os.fsync(handle)


def make_private_folder(name: str, parent: int) -> None:
    """Make a folder in an open one, with the mode 700 whatever the umask."""
    os.mkdir(name, PRIVATE_FOLDER, dir_fd=parent)
    with open_folder(name, parent) as handle:
        if stat.S_IMODE(os.fstat(handle).st_mode) != PRIVATE_FOLDER:
            os.fchmod(handle, PRIVATE_FOLDER)


def exists_in(name: str, parent: int) -> bool:
    """Tell whether an open folder has an entry of this name, be it a link that leads nowhere."""
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def remove_entry(name: str, parent: int) -> None:
    """Remove an entry of an open folder with all that is in it; links are removed, not followed."""
    with suppress(OSError):
        if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            shutil.rmtree(name, ignore_errors=True, dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)


def is_plain_name(name: object) -> bool:
    """Tell whether a text is exactly one component of a path: no separator, and neither "." nor ".."."""
    return isinstance(name, str) and name not in ("", ".", "..") and "/" not in name and "\0" not in name
