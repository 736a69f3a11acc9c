"""The owner's folder, which stays with the publisher: the digest of each release, its audit, its job, and a ledger of what
was published from which source."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reticent.errors import AlreadyPublished, RequestError
from reticent.owner.together import owners_readme

OWNER = "reticent-owner"
LEDGER = "ledger.jsonl"


def owner_folder(target: Path) -> Path:
    return Path(os.environ.get("RETICENT_OWNER") or target.parent / OWNER)


def entries(target: Path) -> list[dict[str, Any]]:
    """What the ledger beside a release holds, oldest first."""
    path = owner_folder(target) / LEDGER
    if not path.exists():
        return []
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError):
        raise RequestError(
            f"The ledger {path} cannot be read.",
            why="Without it nobody knows what was published before.",
            attempt="restoring it, or RETICENT_OWNER for another owner's folder.",
        ) from None


def refuse_again(target: Path, source: str | None, again: bool) -> list[dict[str, Any]]:
    """Earlier releases of the same source, one that is to be replaced too (it may be out already); refused unless the owner says so."""
    earlier = [entry for entry in entries(target) if source is not None and entry["source"] == source]
    if earlier and not again:
        raise AlreadyPublished(
            f"This source was published before: {len(earlier)} release(s), last as {earlier[-1]['release']!r}.",
            why="Two releases of the same people can be joined: together they no longer promise what each alone does.",
            attempt="--again (again=True) if you accept that.",
        )
    return earlier


def of_same_source(target: Path) -> list[dict[str, Any]]:
    """Every release that the ledger notes of the source a release was made from."""
    noted = entries(target)
    source = next((entry["source"] for entry in reversed(noted) if entry["release"] == target.name), None)
    return [entry for entry in noted if source is not None and entry["source"] == source]


def record(
    target: Path,
    *,
    digest: str,
    source: str | None,
    audit: Mapping[str, Any],
    job: str,
    promises: list[Any],
    notices: Sequence[str] = (),
) -> None:
    """Note a release, whole or not at all."""
    owner = owner_folder(target)
    lacking = [folder for folder in (owner, *owner.parents) if not folder.exists()]
    notes: Path | None = None
    entry = {
        "release": target.name,
        "digest": digest,
        "source": source,
        "promises": promises,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        owner.mkdir(parents=True, exist_ok=True)
        notes = Path(tempfile.mkdtemp(prefix=".reticent-", dir=owner))
        (notes / "digest.txt").write_text(digest + "\n", encoding="utf-8")
        (notes / "audit.json").write_text(json.dumps(audit, indent=1) + "\n", encoding="utf-8")
        (notes / "job.toml").write_text(job, encoding="utf-8")
        of_source = [one for one in entries(target) if source is not None and one["source"] == source]
        (notes / "README.md").write_text(owners_readme([*of_source, entry], notices), encoding="utf-8")
        _append(owner / LEDGER, json.dumps(entry) + "\n")
        shutil.rmtree(owner / target.name, ignore_errors=True)
        os.rename(notes, owner / target.name)
    except BaseException:
        if notes is not None:
            shutil.rmtree(notes, ignore_errors=True)
        with suppress(OSError):
            for folder in lacking:
                folder.rmdir()
        raise


def _append(path: Path, line: str) -> None:
    """One line more, or the file as it was."""
    before = path.stat().st_size if path.exists() else None
    try:
        with open(path, "ab") as handle:
            handle.write(line.encode())
    except OSError:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            os.truncate(path, before)
        raise
