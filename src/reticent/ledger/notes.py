"""The owner's notes on a release: its digest, audit, job and place, a README, and checksums of its report pages.

`PublicationRecord` is what a publication hands over to be noted; `build_notes` makes files of it.

The README, for the owner alone, lists what several releases of the same people no longer promise together
(`describe_lost_promises`).

`record_page` keeps the checksums of public pages that this user wrote into release folders, in the ledger:

    ledger-pages.jsonl     a line for each page: the digest of the release and the SHA-256 of the page

Readers believe a page in a folder. Rendering it again to compare would run a renderer on an untrusted folder, so a
page counts as checked only if the ledger, which nobody else can write, has its checksum.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reticent import catalogue, operating_system
from reticent.errors import RequestError, pluralize
from reticent.format.folder import translate_disk_errors
from reticent.ledger import private_files
from reticent.ledger.fingerprint import CountedRows
from reticent.ledger.paths import DIGEST_FILE, PLACE_FILE, encode_place, resolve_ledger_folder
from reticent.ledger.private_files import LOCK_FILE
from reticent.ledger.witness import WITNESS

if TYPE_CHECKING:
    from reticent.ledger.exclusions import LeftOutPeople
    from reticent.ledger.ledger import Ledger

BROKEN_LINES_FILE = "broken-lines.csv"
PAGES_FILE = "ledger-pages.jsonl"
MAX_PAGES_BYTES = 1 << 26


class AuditResult(Protocol):
    """The audit of a release, as far as notes need it."""

    def to_dict(self) -> dict[str, Any]: ...


class EarlierReleaseCheck(Protocol):
    """Checks what a staged release and earlier ones of the same people reveal together."""

    def __call__(self, staged: Path, ledger: Ledger) -> Sequence[str]:
        """Return sentences for the owner; raise `PromiseUnreachable` if the release must not be published."""


@dataclass(frozen=True, eq=False)
class PublicationRecord:
    """What the owner keeps of a publication, and the ledger needs to commit it.

    `rows` are the published rows as they were counted, for their fingerprint; `job` is the job as TOML; `promises` are
    the job's, as a job file has them; `notices` are sentences for the owner; `witness` is what an audit needs beside the
    files, in plain, where the release's kind has one; `set_aside` is the number of broken lines of the source that were
    set aside, and `broken_lines` has them as they are; `left_out` are people of the source who were left out of it.
    """

    rows: CountedRows
    audit: AuditResult
    job: str
    promises: Sequence[Mapping[str, Any]]
    notices: tuple[str, ...]
    composition_check: EarlierReleaseCheck
    witness: bytes | None = None
    set_aside: int = 0
    broken_lines: bytes = b""
    left_out: LeftOutPeople | None = None


def build_notes(
    record: PublicationRecord,
    entry: Mapping[str, Any],
    earlier: Sequence[Mapping[str, Any]],
    target: Path,
    encrypted_witness: bytes | None = None,
) -> dict[str, bytes | str]:
    """Build the files of a release's notes; `entry` is its line in the ledger, `earlier` are those of the same people."""
    notes: dict[str, bytes | str] = {
        DIGEST_FILE: entry["digest"] + "\n",
        PLACE_FILE: encode_place(target),
        "audit.json": json.dumps(record.audit.to_dict(), indent=1) + "\n",
        "job.toml": record.job,
        "README.md": render_owner_readme(
            [*earlier, entry],
            record.notices,
            witnessed=encrypted_witness is not None,
            set_aside=record.set_aside,
        ),
    }
    if encrypted_witness is not None:
        notes[WITNESS] = encrypted_witness
    if record.broken_lines:
        notes[BROKEN_LINES_FILE] = record.broken_lines
    return notes


def describe_lost_promises(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Describe each promise of the latest of these ledger entries in a sentence; none if it is the only release."""
    if not entries:
        return []
    latest = entries[-1]
    others = list(
        dict.fromkeys(_locate_entry(entry) for entry in entries if _locate_entry(entry) != _locate_entry(latest))
    )
    if not others:
        return []
    names = ", ".join(repr(name) for _, name in others[:8]) + (", ..." if len(others) > 8 else "")
    sentences = [
        f"These people are now in {len(others) + 1} releases. Who also holds {names} can join them: what is promised "
        "holds for each alone, not for all together."
    ]
    models = dict.fromkeys(promise["model"] for promise in latest["promises"])
    return sentences + [f"{model} no longer holds: {_find_composition_reason(model)}." for model in models]


def _find_composition_reason(model: str) -> str:
    row = catalogue.PROMISES.get(model)
    return (
        "what a plugin's promise says of several releases is not known here" if row is None else row.composition_reason
    )


def summarize_lost_promises(entries: Sequence[Mapping[str, Any]]) -> str | None:
    """Name the promises of the latest entry that no longer hold together with the others, as half a sentence.

    None if the entry is the only one.
    """
    if not describe_lost_promises(entries):
        return None
    others = list(
        dict.fromkeys(entry["release"] for entry in entries if _locate_entry(entry) != _locate_entry(entries[-1]))
    )
    names = ", ".join(repr(name) for name in others[:4]) + (", ..." if len(others) > 4 else "")
    models = list(dict.fromkeys(promise["model"] for promise in entries[-1]["promises"]))
    if not models:
        return None
    model_list = models[0] if len(models) == 1 else f"{', '.join(models[:-1])} and {models[-1]}"
    return f"together with {names}, {model_list} no longer hold{'s' if len(models) == 1 else ''}"


def render_owner_readme(
    entries: Sequence[Mapping[str, Any]],
    notices: Sequence[str] = (),
    *,
    witnessed: bool = False,
    set_aside: int = 0,
) -> str:
    """Render the README of the owner's folder.

    It describes this release, what to know of it, and what it and earlier ones disclose together.
    """
    latest = entries[-1]
    parts = [
        f"# {latest['release']}: for its owner, never to be handed out",
        "",
        f"Published {latest['at']}. `digest.txt` tells a changed copy (`reticent audit --expect-digest`), `audit.json` is",
        "what was recounted before it was kept, `job.toml` how it was made.",
    ]
    if witnessed:
        parts += [
            "`witness.bin` says, encrypted by the ledger's secret, whose value is whose: `reticent audit --source` counts it to show",
            "that the groups are those of your people. Delete it when you delete the source.",
        ]
    if set_aside:
        parts += [
            f"`{BROKEN_LINES_FILE}` has the {pluralize(set_aside, 'broken line')} of the source, below its header and as "
            "they are:",
            "records of people who are not in the release. Delete it when you have mended them, or with the source.",
        ]
    if notices:
        parts += ["", "## To know", "", *(f"- {notice}" for notice in notices)]
    if lost := describe_lost_promises(entries):
        parts += ["", "## Together with earlier releases", "", *(f"- {sentence}" for sentence in lost)]
    return "\n".join(parts) + "\n"


def record_page(release_digest: str, page: bytes, ledger: Path | None = None) -> None:
    """Record this page as the one of the release with this digest; DiskError if the ledger cannot be written."""
    folder = resolve_ledger_folder() if ledger is None else ledger
    line = json.dumps({"release": release_digest, "page": _compute_checksum(page)}).encode("ascii") + b"\n"
    with translate_disk_errors(folder):
        private_files.make_folder(folder)
        with private_files.hold_lock(folder / LOCK_FILE):
            pages = _read_pages(folder)
            if line not in pages.splitlines(keepends=True):
                end_of_last_line = pages.rfind(b"\n") + 1  # what follows is half a line of a process that was ended
                private_files.write_after(folder / PAGES_FILE, end_of_last_line, line)
                operating_system.sync_to_disk(folder)


def is_page_recorded(release_digest: str, page: bytes) -> bool:
    """Tell whether this user's ledger has recorded the page as that of the release with this digest."""
    try:
        with private_files.hold_read_lock(resolve_ledger_folder() / LOCK_FILE):
            pages = _read_pages(resolve_ledger_folder())
    except (OSError, RequestError):
        return False
    checksum = _compute_checksum(page)
    for line in pages.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry == {"release": release_digest, "page": checksum}:
            return True
    return False


def _locate_entry(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry.get("folder", ""), entry["release"]


def _compute_checksum(page: bytes) -> str:
    return hashlib.sha256(page).hexdigest()


def _read_pages(ledger: Path) -> bytes:
    try:
        with open(ledger / PAGES_FILE, "rb") as stream:
            return stream.read(MAX_PAGES_BYTES)
    except FileNotFoundError:
        return b""
