"""Commits a release: journals it, puts it in its place in one step, records it; undoes all of it if any step fails.

`commit` is the one way into the ledger: `publish`, `Release.save` and each of several batches come here.  At every
moment the old release or the new one is complete (or none, before the first).  A process that ends in the middle leaves
its journal, and the next command settles it (`journal`).

`prepare_target` comes first: it settles what interrupted runs left and refuses an impossible target.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reticent import operating_system
from reticent.data.source import Source
from reticent.errors import OutputExists
from reticent.format.folder import translate_disk_errors
from reticent.ledger import journal, private_files, staging
from reticent.ledger.exclusions import LEFT_OUT_FILE, MAX_LEFT_OUT_PEOPLE
from reticent.ledger.fingerprint import CountedRows, pack_sketch
from reticent.ledger.journal import SKETCHES_FOLDER, CommitIntent, recover
from reticent.ledger.ledger import Ledger, require_no_repeats
from reticent.ledger.notes import PublicationRecord, build_notes
from reticent.ledger.paths import (
    compute_release_digest,
    list_notes_folders,
    read_digest_file,
    require_separate_folders,
    resolve_notes_folder,
)
from reticent.ledger.private_files import LEDGER_FILE, read_entries, replace_dir, undo_replace
from reticent.ledger.witness import encrypt_witness
from reticent.operating_system import ignore_signals
from reticent.progress import ProgressCallback, ProgressEvent
from reticent.redaction import redact


def prepare_target(target: Path, ledger: Ledger, force: bool) -> list[str]:
    """Settle what interrupted runs left, and refuse an impossible target, before any data is read.

    Returns sentences about what was settled.
    """
    require_separate_folders(target, ledger.folder)
    sentences = recover(ledger.folder, [target])
    require_target_free(target, force)
    return sentences


def commit(
    staged: Path,
    target: Path,
    record: PublicationRecord,
    ledger: Ledger,
    *,
    force: bool,
    again: bool,
    progress: ProgressCallback = lambda stage: None,
) -> PublicationRecord:
    """Put a staged release in its place and record it in the ledger and the owner's notes, whole or not at all.

    With `again`, people may be published again: what their releases reveal together is checked first, and is among the
    notices of the record that is returned.
    """
    record = replace(
        record,
        notices=(*record.notices, *record.rows.identifiers.notices, *ledger.describe_known_people(record.rows)),
    )
    if again:
        progress(ProgressEvent("joining with earlier releases", 0.95))
        record = replace(record, notices=(*record.notices, *record.composition_check(staged, ledger)))
    with translate_disk_errors(target):
        operating_system.set_mode(staged, 0o755)
        private_files.sync_tree(staged)
    key = ledger.ensure_key()
    with ignore_signals(), ledger.lock():
        journal.settle_journal(ledger.folder)
        require_target_free(target, force)
        entries = ledger.select_counting(read_entries(ledger.folder / LEDGER_FILE))
        if not again:  # another process may have published them meanwhile
            published_rows = record.rows if ledger.batch is None else ledger.batch.all_rows
            require_no_repeats(ledger.select_repeats(published_rows, key, entries))
        earlier = [repeat.entry for repeat in ledger.select_repeats(record.rows, key, entries)]
        entry, sketches = _make_entry(ledger, staged, target, record.rows, key)
        entry["promises"] = record.promises
        entry["repeats"] = list(dict.fromkeys(repeated["digest"] for repeated in earlier))
        intent = _make_intent(ledger, staged, target, entry, list(sketches))
        encrypted = None if record.witness is None else encrypt_witness(record.witness, key)
        notes = build_notes(record, entry, earlier, target, encrypted)
        if record.left_out is not None and len(record.left_out.hashes) <= MAX_LEFT_OUT_PEOPLE:
            notes[LEFT_OUT_FILE] = record.left_out.pack(key, entry["digest"])
        commit_journaled(ledger.folder, intent, notes, sketches)
    return record


def commit_journaled(
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
            operating_system.sync_to_disk(Path(intent.notes).parent)
    except BaseException:
        if os.path.lexists(ledger / journal.JOURNAL_FOLDER):
            try:
                _undo_commit(ledger, intent, switched)
            except OSError:  # what cannot be undone now is settled by the next command
                staging.leave_staged(staged)
        raise
    with suppress(OSError):  # the release is kept; the next command clears what is left
        journal.close_journal(ledger, intent)


def require_target_free(target: Path, force: bool) -> None:
    with translate_disk_errors(target):
        exists = os.path.lexists(target)
        is_release = (target / "manifest.json").exists()
        is_empty = target.is_dir() and not any(target.iterdir())
    if exists and not (is_release or is_empty):
        raise OutputExists(
            f"{target} exists and is no release.", why="--force replaces releases only.", attempt="another name."
        )
    if exists and not force:
        raise OutputExists(
            f"{target} exists.",
            why="A release is never overwritten silently.",
            attempt="another name, or --force (force=True).",
        )
    if exists:
        require_replaceable(target)


def require_replaceable(target: Path) -> None:
    """Refuse to replace a folder where a run that is interrupted half-way could not be put right."""
    if not operating_system.can_recover():
        raise OutputExists(
            f"{target} exists, and this system cannot replace a folder safely.",
            why="That takes two renames here. Between them there is no folder of this name, and if the process ended then the "
            "next command could not tell what it had left from what somebody else has put there.",
            attempt="another name.",
        )


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
        operating_system.set_mode(staged, 0o755)
        private_files.sync_tree(staged)
        require_target_free(target, force)
        _place_release(staged, target)
        staging.discard_staged(staged)


def require_export_free(target: Path, force: bool, mark: str) -> None:
    """Refuse to write an export where something is; with `force` a file or an earlier export is replaced, nothing else.

    `mark` is the name of a file that every folder of an export holds, and no release.
    """
    with translate_disk_errors(target):
        exists = os.path.lexists(target)
        is_folder = target.is_dir() and not target.is_symlink()
        is_export = is_folder and (target / mark).is_file() and not (target / "manifest.json").exists()
        is_empty = is_folder and not any(target.iterdir())
    if is_folder and not (is_export or is_empty):
        raise OutputExists(
            f"{target} exists and is no export.",
            why="--force replaces files and folders that export wrote, nothing else.",
            attempt="another name.",
        )
    if exists and not force:
        raise OutputExists(
            f"{target} exists.", why="Nothing was written.", attempt="another name, or --force (force=True)."
        )
    if is_folder:
        require_replaceable(target)


def place_export(staged: Path, target: Path, force: bool, mark: str) -> None:
    """Put a staged folder of an export in its place, in one step."""
    with ignore_signals(), translate_disk_errors(target):
        operating_system.set_mode(staged, 0o755)
        private_files.sync_tree(staged)
        require_export_free(target, force, mark)
        _place_release(staged, target)
        staging.discard_staged(staged)


def _make_entry(
    ledger: Ledger, staged: Path, target: Path, rows: CountedRows, key: bytes
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Make a release's line, and the sketches of its rows and of all batches' rows that the ledger lacks."""
    content = rows.hash_values(key).content
    entry: dict[str, Any] = {
        "format": private_files.LEDGER_FORMAT,
        "release": target.name,
        "folder": str(target.resolve().parent),
        "digest": compute_release_digest(staged),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "content": content.mark,
        "rows": content.rows,
        "columns": list(content.columns),
        "user": operating_system.get_user_name(),
        "source": _describe_source(rows.source if ledger.batch is None else ledger.batch.all_rows.source),
        **_describe_staged(staged),
    }
    contents = {content.mark: content}
    if ledger.batch is not None:
        all_content = ledger.batch.all_rows.hash_values(key).content
        contents[all_content.mark] = all_content
        entry |= {"publication": ledger.batch.publication, "whole": all_content.mark}
    folder = ledger.folder / SKETCHES_FOLDER
    sketches = {mark: pack_sketch(lacking) for mark, lacking in contents.items() if not (folder / mark).exists()}
    packed = [column.pack(key) for column in rows.identifiers.hash_values(key)]
    if packed:
        entry["people"] = [line for line, _ in packed]
        sketches |= {
            name: words for _, files in packed for name, words in files.items() if not (folder / name).exists()
        }
    return entry, sketches


def _describe_staged(staged: Path) -> dict[str, Any]:
    """Return what the list of releases shows of a staged one: its kind, published and withheld rows, and its title."""
    manifest = json.loads((staged / "manifest.json").read_bytes())
    entry = {"kind": manifest["kind"], "published": manifest["rows"], "withheld": manifest["withheld"]}
    title = manifest.get("about", {}).get("title")
    return entry if title is None else {**entry, "title": title}


def _describe_source(source: Source | None) -> str:
    """Describe where rows were read from, without a password: a path, an address and its table, or a frame."""
    if source is None or (source.path is None and source.url is None):
        return "frame"
    if source.path is not None:
        return os.path.abspath(source.path)
    return redact(f"{source.url} {source.table or source.query or ''}".strip())


def _make_intent(ledger: Ledger, staged: Path, target: Path, entry: dict[str, Any], marks: list[str]) -> CommitIntent:
    """Describe what is about to be committed; `marks` are those of sketches that the ledger lacks."""
    notes = resolve_notes_folder(target) if ledger.batch is None else ledger.batch.notes / target.name
    ledger_file = ledger.folder / LEDGER_FILE
    device, inode = staging.get_staged_identity(staged)
    return CommitIntent(
        target=os.path.abspath(target),
        staged=os.path.abspath(staged),
        notes=os.path.abspath(notes),
        made=[os.path.abspath(folder) for folder in notes.parents if not folder.exists()],
        size=ledger_file.stat().st_size if ledger_file.exists() else 0,
        sketches=marks,
        entry=entry,
        batches="" if ledger.batch is None else str(ledger.batch.target.resolve()),
        device=device,
        inode=inode,
    )


def _place_release(staged: Path, target: Path) -> None:
    replace = os.path.lexists(target)
    try:
        replace_dir(staged, target, staged.parent / staging.REPLACED_FOLDER, replace=replace)
    except FileExistsError:
        raise OutputExists(f"{target} exists by now: another process made it.", attempt="another name.") from None
    operating_system.sync_to_disk(target.parent)
    operating_system.sync_to_disk(staged.parent)


def _undo_commit(ledger: Path, intent: CommitIntent, switched: bool) -> None:
    """Undo what was done since the journal was begun, the latest step first."""
    staged = Path(intent.staged)
    target = Path(intent.target)
    digest = intent.entry["digest"]
    if switched:
        undo_replace(intent.staged_notes, Path(intent.notes), intent.old_notes)
    if compute_release_digest(staged) != digest and compute_release_digest(target) == digest:
        undo_replace(staged, target, staged.parent / staging.REPLACED_FOLDER)
        operating_system.sync_to_disk(target.parent)
    journal.roll_back_commit(ledger, intent)
