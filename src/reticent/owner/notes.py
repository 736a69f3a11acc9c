"""The owner's folder beside a release, which stays with the publisher: digest, audit, job and README of each release."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reticent.owner import private
from reticent.owner.together import owners_readme

OWNER = "reticent-owner"


def owner_folder(target: Path) -> Path:
    return Path(os.environ.get("RETICENT_OWNER") or target.parent / OWNER)


@contextmanager
def write_notes(
    owner: Path,
    entry: Mapping[str, Any],
    earlier: Sequence[Mapping[str, Any]],
    *,
    audit: Mapping[str, Any],
    job: str,
    notices: Sequence[str] = (),
) -> Iterator[None]:
    """Notes on a release that are put in place when the block has ended, and are gone if it failed."""
    lacking = [folder for folder in (owner, *owner.parents) if not folder.exists()]
    notes: Path | None = None
    try:
        private.make_folder(owner)
        notes = private.temporary_folder(owner)
        private.write(notes / "digest.txt", entry["digest"] + "\n")
        private.write(notes / "audit.json", json.dumps(audit, indent=1) + "\n")
        private.write(notes / "job.toml", job)
        private.write(notes / "README.md", owners_readme([*earlier, entry], notices))
        yield
        shutil.rmtree(owner / entry["release"], ignore_errors=True)
        os.rename(notes, owner / entry["release"])
    except BaseException:
        if notes is not None:
            shutil.rmtree(notes, ignore_errors=True)
        with suppress(OSError):
            for folder in lacking:
                folder.rmdir()
        raise
