"""The ledger: one list, for all outputs of an owner, of which rows were published in which release.

It lies in the folder that is asked for, else in RETICENT_LEDGER, else in the user's state folder:

    ledger.jsonl       a line for each release
    ledger.key         the secret under which values are hashed; it is made with the ledger
    ledger-sketches/   what is kept of each table's content (`fingerprint`)
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reticent.errors import AlreadyPublished, RequestError
from reticent.owner import bytewise, private, sketches
from reticent.owner.fingerprint import Hashed, Rows
from reticent.owner.likeness import likeness
from reticent.owner.notes import owner_folder, write_notes
from reticent.release.disk import writing

LEDGER, KEY, SKETCHES, LOCK = "ledger.jsonl", "ledger.key", "ledger-sketches", "ledger.lock"


@dataclass(frozen=True, slots=True)
class Batch:
    """What is noted of a batch's set: which publication it is, the rows of all batches, the owner's folder."""

    publication: str
    whole: Rows
    owner: Path


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
        if isinstance(given, Ledger):
            return given
        return cls(Path(given or os.environ.get("RETICENT_LEDGER") or _state_folder()))

    def for_batch(self, publication: str, whole: Rows, owner: Path) -> Ledger:
        return replace(self, batch=Batch(publication, whole, owner))

    def entries(self) -> list[dict[str, Any]]:
        """What it holds, oldest first."""
        return [entry for entry in _lines(self.folder / LEDGER) if "content" in entry]

    def refuse_again(self, target: Path, rows: Rows | None, again: bool) -> None:
        """Refuse rows that were published before, all or most of them, unless the owner accepts it.

        A release that is to be replaced counts too: it may be out already.
        """
        if rows is None:
            return
        key = self._key()
        if again:
            return
        if first := bytewise.noted(_lines(owner_folder(target) / LEDGER), rows.source):
            raise _already("This source was published before", first)
        repeats = self._repeats(rows.hashed(key))
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

    def record(
        self,
        target: Path,
        *,
        digest: str,
        source: Rows,
        audit: Mapping[str, Any],
        job: str,
        promises: list[Any],
        notices: Sequence[str] = (),
    ) -> None:
        """Note a release in the ledger and in the owner's folder beside it, whole or not at all."""
        entry: dict[str, Any] = {
            "release": target.name,
            "folder": str(target.resolve().parent),
            "digest": digest,
            "promises": promises,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        owner = owner_folder(target) if self.batch is None else self.batch.owner
        with writing(self.folder):
            key = self._key()
            with private.locked(self.folder / LOCK):
                earlier = self._note_content(entry, source, key)
                with write_notes(owner, entry, earlier, audit=audit, job=job, notices=notices):
                    _append(self.folder / LEDGER, json.dumps(entry) + "\n")

    def together_with(self, target: Path) -> list[dict[str, Any]]:
        """A release's latest entry, after those of the earlier releases of the same people."""
        place = (str(target.resolve().parent), target.name)
        noted = self.entries()
        at = max((i for i, one in enumerate(noted) if (one["folder"], one["release"]) == place), default=None)
        if at is None:
            return []
        return [*(one for one in noted[:at] if one["digest"] in noted[at]["repeats"]), noted[at]]

    def _note_content(self, entry: dict[str, Any], rows: Rows, key: bytes) -> list[Mapping[str, Any]]:
        """Complete an entry by what its rows are, and return the earlier entries that they repeat."""
        hashed = rows.hashed(key)
        earlier = [repeat.entry for repeat in self._repeats(hashed)]
        content = hashed.content
        sketches.keep(self.folder / SKETCHES, content)
        entry |= {"content": content.mark, "rows": content.rows, "columns": list(content.columns)}
        entry["repeats"] = list(dict.fromkeys(before["digest"] for before in earlier))
        if self.batch is not None:
            whole = self.batch.whole.hashed(key).content
            sketches.keep(self.folder / SKETCHES, whole)
            entry |= {"publication": self.batch.publication, "whole": whole.mark}
        return earlier

    def _repeats(self, table: Hashed) -> list[Repeat]:
        """Entries of the same people; not those of other batches of this publication."""
        publication = None if self.batch is None else self.batch.publication
        entries = [one for one in self.entries() if publication is None or one.get("publication") != publication]
        marks = dict.fromkeys(mark for entry in entries for mark in _marks(entry))
        table.shares.update({mark: self._share(table, mark) for mark in marks if mark not in table.shares})
        found = [Repeat(entry, max(table.shares[mark] for mark in _marks(entry))) for entry in entries]
        return [repeat for repeat in found if repeat.share]

    def _share(self, table: Hashed, mark: str) -> float:
        """The share of rows that a table has in common with an earlier one, 0 where it is no repeat of it."""
        if mark == table.content.mark:
            return 1.0
        try:
            earlier = sketches.kept(self.folder / SKETCHES, mark)
        except (OSError, ValueError):
            raise _unreadable(self.folder / SKETCHES / mark) from None
        like = likeness(table, earlier)
        return min(like.share, 0.99) if like is not None and like.near else 0.0

    def _key(self) -> bytes:
        """The ledger's secret, made with the ledger."""
        path = self.folder / KEY
        with writing(self.folder):
            private.make_folder(self.folder)
            with private.locked(self.folder / LOCK):
                if not path.exists():
                    if self.entries():
                        raise _unreadable(path)
                    private.write(path, secrets.token_hex(32) + "\n")
                try:
                    return bytes.fromhex(path.read_text(encoding="ascii"))
                except ValueError:
                    raise _unreadable(path) from None


def _marks(entry: Mapping[str, Any]) -> list[str]:
    """What an entry's rows are known by: their own mark, and that of all batches together."""
    return [entry["content"], *([entry["whole"]] if "whole" in entry else [])]


def _state_folder() -> Path:
    try:
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "reticent"
    except RuntimeError:
        raise RequestError(
            "There is no home folder to keep the ledger in.", attempt="--ledger FOLDER (ledger=), or RETICENT_LEDGER."
        ) from None


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError):
        raise _unreadable(path) from None


def _unreadable(path: Path) -> RequestError:
    return RequestError(
        f"The ledger's file {path} is missing or cannot be read.",
        why="Without it nobody knows what was published before.",
        attempt="restoring it, or --ledger (RETICENT_LEDGER) for another ledger.",
    )


def _already(what: str, entries: Sequence[Mapping[str, Any]], like: str = "") -> AlreadyPublished:
    last = entries[-1]
    return AlreadyPublished(
        f"{what}: {len(entries)} release(s), last as {last['release']!r} ({last['at'][:10]}).",
        why=f"{like}Two releases of the same people can be joined: together they promise less than each alone.",
        attempt="--again (again=True) if you accept that.",
    )


def _append(path: Path, line: str) -> None:
    """One line more, or the file as it was."""
    before = path.stat().st_size if path.exists() else None
    try:
        if before is None:
            private.write(path, line)
        else:
            with open(path, "ab") as handle:
                handle.write(line.encode())
    except OSError:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            os.truncate(path, before)
        raise
