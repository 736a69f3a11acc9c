"""Folders and files that only the owner can read, whatever the umask, a lock for what several processes write, and renames.

A folder that is made here has the mode 700 and its files 600. A folder that existed before keeps its mode: if a team
has made one that its group may write to, files in it can be read and written by the group, and never by others. What
is written is on the disk, not in its cache, when a function returns.

Folders are accessed by open handles, so that nobody can exchange what was checked for something else before it is
used. A path names whatever is there at the moment. A handle stays with one folder: what is opened, renamed or removed
relative to it is in that folder, whatever happens to its name.

`swap_names` exchanges two names in one step, and `move_to_new_name` takes a name only if nothing has it, by the system's
own calls (`operating_system`). Where the system or the file system has none, `swap_names` returns False and does nothing,
and `move_to_new_name` checks first and then renames.

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
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from reticent import operating_system
from reticent.errors import RequestError, shorten_text
from reticent.format.folder import translate_disk_errors
from reticent.operating_system import belongs_to_other_user, sync_to_disk

PRIVATE_FOLDER_MODE = 0o700
PRIVATE_FILE_MODE = 0o600
MAX_FILE_BYTES = 1 << 26
"""Bytes of a file that is read for recovery: more than any record, intent or note of ours."""

_TEXT_FIELDS = ("release", "folder", "digest", "at", "content")
_LIST_FIELDS = ("promises", "repeats", "columns")
LEDGER_FORMAT = 2
"""The format of a ledger's lines, which every line states; one without a number is of format 1 (a source's bytes or its
address) or, if it has `content`, of format 2. Fields that a reader need not know may be added without a new number."""
LEDGER_FILE = "ledger.jsonl"
KEY_FILE = "ledger.key"
LOCK_FILE = "ledger.lock"
KEY_BYTES = 32
HELD_SUFFIX = ".held"
"""Of the file that stands for a lock where the system has none."""
MAX_LOCK_SECONDS = 10
LOCK_POLL_SECONDS = 0.02


def is_private_folder(handle: int) -> bool:
    """Tell whether an open folder is this user's, with the mode 700 exactly."""
    status = os.fstat(handle)
    return not belongs_to_other_user(status) and stat.S_IMODE(status.st_mode) == PRIVATE_FOLDER_MODE


def is_private_file(handle: int) -> bool:
    """Tell whether an open file is a regular one of this user's, with the mode 600 exactly and no second name."""
    status = os.fstat(handle)
    return (
        stat.S_ISREG(status.st_mode)
        and not belongs_to_other_user(status)
        and stat.S_IMODE(status.st_mode) == PRIVATE_FILE_MODE
        and status.st_nlink == 1
    )


def read_private_file(name: str, parent: int) -> bytes:
    """Read a file of an open folder; PermissionError unless it is a private one."""
    handle = operating_system.open_in(name, parent, os.O_RDONLY | operating_system.NO_WAIT)
    with os.fdopen(handle, "rb") as stream:
        if not is_private_file(handle) or os.fstat(handle).st_size > MAX_FILE_BYTES:
            raise PermissionError(f"{name} is not private")
        return stream.read(MAX_FILE_BYTES)


def write_private_file(name: str, parent: int, content: bytes) -> None:
    """Write a new file into an open folder, and put it on the disk."""
    handle = operating_system.open_in(name, parent, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE_MODE)
    with os.fdopen(handle, "wb") as stream:
        operating_system.set_mode(handle, PRIVATE_FILE_MODE)
        stream.write(content)
        stream.flush()
        os.fsync(handle)


def make_private_folder(name: str, parent: int) -> None:
    """Make a folder in an open one, with the mode 700 whatever the umask."""
    operating_system.make_folder_in(name, parent, PRIVATE_FOLDER_MODE)


def exists_in(name: str, parent: int) -> bool:
    """Tell whether an open folder has an entry of this name, be it a link that leads nowhere."""
    try:
        operating_system.stat_in(name, parent)
    except FileNotFoundError:
        return False
    return True


def remove_entry(name: str, parent: int) -> None:
    """Remove an entry of an open folder with all that is in it; links are removed, not followed."""
    with suppress(OSError):
        if stat.S_ISDIR(operating_system.stat_in(name, parent).st_mode):
            operating_system.remove_tree_in(name, parent)
        else:
            operating_system.remove_file_in(name, parent)


def is_plain_name(name: object) -> bool:
    """Tell whether a text is exactly one component of a path: no separator, and neither "." nor ".."."""
    return isinstance(name, str) and name not in ("", ".", "..") and "/" not in name and "\0" not in name


def make_folder(folder: Path, *, inside: bool = False) -> None:
    """Make the folder and missing ones above it; it is private, or as shared as the folder that it is `inside`."""
    if folder.is_dir():
        return
    for lacking in (*reversed([above for above in folder.parents if not above.exists()]), folder):
        mode = 0o770 if inside and _is_group_writable(lacking.parent) else 0o700
        with suppress(FileExistsError):  # another process was faster
            lacking.mkdir(mode=0o700)
            operating_system.set_permissions(lacking, mode)
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
    operating_system.set_permissions(path, _choose_file_mode(path.parent))


def sync_tree(folder: Path) -> None:
    """Flush a folder with all that is in it."""
    for path in sorted(folder.rglob("*"), reverse=True):
        sync_to_disk(path)
    sync_to_disk(folder)


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Let one process at a time into this block, by a lock file that stays.

    Where the system has no locks, whoever makes another file beside it may enter. A process that is killed leaves that
    file: then nobody enters until it is removed by hand.
    """
    handle = _open_file(path, os.O_RDWR)
    try:
        if operating_system.has_file_locks():
            operating_system.lock_file(handle)
            yield
        else:
            with _hold_exclusive_file(path.with_name(path.name + HELD_SUFFIX)):
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
    with ExitStack() as stack:
        stack.callback(os.close, handle)
        with suppress(OSError):  # a ledger that may only be read
            if operating_system.has_file_locks():
                operating_system.lock_file(handle, shared=True)
            else:
                stack.enter_context(_hold_exclusive_file(path.with_name(path.name + HELD_SUFFIX)))
        yield


def acquire_lock(handle: int, *, wait: bool) -> bool:
    """Lock the open file; return False if another process has the lock, or if locks do not work here."""
    if not operating_system.has_file_locks():
        return False
    try:
        operating_system.lock_file(handle, wait=wait)
    except OSError:
        return False
    return True


@contextmanager
def _hold_exclusive_file(path: Path, max_seconds: float = MAX_LOCK_SECONDS) -> Iterator[None]:
    """Make a file that nobody else can make meanwhile; it is removed at the end of the block."""
    last_try = time.monotonic() + max_seconds
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | operating_system.BINARY, PRIVATE_FILE_MODE)
            break
        except FileExistsError:
            if time.monotonic() >= last_try:
                raise RequestError(
                    f"{path} shows that another process writes to this ledger.",
                    why=f"This system frees no lock of a process that is killed. The file has been there for {max_seconds} "
                    "seconds or longer.",
                    attempt="the command again later; or removing this file, if no process publishes by this ledger.",
                ) from None
        time.sleep(LOCK_POLL_SECONDS)
    try:
        os.close(handle)
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def _open_file(path: Path, flags: int) -> int:
    if path.is_symlink():  # in a shared ledger it would write to wherever it leads
        raise RequestError(
            f"{path} is a link, which is not followed.",
            why="Whoever made it chose where it leads, and what is written here would go there.",
            attempt="removing the link, if nobody else uses this ledger.",
        )
    if path.exists():
        return operating_system.open_unlinked(path, flags)
    mode = _choose_file_mode(path.parent)
    handle = operating_system.open_unlinked(path, flags | os.O_CREAT, mode)
    operating_system.set_permissions(handle, mode)  # not by its name, which another user of the ledger may exchange
    return handle


def _choose_file_mode(folder: Path) -> int:
    return 0o660 if _is_group_writable(folder) else 0o600


def _is_group_writable(folder: Path) -> bool:
    return operating_system.is_writable_by_group(folder.stat())


def swap_names(first: Path, second: Path) -> bool:
    """Exchange two names in one step; return False, without any change, where that is not possible."""
    number = operating_system.call_rename(first, second, operating_system.EXCHANGE_FLAG)
    if number and number not in operating_system.UNSUPPORTED_ERRNOS:
        raise OSError(number, os.strerror(number), str(second))
    return number == 0


def move_to_new_name(source: Path, target: Path) -> None:
    """Rename to a name that nothing may have; raise FileExistsError if something has it."""
    number = operating_system.call_rename(source, target, operating_system.NO_REPLACE_FLAG)
    if number in operating_system.UNSUPPORTED_ERRNOS:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        os.rename(source, target)
    elif number:
        raise OSError(number, os.strerror(number), str(target))


def move_between(source: int, name: str, destination: int, new_name: str) -> None:
    """Move an entry of one open folder into another, under a name that nothing may have there."""
    number = operating_system.call_rename(name, new_name, operating_system.NO_REPLACE_FLAG, source, destination)
    if number in operating_system.UNSUPPORTED_ERRNOS:
        try:
            operating_system.stat_in(new_name, destination)
        except FileNotFoundError:
            operating_system.rename_between(source, name, destination, new_name)
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
