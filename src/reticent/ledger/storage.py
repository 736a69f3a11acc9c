"""Files of a ledger: the lines of its entries, and the secret that signs its records, notes and journals.

Each line of a ledger's file is checked for the fields of an entry: a damaged ledger is refused, not partly read. The
secret is made with the ledger.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.errors import RequestError
from reticent.format.folder import translate_disk_errors
from reticent.ledger import private_files

_TEXT_FIELDS = ("release", "folder", "digest", "at", "content")
_LIST_FIELDS = ("promises", "repeats", "columns")


def read_entries(path: Path) -> list[dict[str, Any]]:
    """Read a ledger's entries, oldest first, without lines of the first version (`read_legacy_entries`)."""
    entries = [line for line in _read_lines(path) if "source" not in line or "content" in line]
    if not all(_is_complete(line) for line in entries):
        raise make_unreadable_error(path)
    return entries


def read_legacy_entries(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a ledger of the first version, which identifies a source by its bytes or its address."""
    entries = [line for line in _read_lines(path) if line.get("source") and "content" not in line]
    if not all(isinstance(line.get(name), str) for line in entries for name in ("release", "at", "source")):
        raise make_unreadable_error(path)
    return entries


def make_unreadable_error(path: Path) -> RequestError:
    return RequestError(
        f"The ledger's file {path} is missing or cannot be read.",
        why="Without it nobody knows what was published before.",
        attempt="restoring it, or --ledger (RETICENT_LEDGER) for another ledger.",
    )


def _read_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, ValueError, RecursionError):
        raise make_unreadable_error(path) from None
    if not all(isinstance(line, dict) for line in lines):
        raise make_unreadable_error(path)
    return lines


def _is_complete(entry: dict[str, Any]) -> bool:
    texts = all(isinstance(entry.get(name), str) for name in _TEXT_FIELDS) and isinstance(entry.get("whole", ""), str)
    return texts and all(isinstance(entry.get(name), list) for name in _LIST_FIELDS)


LEDGER_FILE = "ledger.jsonl"
KEY_FILE = "ledger.key"
LOCK_FILE = "ledger.lock"
KEY_BYTES = 32


def ensure_key(ledger: Path) -> bytes:
    """Return the ledger's secret; make the ledger's folder and the secret where there are none."""
    path = ledger / KEY_FILE
    if path.exists():  # it is never changed
        return read_key(ledger)
    with translate_disk_errors(ledger):
        private_files.make_folder(ledger)
        with private_files.hold_lock(ledger / LOCK_FILE):
            if not path.exists():
                if read_entries(ledger / LEDGER_FILE):
                    raise make_unreadable_error(path)
                private_files.write_file(path, secrets.token_hex(KEY_BYTES) + "\n")
    return read_key(ledger)


def read_key(ledger: Path) -> bytes:
    """Return the ledger's secret; RequestError if it cannot be read."""
    path = ledger / KEY_FILE
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        raise make_unreadable_error(path) from None
    if len(key) != KEY_BYTES:
        raise make_unreadable_error(path)
    return key


def sign_fields(ledger: Path, key: bytes, purpose: str, fields: Mapping[str, Any]) -> str:
    """Return the MAC of some fields by the ledger's secret.

    It covers the purpose of the fields and the ledger's own path and inode: in a ledger that was copied, or unpacked
    from somewhere, no signature is valid.
    """
    place = os.path.realpath(ledger)
    signed = {"purpose": purpose, "ledger": place, "inode": os.stat(place).st_ino, "fields": dict(fields)}
    text = json.dumps(signed, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode("ascii"), hashlib.sha256).hexdigest()


def is_signed(ledger: Path, key: bytes, purpose: str, fields: Mapping[str, Any], mac: object) -> bool:
    """Tell whether a MAC is that of these fields, by this ledger's secret."""
    return isinstance(mac, str) and hmac.compare_digest(
        sign_fields(ledger, key, purpose, fields).encode(), mac.encode()
    )
