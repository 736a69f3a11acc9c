"""Commits a release: journals it, puts it in its place in one step, records it; undoes all of it if any step fails.

At every moment the old release or the new one is complete (or none, before the first). A process that ends in the
middle leaves its journal, and the next command settles it (`journal`).

`recover` settles what interrupted runs of this user left, by the ledger's journal and staging records. It looks at
nothing else: what is in the temporary folder, beside an output or inside an input may be anybody's, and stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from reticent.errors import OutputExists, pluralize
from reticent.format.folder import translate_disk_errors
from reticent.ledger import journal, private_files, staging
from reticent.ledger.atomic_rename import replace_dir, undo_replace
from reticent.ledger.journal import CommitIntent
from reticent.ledger.paths import compute_release_digest, list_notes_folders, read_digest_file
from reticent.ledger.staging import ignore_signals
from reticent.ledger.storage import LOCK_FILE


def require_target_free(target: Path, force: bool) -> None:
    with translate_disk_errors(target):
        exists = os.path.lexists(target)
        is_release = (target / "manifest.json").exists()
        is_empty = target.is_dir() and not any(target.iterdir())
    if exists and not force:
        raise OutputExists(
            f"{target} exists.",
            why="A release is never overwritten silently.",
            attempt="another name, or --force (force=True).",
        )
    if exists and not (is_release or is_empty):
        raise OutputExists(
            f"{target} exists and is no release.", why="--force replaces releases only.", attempt="another name."
        )


def commit_release(
    ledger: Path, intent: CommitIntent, notes: Mapping[str, bytes | str], sketches: Mapping[str, bytes]
) -> None:
    """Put a staged release in its place, in the ledger and in the owner's notes. The caller holds the ledger's lock."""
    staged = Path(intent.staged)
    target = Path(intent.target)
    switched = False
    try:
        with translate_disk_errors(ledger):
            journal.write_journal(ledger, intent, notes, sketches)
        with translate_disk_errors(target):
            _place_release(staged, target)
        with translate_disk_errors(ledger):
            journal.store_sketches(ledger, intent)
        with translate_disk_errors(Path(intent.notes)):
            journal.write_notes(ledger, intent)
        with translate_disk_errors(ledger):
            journal.append_entry(ledger, intent)
        with translate_disk_errors(Path(intent.notes)):
            journal.replace_notes(intent)
            switched = True
            private_files.sync_to_disk(Path(intent.notes).parent)
    except BaseException:
        if os.path.lexists(ledger / journal.JOURNAL_FOLDER):
            try:
                _undo_commit(ledger, intent, switched)
            except OSError:  # what cannot be undone now is settled by the next command
                staging.leave_staged(staged)
        raise
    with suppress(OSError):  # the release is kept; the next command clears what is left
        journal.close_journal(ledger, intent)


def require_not_recorded(target: Path, digest: str) -> None:
    """Refuse to put a copy of a release where the owner's notes are on another: audits would take it for a forgery."""
    noted = [read_digest_file(notes) for notes in list_notes_folders(target)]
    if any(one is not None and one != digest for one in noted):
        raise OutputExists(
            f"{target} was published from here: your notes and the ledger have the digest of what stands there.",
            why="A copy of another release in its place would be taken for a forged one.",
            attempt="another name.",
        )


def place_copy(staged: Path, target: Path, force: bool) -> None:
    """Put a staged copy of a release in its place, without recording it."""
    with ignore_signals(), translate_disk_errors(target):
        os.chmod(staged, 0o755)
        private_files.sync_tree(staged)
        require_target_free(target, force)
        _place_release(staged, target)
        staging.discard_staged(staged)


def _place_release(staged: Path, target: Path) -> None:
    replace = os.path.lexists(target)
    try:
        replace_dir(staged, target, staged.parent / staging.REPLACED_FOLDER, replace=replace)
    except FileExistsError:
        raise OutputExists(f"{target} exists by now: another process made it.", attempt="another name.") from None
    private_files.sync_to_disk(target.parent)
    private_files.sync_to_disk(staged.parent)


def _undo_commit(ledger: Path, intent: CommitIntent, switched: bool) -> None:
    """Undo what was done since the journal was begun, the latest step first."""
    staged = Path(intent.staged)
    target = Path(intent.target)
    digest = intent.entry["digest"]
    if switched:
        undo_replace(intent.staged_notes, Path(intent.notes), intent.old_notes)
    if compute_release_digest(staged) != digest and compute_release_digest(target) == digest:
        undo_replace(staged, target, staged.parent / staging.REPLACED_FOLDER)
        private_files.sync_to_disk(target.parent)
    journal.roll_back_commit(ledger, intent)


MAX_NAMED_FOLDERS = 3


def recover(ledger: Path, targets: Iterable[Path] = (), *, only_journal: bool = False) -> list[str]:
    """Settle a ledger's journal and remove the staging folders that it has records of.

    Returns sentences on what was done. With `only_journal`, for commands that write nothing, only a ledger of this
    user's own is settled, and no folder is removed but the one that its journal is about. This user's folders of
    older versions beside the outputs of `targets` are only named.
    """
    if not private_files.has_directory_handles() or (only_journal and not _is_own_ledger(ledger)):
        return []
    sentences: list[str] = []
    if journal.is_pending(ledger):
        with translate_disk_errors(ledger), private_files.hold_lock(ledger / LOCK_FILE):
            sentence = journal.settle_journal(ledger)
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


def _is_own_ledger(ledger: Path) -> bool:
    """Tell whether a ledger's folder belongs to this user."""
    try:
        return os.stat(ledger).st_uid == private_files.get_user_id()
    except OSError:
        return False


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
