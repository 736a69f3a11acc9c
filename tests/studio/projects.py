"""Projects with releases in them, and a release of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import chdir
from functools import cache
from pathlib import Path

import reticent as rt
from reticent.cli.main import main
from tests.support.method_promise_pairs import pairs, released


def publish_project(folder: Path, files: Mapping[str, bytes], *names: str) -> Path:
    """Write the files of a project, and publish its job to a folder of each name."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    with chdir(folder):
        for name in names:
            assert main(["publish", "job.toml", "-o", name, "--ledger", "ledger", "--again", "--json"]) == 0
    return folder


@cache
def publish_kind(kind: str) -> rt.Release:
    """Return a release of a kind, over age, city and a sensitive column."""
    pair = next(pair for pair in pairs() if pair.kind == kind and not pair.stages and pair.beside is None)
    return released(pair)[0]
