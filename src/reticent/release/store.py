"""Keeping a release: staging beside the target, then one rename; the owner's folder; the ledger.

A crash leaves the old release or none.  The owner's folder stays with the publisher: the digest of each release, its audit,
its job, and a ledger of what was published from which source.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.errors import AlreadyPublished, OutputExists

OWNER = "reticent-owner"


def staging(beside: Path | None) -> Path:
    """An empty folder on the target's file system, or a temporary one; only its maker can read it."""
    if beside is not None:
        beside.parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=".reticent-", dir=beside.parent if beside else None))


def refuse_existing(target: Path, force: bool) -> None:
    if target.exists() and not force:
        raise OutputExists(
            f"{target} exists.",
            why="A release is never overwritten silently.",
            attempt="another name, or --force (force=True).",
        )
    if target.exists() and not (target / "manifest.json").exists() and (target.is_file() or any(target.iterdir())):
        raise OutputExists(
            f"{target} exists and is no release.", why="--force replaces releases only.", attempt="another name."
        )


def keep(staged: Path, target: Path, force: bool = False) -> None:
    """Rename the staged folder to its target; an old release is set aside until the new one stands."""
    refuse_existing(target, force)
    os.chmod(staged, 0o755)
    if target.exists():
        aside = Path(tempfile.mkdtemp(prefix=".reticent-", dir=target.parent)) / "old"
        os.rename(target, aside)
        try:
            os.rename(staged, target)
        except OSError:
            os.rename(aside, target)
            raise
        shutil.rmtree(aside.parent, ignore_errors=True)
    else:
        os.rename(staged, target)


def owner_folder(target: Path) -> Path:
    return Path(os.environ.get("RETICENT_OWNER") or target.parent / OWNER)


def refuse_again(target: Path, source: str | None, again: bool) -> list[dict[str, Any]]:
    """Earlier releases of the same source; refused unless the owner says so."""
    earlier = [
        entry
        for entry in ledger(target)
        if source is not None and entry["source"] == source and entry["release"] != target.name
    ]
    if earlier and not again:
        raise AlreadyPublished(
            f"This source was published before: {len(earlier)} release(s), last as {earlier[-1]['release']!r}.",
            why="Two releases of the same people can be joined: together they no longer promise what each alone does.",
            attempt="--again (again=True) if you accept that.",
        )
    return earlier


def ledger(target: Path) -> list[dict[str, Any]]:
    path = owner_folder(target) / "ledger.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def record(
    target: Path, *, digest: str, source: str | None, audit: Mapping[str, Any], job: str, promises: list[Any]
) -> None:
    """What only the owner keeps of a release."""
    own = owner_folder(target) / target.name
    own.mkdir(parents=True, exist_ok=True)
    (own / "digest.txt").write_text(digest + "\n", encoding="utf-8")
    (own / "audit.json").write_text(json.dumps(audit, indent=1) + "\n", encoding="utf-8")
    (own / "job.toml").write_text(job, encoding="utf-8")
    from datetime import UTC, datetime

    entry = {
        "release": target.name,
        "digest": digest,
        "source": source,
        "promises": promises,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with open(owner_folder(target) / "ledger.jsonl", "a", encoding="utf-8") as handle:
        handle.write(json.dumps(entry) + "\n")
