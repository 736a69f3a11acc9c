"""Drafts made within the tests' process: a screen is tried without waiting for a child to count the same table again."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from reticent.cli.main import main
from reticent.studio import source_evidence
from reticent.studio.runs import Run
from tests.studio.client import Steward


@cache
def make_draft(name: str, content: bytes) -> tuple[str, Any]:
    """Return the job that `reticent init --evidence` drafts for a file, and what it prints."""
    printed = io.StringIO()
    previous = Path.cwd()
    with TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        os.chdir(folder)
        try:
            with redirect_stdout(printed):
                assert main(["init", name, "-o", "job.toml", "--json", "--evidence"]) == 0
        finally:
            os.chdir(previous)
        return (Path(folder) / "job.toml").read_text(), json.loads(printed.getvalue())


def place_evidence(user: Steward, name: str) -> None:
    """Put the evidence of the job's source where a run would have left it."""
    _, result = make_draft(name, (user.desk.project.folder / name).read_bytes())
    reading = source_evidence.find_reading(user.desk)
    assert reading is not None
    run = Run(("init", name), source_evidence._make_key(user.desk, reading), None)  # type: ignore[arg-type]
    run.ended = run.began
    run.exit_code = 0
    run.result = result
    user.desk.runs._runs[run.id] = run


def place_draft(user: Steward, name: str) -> None:
    """Put the draft of a file where opening it would have left it."""
    text, _ = make_draft(name, (user.desk.project.folder / name).read_bytes())
    user.desk.job_file.write(text)
    place_evidence(user, name)


def write_people(path: Path, rows: int = 60, person: str = "person_id") -> Path:
    frame = pl.DataFrame(
        {
            person: [f"P{row // 2:04d}" for row in range(rows)],
            "age": [20 + row % 30 for row in range(rows)],
            "city": [("Ulm", "Bonn", "NA")[row % 3] for row in range(rows)],
            "illness": [("flu", "mumps")[row % 2] for row in range(rows)],
        }
    )
    frame.write_csv(path)
    return path
