"""One hostile case: a folder is spoiled, a command is run in-process, and what must never happen is listed.

However bad the input, the command ends with 0, 1 to 6 or 74: never with 70 (a bug of ours) or an exception.  It quotes no
record, prints no more than a screen of error, writes no terminal escape, leaves nothing behind where it fails, and takes no more
than ten seconds of CPU.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reticent.cli.main import main
from tests.support.people import CANARY as CANARY
from tests.support.people import CITIES as CITIES
from tests.support.people import JOB as JOB
from tests.support.people import csv_text as csv_text
from tests.support.people import people as some_people
from tests.support.people import write_files

CPU_SECONDS = 10
SCREEN = 4_000  # characters: 50 lines of 80
ALLOWED = {0, 1, 2, 3, 4, 5, 6, 74}
_ESCAPES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Case:
    """What is done to a folder of good files, the command that meets it, and the exit code that is expected (None: any allowed)."""

    spoil: Callable[[Path], object]
    expected: int | None = 1
    words: tuple[str, ...] = ("publish", "job.toml", "-o", "out")
    says: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str
    seconds: float
    left: frozenset[str]


def people(rows: int = 60) -> list[list[str]]:
    return some_people(rows)


def prepare(folder: Path) -> None:
    """people.csv, city.csv and job.toml: good ones."""
    write_files(folder, 60)


def run(folder: Path, case: Case) -> Ran:
    """Prepare, spoil and run; the working directory is the folder, with an owner's folder and a ledger of its own."""
    prepare(folder)
    case.spoil(folder)
    before = set(_paths(folder))
    out = io.StringIO()
    err = io.StringIO()
    started = time.process_time()
    with _at(folder, case.environment), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(case.words))
    seconds = time.process_time() - started
    return Ran(code, out.getvalue(), err.getvalue(), seconds, frozenset(set(_paths(folder)) - before))


def faults(ran: Ran, expected: int | None) -> list[str]:
    """What must never happen and did."""
    found = []
    if ran.code not in ALLOWED or (expected is not None and ran.code != expected):
        found.append(f"exit code {ran.code}, expected {expected}")
    if "Traceback" in ran.out + ran.err or "panicked" in ran.err:
        found.append("a traceback")
    if CANARY in ran.out + ran.err:
        found.append("the canary is quoted")
    if _ESCAPES.search(ran.out + ran.err):
        found.append("a control character is printed")
    message = "".join(line for line in ran.err.splitlines(True) if not line.startswith("reticent: "))  # no stages
    if len(message) > SCREEN:
        found.append(f"a message of {len(message)} characters")
    if ran.code and ran.left:
        found.append(f"left behind: {', '.join(sorted(map(ascii, ran.left))[:5])}")
    if ran.seconds > CPU_SECONDS:
        found.append(f"{ran.seconds:.0f} CPU seconds")
    return found


def sampled(cases: Mapping[str, Case], most: int) -> list[str]:
    """The names of all cases, or of about so many, spread evenly; HOSTILE=all runs every one (`make hostile`)."""
    names = list(cases)
    if os.environ.get("HOSTILE") == "all" or len(names) <= most:
        return names
    return [names[at * len(names) // most] for at in range(most)]


@contextlib.contextmanager
def _at(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    kept = dict(os.environ)
    place = os.getcwd()
    os.environ.pop("RETICENT_TRACEBACK", None)
    os.environ.update({"RETICENT_LEDGER": str(folder.parent / f"{folder.name}-ledger"), **environment})
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(place)
        os.environ.clear()
        os.environ.update(kept)


def _paths(folder: Path) -> Iterator[str]:
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield os.path.relpath(os.path.join(top, name), folder)


PROMISE = 'model = "k-anonymity"\nk = 5'


def job(*changes: tuple[str, str], more: str = "") -> Callable[[Path], object]:
    """A good job with some of its text replaced, and more at its end."""
    text = JOB
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return lambda folder: (folder / "job.toml").write_text(text + more)
