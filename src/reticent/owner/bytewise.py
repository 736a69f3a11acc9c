"""Ledgers of the first version, which lie beside a release and know a source by its bytes or its address.

They are read and no longer written.  A file that has not changed since, or a database's table under the same
address, is known again by them; a frame is not, because they never noted one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from reticent.table.source import Source


def noted(entries: Sequence[dict[str, Any]], source: Source | None) -> list[dict[str, Any]]:
    """Those of a first ledger's entries that note this source."""
    if not entries or source is None:
        return []
    known = fingerprint(source)
    return [entry for entry in entries if entry["source"] == known]


def fingerprint(source: Source) -> str | None:
    """SHA-256 of a file's bytes, or of a database's address and query."""
    if source.url:
        from reticent.redaction import redacted
        from reticent.table.database import select

        return hashlib.sha256(f"{redacted(source.url)} {select(source.table, source.query)}".encode()).hexdigest()
    if source.path is None:
        return None
    with open(source.path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
