"""The ledger: one list, for all outputs of an owner, of which rows were published in which release.

It lies in the folder that is asked for, else in RETICENT_LEDGER, else in the user's state folder:

    ledger.jsonl       a line for each release
    ledger.key         the secret under which values are hashed; it is made with the ledger
    ledger-stages/     which staging folders there are, while there are any (`stage_records`)
    ledger-sketches/   what is kept of each table's content (`fingerprint`)
    ledger.journal/    while a release is being kept: what is about to change (`journal`)
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reticent.errors import AlreadyPublished, some
from reticent.owner import bytewise, journal, private, sketches, staging
from reticent.owner.fingerprint import Hashed, Rows
from reticent.owner.journal import SKETCHES, Intent
from reticent.owner.keeping import keep, refuse_existing
from reticent.owner.ledger_key import LEDGER, LOCK, make_key
from reticent.owner.likeness import likeness
from reticent.owner.lines import entries, first_entries, unreadable
from reticent.owner.notes import notes_on
from reticent.owner.places import digest_of, ledger_folder, notes_folder, owner_folder
from reticent.owner.signals import uninterrupted
from reticent.owner.witness import encrypt_witness
from reticent.release.disk import writing


@dataclass(frozen=True, slots=True)
class Batch:
    """What is noted of a batch's set: which publication it is, the rows of all batches, and where they are put."""

    publication: str
    whole: Rows
    to: Path

    @property
    def notes(self) -> Path:
        """The folder of their notes."""
        return notes_folder(self.to)


@dataclass(frozen=True, slots=True)
class Repeat:
    """An earlier release of the same people, and the share of rows in common; 1 only where all rows are the same."""

    entry: Mapping[str, Any]
    share: float


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger's folder; `batch` where what is published is one of several batches."""

    folder: Path
    batch: Batch | None = None

    @classmethod
    def of(cls, given: Ledger | str | Path | None = None) -> Ledger:
        """The ledger in a folder; without one, that of RETICENT_LEDGER or of the user."""
        return given if isinstance(given, Ledger) else cls(ledger_folder(given))

    def for_batches(self, whole: Rows, to: Path) -> Ledger:
        return replace(self, batch=Batch(secrets.token_hex(8), whole, to))

    def entries(self) -> list[dict[str, Any]]:
        """What it holds, oldest first."""
        with private.locked_to_read(self.folder / LOCK):
            return entries(self.folder / LEDGER)

    def refuse_again(self, target: Path, rows: Rows | None, again: bool) -> None:
        """Refuse rows that were published before, all or most of them, unless the owner accepts it.

        A release that is to be replaced counts too: it may be out already.
        """
        if rows is None:
            return
        key = self._key()
        if again or self.batch is not None:  # the ledger was asked about all batches together
            return
        if first := bytewise.noted(first_entries(owner_folder(target) / LEDGER), rows.source):
            raise _already("This source was published before", first)
        _refuse(self._repeats(rows.hashed(key), self.entries()))

    def keep(self, staged: Path, target: Path, *, force: bool, again: bool, **owned: Any) -> None:
        """Put a staged release in its place and note it here and in the owner's folder, whole or not at all."""
        with writing(target):
            os.chmod(staged, 0o755)
            private.sync_all(staged)
        key, rows = self._key(), owned["source"]
        with uninterrupted(), self._locked():
            journal.settle(self.folder)
            refuse_existing(target, force)
            known = entries(self.folder / LEDGER)
            if not again:  # another process may have published them meanwhile
                _refuse(self._repeats((rows if self.batch is None else self.batch.whole).hashed(key), known))
            earlier = [repeat.entry for repeat in self._repeats(rows.hashed(key), known)]
            entry, sketched = self._entry(staged, target, rows, key)
            entry |= {"promises": owned["promises"], "repeats": list(dict.fromkeys(one["digest"] for one in earlier))}
            intent = self._intent(staged, target, entry, list(sketched))
            witness = owned.get("witness")
            encrypted = None if witness is None else encrypt_witness(witness, key)
            keep(self.folder, intent, notes_on(entry, earlier, target, owned, encrypted), sketched)

    def repeats(self, rows: Rows) -> list[Repeat]:
        """The earlier releases of the same people, oldest first."""
        return self._repeats(rows.hashed(self._key()), self.entries())

    def together_with(self, target: Path) -> list[dict[str, Any]]:
        """A release's latest entry, after those of the earlier releases of the same people."""
        place = (str(target.resolve().parent), target.name)
        noted = self.entries()
        at = max((i for i, one in enumerate(noted) if (one["folder"], one["release"]) == place), default=None)
        if at is None:
            return []
        return [*(one for one in noted[:at] if one["digest"] in noted[at]["repeats"]), noted[at]]

    def _entry(self, staged: Path, target: Path, rows: Rows, key: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
        """A release's line, and what is to be kept of its rows and of all batches', if the ledger lacks it."""
        content = rows.hashed(key).content
        entry: dict[str, Any] = {
            "release": target.name,
            "folder": str(target.resolve().parent),
            "digest": digest_of(staged),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "content": content.mark,
            "rows": content.rows,
            "columns": list(content.columns),
        }
        kept = {content.mark: content}
        if self.batch is not None:
            whole = self.batch.whole.hashed(key).content
            kept[whole.mark] = whole
            entry |= {"publication": self.batch.publication, "whole": whole.mark}
        lacking = {mark: one for mark, one in kept.items() if not (self.folder / SKETCHES / mark).exists()}
        return entry, {mark: sketches.packed(one) for mark, one in lacking.items()}

    def _intent(self, staged: Path, target: Path, entry: dict[str, Any], marks: list[str]) -> Intent:
        notes = notes_folder(target) if self.batch is None else self.batch.notes / target.name
        lacking = [os.path.abspath(folder) for folder in notes.parents if not folder.exists()]
        path = self.folder / LEDGER
        size = path.stat().st_size if path.exists() else 0
        within = "" if self.batch is None else str(self.batch.to.resolve())
        places = [os.path.abspath(place) for place in (target, staged, notes)]
        device, inode = staging.identity_of(staged)
        return Intent(places[0], places[1], places[2], lacking, size, marks, entry, within, device, inode)

    def _repeats(self, table: Hashed, known: Sequence[dict[str, Any]]) -> list[Repeat]:
        """Those of the known entries that are of the same people; not those of other batches of this publication."""
        publication = None if self.batch is None else self.batch.publication
        others = [one for one in known if publication is None or one.get("publication") != publication]
        marks = dict.fromkeys(mark for entry in others for mark in _marks(entry))
        table.shares.update({mark: self._share(table, mark) for mark in marks if mark not in table.shares})
        found = [Repeat(entry, max(table.shares[mark] for mark in _marks(entry))) for entry in others]
        return [repeat for repeat in found if repeat.share]

    def _share(self, table: Hashed, mark: str) -> float:
        """The share of rows that a table has in common with an earlier one, 0 where it is no repeat of it."""
        if mark == table.content.mark:
            return 1.0
        try:
            earlier = sketches.kept(self.folder / SKETCHES, mark)
        except (OSError, ValueError):
            raise unreadable(self.folder / SKETCHES / mark) from None
        like = likeness(table, earlier)
        return min(like.share, 0.99) if like is not None and like.near else 0.0

    def _locked(self) -> AbstractContextManager[None]:
        return private.locked(self.folder / LOCK)

    def _key(self) -> bytes:
        """The ledger's secret, made with the ledger."""
        return make_key(self.folder)


def _marks(entry: Mapping[str, Any]) -> list[str]:
    """What an entry's rows are known by: their own mark, and that of all batches together."""
    return [entry["content"], *([entry["whole"]] if "whole" in entry else [])]


def _refuse(repeats: Sequence[Repeat]) -> None:
    if same := [repeat.entry for repeat in repeats if repeat.share == 1]:
        raise _already("The same rows were published before", same)
    if repeats:
        most = max(repeats, key=lambda repeat: repeat.share)
        raise _already(
            "Most of these rows were published before",
            [repeat.entry for repeat in repeats],
            f"About {int(100 * most.share)} % of the rows of this table, or of that of {most.entry['release']!r} if it "
            "is smaller, are in both. ",
        )


def _already(what: str, noted: Sequence[Mapping[str, Any]], like: str = "") -> AlreadyPublished:
    last = noted[-1]
    return AlreadyPublished(
        f"{what}: {some(len(noted), 'release')}, last as {last['release']!r} ({last['at'][:10]}).",
        why=f"{like}Two releases of the same people can be joined: together they promise less than each alone.",
        attempt="--again (again=True) if you accept that.",
    )
