"""Staging: writes go to a folder beside their target that only its maker can enter, and that the ledger has a record of.

    .reticent-staging-XXXXXXXXXXXXXXXX/
        note.json   signed: which folder this is, and the target's name
        release/    what is staged, and after the exchange what it replaced
        replaced/   what it replaces, where two names cannot be exchanged in one step

    ledger-stages/
        .reticent-staging-XXXXXXXXXXXXXXXX.json     written before the folder of this name exists, and locked by its maker

A record and the note in its folder are signed with the ledger's secret. The record covers the folder's absolute path and
the device and inode of the folder that holds it; the note covers the path and the device and inode of the staging folder
itself. Recovery begins with these records. It never searches a disk for folders.

A record whose lock is free belongs to a dead process. Then the folder is put right and removed, if it belongs to this
user, has the mode 700, is no link, is where the record states and holds a note that the ledger signed for this very
folder. Any other folder stays as it is, whatever is in it. Where a system has no user ids, modes, folder handles or
locks, folders of killed processes stay.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent import operating_system
from reticent.errors import ReticentError
from reticent.format.folder import translate_disk_errors
from reticent.ledger import private_files
from reticent.ledger.paths import resolve_ledger_folder
from reticent.ledger.private_files import (
    PRIVATE_FILE_MODE,
    ensure_key,
    exists_in,
    is_plain_name,
    is_private_file,
    is_private_folder,
    is_signed,
    move_between,
    move_to_new_name,
    read_key,
    read_private_file,
    remove_entry,
    sign_fields,
    write_private_file,
)
from reticent.operating_system import (
    FolderIdentity,
    belongs_to_other_user,
    defer_signals,
    get_user_id,
    ignore_signals,
    open_folder,
    read_identity,
)

RELEASE_FOLDER = "release"
REPLACED_FOLDER = "replaced"
OLDER_PREFIX = ".reticent-stage-"
"""What folders of versions are called that signed nothing: they are named to the user, and never acted on."""
RECORDS_FOLDER = "ledger-stages"
RECORD_SUFFIX = ".json"
STAGING_PREFIX = ".reticent-staging-"
NOTE_FILE = "note.json"
RECORD_FORMAT = 1
MAX_RECORD_BYTES = 1 << 16
_RECORD_PURPOSE = "reticent staging record"
_NOTE_PURPOSE = "reticent staging note"
_NOTE_FIELDS = ("path", "device", "inode", "target")
_STAGING_FOLDERS: dict[Path, _StagingFolder] = {}  # by the path of what is staged
_LEFT_FOLDERS: set[Path] = set()  # folders that outlive the block that staged them


@contextmanager
def stage_folder(target: Path | None, ledger: Path | None = None) -> Iterator[Path]:
    """Make an empty folder on the target's file system, or a temporary one, for a block.

    It is removed if the block fails. Only its maker can read it. It is recorded in `ledger`, and nothing is staged if
    that cannot be written. Without one it is recorded in the user's own ledger if there is one that can be written,
    and otherwise nowhere: if the process is killed then, the folder stays.
    """
    folder: Path | None = None
    with _clean_up_parents(target):
        try:
            with translate_disk_errors(target):
                if target is not None:
                    target.parent.mkdir(parents=True, exist_ok=True)
                place = Path(tempfile.gettempdir()) if target is None else target.parent
                name = None if target is None else target.name
                with defer_signals():
                    folder = _begin_staging(place, name, ledger)
            yield folder
        except BaseException:
            if folder is not None and folder not in _LEFT_FOLDERS:
                discard_staged(folder)
            raise


@contextmanager
def stage_file(
    target: Path,
    *,
    only_new: bool = False,
    near: Path | None = None,
    ledger: Path | None = None,
) -> Iterator[Path]:
    """Yield a path to write to; what is there when the block ends takes the target's place in one step.

    It is staged beside `near`, if given: a file of a release is staged beside the release, not among its files.
    """
    with stage_folder(near or target, ledger) as folder:
        with translate_disk_errors(target):
            yield folder / target.name
            operating_system.sync_to_disk(folder / target.name)
            (move_to_new_name if only_new else os.replace)(folder / target.name, target)
            operating_system.sync_to_disk(target.parent)
        discard_staged(folder)


@contextmanager
def make_temp_dirs(target: Path | None, ledger: Path | None = None) -> Iterator[Callable[[], Path]]:
    """Yield a function that makes folders for what does not fit memory.

    They are staged as a release is, and all of them are removed at the end of the block.
    """
    with _clean_up_parents(target), ExitStack() as stack:

        def make_temp_dir() -> Path:
            folder = stack.enter_context(stage_folder(target, ledger))
            stack.callback(discard_staged, folder)
            return folder

        yield make_temp_dir
        with ignore_signals():  # what was made of it is kept by now: too late to end
            stack.close()


def discard_staged(folder: Path) -> None:
    """Remove what was staged or, after an exchange, what it replaced; nothing that this process does not hold."""
    container = _STAGING_FOLDERS.get(folder)
    if container is None or container.process != os.getpid():  # a child that was forked removes nothing of its parent's
        return
    with defer_signals():  # an order to end in the middle would leave the rest
        del _STAGING_FOLDERS[folder]
        try:
            is_gone = _remove_staging_folder(container)
        except UntrustedStagingError:
            is_gone = False
        if container.record is not None:
            _close_record(container.record, is_gone)


def leave_staged(folder: Path) -> None:
    """Leave what was staged for the next command, which settles it by the journal."""
    _LEFT_FOLDERS.add(folder)
    container = _STAGING_FOLDERS.pop(folder, None)
    if container is not None and container.record is not None:
        container.record.release_lock()


def get_staged_identity(folder: Path) -> FolderIdentity:
    """Return the device and inode of the staging folder that something is staged in."""
    return _STAGING_FOLDERS[folder].identity


def find_temp_dir() -> Path:
    """Return where temporary releases are staged, without the trial file that `tempfile` writes to find it."""
    candidates = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    return next((Path(name) for name in candidates if name and os.path.isdir(name)), Path("/tmp"))  # looked at


def adopt_staged(ledger: Path, folder: Path, identity: FolderIdentity) -> bool:
    """Take over a dead process's staging folder, by what is staged in it; False unless it is genuine and this very one."""
    if folder in _STAGING_FOLDERS:
        return _STAGING_FOLDERS[folder].identity == identity
    try:
        record = claim_record(ledger, folder.parent.name)
    except UntrustedStagingError:
        return False
    if record is None:
        return False
    try:
        container = _verify_folder(record)
    except (UntrustedStagingError, OSError):
        container = None
    if container is None or container.identity != identity or Path(record.folder) != folder.parent:
        record.release_lock()
        return False
    _STAGING_FOLDERS[folder] = container
    return True


def remove_abandoned(ledger: Path) -> tuple[int, list[str]]:
    """Remove the staging folders that dead processes of this user left, by the ledger's records.

    Returns how many there were, and a sentence about each folder that differs from its record.
    """
    removed = 0
    sentences = []
    for name, record in iterate_claimed_records(ledger):
        if isinstance(record, UntrustedStagingError):
            sentences.append(_describe_left_alone(str(locate_record(ledger, name)), record))
            continue
        try:
            removed += _repair_and_remove(record)
        except UntrustedStagingError as reason:
            sentences.append(_describe_left_alone(record.folder, reason))
    return removed, sentences


def list_older_folders(place: Path, min_age: float = 0) -> list[str]:
    """List this user's staging folders of older versions in a place; they signed nothing, and nothing is done with them.

    `min_age` is in seconds: younger ones may be in use.
    """
    names = []
    with suppress(OSError, ValueError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(OLDER_PREFIX) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if not belongs_to_other_user(status) and status.st_mtime <= time.time() - min_age:
                    names.append(entry.name)
    return sorted(names)


def restore_replaced(folder: Path) -> None:
    """Put what was replaced back, if its maker died between the two steps that replace it.

    What was staged is still there then. Raises UntrustedStagingError if something else has the target's name by now:
    nothing is written over, and what was replaced stays.
    """
    container = _STAGING_FOLDERS.get(folder)
    if container is None or container.record is None or container.record.target is None:
        return
    with _open_staging_folder(container) as (place, handle):
        if not exists_in(REPLACED_FOLDER, handle) or not exists_in(RELEASE_FOLDER, handle):
            return
        try:
            move_between(handle, REPLACED_FOLDER, place, container.record.target)
        except FileExistsError:
            raise UntrustedStagingError("it holds what was to be replaced, and something else has its place") from None
        os.fsync(place)


class UntrustedStagingError(Exception):
    """Raised if a record, a note or a folder is not what this user's process made with this ledger.

    The text is the reason.
    """


@dataclass(frozen=True, slots=True)
class StagingRecord:
    """What the ledger holds of one staging folder, with the lock that shows that its maker lives."""

    ledger: Path
    name: str
    place: str
    """The absolute path, free of links, of the folder that holds the staging folder."""
    place_identity: FolderIdentity
    target: str | None
    """The name, in the same place, that the staged release is to have; None for anything else that is staged."""
    lock: int

    @property
    def path(self) -> Path:
        """The record's file."""
        return locate_record(self.ledger, self.name)

    @property
    def folder(self) -> str:
        """The staging folder's absolute path."""
        return os.path.join(self.place, self.name)

    def release_lock(self) -> None:
        """Give the lock up: from here on the folder counts as abandoned."""
        os.close(self.lock)

    def remove(self) -> None:
        """Remove the record of a folder that is gone."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.release_lock()


def locate_record(ledger: Path, name: str) -> Path:
    """Return the file that records the staging folder of this name."""
    return ledger / RECORDS_FOLDER / (name + RECORD_SUFFIX)


def add_record(ledger: Path, key: bytes, place: str, place_handle: int, target: str | None) -> StagingRecord:
    """Record a staging folder that does not exist yet, under a name that nobody can guess; the record is on the disk then."""
    private_files.make_folder(ledger / RECORDS_FOLDER, inside=True)
    while True:
        name = STAGING_PREFIX + secrets.token_hex(8)
        status = os.fstat(place_handle)
        identity = (status.st_dev, status.st_ino)
        path = locate_record(ledger, name)
        with open_folder(path.parent) as records:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
            lock = operating_system.open_in(path.name, records, flags, PRIVATE_FILE_MODE)
        record = StagingRecord(ledger, name, place, identity, target, lock)
        try:
            private_files.acquire_lock(lock, wait=True)
            if not _has_name(path, lock):  # removed as an abandoned one before it was locked: another one
                os.close(lock)
                continue
            _write_record(record, key)
        except BaseException:
            record.remove()
            raise
        return record


def write_note(record: StagingRecord, key: bytes, folder_handle: int) -> None:
    """Write the note into a staging folder that was just made: the folder is known by its device and inode then."""
    fields = _build_note_fields(record, folder_handle)
    content = json.dumps({**fields, "mac": sign_fields(record.ledger, key, _NOTE_PURPOSE, fields)})
    write_private_file(NOTE_FILE, folder_handle, content.encode("ascii"))


def list_record_names(ledger: Path) -> list[str]:
    """List the names of staging folders that the ledger has records of, of any user."""
    try:
        with open_folder(ledger / RECORDS_FOLDER) as records:
            names = sorted(os.listdir(records))
    except OSError:
        return []
    return [
        name.removesuffix(RECORD_SUFFIX)
        for name in names
        if name.startswith(STAGING_PREFIX) and name.endswith(RECORD_SUFFIX)
    ]


def claim_record(ledger: Path, name: str) -> StagingRecord | None:
    """Return the record of an abandoned staging folder, locked for this process.

    It is None if the maker lives or is another user. Raises UntrustedStagingError if the record is not genuine.
    """
    try:
        with open_folder(ledger / RECORDS_FOLDER) as records:
            handle = operating_system.open_in(name + RECORD_SUFFIX, records, os.O_RDWR | operating_system.NO_WAIT)
    except OSError:
        return None
    try:
        record = _claim_handle(ledger, name, handle)
    except BaseException:
        os.close(handle)
        raise
    if record is None:
        os.close(handle)
    return record


def require_genuine_place(record: StagingRecord, place_handle: int) -> None:
    """Raise UntrustedStagingError unless an open folder is the one that held the staging folder when it was recorded."""
    if read_identity(place_handle) != record.place_identity:
        raise UntrustedStagingError("it lies in another folder than the one recorded")


def require_genuine_folder(record: StagingRecord, folder_handle: int) -> bool:
    """Return whether the folder has its note: False if its maker ended before it wrote one.

    Raises UntrustedStagingError unless the open folder is the one recorded.
    """
    if not is_private_folder(folder_handle):
        raise UntrustedStagingError("it is another user's, or has another mode than 700")
    entries = os.listdir(folder_handle)
    if not entries:
        return False
    try:
        content = read_private_file(NOTE_FILE, folder_handle)
    except (OSError, ValueError):
        raise UntrustedStagingError("it has no private note") from None
    try:
        stated = json.loads(content)
    except ValueError:
        if entries == [NOTE_FILE]:  # half a note
            return False
        raise UntrustedStagingError("its note is damaged") from None
    fields = _build_note_fields(record, folder_handle)
    mac = stated.get("mac") if isinstance(stated, dict) else None
    if not isinstance(stated, dict) or {**fields, "mac": mac} != stated:
        raise UntrustedStagingError("its note is about another folder")
    if not is_signed(record.ledger, read_key(record.ledger), _NOTE_PURPOSE, fields, mac):
        raise UntrustedStagingError("its note is not signed by this ledger")
    return True


def iterate_claimed_records(ledger: Path) -> Iterator[tuple[str, StagingRecord | UntrustedStagingError]]:
    """Yield each abandoned staging folder's name with its locked record, or with the reason why it is not trusted."""
    for name in list_record_names(ledger):
        try:
            record = claim_record(ledger, name)
        except UntrustedStagingError as reason:
            yield name, reason
            continue
        if record is not None:
            yield name, record


@dataclass(frozen=True, slots=True)
class _StagingFolder:
    """A staging folder that this process made or has taken over from a dead one."""

    place: str
    name: str
    identity: FolderIdentity
    record: StagingRecord | None
    process: int


@contextmanager
def _clean_up_parents(target: Path | None) -> Iterator[None]:
    """Remove folders above the target that the block makes, if it fails."""
    lacking = [] if target is None else [parent for parent in target.parents if not parent.exists()]
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for parent in lacking:  # the innermost first; one that somebody else uses by now is not empty
                parent.rmdir()
        raise


def _begin_staging(place: Path, target: str | None, ledger: Path | None) -> Path:
    """Record a staging folder, make it and write its note; what is staged goes into the path that is returned."""
    path = os.path.realpath(place)
    if not operating_system.can_recover():
        folder_path = tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=path)
        container = _StagingFolder(path, os.path.basename(folder_path), read_identity(folder_path), None, os.getpid())
        folder = Path(folder_path, RELEASE_FOLDER)
        folder.mkdir()
        _STAGING_FOLDERS[folder] = container
        return folder
    name = target if is_plain_name(target) else None
    with open_folder(path) as place_handle:
        record, key = _record_folder(path, place_handle, name, ledger)
        return _make_staging_folder(path, place_handle, record, key)


def _remove_staging_folder(container: _StagingFolder) -> bool:
    """Remove a staging folder and return whether it is gone.

    The note, which identifies the folder after a kill, goes last. What is in the folder is removed by its handle, and
    its name only if it is empty then.
    """
    if not operating_system.can_recover():
        shutil.rmtree(os.path.join(container.place, container.name), ignore_errors=True)
        return not os.path.lexists(os.path.join(container.place, container.name))
    with suppress(OSError), _open_staging_folder(container) as (place, handle):
        for name in sorted(os.listdir(handle), key=lambda name: name == NOTE_FILE):
            if name != NOTE_FILE or os.listdir(handle) == [NOTE_FILE]:
                remove_entry(name, handle)
        operating_system.remove_empty_folder_in(container.name, place)
    return not os.path.lexists(os.path.join(container.place, container.name))


def _close_record(record: StagingRecord, is_gone: bool) -> None:
    """End the record of a folder that is gone; what could not be removed is left to the next command."""
    if is_gone:
        record.remove()
    else:
        record.release_lock()


def _verify_folder(record: StagingRecord) -> _StagingFolder | None:
    """Return the staging folder of a record, if it is genuine; None if it is gone, or was never more than begun.

    Raises UntrustedStagingError if something else is there.
    """
    try:
        with open_folder(record.place) as place:
            if not exists_in(record.name, place):
                return None
            require_genuine_place(record, place)
            with open_folder(record.name, place) as handle:
                has_note = require_genuine_folder(record, handle)
                container = _build_staging_folder(record, handle)
    except OSError as error:  # a link is no folder
        if not os.path.lexists(record.place):
            raise  # on a disk that is not there now, perhaps
        raise UntrustedStagingError("it cannot be opened as a folder") from error
    if not has_note:
        if not _remove_staging_folder(container):
            raise UntrustedStagingError("it cannot be removed")
        return None
    return container


def _describe_left_alone(folder: str, reason: UntrustedStagingError) -> str:
    return f"{folder!r} was left alone: {reason}. Look at it, and remove it by hand."


def _repair_and_remove(record: StagingRecord) -> bool:
    """Put right and remove the staging folder of a record that this process has claimed.

    Returns whether there was one.
    """
    try:
        container = _verify_folder(record)
    except BaseException as reason:
        record.release_lock()
        if isinstance(reason, OSError):  # its place is not there now
            return False
        raise
    if container is None:
        record.remove()
        return False
    folder = Path(container.place, container.name, RELEASE_FOLDER)
    _STAGING_FOLDERS[folder] = container
    try:
        restore_replaced(folder)
    except BaseException:
        del _STAGING_FOLDERS[folder]
        record.release_lock()
        raise
    discard_staged(folder)
    return not os.path.lexists(folder.parent)


@contextmanager
def _open_staging_folder(container: _StagingFolder) -> Iterator[tuple[int, int]]:
    """Yield handles of the place and the staging folder.

    Raises UntrustedStagingError if the name means another folder by now.
    """
    try:
        with open_folder(container.place) as place, open_folder(container.name, place) as handle:
            if read_identity(handle) != container.identity:
                raise UntrustedStagingError("it was exchanged")
            if container.record is not None:
                require_genuine_place(container.record, place)
            yield place, handle
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UntrustedStagingError("it is gone") from error


def _has_name(path: Path, handle: int) -> bool:
    """Tell whether an open file still has its name."""
    try:
        named = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    status = os.fstat(handle)
    return (named.st_dev, named.st_ino) == (status.st_dev, status.st_ino)


def _write_record(record: StagingRecord, key: bytes) -> None:
    operating_system.set_permissions(record.lock, PRIVATE_FILE_MODE)
    fields = _build_record_fields(record)
    content = json.dumps({**fields, "mac": sign_fields(record.ledger, key, _RECORD_PURPOSE, fields)}).encode("ascii")
    while content:
        content = content[os.write(record.lock, content) :]
    os.fsync(record.lock)
    operating_system.sync_to_disk(record.path.parent)


def _build_note_fields(record: StagingRecord, folder_handle: int) -> dict[str, Any]:
    status = os.fstat(folder_handle)
    return dict(zip(_NOTE_FIELDS, (record.folder, status.st_dev, status.st_ino, record.target), strict=True))


def _claim_handle(ledger: Path, name: str, handle: int) -> StagingRecord | None:
    path = locate_record(ledger, name)
    if belongs_to_other_user(os.fstat(handle)):
        return None
    if not is_private_file(handle):
        raise UntrustedStagingError("its record in the ledger is no private file")
    if not private_files.acquire_lock(handle, wait=False) or not _has_name(path, handle):
        return None
    content = operating_system.read_from_start(handle, MAX_RECORD_BYTES)
    try:
        stated = json.loads(content)
    except ValueError:  # its maker ended while writing it, before the folder was made
        path.unlink(missing_ok=True)
        return None
    return _check_record(ledger, name, stated, handle)


def _record_folder(
    path: str, place_handle: int, target: str | None, ledger: Path | None
) -> tuple[StagingRecord | None, bytes]:
    """Return the record of a staging folder that is about to be made, and the ledger's secret."""
    try:
        ledger_folder = (resolve_ledger_folder() if ledger is None else ledger).absolute()
        key = read_key(ledger_folder) if ledger is None else ensure_key(ledger_folder)
        with translate_disk_errors(ledger_folder):
            return add_record(ledger_folder, key, path, place_handle, target), key
    except ReticentError:
        if ledger is not None:
            raise
        return None, b""


def _make_staging_folder(path: str, place_handle: int, record: StagingRecord | None, key: bytes) -> Path:
    name = record.name if record is not None else os.path.basename(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=path))
    container: _StagingFolder | None = None
    try:
        if record is not None:
            private_files.make_private_folder(name, place_handle)
        with open_folder(name, place_handle) as handle:
            status = os.fstat(handle)
            container = _StagingFolder(path, name, (status.st_dev, status.st_ino), record, os.getpid())
            if record is not None:
                write_note(record, key, handle)
            private_files.make_private_folder(RELEASE_FOLDER, handle)
    except BaseException:
        is_gone = (
            _remove_staging_folder(container) if container is not None else _remove_empty_folder(name, place_handle)
        )
        if record is not None:
            _close_record(record, is_gone)
        raise
    folder = Path(path, name, RELEASE_FOLDER)
    _STAGING_FOLDERS[folder] = container
    return folder


def _build_staging_folder(record: StagingRecord, handle: int) -> _StagingFolder:
    status = os.fstat(handle)
    return _StagingFolder(record.place, record.name, (status.st_dev, status.st_ino), record, os.getpid())


def _build_record_fields(record: StagingRecord) -> dict[str, Any]:
    return {
        "format": RECORD_FORMAT,
        "user": get_user_id(),
        "path": record.folder,
        "place_device": record.place_identity[0],
        "place_inode": record.place_identity[1],
        "target": record.target,
    }


def _check_record(ledger: Path, name: str, stated: Any, lock: int) -> StagingRecord:
    """Return the record that a file's content states.

    Raises UntrustedStagingError unless it is signed and names one folder in one place.
    """
    if not isinstance(stated, dict):
        raise UntrustedStagingError("its record in the ledger is damaged")
    fields = {field: value for field, value in stated.items() if field != "mac"}
    if not is_signed(ledger, read_key(ledger), _RECORD_PURPOSE, fields, stated.get("mac")):
        raise UntrustedStagingError("its record is not signed by this ledger")
    try:
        place, base = os.path.split(fields["path"])
        identity = (fields["place_device"], fields["place_inode"])
        record = StagingRecord(ledger, name, place, identity, fields["target"], lock)
    except (KeyError, TypeError):
        raise UntrustedStagingError("its record in the ledger is damaged") from None
    if fields != _build_record_fields(record) or base != name or not os.path.isabs(place):
        raise UntrustedStagingError("its record is about another folder")
    if record.target is not None and not is_plain_name(record.target):
        raise UntrustedStagingError("its target is not one name")
    return record


def _remove_empty_folder(name: str, place: int) -> bool:
    """Remove a folder that was made and could not be opened, if it is empty; return whether it is gone."""
    with suppress(OSError):
        operating_system.remove_empty_folder_in(name, place)
    return not exists_in(name, place)
