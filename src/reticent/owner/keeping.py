"""Keeping a release: journalled, put in its place in one step, noted; or undone if any of it fails.

At every moment the old release or the new one stands whole (or none, before the first).  A process that is ended in the
middle leaves its journal, and the next command settles it (`journal`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reticent.errors import OutputExists
from reticent.owner import journal, private, staging
from reticent.owner.exchange import put, take_back
from reticent.owner.journal import Intent
from reticent.owner.places import digest_noted, digest_of, notes_of
from reticent.owner.signals import uninterrupted
from reticent.release.disk import writing


def refuse_existing(target: Path, force: bool) -> None:
    with writing(target):
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


def keep(ledger: Path, intent: Intent, notes: Mapping[str, bytes | str], sketches: Mapping[str, bytes]) -> None:
    """A staged release in its place, in the ledger and in the owner's notes.  The ledger's lock is held."""
    staged, target = Path(intent.staged), Path(intent.target)
    switched = False
    try:
        with writing(ledger):
            journal.begin(ledger, intent, notes, sketches)
        with writing(target):
            _put_in_place(staged, target)
        with writing(ledger):
            journal.keep_sketches(ledger, intent)
        with writing(Path(intent.notes)):
            journal.write_notes(ledger, intent)
        with writing(ledger):
            journal.add_line(ledger, intent)
        with writing(Path(intent.notes)):
            journal.switch_notes(intent)
            switched = True
            private.sync(Path(intent.notes).parent)
    except BaseException:
        if os.path.lexists(ledger / journal.JOURNAL):
            try:
                _undo(ledger, intent, switched)
            except OSError:  # what cannot be undone now is settled by the next command
                staging.leave(staged)
        raise
    with suppress(OSError):  # the release is kept; the next command clears what is left
        journal.close(ledger, intent)


def refuse_noted(target: Path, digest: str) -> None:
    """Refuse to put a copy of a release where the owner's notes speak of another: audits would take it for a forgery."""
    noted = [digest_noted(notes) for notes in notes_of(target)]
    if any(one is not None and one != digest for one in noted):
        raise OutputExists(
            f"{target} was published from here: your notes and the ledger have the digest of what stands there.",
            why="A copy of another release in its place would be taken for a forged one.",
            attempt="another name.",
        )


def put_alone(staged: Path, target: Path, force: bool) -> None:
    """A staged copy of a release in its place; nothing is noted of it."""
    with uninterrupted(), writing(target):
        os.chmod(staged, 0o755)
        private.sync_all(staged)
        refuse_existing(target, force)
        _put_in_place(staged, target)
        staging.discard(staged)


def _put_in_place(staged: Path, target: Path) -> None:
    replace = os.path.lexists(target)
    try:
        put(staged, target, staged.parent / staging.REPLACED, replace=replace)
    except FileExistsError:
        raise OutputExists(f"{target} exists by now: another process made it.", attempt="another name.") from None
    private.sync(target.parent)
    private.sync(staged.parent)


def _undo(ledger: Path, intent: Intent, switched: bool) -> None:
    """Take back what was done since the journal was begun, the latest first."""
    staged, target, digest = Path(intent.staged), Path(intent.target), intent.entry["digest"]
    if switched:
        take_back(intent.notes_beside, Path(intent.notes), intent.notes_aside)
    if digest_of(staged) != digest and digest_of(target) == digest:
        take_back(staged, target, staged.parent / staging.REPLACED)
        private.sync(target.parent)
    journal.roll_back(ledger, intent)
