"""The secret of a ledger: made with it, and what its records, notes and journals are signed with."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.owner import private
from reticent.owner.lines import entries, unreadable
from reticent.release.disk import writing

LEDGER, KEY, LOCK = "ledger.jsonl", "ledger.key", "ledger.lock"
KEY_BYTES = 32


def make_key(ledger: Path) -> bytes:
    """Return the ledger's secret; make the ledger's folder and the secret where there are none."""
    path = ledger / KEY
    if path.exists():  # it is never changed
        return read_key(ledger)
    with writing(ledger):
        private.make_folder(ledger)
        with private.locked(ledger / LOCK):
            if not path.exists():
                if entries(ledger / LEDGER):
                    raise unreadable(path)
                private.write(path, secrets.token_hex(KEY_BYTES) + "\n")
    return read_key(ledger)


def read_key(ledger: Path) -> bytes:
    """Return the ledger's secret; RequestError where it cannot be read."""
    path = ledger / KEY
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        raise unreadable(path) from None
    if len(key) != KEY_BYTES:
        raise unreadable(path)
    return key


def sign(ledger: Path, key: bytes, purpose: str, fields: Mapping[str, Any]) -> str:
    """Return the MAC of some fields by the ledger's secret.

    It covers what the fields are for and the ledger's own path and inode: in a ledger that was copied, or unpacked from
    somewhere, nothing is signed.
    """
    place = os.path.realpath(ledger)
    signed = {"purpose": purpose, "ledger": place, "inode": os.stat(place).st_ino, "fields": dict(fields)}
    text = json.dumps(signed, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode("ascii"), hashlib.sha256).hexdigest()


def is_signed(ledger: Path, key: bytes, purpose: str, fields: Mapping[str, Any], mac: object) -> bool:
    """Tell whether a MAC is that of these fields, by this ledger's secret."""
    return isinstance(mac, str) and hmac.compare_digest(sign(ledger, key, purpose, fields).encode(), mac.encode())
