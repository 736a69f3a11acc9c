"""Folders and files that only the owner can read, whatever the umask, and a lock for what several processes write.

A folder that is made here has the mode 700 and its files 600. A folder that existed before keeps its mode: if a team
has made one that its group may write to, files in it can be read and written by the group, and never by others. What
is written is on the disk, not in its cache, when a function returns.

Folders are accessed by open handles, so that nobody can exchange what was checked for something else before it is
used. A path names whatever is there at the moment. A handle stays with one folder: what is opened, renamed or removed
relative to it is in that folder, whatever happens to its name.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PRIVATE_FOLDER_MODE = 0o700
PRIVATE_FILE_MODE = 0o600
MAX_FILE_BYTES = 1 << 26
"""Bytes of a file that is read for recovery: more than any record, intent or note of ours."""

FolderIdentity = tuple[int, int]
"""A device and an inode: which folder a name means."""


def has_directory_handles() -> bool:
    """Whether this system has user ids, modes and folder handles; one without them recovers nothing."""
    return (
        hasattr(os, "geteuid")
        and hasattr(os, "O_NOFOLLOW")
        and hasattr(os, "O_DIRECTORY")
        and {os.open, os.mkdir, os.rename, os.unlink, os.rmdir, os.stat} <= os.supports_dir_fd
        and os.listdir in os.supports_fd
        and shutil.rmtree.avoids_symlink_attacks
    )


def get_user_id() -> int:
    """Return the id of the user who owns what this process makes; -1 where a system has no such ids."""
    return os.geteuid() if hasattr(os, "geteuid") else -1


def read_identity(folder: str | Path | int) -> FolderIdentity:
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
    return status.st_uid == get_user_id() and stat.S_IMODE(status.st_mode) == PRIVATE_FOLDER_MODE


def is_private_file(handle: int) -> bool:
    """Tell whether an open file is a regular one of this user's, with the mode 600 exactly and no second name."""
    status = os.fstat(handle)
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_uid == get_user_id()
        and stat.S_IMODE(status.st_mode) == PRIVATE_FILE_MODE
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
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE_FILE_MODE, dir_fd=parent)
    with os.fdopen(handle, "wb") as stream:
        if stat.S_IMODE(os.fstat(handle).st_mode) != PRIVATE_FILE_MODE:
            os.fchmod(handle, PRIVATE_FILE_MODE)
        stream.write(content)
        stream.flush()
        os.fsync(handle)


def make_private_folder(name: str, parent: int) -> None:
    """Make a folder in an open one, with the mode 700 whatever the umask."""
    os.mkdir(name, PRIVATE_FOLDER_MODE, dir_fd=parent)
    with open_folder(name, parent) as handle:
        if stat.S_IMODE(os.fstat(handle).st_mode) != PRIVATE_FOLDER_MODE:
            os.fchmod(handle, PRIVATE_FOLDER_MODE)


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


try:
    import fcntl
except ImportError:  # there is no such lock on Windows
    fcntl = None  # type: ignore[assignment]  # a system without locks has no such module


def make_folder(folder: Path, *, inside: bool = False) -> None:
    """Make the folder and missing ones above it; it is private, or as shared as the folder that it is `inside`."""
    if folder.is_dir():
        return
    for lacking in (*reversed([above for above in folder.parents if not above.exists()]), folder):
        mode = 0o770 if inside and _is_group_writable(lacking.parent) else 0o700
        with suppress(FileExistsError):  # another process was faster
            lacking.mkdir(mode=0o700)
            if lacking.stat().st_mode & 0o777 != mode:
                lacking.chmod(mode)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def write_file(path: Path, content: bytes | str) -> None:
    """Write a file atomically: it has the whole content, or what was there before."""
    part = path.with_name(path.name + ".part")
    try:
        write_new_file(part, content)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_to_disk(path.parent)


def write_new_file(path: Path, content: bytes | str) -> None:
    """Write a file of a folder that has not got its name yet: half of it does no harm."""
    with os.fdopen(_open_file(path, os.O_WRONLY | os.O_TRUNC), "wb") as stream:
        stream.write(content.encode(errors="surrogateescape") if isinstance(content, str) else content)
        stream.flush()
        os.fsync(stream.fileno())


def write_after(path: Path, size: int, content: bytes) -> None:
    """Keep a file's first `size` bytes, and write this content after them."""
    handle = _open_file(path, os.O_WRONLY)
    try:
        os.ftruncate(handle, size)
        os.lseek(handle, size, os.SEEK_SET)
        while content:
            content = content[os.write(handle, content) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def match_folder_mode(path: Path) -> None:
    """Give a file that came from a private folder the mode of files that are made where it lies now."""
    mode = _choose_file_mode(path.parent)
    if path.stat().st_mode & 0o777 != mode:
        path.chmod(mode)


def sync_to_disk(path: Path) -> None:
    """Flush a file's content, or the names in a folder, to the disk; not every file system can do that with a folder."""
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


def sync_tree(folder: Path) -> None:
    """Flush a folder with all that is in it."""
    for path in sorted(folder.rglob("*"), reverse=True):
        sync_to_disk(path)
    sync_to_disk(folder)


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Let one process at a time into this block, by a lock file that stays."""
    handle = _open_file(path, os.O_RDWR)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def hold_read_lock(path: Path) -> Iterator[None]:
    """Keep processes out of `hold_lock` blocks meanwhile; without a lock file nobody has written yet."""
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


def acquire_lock(handle: int, *, wait: bool) -> bool:
    """Lock the open file; return False if another process has the lock, or if locks do not work here."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _open_file(path: Path, flags: int) -> int:
    flags |= getattr(os, "O_NOFOLLOW", 0)  # a link in a shared ledger would write to wherever it leads
    if path.exists():
        return os.open(path, flags)
    mode = _choose_file_mode(path.parent)
    handle = os.open(path, flags | os.O_CREAT, mode)
    if os.fstat(handle).st_mode & 0o777 != mode:
        os.chmod(path, mode)
    return handle


def _choose_file_mode(folder: Path) -> int:
    return 0o660 if _is_group_writable(folder) else 0o600


def _is_group_writable(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o020)
