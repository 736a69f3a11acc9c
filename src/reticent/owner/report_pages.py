"""Public pages that this user wrote into release folders, by their checksums, in the ledger.

    ledger-pages.jsonl     a line for each page: the digest of the release and the SHA-256 of the page

A page in a folder is believed by whoever opens it.  Making it anew to compare would run a renderer on a stranger's folder, so a
page counts as checked only if the ledger, which no stranger can write, has its checksum.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from reticent.errors import RequestError
from reticent.owner import private
from reticent.owner.ledger_key import LOCK
from reticent.owner.places import ledger_folder
from reticent.release.disk import writing

PAGES = "ledger-pages.jsonl"
MAX_PAGES_BYTES = 1 << 26


def note_page(release_digest: str, page: bytes, ledger: Path | None = None) -> None:
    """Note that this page is the one of the release with this digest; DiskError where the ledger cannot be written."""
    book = ledger_folder() if ledger is None else ledger
    line = json.dumps({"release": release_digest, "page": _checksum(page)}).encode("ascii") + b"\n"
    with writing(book):
        private.make_folder(book)
        with private.locked(book / LOCK):
            noted = _read(book)
            if line not in noted.splitlines(keepends=True):
                whole = noted.rfind(b"\n") + 1  # what follows is half a line of a process that was ended
                private.write_at(book / PAGES, whole, line)
                private.sync(book)


def is_page_noted(release_digest: str, page: bytes) -> bool:
    """Tell whether this user's ledger has noted the page as that of the release with this digest."""
    try:
        with private.locked_to_read(ledger_folder() / LOCK):
            noted = _read(ledger_folder())
    except (OSError, RequestError):
        return False
    checksum = _checksum(page)
    for line in noted.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry == {"release": release_digest, "page": checksum}:
            return True
    return False


def _read(ledger: Path) -> bytes:
    try:
        with open(ledger / PAGES, "rb") as stream:
            return stream.read(MAX_PAGES_BYTES)
    except FileNotFoundError:
        return b""


def _checksum(page: bytes) -> str:
    return hashlib.sha256(page).hexdigest()
