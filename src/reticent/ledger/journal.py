"""The journal of a ledger: what is about to be committed, written before anything changes.

    ledger.journal/
        intent.json     what is committed where, the ledger's line for it, and what there was before
        notes/          the owner's notes on it
        sketches/       what the ledger will keep of its rows

The folder gets its name in one step, when all of it is on the disk, and loses it when everything is in place. A
process that holds the ledger's lock and finds a journal knows that its maker is dead, and settles it: if the release
is in its place, the remaining steps are done, and otherwise nothing of it remains.

The intent is signed with the ledger's secret (`private_files`): all paths, the staging folder's device and inode, and the
contents of every note and sketch. A journal that belongs to another user, has other modes than 700 and 600, or is not
signed for this very ledger (as those of older versions) is not settled; the owner gets an error.

`recover` settles what interrupted runs of this user left, by the ledger's journal and staging records. It looks at
nothing else: what is in the temporary folder, beside an output or inside an input may be anybody's, and stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from reticent import operating_system
from reticent.errors import RequestError, pluralize
from reticent.format.folder import translate_disk_errors
from reticent.ledger import private_files, staging
from reticent.ledger.paths import PLACE_FILE, compute_release_digest, encode_place, is_foreign_link
from reticent.ledger.private_files import (
    KEY_FILE,
    LEDGER_FILE,
    LOCK_FILE,
    is_plain_name,
    is_private_folder,
    is_signed,
    read_key,
    replace_dir,
    sign_fields,
)
from reticent.operating_system import belongs_to_other_user, get_user_id, open_folder

SKETCHES_FOLDER = "ledger-sketches"
JOURNAL_FOLDER = "ledger.journal"
INTENT_FILE = "intent.json"
NOTES_FOLDER = "notes"
PENDING_SKETCHES_FOLDER = "sketches"
MAX_NAMED_FOLDERS = 3  # staging folders of older versions that a sentence names
_SIGNING_PURPOSE = "reticent journal"
_HEXADECIMAL_PATTERN = re.compile(r"[0-9a-f]{16,128}")


@dataclass(frozen=True, slots=True)
class CommitIntent:
    """A release that is about to be committed. Paths are absolute."""

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
    def staged_notes(self) -> Path:
        """Where the notes are written before they are put in place; afterwards, where the old ones are."""
        notes = Path(self.notes)
        return notes.with_name(f".reticent-notes-{self.entry['digest'][:16]}")

    @property
    def old_notes(self) -> Path:
        """Where the old notes go if the two cannot be exchanged in one step."""
        return self.staged_notes.with_name(self.staged_notes.name + ".old")


def recover(ledger: Path, targets: Iterable[Path] = (), *, only_journal: bool = False) -> list[str]:
    """Settle a ledger's journal and remove the staging folders that it has records of.

    Returns sentences on what was done. With `only_journal`, for commands that write nothing, only a ledger of this
    user's own is settled, and no folder is removed but the one that its journal is about. This user's folders of
    older versions beside the outputs of `targets` are only named.
    """
    if not operating_system.can_recover() or (only_journal and not _is_own_ledger(ledger)):
        return []
    sentences: list[str] = []
    if is_pending(ledger):
        with translate_disk_errors(ledger), private_files.hold_lock(ledger / LOCK_FILE):
            sentence = settle_journal(ledger)
        sentences += [sentence] if sentence else []
    if only_journal:
        return sentences
    with translate_disk_errors(ledger):
        removed, left_alone = staging.remove_abandoned(ledger)
    if removed:
        verb = "was" if removed == 1 else "were"
        sentences.append(f"{pluralize(removed, 'staging folder')} of interrupted runs {verb} removed.")
    sentences += left_alone
    for place in dict.fromkeys(target.parent for target in targets):
        sentences += describe_older_folders(place)
    return sentences


def describe_older_folders(place: Path, min_age: float = 0) -> list[str]:
    """Return a sentence about this user's staging folders of older versions in a place, if there are any."""
    names = staging.list_older_folders(place, min_age)
    if not names:
        return []
    more = f" and {len(names) - MAX_NAMED_FOLDERS:,} more" if len(names) > MAX_NAMED_FOLDERS else ""
    listed = ", ".join(repr(name) for name in names[:MAX_NAMED_FOLDERS])
    return [
        f"{str(place)!r} holds {pluralize(len(names), 'staging folder')} of an older version, which nothing is done with: "
        f"{listed}{more}. Look at them, and remove them by hand when nobody publishes by that version."
    ]


def locate_draft(ledger: Path) -> Path:
    """Return the folder of a journal of this user before it gets its name, and after it has lost it."""
    return ledger / f".ledger.journal-{get_user_id()}"


def write_journal(
    ledger: Path, intent: CommitIntent, notes: Mapping[str, bytes | str], sketches: Mapping[str, bytes]
) -> None:
    """Write the journal, whole or not at all. The caller holds the ledger's lock."""
    draft = locate_draft(ledger)
    try:
        _make_private_folder(draft)
        contents = {}
        for folder, files in ((NOTES_FOLDER, notes), (PENDING_SKETCHES_FOLDER, sketches)):
            _make_private_folder(draft / folder)
            for name, content in files.items():
                written = content.encode(errors="surrogateescape") if isinstance(content, str) else content
                private_files.write_new_file(draft / folder / name, written)
                contents[f"{folder}/{name}"] = hashlib.sha256(written).hexdigest()
            operating_system.sync_to_disk(draft / folder)
        stated = {**asdict(intent), "contents": contents}
        signed = {**stated, "mac": sign_fields(ledger, read_key(ledger), _SIGNING_PURPOSE, stated)}
        private_files.write_new_file(draft / INTENT_FILE, json.dumps(signed))
        operating_system.sync_to_disk(draft)
        os.rename(draft, ledger / JOURNAL_FOLDER)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    operating_system.sync_to_disk(ledger)


def is_pending(ledger: Path) -> bool:
    """Tell whether a journal was left to settle."""
    names = (ledger / JOURNAL_FOLDER, locate_draft(ledger), ledger / (KEY_FILE + ".part"))
    return any(os.path.lexists(name) for name in names)


def read_intent(ledger: Path) -> CommitIntent | None:
    """Read the journal's intent; None if there is no journal.

    Raises RequestError if the journal is not this user's and this ledger's.
    """
    if not os.path.lexists(ledger / JOURNAL_FOLDER):
        return None
    if not operating_system.can_recover():
        raise _make_journal_error(
            ledger, "This system has no user ids, modes, locks or folder handles to know its maker by."
        )
    try:
        with open_folder(ledger / JOURNAL_FOLDER) as journal:
            if belongs_to_other_user(os.fstat(journal)):
                raise _make_journal_error(
                    ledger, "Another user's publication was interrupted: only theirs can settle it."
                )
            if not is_private_folder(journal):
                raise _make_journal_error(ledger, "Others than you may have written to it: its mode is not 700.")
            stated = json.loads(private_files.read_private_file(INTENT_FILE, journal))
            mac = stated.pop("mac", None)
            if mac is None:
                raise _make_journal_error(ledger, "It was left by an older version, which did not sign it.")
            if not is_signed(ledger, read_key(ledger), _SIGNING_PURPOSE, stated, mac):
                raise _make_journal_error(ledger, "It is not signed with this ledger's secret for this folder.")
            intent = CommitIntent(**{field.name: stated[field.name] for field in fields(CommitIntent)})
            _require_valid_intent(intent)
            _require_signed_contents(journal, stated["contents"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _make_journal_error(ledger, "It is damaged.") from None
    return intent


def settle_journal(ledger: Path) -> str | None:
    """Complete or roll back what a dead process began; return a sentence on it. The caller holds the ledger's lock."""
    intent = read_intent(ledger)
    (ledger / (KEY_FILE + ".part")).unlink(missing_ok=True)
    if intent is None:
        shutil.rmtree(locate_draft(ledger), ignore_errors=True)
        return None
    target = Path(intent.target)
    staged = Path(intent.staged)
    digest = intent.entry["digest"]
    genuine = staging.adopt_staged(ledger, staged, (intent.device, intent.inode))
    if compute_release_digest(target) != digest:
        if genuine and compute_release_digest(staged) == digest:
            try:
                roll_back_commit(ledger, intent)
            except staging.UntrustedStagingError as reason:
                staging.leave_staged(staged)
                raise _make_journal_error(ledger, f"Of {str(staged.parent)!r}: {reason}.") from None
            return f"A publication of {target.name!r} was interrupted: it was rolled back, and what stood there stands."
        if not genuine and os.path.lexists(staged.parent):
            raise _make_journal_error(
                ledger, f"What was staged lies in {str(staged.parent)!r}, which is not what was recorded."
            )
    complete_commit(ledger, intent)
    return f"A publication of {target.name!r} was interrupted after it was in place: its notes were completed."


def complete_commit(ledger: Path, intent: CommitIntent) -> None:
    """Do everything that follows the exchange; each step may have been done before."""
    store_sketches(ledger, intent)
    write_notes(ledger, intent)
    append_entry(ledger, intent)
    replace_notes(intent)
    operating_system.sync_to_disk(Path(intent.notes).parent)
    close_journal(ledger, intent)


def store_sketches(ledger: Path, intent: CommitIntent) -> None:
    for mark in intent.sketches:
        private_files.make_folder(ledger / SKETCHES_FOLDER, inside=True)
        if (ledger / JOURNAL_FOLDER / PENDING_SKETCHES_FOLDER / mark).exists():
            os.replace(ledger / JOURNAL_FOLDER / PENDING_SKETCHES_FOLDER / mark, ledger / SKETCHES_FOLDER / mark)
        if (ledger / SKETCHES_FOLDER / mark).exists():
            private_files.match_folder_mode(ledger / SKETCHES_FOLDER / mark)
    if intent.sketches:
        operating_system.sync_to_disk(ledger / SKETCHES_FOLDER)


def write_notes(ledger: Path, intent: CommitIntent) -> None:
    """Write the owner's notes beside their place."""
    beside = intent.staged_notes
    notes = ledger / JOURNAL_FOLDER / NOTES_FOLDER
    private_files.make_folder(beside.parent)
    if intent.batches and not (beside.parent / PLACE_FILE).exists():
        private_files.write_file(beside.parent / PLACE_FILE, encode_place(Path(intent.batches)))
    _remove_staged_notes(intent)  # of a process that was ended here
    private_files.make_folder(beside, inside=True)
    for path in sorted(notes.iterdir()):
        private_files.write_new_file(beside / path.name, path.read_bytes())
    operating_system.sync_to_disk(beside)


def append_entry(ledger: Path, intent: CommitIntent) -> None:
    private_files.write_after(ledger / LEDGER_FILE, intent.size, json.dumps(intent.entry).encode() + b"\n")
    operating_system.sync_to_disk(ledger)


def replace_notes(intent: CommitIntent) -> None:
    replace_dir(intent.staged_notes, Path(intent.notes), intent.old_notes, replace=os.path.lexists(intent.notes))


def close_journal(ledger: Path, intent: CommitIntent) -> None:
    """Remove what was replaced, and end the journal."""
    _remove_staged_notes(intent)
    staging.discard_staged(Path(intent.staged))
    _end_journal(ledger)


def roll_back_commit(ledger: Path, intent: CommitIntent) -> None:
    """Remove everything that was begun; the release that was to be replaced stays, if there was one."""
    staging.restore_replaced(Path(intent.staged))
    if (ledger / LEDGER_FILE).exists() and (ledger / LEDGER_FILE).stat().st_size > intent.size:
        private_files.write_after(ledger / LEDGER_FILE, intent.size, b"")
    for mark in intent.sketches:
        (ledger / SKETCHES_FOLDER / mark).unlink(missing_ok=True)
    _remove_staged_notes(intent)
    _end_journal(ledger)  # before what was staged goes, by which `settle_journal` knows that nothing had happened
    staging.discard_staged(Path(intent.staged))
    with suppress(OSError):
        for folder in map(Path, intent.made):
            (folder / PLACE_FILE).unlink(missing_ok=True)
            folder.rmdir()


def _is_own_ledger(ledger: Path) -> bool:
    """Tell whether a ledger's folder belongs to this user."""
    try:
        return not belongs_to_other_user(os.stat(ledger))
    except OSError:
        return False


def _make_private_folder(folder: Path) -> None:
    """Make a folder that only this user can enter, even in a shared ledger."""
    folder.mkdir(mode=private_files.PRIVATE_FOLDER_MODE)
    operating_system.set_mode(folder, private_files.PRIVATE_FOLDER_MODE)


def _make_journal_error(ledger: Path, why: str) -> RequestError:
    return RequestError(
        f"The ledger's journal {ledger / JOURNAL_FOLDER} cannot be read.",
        why=f"It says what was being published when a process was ended. {why}",
        attempt="a command of the user and version that published then; or removing it, after a look whether the latest "
        "release is in the ledger.",
    )


def _require_valid_intent(intent: CommitIntent) -> None:
    """Raise ValueError unless an intent has the right types, and names one target in the place where it was staged."""
    texts = [intent.target, intent.staged, intent.notes, intent.batches, *intent.made]
    marks = [intent.entry["digest"], *intent.sketches]
    if not all(isinstance(text, str) for text in texts) or not all(
        _HEXADECIMAL_PATTERN.fullmatch(mark) for mark in marks
    ):
        raise ValueError
    if not all(type(number) is int for number in (intent.size, intent.device, intent.inode)):
        raise ValueError
    container = Path(intent.staged).parent
    if (
        container.name[: len(staging.STAGING_PREFIX)] != staging.STAGING_PREFIX
        or Path(intent.staged).name != staging.RELEASE_FOLDER
    ):
        raise ValueError
    if not is_plain_name(os.path.basename(intent.target)) or not is_plain_name(os.path.basename(intent.notes)):
        raise ValueError
    if not all(os.path.isabs(path) for path in (intent.target, intent.staged, intent.notes, *intent.made)):
        raise ValueError
    if any(is_foreign_link(folder) for folder in Path(intent.notes).parents):
        raise ValueError


def _require_signed_contents(journal: int, contents: Mapping[str, str]) -> None:
    """Raise ValueError unless the journal's notes, and those of its sketches that are still there, are as signed."""
    for folder in (NOTES_FOLDER, PENDING_SKETCHES_FOLDER):
        signed = {path.split("/", 1)[1]: digest for path, digest in contents.items() if path.startswith(folder + "/")}
        with open_folder(folder, journal) as handle:
            names = os.listdir(handle)
            if not set(names) <= set(signed) or (folder == NOTES_FOLDER and set(names) != set(signed)):
                raise ValueError
            for name in names:
                content = private_files.read_private_file(name, handle)
                if hashlib.sha256(content).hexdigest() != signed[name]:
                    raise ValueError


def _remove_staged_notes(intent: CommitIntent) -> None:
    for folder in (intent.staged_notes, intent.old_notes):
        if folder.exists():
            shutil.rmtree(folder)


def _end_journal(ledger: Path) -> None:
    draft = locate_draft(ledger)
    shutil.rmtree(draft, ignore_errors=True)
    os.rename(ledger / JOURNAL_FOLDER, draft)
    operating_system.sync_to_disk(ledger)
    shutil.rmtree(draft, ignore_errors=True)
