"""A small table with a canary in it, a job over it, and a command line that runs in-process."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from reticent.cli.main import main
from tests.support.people import CANARY as CANARY
from tests.support.people import CITIES as CITIES
from tests.support.people import JOB as K_JOB
from tests.support.people import csv_text, write_files
from tests.support.people import people as some_people

JOB = f"""\
{K_JOB}
[[promise]]
model = "beta-likeness"
beta = 2
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Place:
    """A folder with people.csv, city.csv and job.toml; the working directory of the test."""

    folder: Path

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def job(self, *changes: tuple[str, str]) -> None:
        text = JOB
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (self / "job.toml").write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self / name).read_text()
        assert old in text
        (self / name).write_text(text.replace(old, new))

    def contents(self) -> dict[str, bytes | None]:
        paths = sorted(self.folder.rglob("*"))
        return {str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None for path in paths}


def people(rows: int = 200, seed: int = 5) -> list[list[str]]:
    return some_people(rows, seed)


def write_csv(path: Path, rows: list[list[str]], head: str = "person,age,city,illness") -> None:
    path.write_text(csv_text(rows, head))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(tmp_path)
    for name in ("RETICENT_OWNER", "RETICENT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / "cache"))
    found = Place(tmp_path)
    write_files(tmp_path, 200, JOB)
    return found


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def call(*words: object) -> Ran:
        code = main([str(word) for word in words])
        return Ran(code, *capsys.readouterr())

    return call


def unwrapped(text: str) -> str:
    """Help text without frames and line breaks."""
    return re.sub(r"[\s│╭╮╰╯─]+", " ", text)
