"""The journal of a ledger: what is about to be kept, written down before anything changes.

    ledger.journal/
        intent.json     what is kept where, the ledger's line for it, and what there was before
        notes/          the owner's notes on it
        sketches/       what the ledger will keep of its rows

The folder gets its name in one step, when all of it is on the disk, and loses it when everything is in place.  Who
holds the ledger's lock and finds a journal knows that its maker is dead, and settles it: if the release stands in its
place, the rest is done, and otherwise nothing of it remains.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from reticent.errors import RequestError
from reticent.owner import private, staging
from reticent.owner.exchange import put
from reticent.owner.places import PLACE, digest_of, written_place

LEDGER, KEY, SKETCHES, LOCK = "ledger.jsonl", "ledger.key", "ledger-sketches", "ledger.lock"
JOURNAL, DRAFT = "ledger.journal", ".ledger.journal"
INTENT = "intent.json"


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

    @property
    def notes_beside(self) -> Path:
        """Where the notes are written before they are put in place; the old ones, after that."""
        notes = Path(self.notes)
        return notes.with_name(f".reticent-notes-{self.entry['digest'][:16]}")

    @property
    def notes_aside(self) -> Path:
        """Where the old notes go if the two cannot be exchanged in one step."""
        return self.notes_beside.with_name(self.notes_beside.name + ".old")


def begin(ledger: Path, intent: Intent, notes: Mapping[str, bytes | str], sketches: Mapping[str, bytes]) -> None:
    """Write the journal, whole or not at all.  The ledger's lock is held."""
    draft = ledger / DRAFT
    try:
        for folder, files in (("notes", notes), ("sketches", sketches)):
            private.make_folder(draft / folder, inside=True)
            for name, content in files.items():
                private.write_new(draft / folder / name, content)
            private.sync(draft / folder)
        private.write_new(draft / INTENT, json.dumps(asdict(intent)))
        private.sync(draft)
        os.rename(draft, ledger / JOURNAL)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    private.sync(ledger)


def pending(ledger: Path) -> bool:
    """Whether something was left to settle."""
    return any(os.path.lexists(ledger / name) for name in (JOURNAL, DRAFT, KEY + ".part"))


def read(ledger: Path) -> Intent | None:
    """What the journal says; None where there is none."""
    if not os.path.lexists(ledger / JOURNAL):
        return None
    try:
        said = json.loads((ledger / JOURNAL / INTENT).read_text(encoding="utf-8"))
        intent = Intent(**{field.name: said[field.name] for field in fields(Intent)})
        texts = [
            intent.target,
            intent.staged,
            intent.notes,
            intent.batches,
            intent.entry["digest"],
            *intent.made,
            *intent.sketches,
        ]
        if not all(isinstance(text, str) for text in texts) or not isinstance(intent.size, int):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise RequestError(
            f"The ledger's journal {ledger / JOURNAL} cannot be read.",
            why="It says what was being published when a process was ended.",
            attempt="restoring it; or removing it, after a look whether the latest release is in the ledger.",
        ) from None
    return intent


def settle(ledger: Path) -> str | None:
    """Complete or roll back what a dead process began; a sentence about it.  The ledger's lock is held."""
    intent = read(ledger)
    (ledger / (KEY + ".part")).unlink(missing_ok=True)
    if intent is None:
        shutil.rmtree(ledger / DRAFT, ignore_errors=True)
        return None
    target, digest = Path(intent.target), intent.entry["digest"]
    if digest_of(target) != digest and digest_of(Path(intent.staged)) == digest:
        roll_back(ledger, intent)
        return f"A publication of {target.name!r} was interrupted: it was rolled back, and what stood there stands."
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
        if (ledger / JOURNAL / "sketches" / mark).exists():
            os.replace(ledger / JOURNAL / "sketches" / mark, ledger / SKETCHES / mark)
    if intent.sketches:
        private.sync(ledger / SKETCHES)


def write_notes(ledger: Path, intent: Intent) -> None:
    """The owner's notes beside their place."""
    beside, notes = intent.notes_beside, ledger / JOURNAL / "notes"
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
    os.rename(ledger / JOURNAL, ledger / DRAFT)
    private.sync(ledger)
    shutil.rmtree(ledger / DRAFT, ignore_errors=True)


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
