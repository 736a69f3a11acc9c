"""Folders and files that only the owner can read, whatever the umask, and a lock around what several processes write.

A folder that is made here has the mode 700 and its files 600.  A folder that was there before keeps its mode: where
a team has made one that its group may write to, files in it can be read and written by the group, and never by
others.  What is written is on the disk, not in its cache, when a function returns.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # there is no such lock on Windows
    fcntl = None  # type: ignore[assignment]  # a system without locks has no such module


def make_folder(folder: Path, *, inside: bool = False) -> None:
    """The folder, and those above it that lack; it is private, or as shared as the folder that it is `inside`."""
    if folder.is_dir():
        return
    for lacking in (*reversed([above for above in folder.parents if not above.exists()]), folder):
        mode = 0o770 if inside and _shared(lacking.parent) else 0o700
        with suppress(FileExistsError):  # another process was faster
            lacking.mkdir(mode=0o700)
            if lacking.stat().st_mode & 0o777 != mode:
                lacking.chmod(mode)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def write(path: Path, content: bytes | str) -> None:
    """A file with this content: the whole of it, or what was there before."""
    part = path.with_name(path.name + ".part")
    try:
        write_new(part, content)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync(path.parent)


def write_new(path: Path, content: bytes | str) -> None:
    """A file of a folder that has not got its name yet: half of it does no harm."""
    with os.fdopen(_opened(path, os.O_WRONLY | os.O_TRUNC), "wb") as stream:
        stream.write(content.encode(errors="surrogateescape") if isinstance(content, str) else content)
        stream.flush()
        os.fsync(stream.fileno())


def write_at(path: Path, size: int, content: bytes) -> None:
    """A file's first `size` bytes as they are, and this content after them."""
    handle = _opened(path, os.O_WRONLY)
    try:
        os.ftruncate(handle, size)
        os.lseek(handle, size, os.SEEK_SET)
        while content:
            content = content[os.write(handle, content) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def share_as_folder(path: Path) -> None:
    """Give a file that came from a private folder the mode of files that are made where it lies now."""
    mode = _mode_of_files(path.parent)
    if path.stat().st_mode & 0o777 != mode:
        path.chmod(mode)


def sync(path: Path) -> None:
    """A file's content, or the names in a folder, on the disk; not every file system can do that with a folder."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def sync_all(folder: Path) -> None:
    """A folder with all that is in it."""
    for path in sorted(folder.rglob("*"), reverse=True):
        sync(path)
    sync(folder)


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


@contextmanager
def locked_to_read(path: Path) -> Iterator[None]:
    """No process writes in a `locked` block meanwhile; without a lock file nobody has written yet."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def lock(handle: int, *, wait: bool) -> bool:
    """Whether the open file is locked for us: False if another has it, or if locks do not work here."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _opened(path: Path, how: int) -> int:
    how |= getattr(os, "O_NOFOLLOW", 0)  # a link in a shared ledger would write to wherever it leads
    if path.exists():
        return os.open(path, how)
    mode = _mode_of_files(path.parent)
    handle = os.open(path, how | os.O_CREAT, mode)
    if os.fstat(handle).st_mode & 0o777 != mode:
        os.chmod(path, mode)
    return handle


def _mode_of_files(folder: Path) -> int:
    return 0o660 if _shared(folder) else 0o600


def _shared(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o020)
