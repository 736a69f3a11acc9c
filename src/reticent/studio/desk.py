"""The desk: all that a running studio works on.  Tabs share it, and a reload finds it as it was."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from reticent.errors import ReticentError
from reticent.job.job import Job
from reticent.studio.job_file import JobFile
from reticent.studio.project import Project
from reticent.studio.runs import Run, Runs


@dataclass(slots=True)
class Desk:
    """The project, its job file, the long work, and what the screens remember while the studio runs."""

    project: Project
    job_file: JobFile
    runs: Runs
    memory: dict[str, Any] = field(default_factory=dict)  # of a screen, by its name: choices that are no part of a job
    scratch: Path = field(default_factory=lambda: make_scratch_folder())  # private, for what is no part of the project

    @classmethod
    def open(cls, folder: Path, job: Path | None = None, named: Sequence[Path] = ()) -> Desk:
        """Open a folder: its job file is the one named, else the only TOML file in it that is a job, else `job.toml`.

        A release that somebody received has no job: nothing is written into its folder, and no file in it is read as one.
        """
        project = Project(folder, named)
        scratch = make_scratch_folder()
        if project.is_release:
            path = scratch / "job.toml"
        else:
            path = job.resolve() if job is not None else _find_job(project.folder)
        return cls(project, JobFile(path), Runs(project.folder), scratch=scratch)

    def read_job(self) -> Job | None:
        """Read the job; None where there is none, or it is not valid yet."""
        try:
            return self.job_file.read() if self.job_file.exists() else None
        except ReticentError:
            return None

    def find_job_error(self) -> ReticentError | None:
        """Return what is wrong with the job file; None where it is valid or there is none yet."""
        if not self.job_file.exists():
            return None
        try:
            self.job_file.read()
        except ReticentError as error:
            return error
        return None

    def remember(self, screen: str) -> dict[str, Any]:
        """Return what a screen remembers while the studio runs: choices that are no part of the job."""
        return self.memory.setdefault(screen, {})

    def find_source(self) -> Path | None:
        """Return the path of the job's source, where it is a file or a folder that is there."""
        source = self.job_file.read_table().get("source", {})
        path = source.get("path") if isinstance(source, dict) else source
        if not isinstance(path, str) or "://" in path:
            return None
        try:
            resolved = self.project.resolve(path)
        except ReticentError:
            return None
        return resolved if resolved.exists() else None

    def make_key(self, *parts: object) -> str:
        """Make the key of a run: what is asked, of the job as it is now and the source as it is now."""
        source = self.find_source()
        return ":".join([*map(str, parts), self.job_file.digest, "" if source is None else sign_file(source)])

    def start(self, what: str, words: Sequence[str]) -> Run:
        """Start a command of ours about the job and the source as they are now; what runs already is returned."""
        return self.runs.start(words, self.make_key(what))

    def find_run(self, what: str) -> Run | None:
        """Return the latest run of this work about the job and the source as they are now."""
        return self.runs.find(self.make_key(what))

    def find_result(self, what: str) -> Any:
        """Return the result of this work about the job and the source as they are now; None where it was not done."""
        return self.runs.find_result(self.make_key(what))

    @property
    def job_name(self) -> str:
        """The name of the job file as a command says it."""
        return self.project.describe(self.job_file.path)


def make_scratch_folder() -> Path:
    """Make a folder that this user alone can enter; it is removed when the studio ends."""
    folder = Path(mkdtemp(prefix="reticent-studio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def sign_file(path: Path) -> str:
    """Return a short text that changes where a file or a folder of files changes: names, sizes and times."""
    entries = sorted(path.rglob("*")) if path.is_dir() else [path]
    facts = []
    for entry in entries[:10_000]:
        try:
            status = os.stat(entry)
        except OSError:
            continue
        facts.append(f"{entry}:{status.st_size}:{status.st_mtime_ns}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _find_job(folder: Path) -> Path:
    candidates = []
    for path in sorted(folder.glob("*.toml")):
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size < 2**20 else ""
        if "[columns]" in text or "[source]" in text:
            candidates.append(path)
    return candidates[0] if len(candidates) == 1 else folder / "job.toml"
