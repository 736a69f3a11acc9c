"""The journal of a ledger: what is about to be kept, written down before anything changes.

    ledger.journal/
        intent.json     what is kept where, the ledger's line for it, and what there was before
        notes/          the owner's notes on it
        sketches/       what the ledger will keep of its rows

The folder gets its name in one step, when all of it is on the disk, and loses it when everything is in place.  Who
holds the ledger's lock and finds a journal knows that its maker is dead, and settles it: if the release stands in its
place, the rest is done, and otherwise nothing of it remains.

The intent is signed with the ledger's secret (`ledger_key`): all paths, the staging folder's device and inode, and what is in
every note and sketch.  A journal that is another user's, has other modes than 700 and 600, or is not signed for this very
ledger, as those of older versions, is settled by nobody: the owner is told.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from reticent.errors import RequestError
from reticent.owner import directory_handles, private, staging
from reticent.owner.directory_handles import current_user, is_plain_name, is_private_folder, open_folder
from reticent.owner.exchange import put
from reticent.owner.ledger_key import KEY, LEDGER, is_signed, read_key, sign
from reticent.owner.places import PLACE, digest_of, is_foreign_link, written_place

SKETCHES = "ledger-sketches"
JOURNAL = "ledger.journal"
INTENT = "intent.json"
NOTES, KEPT = "notes", "sketches"
_PURPOSE = "reticent journal"
_HEXADECIMAL = re.compile(r"[0-9a-f]{16,128}")


@dataclass(frozen=True, slots=True)
class Intent:
    """A release that is about to be kept.  Paths are absolute."""

    target: str
    staged: str
    notes: str  # the folder for the owner's notes on it
    made: list[str]  # folders that the notes will need and that were not there, the innermost first
    size: int  # of the ledger's file before
    sketches: list[str]  # marks that the ledger has no sketch of yet
    entry: dict[str, Any]  # the line in the ledger
    batches: str  # where all batches of the publication are put, if it has batches
    device: int  # of the staging folder
    inode: int

    @property
    def notes_beside(self) -> Path:
        """Where the notes are written before they are put in place; the old ones, after that."""
        notes = Path(self.notes)
        return notes.with_name(f".reticent-notes-{self.entry['digest'][:16]}")

    @property
    def notes_aside(self) -> Path:
        """Where the old notes go if the two cannot be exchanged in one step."""
        return self.notes_beside.with_name(self.notes_beside.name + ".old")


def draft_of(ledger: Path) -> Path:
    """The folder that a journal of this user's is before it has its name, and after it has lost it."""
    return ledger / f".ledger.journal-{current_user()}"


def begin(ledger: Path, intent: Intent, notes: Mapping[str, bytes | str], sketches: Mapping[str, bytes]) -> None:
    """Write the journal, whole or not at all.  The ledger's lock is held."""
    draft = draft_of(ledger)
    try:
        _make_private(draft)
        contents = {}
        for folder, files in ((NOTES, notes), (KEPT, sketches)):
            _make_private(draft / folder)
            for name, content in files.items():
                written = content.encode(errors="surrogateescape") if isinstance(content, str) else content
                private.write_new(draft / folder / name, written)
                contents[f"{folder}/{name}"] = hashlib.sha256(written).hexdigest()
            private.sync(draft / folder)
        stated = {**asdict(intent), "contents": contents}
        signed = {**stated, "mac": sign(ledger, read_key(ledger), _PURPOSE, stated)}
        private.write_new(draft / INTENT, json.dumps(signed))
        private.sync(draft)
        os.rename(draft, ledger / JOURNAL)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    private.sync(ledger)


def _make_private(folder: Path) -> None:
    """Make a folder that only this user can enter, in a ledger that is shared too."""
    folder.mkdir(mode=directory_handles.PRIVATE_FOLDER)
    if folder.stat().st_mode & 0o7777 != directory_handles.PRIVATE_FOLDER:
        folder.chmod(directory_handles.PRIVATE_FOLDER)


def pending(ledger: Path) -> bool:
    """Whether something was left to settle."""
    names = (ledger / JOURNAL, draft_of(ledger), ledger / (KEY + ".part"))
    return any(os.path.lexists(name) for name in names)


def read(ledger: Path) -> Intent | None:
    """What the journal says; None where there is none, and RequestError where it is not this user's and this ledger's."""
    if not os.path.lexists(ledger / JOURNAL):
        return None
    if not directory_handles.SUPPORTED:
        raise _refused(ledger, "This system has no user ids, modes or folder handles to know its maker by.")
    try:
        with open_folder(ledger / JOURNAL) as journal:
            if os.fstat(journal).st_uid != current_user():
                raise _refused(ledger, "Another user's publication was interrupted: only theirs can settle it.")
            if not is_private_folder(journal):
                raise _refused(ledger, "Others than you may have written to it: its mode is not 700.")
            stated = json.loads(directory_handles.read_private_file(INTENT, journal))
            mac = stated.pop("mac", None)
            if mac is None:
                raise _refused(ledger, "It was left by an older version, which did not sign it.")
            if not is_signed(ledger, read_key(ledger), _PURPOSE, stated, mac):
                raise _refused(ledger, "It is not signed with this ledger's secret for this folder.")
            intent = Intent(**{field.name: stated[field.name] for field in fields(Intent)})
            _require_sound(intent)
            _require_contents(journal, stated["contents"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _refused(ledger, "It is damaged.") from None
    return intent


def _refused(ledger: Path, why: str) -> RequestError:
    return RequestError(
        f"The ledger's journal {ledger / JOURNAL} cannot be read.",
        why=f"It says what was being published when a process was ended. {why}",
        attempt="a command of the user and version that published then; or removing it, after a look whether the latest "
        "release is in the ledger.",
    )


def _require_sound(intent: Intent) -> None:
    """ValueError unless an intent has the types of one, and names one target in the place where it was staged."""
    texts = [intent.target, intent.staged, intent.notes, intent.batches, *intent.made]
    marks = [intent.entry["digest"], *intent.sketches]
    if not all(isinstance(text, str) for text in texts) or not all(_HEXADECIMAL.fullmatch(mark) for mark in marks):
        raise ValueError
    if not all(type(number) is int for number in (intent.size, intent.device, intent.inode)):
        raise ValueError
    container = Path(intent.staged).parent
    if container.name[: len(staging.PREFIX)] != staging.PREFIX or Path(intent.staged).name != staging.RELEASE:
        raise ValueError
    if not is_plain_name(os.path.basename(intent.target)) or not is_plain_name(os.path.basename(intent.notes)):
        raise ValueError
    if not all(os.path.isabs(path) for path in (intent.target, intent.staged, intent.notes, *intent.made)):
        raise ValueError
    if any(is_foreign_link(folder) for folder in Path(intent.notes).parents):
        raise ValueError


def _require_contents(journal: int, contents: Mapping[str, str]) -> None:
    """ValueError unless the journal's notes are those that were signed, and so is each sketch that is still there."""
    for folder in (NOTES, KEPT):
        signed = {path.split("/", 1)[1]: digest for path, digest in contents.items() if path.startswith(folder + "/")}
        with open_folder(folder, journal) as handle:
            names = os.listdir(handle)
            if not set(names) <= set(signed) or (folder == NOTES and set(names) != set(signed)):
                raise ValueError
            for name in names:
                content = directory_handles.read_private_file(name, handle)
                if hashlib.sha256(content).hexdigest() != signed[name]:
                    raise ValueError


def settle(ledger: Path) -> str | None:
    """Complete or roll back what a dead process began; a sentence about it.  The ledger's lock is held."""
    intent = read(ledger)
    (ledger / (KEY + ".part")).unlink(missing_ok=True)
    if intent is None:
        shutil.rmtree(draft_of(ledger), ignore_errors=True)
        return None
    target = Path(intent.target)
    staged = Path(intent.staged)
    digest = intent.entry["digest"]
    genuine = staging.adopt(ledger, staged, (intent.device, intent.inode))
    if digest_of(target) != digest:
        if genuine and digest_of(staged) == digest:
            try:
                roll_back(ledger, intent)
            except staging.NotOurs as reason:
                staging.leave(staged)
                raise _refused(ledger, f"Of {str(staged.parent)!r}: {reason}.") from None
            return f"A publication of {target.name!r} was interrupted: it was rolled back, and what stood there stands."
        if not genuine and os.path.lexists(staged.parent):
            raise _refused(ledger, f"What was staged lies in {str(staged.parent)!r}, which is not what was recorded.")
    complete(ledger, intent)
    return f"A publication of {target.name!r} was interrupted after it was in place: its notes were completed."


def complete(ledger: Path, intent: Intent) -> None:
    """Everything that follows the exchange; each step may have been done before."""
    keep_sketches(ledger, intent)
    write_notes(ledger, intent)
    add_line(ledger, intent)
    switch_notes(intent)
    private.sync(Path(intent.notes).parent)
    close(ledger, intent)


def keep_sketches(ledger: Path, intent: Intent) -> None:
    for mark in intent.sketches:
        private.make_folder(ledger / SKETCHES, inside=True)
        if (ledger / JOURNAL / KEPT / mark).exists():
            os.replace(ledger / JOURNAL / KEPT / mark, ledger / SKETCHES / mark)
        if (ledger / SKETCHES / mark).exists():
            private.share_as_folder(ledger / SKETCHES / mark)
    if intent.sketches:
        private.sync(ledger / SKETCHES)


def write_notes(ledger: Path, intent: Intent) -> None:
    """The owner's notes beside their place."""
    beside, notes = intent.notes_beside, ledger / JOURNAL / NOTES
    private.make_folder(beside.parent)
    if intent.batches and not (beside.parent / PLACE).exists():
        private.write(beside.parent / PLACE, written_place(Path(intent.batches)))
    _remove_notes_beside(intent)  # of a process that was ended here
    private.make_folder(beside, inside=True)
    for path in sorted(notes.iterdir()):
        private.write_new(beside / path.name, path.read_bytes())
    private.sync(beside)


def add_line(ledger: Path, intent: Intent) -> None:
    private.write_at(ledger / LEDGER, intent.size, json.dumps(intent.entry).encode() + b"\n")
    private.sync(ledger)


def switch_notes(intent: Intent) -> None:
    put(intent.notes_beside, Path(intent.notes), intent.notes_aside, replace=os.path.lexists(intent.notes))


def close(ledger: Path, intent: Intent) -> None:
    """Nothing remains of what was replaced, and the journal ends."""
    _remove_notes_beside(intent)
    staging.discard(Path(intent.staged))
    _end(ledger)


def _end(ledger: Path) -> None:
    draft = draft_of(ledger)
    shutil.rmtree(draft, ignore_errors=True)
    os.rename(ledger / JOURNAL, draft)
    private.sync(ledger)
    shutil.rmtree(draft, ignore_errors=True)


def _remove_notes_beside(intent: Intent) -> None:
    for folder in (intent.notes_beside, intent.notes_aside):
        if folder.exists():
            shutil.rmtree(folder)


def roll_back(ledger: Path, intent: Intent) -> None:
    """Nothing remains of what was begun; the release that was to be replaced stands, or none."""
    staging.restore(Path(intent.staged))
    if (ledger / LEDGER).exists() and (ledger / LEDGER).stat().st_size > intent.size:
        private.write_at(ledger / LEDGER, intent.size, b"")
    for mark in intent.sketches:
        (ledger / SKETCHES / mark).unlink(missing_ok=True)
    _remove_notes_beside(intent)
    _end(ledger)  # before what was staged goes, by which `settle` knows that nothing had happened
    staging.discard(Path(intent.staged))
    with suppress(OSError):
        for folder in map(Path, intent.made):
            (folder / PLACE).unlink(missing_ok=True)
            folder.rmdir()
