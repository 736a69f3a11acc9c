"""The publisher's desk: which releases the ledger knows, what became of each, and taking one back.

`releases` lists them. A release is named by its folder, by the first digits of its digest, or by its name if only one
has it (`find_releases`); a folder of batches stands for all of them.

`withdraw` records in the ledger that releases were taken back (`withdrawals`), and removes their folders if asked to.
The line in the ledger comes first. Each folder leaves its place in one step, into a staging folder that recovery
removes; if a step fails, folders go back and the line is taken back, so that at every moment a release stands whole or
not at all. A process that is killed between the two leaves a withdrawn release in its place; the same command with
`delete` removes it then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import operating_system
from reticent.errors import JobError, OutputExists, RequestError, pluralize, suggest
from reticent.format.folder import translate_disk_errors
from reticent.ledger import journal, private_files, staging
from reticent.ledger.identifiers import NotedColumn, hash_identifiers, normalize_identifiers, read_noted_columns
from reticent.ledger.ledger import Ledger
from reticent.ledger.paths import compute_release_digest
from reticent.ledger.private_files import LEDGER_FILE, LOCK_FILE, move_to_new_name, read_entries
from reticent.ledger.withdrawals import (
    ReleaseIdentity,
    Withdrawal,
    append_withdrawal,
    identify_entry,
    index_withdrawals,
    read_withdrawals,
    undo_withdrawal,
)
from reticent.validation import flag, is_ledger, names, optional, path, text, validate_arguments

MIN_DIGEST_DIGITS = 8
MAX_REASON_CHARACTERS = 1_000
WITHDRAWN_FOLDER = "withdrawn"
_DIGEST_PATTERN = re.compile(rf"[0-9a-f]{{{MIN_DIGEST_DIGITS},64}}")
IN_PLACE = "in place"
GONE = "gone"
CHANGED = "changed"
REPLACED = "replaced"
STILL_COUNTS_SENTENCE = (
    "Copies may be out, so it still counts: its people stay published before, and later releases are joined with it."
)
ANNULLED_SENTENCE = (
    "It was never handed out, as you state, so it no longer counts: its people may be published, and no release is "
    "joined with it. If a copy is found after all, say --handed-out."
)


@dataclass(frozen=True, slots=True)
class KnownRelease:
    """A release as the ledger knows it.

    `state` is "in place", "gone", "changed" (another folder has its place) or "replaced" (a later release has it).
    What older versions did not record is None: the user, the kind, the title (of [about]), the published and withheld rows, the source.
    `people` has the number of people by identifying column, None if none were recorded; `content` is the mark of its rows.
    """

    release: str
    folder: str
    digest: str
    at: str
    rows: int | None
    columns: tuple[str, ...]
    promises: tuple[Mapping[str, Any], ...]
    repeats: tuple[str, ...]
    state: str
    user: str | None = None
    kind: str | None = None
    title: str | None = None
    published: int | None = None
    withheld: int | None = None
    source: str | None = None
    people: Mapping[str, int] | None = None
    content: str = ""
    withdrawal: Withdrawal | None = None

    @property
    def path(self) -> Path:
        return Path(self.folder, self.release)

    @property
    def identity(self) -> ReleaseIdentity:
        return self.folder, self.release, self.digest

    @property
    def counts(self) -> bool:
        """Whether its people count as published: not if it was withdrawn and never handed out."""
        return self.withdrawal is None or not self.withdrawal.never_handed_out

    def to_dict(self) -> dict[str, Any]:
        """Return it as `reticent releases --json` prints it."""
        return {
            "release": self.release,
            "folder": self.folder,
            "digest": self.digest,
            "at": self.at,
            "user": self.user,
            "kind": self.kind,
            "title": self.title,
            "promises": [dict(promise) for promise in self.promises],
            "rows": self.rows,
            "published": self.published,
            "withheld": self.withheld,
            "columns": list(self.columns),
            "people": None if self.people is None else dict(self.people),
            "source": self.source,
            "repeats": list(self.repeats),
            "state": self.state,
            "withdrawn": None if self.withdrawal is None else self.withdrawal.to_dict(),
            "counts": self.counts,
        }


@validate_arguments(ledger=optional(is_ledger))
def releases(*, ledger: Ledger | str | Path | None = None) -> list[KnownRelease]:
    """List the releases that the ledger knows, oldest first.

    Parameters:
        ledger: the folder of the ledger, instead of RETICENT_LEDGER or the user's own.

    Raises RequestError if the ledger is damaged. A ledger that does not exist knows none.
    """
    book = Ledger.open(ledger)
    with private_files.hold_read_lock(book.folder / LOCK_FILE):
        return _list_known(book.folder)


def find_releases(known: Sequence[KnownRelease], name: str | Path) -> list[KnownRelease]:
    """Find the release that a folder, the beginning of a digest or a name means; of a folder of batches, all of them.

    Of several releases that had one place in turn, the folder and the name mean the latest.

    Raises RequestError if the ledger knows none, or several of that name in different places.
    """
    asked = str(name)
    target = os.path.realpath(asked)
    by_place = [known_release for known_release in known if os.path.realpath(known_release.path) == target]
    if by_place:
        return by_place[-1:]
    batches = {
        known_release.release: known_release
        for known_release in known
        if os.path.realpath(known_release.folder) == target
    }
    if batches:
        return list(batches.values())
    if _DIGEST_PATTERN.fullmatch(asked):
        by_digest = {
            known_release.identity: known_release for known_release in known if known_release.digest.startswith(asked)
        }
        if len(by_digest) > 1:
            raise RequestError(
                f"The digests of {len(by_digest)} releases begin with {asked}.",
                attempt="more of its digits, or the folder (`reticent releases`).",
            )
        if by_digest:
            return list(by_digest.values())
    by_name = {known_release.folder: known_release for known_release in known if known_release.release == asked}
    if len(by_name) > 1:
        raise RequestError(
            f"The ledger knows {len(by_name)} releases of the name {asked!r}, in different folders.",
            attempt="the folder, or the first digits of the digest (`reticent releases`).",
        )
    if by_name:
        return list(by_name.values())
    raise RequestError(
        f"The ledger knows no release {asked!r}.",
        why=f"It has {pluralize(len(known), 'release')}. What was published with another ledger, or is a copy, is not in it.",
        attempt=suggest(asked, dict.fromkeys(known_release.release for known_release in known))
        if known
        else "--ledger FOLDER (ledger=), or RETICENT_LEDGER, for the ledger that it was published with.",
    )


@dataclass(frozen=True, slots=True)
class FoundPeople:
    """For each of some people the releases that were made from rows of theirs; and releases of which that is not known.

    A release holds those of its people who were not withheld, and of a sampled one those who were drawn.
    """

    releases: tuple[tuple[KnownRelease, ...], ...]
    unknown: tuple[KnownRelease, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as `reticent releases --person --json` prints it; people are their positions, from 1."""
        known = {known_release.identity: known_release for found in self.releases for known_release in found}
        return {
            "persons": [
                {"person": position, "digests": [known_release.digest for known_release in found]}
                for position, found in enumerate(self.releases, 1)
            ],
            "unknown": [known_release.digest for known_release in self.unknown],
            "releases": [known_release.to_dict() for known_release in (*known.values(), *self.unknown)],
        }


@validate_arguments(persons=names, ledger=optional(is_ledger))
def find_people(persons: Sequence[str], *, ledger: Ledger | str | Path | None = None) -> FoundPeople:
    """Find which releases were made from rows of some people, by their identifiers in any identifying column.

    Raises RequestError if the ledger, or what it keeps of people, is damaged.
    """
    book = Ledger.open(ledger)
    if not (book.folder / LEDGER_FILE).exists():
        return FoundPeople(((),) * len(persons), ())
    key = private_files.read_key(book.folder)
    texts = normalize_identifiers(pl.Series(list(persons), dtype=pl.String)).to_list()
    with private_files.hold_read_lock(book.folder / LOCK_FILE):
        known = _list_known(book.folder)
        noted = book.read_people(read_entries(book.folder / LEDGER_FILE))
        members = [
            _find_members(book.folder / journal.SKETCHES_FOLDER, columns, texts, key) if columns else None
            for columns in noted
        ]
    found = [
        tuple(
            known_release
            for known_release, positions in zip(known, members, strict=True)
            if positions is not None and position in positions
        )
        for position in range(len(persons))
    ]
    unknown = tuple(known_release for known_release, positions in zip(known, members, strict=True) if positions is None)
    return FoundPeople(tuple(found), unknown)


def _find_members(folder: Path, columns: Sequence[NotedColumn], texts: Sequence[str | None], key: bytes) -> set[int]:
    """Find the positions of people whom a release was made from, by any of its identifying columns."""
    positions = [position for position, text in enumerate(texts) if text is not None]
    wanted = [text for text in texts if text is not None]
    members: set[int] = set()
    for column in columns if wanted else ():
        hashes = hash_identifiers(column.name, wanted, key)
        order = np.argsort(hashes)
        is_member = column.find_members(folder, hashes[order])
        members |= {positions[place] for place in order[is_member].tolist()}
    return members


@validate_arguments(
    release=path,
    reason=text,
    never_handed_out=optional(flag),
    delete=flag,
    ledger=optional(is_ledger),
)
def withdraw(
    release: str | Path,
    *,
    reason: str,
    never_handed_out: bool | None = None,
    delete: bool = False,
    ledger: Ledger | str | Path | None = None,
) -> list[KnownRelease]:
    """Record that a release was taken back, with the user, the time and the reason; return it as it is known then.

    Copies may be out. So the release still counts when its people are published again and when releases are joined,
    unless the publisher states that it was never handed out.

    Parameters:
        release: its folder, the first digits of its digest, or its name; a folder of batches means all of them.
        reason: why, in a sentence; the ledger keeps it.
        never_handed_out: True states that no copy ever left; False corrects such a statement; None (the default)
            leaves what was stated.
        delete: also remove the folder. The owner's notes stay.
        ledger: the folder of the ledger, instead of RETICENT_LEDGER or the user's own.

    Raises RequestError if the ledger does not know the release or it was withdrawn before and nothing new is stated,
    OutputExists if `delete` would remove another folder than the one published, DiskError if the disk refuses.
    """
    book = Ledger.open(ledger)
    stated_reason = _check_reason(reason)
    if not (book.folder / LEDGER_FILE).exists():
        find_releases([], release)
    journal.recover(book.folder)
    with translate_disk_errors(book.folder), operating_system.ignore_signals(), ExitStack() as stack:
        stack.enter_context(book.lock())
        journal.settle_journal(book.folder)
        chosen = find_releases(_list_known(book.folder), release)
        folders = [known_release for known_release in chosen if delete and known_release.state != GONE]
        for known_release in folders:
            _require_deletable(known_release)
        handed_out_no = _settle_statement(chosen, never_handed_out)
        _require_news(chosen, handed_out_no, bool(folders))
        withdrawal = Withdrawal(
            tuple(known_release.identity for known_release in chosen),
            datetime.now(UTC).isoformat(timespec="seconds"),
            operating_system.get_user_name(),
            stated_reason,
            handed_out_no,
        )
        staged = [
            stack.enter_context(staging.stage_folder(known_release.path, book.folder)) for known_release in folders
        ]
        size = append_withdrawal(book.folder, withdrawal)
        _move_away(book.folder, size, list(zip(folders, staged, strict=True)))
        for folder in staged:
            staging.discard_staged(folder)
        known = {known_release.identity: known_release for known_release in _list_known(book.folder)}
    return [known[known_release.identity] for known_release in chosen]


@validate_arguments(release=path, ledger=optional(is_ledger))
def find_withdrawal(release: str | Path, *, ledger: Ledger | str | Path | None = None) -> Withdrawal | None:
    """Return the latest withdrawal of the release in a folder, by its digest; None if this user's ledger has none.

    Nothing is raised: who reads a release may have no ledger, or one that cannot be read.
    """
    try:
        book = Ledger.open(ledger)
        digest = compute_release_digest(Path(release))
        with private_files.hold_read_lock(book.folder / LOCK_FILE):
            withdrawals = read_withdrawals(book.folder)
    except (RequestError, OSError):
        return None
    matching = [
        known_release
        for known_release in withdrawals
        if any(identity[2] == digest for identity in known_release.releases)
    ]
    return matching[-1] if matching else None


def _list_known(folder: Path) -> list[KnownRelease]:
    """List the releases of a ledger. The caller holds its lock."""
    entries = read_entries(folder / LEDGER_FILE)
    latest = index_withdrawals(read_withdrawals(folder))
    latest_digests = {(entry["folder"], entry["release"]): entry["digest"] for entry in entries}
    return [
        _describe_entry(
            entry,
            latest_digests[entry["folder"], entry["release"]],
            latest.get(identify_entry(entry)),
            folder / LEDGER_FILE,
        )
        for entry in entries
    ]


def _describe_entry(
    entry: Mapping[str, Any], latest_digest: str, withdrawal: Withdrawal | None, ledger_file: Path
) -> KnownRelease:
    """Describe an entry; what has another type than ours is taken as not recorded."""
    digest = entry["digest"]
    standing = compute_release_digest(Path(entry["folder"], entry["release"]))
    if latest_digest != digest:
        state = REPLACED
    elif standing == digest:
        state = IN_PLACE
    else:
        state = CHANGED if os.path.lexists(os.path.join(entry["folder"], entry["release"])) else GONE
    return KnownRelease(
        release=entry["release"],
        folder=entry["folder"],
        digest=digest,
        at=entry["at"],
        rows=_get_count(entry, "rows"),
        columns=tuple(map(str, entry["columns"])),
        promises=tuple(promise for promise in entry["promises"] if isinstance(promise, dict)),
        repeats=tuple(map(str, entry["repeats"])),
        state=state,
        user=_get_text(entry, "user"),
        kind=_get_text(entry, "kind"),
        title=_get_text(entry, "title"),
        published=_get_count(entry, "published"),
        withheld=_get_count(entry, "withheld"),
        source=_get_text(entry, "source"),
        people={column.name: column.people for column in read_noted_columns(entry, ledger_file)} or None,
        content=entry["content"],
        withdrawal=withdrawal,
    )


def _get_text(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) else None


def _get_count(entry: Mapping[str, Any], name: str) -> int | None:
    value = entry.get(name)
    return value if type(value) is int and value >= 0 else None


def _check_reason(reason: str) -> str:
    """Return the reason as one line; JobError if it is empty or too long."""
    stated = " ".join("".join(sign if sign.isprintable() else " " for sign in reason).split())
    if not stated:
        raise JobError("The reason is empty.", attempt='--reason "wrong column" (reason="wrong column").')
    if len(stated) > MAX_REASON_CHARACTERS:
        raise JobError(
            f"The reason has {len(stated):,} characters, and {MAX_REASON_CHARACTERS:,} are the most.",
            attempt="a sentence, and the rest in a file of yours.",
        )
    return stated


def _settle_statement(chosen: Sequence[KnownRelease], never_handed_out: bool | None) -> bool:
    """Return whether the releases count as never handed out: as stated now or, if nothing is, as stated of all before."""
    if never_handed_out is not None:
        return never_handed_out
    return all(
        known_release.withdrawal is not None and known_release.withdrawal.never_handed_out for known_release in chosen
    )


def _require_news(chosen: Sequence[KnownRelease], never_handed_out: bool, has_folders: bool) -> None:
    """Refuse a withdrawal that states nothing new."""
    if has_folders or not all(
        known_release.withdrawal is not None and known_release.withdrawal.never_handed_out == never_handed_out
        for known_release in chosen
    ):
        return
    withdrawal = chosen[0].withdrawal
    assert withdrawal is not None  # all of them have one
    raise RequestError(
        f"{chosen[0].release!r} was withdrawn before, on {withdrawal.at[:10]} by {withdrawal.user}.",
        why=ANNULLED_SENTENCE if withdrawal.never_handed_out else STILL_COUNTS_SENTENCE,
        attempt="--never-handed-out or --handed-out if that was stated wrongly, or --delete if its folder is to go.",
    )


def _require_deletable(known_release: KnownRelease) -> None:
    """Refuse to remove a folder that is not the very release, or is another user's."""
    if known_release.state != IN_PLACE:
        what = (
            "a later release"
            if known_release.state == REPLACED
            else "something else than the release that was published"
        )
        raise OutputExists(
            f"{known_release.path} is {what}: it is not removed, and nothing was recorded.",
            why="Only a folder whose digest is in the ledger is removed.",
            attempt="withdrawing without --delete (delete=True), and a look at the folder.",
        )
    if os.path.islink(known_release.path):
        raise OutputExists(
            f"{known_release.path} is a link: it is not removed, and nothing was recorded.",
            attempt="withdrawing without --delete (delete=True), and removing the link and its target yourself.",
        )
    if operating_system.belongs_to_other_user(os.stat(known_release.path)):
        raise OutputExists(
            f"{known_release.path} is another user's folder: it is not removed, and nothing was recorded.",
            attempt="withdrawing without --delete (delete=True), and asking its owner to remove it.",
        )


def _move_away(ledger: Path, size: int, places: Sequence[tuple[KnownRelease, Path]]) -> None:
    """Move each folder into its staging folder; if one cannot be moved, all go back and the withdrawal is undone."""
    moved: list[tuple[Path, Path]] = []
    try:
        for known_release, staged in places:
            aside = staged.with_name(WITHDRAWN_FOLDER)
            move_to_new_name(known_release.path, aside)
            moved.append((known_release.path, aside))
            operating_system.sync_to_disk(known_release.path.parent)
    except BaseException:
        for place, aside in reversed(moved):
            move_to_new_name(aside, place)
        undo_withdrawal(ledger, size)
        raise
