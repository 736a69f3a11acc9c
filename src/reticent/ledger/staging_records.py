"""Records of staging folders, in the ledger: which folders this user's processes made, where, and for which target.

    ledger-stages/
        .reticent-staging-XXXXXXXXXXXXXXXX.json     written before the folder of this name exists, and locked by its maker

A record and the note in its folder are signed with the ledger's secret.  The record covers the folder's absolute path and the
device and inode of the folder that holds it; the note covers the path and the device and inode of the staging folder itself.
Recovery begins with these records.  It never searches a disk for folders.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.ledger import private_files
from reticent.ledger.private_files import (
    PRIVATE_FILE_MODE,
    FolderIdentity,
    get_user_id,
    is_plain_name,
    is_private_file,
    is_private_folder,
    open_folder,
    read_identity,
    read_private_file,
    write_private_file,
)
from reticent.ledger.storage import is_signed, read_key, sign_fields

RECORDS_FOLDER = "ledger-stages"
RECORD_SUFFIX = ".json"
STAGING_PREFIX = ".reticent-staging-"
NOTE_FILE = "note.json"
RECORD_FORMAT = 1
MAX_RECORD_BYTES = 1 << 16
_RECORD_PURPOSE = "reticent staging record"
_NOTE_PURPOSE = "reticent staging note"
_NOTE_FIELDS = ("path", "device", "inode", "target")


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
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            lock = os.open(path.name, flags, PRIVATE_FILE_MODE, dir_fd=records)
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


def _write_record(record: StagingRecord, key: bytes) -> None:
    if os.fstat(record.lock).st_mode & 0o777 != PRIVATE_FILE_MODE:
        os.fchmod(record.lock, PRIVATE_FILE_MODE)
    fields = _build_record_fields(record)
    content = json.dumps({**fields, "mac": sign_fields(record.ledger, key, _RECORD_PURPOSE, fields)}).encode("ascii")
    while content:
        content = content[os.write(record.lock, content) :]
    os.fsync(record.lock)
    private_files.sync_to_disk(record.path.parent)


def _build_record_fields(record: StagingRecord) -> dict[str, Any]:
    return {
        "format": RECORD_FORMAT,
        "user": get_user_id(),
        "path": record.folder,
        "place_device": record.place_identity[0],
        "place_inode": record.place_identity[1],
        "target": record.target,
    }


def write_note(record: StagingRecord, key: bytes, folder_handle: int) -> None:
    """Write the note into a staging folder that was just made: the folder is known by its device and inode then."""
    fields = _build_note_fields(record, folder_handle)
    content = json.dumps({**fields, "mac": sign_fields(record.ledger, key, _NOTE_PURPOSE, fields)})
    write_private_file(NOTE_FILE, folder_handle, content.encode("ascii"))


def _build_note_fields(record: StagingRecord, folder_handle: int) -> dict[str, Any]:
    status = os.fstat(folder_handle)
    return dict(zip(_NOTE_FIELDS, (record.folder, status.st_dev, status.st_ino, record.target), strict=True))


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
            handle = os.open(name + RECORD_SUFFIX, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=records)
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


def _claim_handle(ledger: Path, name: str, handle: int) -> StagingRecord | None:
    path = locate_record(ledger, name)
    if os.fstat(handle).st_uid != get_user_id():
        return None
    if not is_private_file(handle):
        raise UntrustedStagingError("its record in the ledger is no private file")
    if not private_files.acquire_lock(handle, wait=False) or not _has_name(path, handle):
        return None
    content = os.pread(handle, MAX_RECORD_BYTES, 0)
    try:
        stated = json.loads(content)
    except ValueError:  # its maker ended while writing it, before the folder was made
        path.unlink(missing_ok=True)
        return None
    return _check_record(ledger, name, stated, handle)


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


def _has_name(path: Path, handle: int) -> bool:
    """Tell whether an open file still has its name."""
    try:
        named = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    status = os.fstat(handle)
    return (named.st_dev, named.st_ino) == (status.st_dev, status.st_ino)


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
