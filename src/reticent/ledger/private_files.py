"""Folders and files that only the owner can read, whatever the umask, a lock for what several processes write, and renames.

A folder that is made here has the mode 700 and its files 600. A folder that existed before keeps its mode: if a team
has made one that its group may write to, files in it can be read and written by the group, and never by others. What
is written is on the disk, not in its cache, when a function returns.

Folders are accessed by open handles, so that nobody can exchange what was checked for something else before it is
used. A path names whatever is there at the moment. A handle stays with one folder: what is opened, renamed or removed
relative to it is in that folder, whatever happens to its name.

`swap_names` exchanges two names in one step, and `move_to_new_name` takes a name only if nothing has it, by the system's
own calls: Linux has `renameat2` and macOS `renameatx_np`. Where the system or the file system has neither, `swap_names`
returns False and does nothing, and `move_to_new_name` checks first and then renames.

The ledger's own files are read here too: the lines of its entries, and the secret that signs its records, notes and
journals. Each line is checked for the fields of an entry: a damaged ledger is refused, not partly read. The secret is
made with the ledger.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reticent.errors import RequestError, shorten_text
from reticent.format.folder import translate_disk_errors

PRIVATE_FOLDER_MODE = 0o700
PRIVATE_FILE_MODE = 0o600
MAX_FILE_BYTES = 1 << 26
"""Bytes of a file that is read for recovery: more than any record, intent or note of ours."""

FolderIdentity = tuple[int, int]
"""A device and an inode: which folder a name means."""


_CURRENT_FOLDER_HANDLE = -2 if sys.platform == "darwin" else -100
"""AT_FDCWD: paths are relative to the working directory."""
_UNSUPPORTED_ERRNOS = {
    errno.ENOSYS,
    errno.EINVAL,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.EPERM,  # what a sandbox answers
}
_TEXT_FIELDS = ("release", "folder", "digest", "at", "content")
_LIST_FIELDS = ("promises", "repeats", "columns")
LEDGER_FORMAT = 2
"""The format of a ledger's lines, which every line states; one without a number is of format 1 (a source's bytes or its
address) or, if it has `content`, of format 2. Fields that a reader need not know may be added without a new number."""
LEDGER_FILE = "ledger.jsonl"
KEY_FILE = "ledger.key"
LOCK_FILE = "ledger.lock"
KEY_BYTES = 32


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


def get_user_name() -> str:
    """Return the name of the user who runs this process, by the system and not by the environment; else the id."""
    try:
        import pwd
    except ImportError:  # Windows has no such list of users
        import getpass

        return getpass.getuser()
    try:
        return pwd.getpwuid(get_user_id()).pw_name
    except KeyError:  # an id without a name, as in many containers
        return str(get_user_id())


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
    if path.is_symlink():
        raise RequestError(
            f"{path} is a link, which is not followed.",
            why="Whoever made it chose where it leads, and what is written here would go there.",
            attempt="removing the link, if nobody else uses this ledger.",
        )
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


_NO_REPLACE_FLAG, _EXCHANGE_FLAG = (4, 2) if sys.platform == "darwin" else (1, 2)


def swap_names(first: Path, second: Path) -> bool:
    """Exchange two names in one step; return False, without any change, where that is not possible."""
    number = _call_rename(first, second, _EXCHANGE_FLAG)
    if number and number not in _UNSUPPORTED_ERRNOS:
        raise OSError(number, os.strerror(number), str(second))
    return number == 0


def move_to_new_name(source: Path, target: Path) -> None:
    """Rename to a name that nothing may have; raise FileExistsError if something has it."""
    number = _call_rename(source, target, _NO_REPLACE_FLAG)
    if number in _UNSUPPORTED_ERRNOS:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        os.rename(source, target)
    elif number:
        raise OSError(number, os.strerror(number), str(target))


def move_between(source: int, name: str, destination: int, new_name: str) -> None:
    """Move an entry of one open folder into another, under a name that nothing may have there."""
    number = _call_rename(name, new_name, _NO_REPLACE_FLAG, source, destination)
    if number in _UNSUPPORTED_ERRNOS:
        try:
            os.stat(new_name, dir_fd=destination, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=destination)
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)
    elif number:
        raise OSError(number, os.strerror(number), new_name)


def replace_dir(folder: Path, place: Path, aside: Path, *, replace: bool) -> None:
    """Put a folder in its place.

    What it replaces has the folder's name afterwards, or is at `aside` where two steps are needed.
    """
    if not replace:
        move_to_new_name(folder, place)
    elif not swap_names(folder, place):
        os.rename(place, aside)
        try:
            os.rename(folder, place)
        except BaseException:
            os.rename(aside, place)
            raise


def undo_replace(folder: Path, place: Path, aside: Path) -> None:
    """Undo `replace_dir`."""
    if os.path.lexists(aside):
        os.rename(place, folder)
        os.rename(aside, place)
    elif os.path.lexists(folder):
        swap_names(folder, place)
    else:
        move_to_new_name(place, folder)


def _call_rename(
    one: str | Path,
    other: str | Path,
    how: int,
    source: int = _CURRENT_FOLDER_HANDLE,
    destination: int = _CURRENT_FOLDER_HANDLE,
) -> int:
    """Return 0, or the error number; names are relative to the open folders `source` and `destination`."""
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
        call = library.renameatx_np if sys.platform == "darwin" else library.renameat2
    except (AttributeError, OSError, TypeError):  # TypeError: Windows has no library of all that is loaded
        return errno.ENOSYS
    result = call(source, os.fsencode(one), destination, os.fsencode(other), how)
    return 0 if result == 0 else ctypes.get_errno()


def read_entries(path: Path) -> list[dict[str, Any]]:
    """Read a ledger's entries, oldest first, without lines of the first version (`read_legacy_entries`)."""
    entries = [line for line in _read_lines(path) if "source" not in line or "content" in line]
    if not all(_is_complete(line) for line in entries):
        raise make_unreadable_error(path)
    return entries


def read_legacy_entries(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a ledger of the first version, which identifies a source by its bytes or its address."""
    entries = [line for line in _read_lines(path) if line.get("source") and "content" not in line]
    if not all(isinstance(line.get(name), str) for line in entries for name in ("release", "at", "source")):
        raise make_unreadable_error(path)
    return entries


def make_unreadable_error(path: Path) -> RequestError:
    return RequestError(
        f"The ledger's file {path} is missing or cannot be read.",
        why="Without it nobody knows what was published before.",
        attempt="restoring it, or --ledger (RETICENT_LEDGER) for another ledger.",
    )


def require_known_format(formats: Iterable[object], known: int, path: Path) -> None:
    """Refuse lines that state a later format than the known one: what they mean is not known to this version."""
    for number in formats:
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise make_unreadable_error(path)
        if number > known:
            raise RequestError(
                f"The ledger's file {path} was written by a later version of reticent.",
                why=f"A line states format {shorten_text(str(number), 20)}, and this version knows formats up to {known}: it would know "
                "too little of what was published before.",
                attempt="the version of reticent that wrote it, or --ledger (RETICENT_LEDGER) for another ledger.",
            )


def _read_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, ValueError, RecursionError):
        raise make_unreadable_error(path) from None
    if not all(isinstance(line, dict) for line in lines):
        raise make_unreadable_error(path)
    require_known_format((line.get("format", 1) for line in lines), LEDGER_FORMAT, path)
    return lines


def _is_complete(entry: dict[str, Any]) -> bool:
    texts = all(isinstance(entry.get(name), str) for name in _TEXT_FIELDS) and isinstance(entry.get("whole", ""), str)
    return texts and all(isinstance(entry.get(name), list) for name in _LIST_FIELDS)


def ensure_key(ledger: Path) -> bytes:
    """Return the ledger's secret; make the ledger's folder and the secret where there are none."""
    path = ledger / KEY_FILE
    if path.exists():  # it is never changed
        return read_key(ledger)
    with translate_disk_errors(ledger):
        make_folder(ledger)
        with hold_lock(ledger / LOCK_FILE):
            if not path.exists():
                if read_entries(ledger / LEDGER_FILE):
                    raise make_unreadable_error(path)
                write_file(path, secrets.token_hex(KEY_BYTES) + "\n")
    return read_key(ledger)


def read_key(ledger: Path) -> bytes:
    """Return the ledger's secret; RequestError if it cannot be read."""
    path = ledger / KEY_FILE
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        raise make_unreadable_error(path) from None
    if len(key) != KEY_BYTES:
        raise make_unreadable_error(path)
    return key


def sign_fields(ledger: Path, key: bytes, purpose: str, fields: Mapping[str, Any]) -> str:
    """Return the MAC of some fields by the ledger's secret.

    It covers the purpose of the fields and the ledger's own path and inode: in a ledger that was copied, or unpacked
    from somewhere, no signature is valid.
    """
    place = os.path.realpath(ledger)
    signed = {"purpose": purpose, "ledger": place, "inode": os.stat(place).st_ino, "fields": dict(fields)}
    text = json.dumps(signed, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode("ascii"), hashlib.sha256).hexdigest()


def is_signed(ledger: Path, key: bytes, purpose: str, fields: Mapping[str, Any], mac: object) -> bool:
    """Tell whether a MAC is that of these fields, by this ledger's secret."""
    return isinstance(mac, str) and hmac.compare_digest(
        sign_fields(ledger, key, purpose, fields).encode(), mac.encode()
    )
