"""The ledger: one list, for all outputs of an owner, of which rows were published in which release.

Its folder is the one that a caller passes, else RETICENT_LEDGER, else one in the user's state folder:

    ledger.jsonl       a line for each release, which states its format
    ledger.key         the secret under which values are hashed; it is made with the ledger
    ledger-stages/     which staging folders there are, while there are any (`staging`)
    ledger-sketches/   what is kept of each table's content (`fingerprint`)
    ledger.journal/    while a release is being committed: what is about to change (`journal`)
    ledger-withdrawals.jsonl   which releases were withdrawn (`withdrawals`)

Ledgers of the first version are beside a release and identify a source by its bytes or its address
(`find_legacy_entries`). They are read and no longer written. They recognize a file that has not changed since, or a
database's table under the same address; not a frame, because they never recorded one.

`require_same_people` tells a caller that joins releases whether the ledger records them as made from the same rows.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reticent.data.source import Source
from reticent.errors import AlreadyPublished, RequestError, pluralize
from reticent.ledger import fingerprint, private_files
from reticent.ledger.fingerprint import CountedRows, HashedRows, measure_similarity
from reticent.ledger.identifiers import CommonPeople, HashedColumn, NotedColumn, compare_people, read_noted_columns
from reticent.ledger.journal import SKETCHES_FOLDER
from reticent.ledger.paths import (
    compute_release_digest,
    resolve_ledger_folder,
    resolve_notes_folder,
    resolve_owner_folder,
)
from reticent.ledger.private_files import (
    LEDGER_FILE,
    LOCK_FILE,
    ensure_key,
    make_unreadable_error,
    read_entries,
    read_legacy_entries,
)
from reticent.ledger.withdrawals import index_withdrawals, read_withdrawals, select_counting


def find_legacy_entries(entries: Sequence[dict[str, Any]], source: Source | None) -> list[dict[str, Any]]:
    """Return the entries of a first-version ledger that record this source."""
    if not entries or source is None:
        return []
    legacy_fingerprint = compute_legacy_fingerprint(source)
    return [entry for entry in entries if entry["source"] == legacy_fingerprint]


def compute_legacy_fingerprint(source: Source) -> str | None:
    """Compute the SHA-256 of a file's bytes, or of a database's address and query."""
    if source.url:
        from reticent.data.database import build_select
        from reticent.redaction import redact

        return hashlib.sha256(f"{redact(source.url)} {build_select(source.table, source.query)}".encode()).hexdigest()
    if source.path is None:
        return None
    with open(source.path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class BatchPublication:
    """The set that a batch belongs to: which publication it is, the rows of all batches, and their target folder."""

    publication: str
    all_rows: CountedRows
    target: Path

    @property
    def notes(self) -> Path:
        """The folder of the batches' notes."""
        return resolve_notes_folder(self.target)


@dataclass(frozen=True, slots=True)
class RepeatedRelease:
    """An earlier release of the same people, and the share of rows in common; 1 only where all rows are the same.

    Where people are the same and rows are not, `people` says how many, and `share` is their share.
    """

    entry: Mapping[str, Any]
    share: float
    people: CommonPeople | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger's folder; `batch` is set where the release is one of several batches."""

    folder: Path
    batch: BatchPublication | None = None

    @classmethod
    def open(cls, given: Ledger | str | Path | None = None) -> Ledger:
        """Return the ledger in a folder; without one, that of RETICENT_LEDGER or of the user."""
        return given if isinstance(given, Ledger) else cls(resolve_ledger_folder(given))

    def for_batches(self, all_rows: CountedRows, target: Path) -> Ledger:
        return replace(self, batch=BatchPublication(secrets.token_hex(8), all_rows, target))

    def read_entries(self) -> list[dict[str, Any]]:
        """Return the entries, oldest first."""
        with private_files.hold_read_lock(self.folder / LOCK_FILE):
            return read_entries(self.folder / LEDGER_FILE)

    def read_counting_entries(self) -> list[dict[str, Any]]:
        """Return the entries of releases that may be out, oldest first: those that were never handed out do not count."""
        with private_files.hold_read_lock(self.folder / LOCK_FILE):
            return self.select_counting(read_entries(self.folder / LEDGER_FILE))

    def select_counting(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Select the entries of releases that may be out. The caller holds the ledger's lock."""
        return select_counting(entries, index_withdrawals(read_withdrawals(self.folder)))

    def require_not_published(self, target: Path, rows: CountedRows | None, again: bool) -> None:
        """Refuse rows that were published before, all or most of them, unless the owner accepts it.

        A release that is to be replaced counts too: it may be out already.
        """
        if rows is None:
            return
        self.ensure_key()
        if not again and self.batch is None:  # about batches the ledger was asked together
            self._refuse_repeats(target, rows)

    def require_batches_not_published(self, again: bool) -> None:
        """Refuse the rows of all new batches together, as `require_not_published` does those of one release."""
        self.ensure_key()
        if not again and self.batch is not None:
            self._refuse_repeats(self.batch.target, self.batch.all_rows)

    def _refuse_repeats(self, target: Path, rows: CountedRows) -> None:
        if first := find_legacy_entries(read_legacy_entries(resolve_owner_folder(target) / LEDGER_FILE), rows.source):
            raise _make_repeat_error("This source was published before", first)
        require_no_repeats(self.find_repeats(rows))

    def find_repeats(self, rows: CountedRows) -> list[RepeatedRelease]:
        """Find the earlier releases of the same people, oldest first."""
        return self.select_repeats(rows, self.ensure_key(), self.read_counting_entries())

    def describe_known_people(self, rows: CountedRows) -> list[str]:
        """Describe, in a sentence each, earlier releases that some people are in, too few for a repeat."""
        key = self.ensure_key()
        entries = self._leave_out_batches(self.read_counting_entries())
        repeated = {id(repeat.entry) for repeat in self.select_repeats(rows, key, entries)}
        sentences = []
        for entry, common in self.find_common_people(rows.identifiers.hash_values(key), entries):
            if common is not None and id(entry) not in repeated and not common.is_near:
                sentences.append(
                    f"{common.people:,} of {common.table_people:,} people are also in {entry['release']!r} ({entry['at'][:10]}), by "
                    f"{common.column!r}. Who holds both releases can join what they say of them."
                )
        return sentences

    def find_common_people(
        self, table: Sequence[HashedColumn], entries: Sequence[dict[str, Any]]
    ) -> list[tuple[dict[str, Any], CommonPeople | None]]:
        """Find how many of a table's people are in the release of each entry, by its identifying columns.

        A line of an older version says nothing of people; if a later release has the same rows, it has the same people.
        """
        if not table:
            return []
        noted = self.read_people(entries)
        folder = self.folder / SKETCHES_FOLDER
        return [(entry, compare_people(table, columns, folder)) for entry, columns in zip(entries, noted, strict=True)]

    def read_people(self, entries: Sequence[dict[str, Any]]) -> list[list[NotedColumn]]:
        """Read the identifying columns that the ledger noted for each entry; none where it noted none."""
        path = self.folder / LEDGER_FILE
        noted = [read_noted_columns(entry, path) for entry in entries]
        by_content = {entry["content"]: columns for entry, columns in zip(entries, noted, strict=True) if columns}
        return [columns or by_content.get(entry["content"], []) for entry, columns in zip(entries, noted, strict=True)]

    def find_joined_entries(self, target: Path) -> list[dict[str, Any]]:
        """Return a release's latest entry, after those of the earlier releases of the same people."""
        place = (str(target.resolve().parent), target.name)
        entries = self.read_counting_entries()
        position = max(
            (i for i, entry in enumerate(entries) if (entry["folder"], entry["release"]) == place), default=None
        )
        if position is None:
            return []
        return [
            *(entry for entry in entries[:position] if entry["digest"] in entries[position]["repeats"]),
            entries[position],
        ]

    def select_repeats(self, rows: CountedRows, key: bytes, entries: Sequence[dict[str, Any]]) -> list[RepeatedRelease]:
        """Find the known entries that are of the same people, without those of other batches of this publication.

        They are known by their rows or, where these differ, by their identifying values.
        """
        others = self._leave_out_batches(entries)
        table = rows.hash_values(key)
        marks = dict.fromkeys(mark for entry in others for mark in self._list_marks(entry))
        table.shares.update({mark: self._measure_share(table, mark) for mark in marks if mark not in table.shares})
        repeats = [
            RepeatedRelease(entry, max(table.shares[mark] for mark in self._list_marks(entry))) for entry in others
        ]
        people = self.find_common_people(rows.identifiers.hash_values(key), others)
        for position, (entry, common) in enumerate(people):
            is_repeat = common is not None and common.is_near and not self._is_continued(entry)
            if common is not None and is_repeat and not repeats[position].share:
                repeats[position] = RepeatedRelease(entry, min(common.share, 0.99), common)
        return [repeat for repeat in repeats if repeat.share]

    def _leave_out_batches(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the entries without those of other batches of this publication."""
        publication = None if self.batch is None else self.batch.publication
        return [entry for entry in entries if publication is None or entry.get("publication") != publication]

    def _list_marks(self, entry: Mapping[str, Any]) -> list[str]:
        """List the marks of an entry's rows: their own, and that of all batches together.

        Where batches are added to earlier ones, these count with their own rows: an earlier run that was interrupted
        or could not publish a batch did not publish all of its rows.
        """
        return [entry["content"], *([entry["whole"]] if "whole" in entry and not self._is_continued(entry) else [])]

    def _is_continued(self, entry: Mapping[str, Any]) -> bool:
        """Tell whether an entry is of an earlier batch, to which the batches of this publication are added.

        A person may be in several batches, of one run or of several: the promise is that of each batch.
        """
        return self.batch is not None and entry["folder"] == str(self.batch.target.resolve())

    def _measure_share(self, table: HashedRows, mark: str) -> float:
        """Return the share of rows that a table has in common with an earlier one, 0 if it is no repeat of it."""
        if mark == table.content.mark:
            return 1.0
        try:
            earlier = fingerprint.read_sketch(self.folder / SKETCHES_FOLDER, mark)
        except (OSError, ValueError):
            raise make_unreadable_error(self.folder / SKETCHES_FOLDER / mark) from None
        similarity = measure_similarity(table, earlier)
        return min(similarity.share, 0.99) if similarity is not None and similarity.is_near else 0.0

    def lock(self) -> AbstractContextManager[None]:
        """Hold the ledger's lock, which whoever changes the ledger needs."""
        return private_files.hold_lock(self.folder / LOCK_FILE)

    def ensure_key(self) -> bytes:
        """Return the ledger's secret, made with the ledger."""
        return ensure_key(self.folder)


def require_no_repeats(repeats: Sequence[RepeatedRelease]) -> None:
    if same := [repeat.entry for repeat in repeats if repeat.share == 1]:
        raise _make_repeat_error("The same rows were published before", same)
    by_rows = [repeat for repeat in repeats if repeat.people is None]
    if repeats and not by_rows:
        raise _make_same_people_error(repeats)
    if by_rows:
        nearest = max(by_rows, key=lambda repeat: repeat.share)
        raise _make_repeat_error(
            "Most of these rows were published before",
            [repeat.entry for repeat in repeats],
            f"About {int(100 * nearest.share)} % of the rows of this table, or of that of {nearest.entry['release']!r} if it "
            "is smaller, are in both. ",
        )


def require_same_people(folders: Sequence[Path], ledger: Ledger | None = None) -> bool:
    """Refuse releases that the ledger records as made from different rows; return whether it records them all.

    Rows are the same if their content has one fingerprint, or if the ledger recorded one release as a repeat of the
    other.
    """
    all_entries = (ledger or Ledger.open()).read_entries()
    entries_by_folder = [
        [entry for entry in all_entries if entry["digest"] == compute_release_digest(folder)] for folder in folders
    ]
    for folder, entries in zip(folders[1:], entries_by_folder[1:], strict=True):
        if not entries or not entries_by_folder[0]:
            continue
        marks = [{entry["content"], *entry["repeats"], entry["digest"]} for entry in entries]
        first = [{entry["content"], *entry["repeats"], entry["digest"]} for entry in entries_by_folder[0]]
        if not any(own_marks & first_marks for own_marks in marks for first_marks in first):
            raise RequestError(
                f"{folders[0].name!r} and {folder.name!r} were made from different rows.",
                why=f"The ledger notes {pluralize(entries_by_folder[0][-1]['rows'], 'row')} of the one and {entries[-1]['rows']:,} of the other, "
                "and their contents differ: beliefs about different people cannot be joined.",
                attempt="releases of the same data, or --force-join (force_join=True) if you know better.",
            )
    return all(entries_by_folder)


def _make_repeat_error(what: str, entries: Sequence[Mapping[str, Any]], similarity: str = "") -> AlreadyPublished:
    last = entries[-1]
    return AlreadyPublished(
        f"{what}: {pluralize(len(entries), 'release')}, last as {last['release']!r} ({last['at'][:10]}).",
        why=f"{similarity}Two releases of the same people can be joined: together they promise less than each alone.",
        attempt="--again (again=True) if you accept that.",
    )


def _make_same_people_error(repeats: Sequence[RepeatedRelease]) -> AlreadyPublished:
    """Make the error about people who are known by their identifying values, though their rows differ."""
    nearest = max(repeats, key=lambda repeat: repeat.share)
    last = repeats[-1].entry
    common = nearest.people
    assert common is not None  # all of them are known by people
    earlier = "" if common.earlier_column == common.column else f", {common.earlier_column!r} there"
    return AlreadyPublished(
        f"Most of these people were published before: {pluralize(len(repeats), 'release')}, last as {last['release']!r} "
        f"({last['at'][:10]}).",
        why=f"By the identifying column {common.column!r}{earlier}, {common.people:,} of {common.table_people:,} people are also in "
        f"{nearest.entry['release']!r}, though their rows differ. Two releases of the same people can be joined: together they "
        "promise less than each alone.",
        attempt="--only-new (only_new=True) for the others alone, --again (again=True) if you accept that, or another role "
        f"than identifying for {common.column!r} if it numbers rows and not people.",
    )
