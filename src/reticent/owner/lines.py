"""The lines of a ledger's file, each held to what a line has: a ledger that is damaged says nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reticent.errors import RequestError

_TEXTS = ("release", "folder", "digest", "at", "content")
_LISTS = ("promises", "repeats", "columns")


def entries(path: Path) -> list[dict[str, Any]]:
    """What a ledger holds, oldest first; lines of the first version (`first_entries`) are no part of it."""
    found = [line for line in _lines(path) if "source" not in line or "content" in line]
    if not all(_whole(line) for line in found):
        raise unreadable(path)
    return found


def first_entries(path: Path) -> list[dict[str, Any]]:
    """The lines of a ledger of the first version, which knows a source by its bytes or its address."""
    found = [line for line in _lines(path) if line.get("source") and "content" not in line]
    if not all(isinstance(line.get(name), str) for line in found for name in ("release", "at", "source")):
        raise unreadable(path)
    return found


def unreadable(path: Path) -> RequestError:
    return RequestError(
        f"The ledger's file {path} is missing or cannot be read.",
        why="Without it nobody knows what was published before.",
        attempt="restoring it, or --ledger (RETICENT_LEDGER) for another ledger.",
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, ValueError, RecursionError):
        raise unreadable(path) from None
    if not all(isinstance(line, dict) for line in found):
        raise unreadable(path)
    return found


def _whole(entry: dict[str, Any]) -> bool:
    texts = all(isinstance(entry.get(name), str) for name in _TEXTS) and isinstance(entry.get("whole", ""), str)
    return texts and all(isinstance(entry.get(name), list) for name in _LISTS)
