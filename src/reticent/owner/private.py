"""Folders and files that only the owner can read, whatever the umask, and a lock around what several processes write.

A folder that is made here has the mode 700 and its files 600.  A folder that was there before keeps its mode: where
a team has made one that its group may write to, files in it can be read and written by the group, and never by
others.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # there is no such lock on Windows
    fcntl = None  # type: ignore[assignment]  # a system without locks has no such module


def make_folder(folder: Path, *, inside: bool = False) -> None:
    """The folder, and those above it that lack; it is private, or as shared as the folder that it is `inside`."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o770 if inside and _shared(folder.parent) else 0o700)


def temporary_folder(inside: Path) -> Path:
    """A new folder, as private as the one it is inside."""
    folder = Path(tempfile.mkdtemp(prefix=".reticent-", dir=inside))
    folder.chmod(0o770 if _shared(inside) else 0o700)
    return folder


def write(path: Path, content: bytes | str) -> None:
    """A new file, or the old one's content replaced."""
    with os.fdopen(_opened(path, os.O_WRONLY | os.O_TRUNC), "wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time in this block, by a lock file that stays."""
    handle = _opened(path, os.O_RDWR)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _opened(path: Path, how: int) -> int:
    if path.exists():
        return os.open(path, how)
    mode = 0o660 if _shared(path.parent) else 0o600
    handle = os.open(path, how | os.O_CREAT, mode)
    os.chmod(path, mode)
    return handle


def _shared(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o020)
