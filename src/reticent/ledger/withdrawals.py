"""Withdrawals: which releases their publisher took back, by whom, when and why, and whether they were ever handed out.

    ledger-withdrawals.jsonl     a line for each withdrawal: its format, its releases (place, name and digest), time, user, reason, and
                                 whether they were never handed out

A withdrawal deletes no copy that somebody has. So a withdrawn release still counts when rows are looked up in the ledger
and when releases are joined, unless the publisher states that it was never handed out. The latest statement about a
release holds: one that was wrong is corrected by another.

Several releases that are withdrawn at once (the batches of a publication) are one line, so that a process that is ended
leaves all of them withdrawn or none; half a line at the end counts as none, and the next withdrawal writes over it.
Versions that do not know this file count every release, which is the safe side.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.ledger import private_files
from reticent.ledger.private_files import make_unreadable_error, require_known_format

WITHDRAWALS_FILE = "ledger-withdrawals.jsonl"
WITHDRAWALS_FORMAT = 1
"""The format of a withdrawal's line, which it states; lines without a number are of this one."""
MAX_WITHDRAWALS_BYTES = 1 << 26
_PLACE_FIELDS = ("folder", "release", "digest")
_TEXT_FIELDS = ("at", "user", "reason")

ReleaseIdentity = tuple[str, str, str]
"""The folder, the name and the digest of a release: which of the ledger's entries is meant."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """One statement of a publisher about some releases."""

    releases: tuple[ReleaseIdentity, ...]
    at: str
    user: str
    reason: str
    never_handed_out: bool

    @property
    def sentence(self) -> str:
        """Tell that a release was withdrawn, as an audit by its publisher does; who and why stay in the ledger."""
        return f"Your ledger has it as withdrawn on {self.at[:10]}: hand it out no more."

    def to_dict(self) -> dict[str, Any]:
        """Return what is shown of it: all but the releases."""
        return {"at": self.at, "user": self.user, "reason": self.reason, "never_handed_out": self.never_handed_out}


def identify_entry(entry: Mapping[str, Any]) -> ReleaseIdentity:
    """Return which release a line of the ledger is about."""
    return entry["folder"], entry["release"], entry["digest"]


def read_withdrawals(ledger: Path) -> list[Withdrawal]:
    """Read all withdrawals, oldest first; the caller holds the ledger's lock, or its lock for reading.

    Raises RequestError if the file is damaged anywhere but in half a line at its end, or written by a later version.
    """
    path = ledger / WITHDRAWALS_FILE
    try:
        lines = [json.loads(line) for line in _read_whole_lines(path).splitlines()]
        formats = [line.get("format", 1) for line in lines]
    except (OSError, ValueError, AttributeError, RecursionError):
        raise make_unreadable_error(path) from None
    require_known_format(formats, WITHDRAWALS_FORMAT, path)
    try:
        return [_parse_line(line) for line in lines]
    except (ValueError, KeyError, TypeError):
        raise make_unreadable_error(path) from None


def index_withdrawals(withdrawals: Iterable[Withdrawal]) -> dict[ReleaseIdentity, Withdrawal]:
    """Return the latest statement about each release."""
    return {release: withdrawal for withdrawal in withdrawals for release in withdrawal.releases}


def append_withdrawal(ledger: Path, withdrawal: Withdrawal) -> int:
    """Add a withdrawal and return the size that the file had before. The caller holds the ledger's lock."""
    path = ledger / WITHDRAWALS_FILE
    size = len(_read_whole_lines(path))
    releases = [dict(zip(_PLACE_FIELDS, release, strict=True)) for release in withdrawal.releases]
    line = (
        json.dumps({"format": WITHDRAWALS_FORMAT, "releases": releases, **withdrawal.to_dict()}).encode("ascii") + b"\n"
    )
    try:
        private_files.write_after(path, size, line)
        private_files.sync_to_disk(ledger)
    except BaseException:
        undo_withdrawal(ledger, size)
        raise
    return size


def undo_withdrawal(ledger: Path, size: int) -> None:
    """Take the latest withdrawal back: the file has the size that it had before. The caller holds the ledger's lock."""
    path = ledger / WITHDRAWALS_FILE
    if size:
        private_files.write_after(path, size, b"")
    else:
        path.unlink(missing_ok=True)
    private_files.sync_to_disk(ledger)


def select_counting(
    entries: Sequence[dict[str, Any]], latest: Mapping[ReleaseIdentity, Withdrawal]
) -> list[dict[str, Any]]:
    """Select the entries that count: all but those of releases that were withdrawn and never handed out.

    An entry of a publication in batches, one of which does not count, is known by its own rows alone and no longer by
    those of all batches together.
    """
    annulled = [entry for entry in entries if is_annulled(entry, latest)]
    if not annulled:
        return list(entries)
    publications = {entry["publication"] for entry in annulled if "publication" in entry}
    counting = [entry for entry in entries if not is_annulled(entry, latest)]
    return [
        {name: value for name, value in entry.items() if name != "whole"}
        if entry.get("publication") in publications
        else entry
        for entry in counting
    ]


def is_annulled(entry: Mapping[str, Any], latest: Mapping[ReleaseIdentity, Withdrawal]) -> bool:
    """Tell whether a release was withdrawn and, by the latest statement about it, never handed out."""
    withdrawal = latest.get(identify_entry(entry))
    return withdrawal is not None and withdrawal.never_handed_out


def _read_whole_lines(path: Path) -> bytes:
    """Read the file up to its last end of a line."""
    try:
        with open(path, "rb") as stream:
            content = stream.read(MAX_WITHDRAWALS_BYTES + 1)
    except FileNotFoundError:
        return b""
    if len(content) > MAX_WITHDRAWALS_BYTES:
        raise make_unreadable_error(path)
    return content[: content.rfind(b"\n") + 1]


def _parse_line(stated: Mapping[str, Any]) -> Withdrawal:
    """Parse a line; raises ValueError, KeyError or TypeError unless it is a withdrawal."""
    releases = tuple(tuple(release[name] for name in _PLACE_FIELDS) for release in stated["releases"])
    texts = [stated[name] for name in _TEXT_FIELDS]
    values = [*texts, *(text for release in releases for text in release)]
    if not releases or not all(isinstance(value, str) for value in values):
        raise ValueError
    if not isinstance(stated["never_handed_out"], bool):
        raise ValueError
    at, user, reason = texts
    return Withdrawal(releases, at, user, reason, stated["never_handed_out"])
