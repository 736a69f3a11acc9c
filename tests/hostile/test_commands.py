"""No option or argument of any command, whatever it is given, ends in a bug of ours, a canary or a file left behind."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
from pathlib import Path
from typing import IO

import pytest

from reticent.cli import output
from reticent.cli.commands import COMMANDS
from reticent.cli.main import main
from reticent.ledger.withdrawals import WITHDRAWALS_FILE
from tests.hostile.commands import contents, lines
from tests.support.good_command_lines import GOOD, prepared
from tests.support.hostile_cases import CANARY, Case, Ran, faults, run

EVERY = 1 if os.environ.get("HOSTILE") == "all" else 20
SLOW = {"demo", "compare", "advise", "check", "attack as background", "report, internal"}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("commands") / "place"
    folder.mkdir()
    prepared(folder)
    return folder


def tried(place: Path, words: tuple[str, ...]) -> tuple[Ran, list[str]]:
    """What a command line did, and what it must not have done; what it made is removed again."""
    before = contents(place)
    ran = run(place, Case(lambda folder: None, None, words))
    found = faults(ran, None)
    after = contents(place)
    if ran.code and (changed := [name for name in before if after.get(name) != before[name]]):
        found.append(f"changed: {changed[:5]}")
    for name in sorted(ran.left, key=len):
        path = place / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for name in before:
        if after.get(name) != before[name]:
            (place / name).write_bytes(before[name])
    return ran, found


@pytest.mark.parametrize("name", GOOD)
def test_a_command_line_that_is_good_works(name, place):
    ran, found = tried(place, GOOD[name])
    assert not found and ran.code == 0, ran.err[-1_000:]


# A budget of next to nothing ends a command wherever it is, also between opening a file and the block that closes it: Python
# closes the file when it is dropped, and says so.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", GOOD)
def test_a_hostile_command_line_is_refused_in_our_own_words(name, place):
    every = EVERY * (3 if EVERY > 1 and name in SLOW else 1)
    wrong = {}
    for number, (what, words) in enumerate(lines(name)):
        if (number + len(name)) % every == 0:
            ran, found = tried(place, words)
            if found:
                wrong[what] = (found, ran.err[-400:])
    assert not wrong


SILENT = {
    "query",
    "hierarchy of a file",
    "hierarchy",
    "schema",
    "plugins",
    "releases",
    "releases, one of them",
    "releases of a person",
    "withdraw",
}  # no stages are told


@pytest.mark.parametrize("name", [name for name in GOOD if name not in SILENT])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_an_order_to_end_ends_with_130_and_leaves_nothing(name, number, place, monkeypatch):
    @contextlib.contextmanager
    def ending(*_):
        yield lambda *_: os.kill(os.getpid(), number)

    monkeypatch.setattr(output, "show_progress", ending)
    before = contents(place)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ran = run(place, Case(lambda folder: None, 130, GOOD[name]))
    finally:
        signal.signal(signal.SIGINT, handler)
    assert ran.code == 130, ran.err
    assert not ran.left
    assert contents(place) == before
    assert CANARY not in ran.out + ran.err


def written_to(place: Path, words: tuple[str, ...], stream: IO[str]) -> int:
    """The exit code of a command whose standard output is this stream."""
    here = os.getcwd()
    os.chdir(place)
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(io.StringIO()):
            return main(list(words))
    finally:
        os.chdir(here)
        for name in ("out", "out.db", "new", "new.csv", "new.toml", "rest.csv", "rest.toml", "page.md"):
            path = place / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
@pytest.mark.parametrize("name", GOOD)
def test_a_standard_output_that_is_full_or_gone_is_no_bug(name, place, monkeypatch):
    ledger = place.with_name(f"{place.name}-ledger")
    monkeypatch.setenv("RETICENT_LEDGER", str(ledger))
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    (ledger / WITHDRAWALS_FILE).unlink(missing_ok=True)  # what is withdrawn already is not withdrawn again
    if name in SLOW and EVERY > 1:
        pytest.skip("takes longer: make hostile")
    words = (*GOOD[name], "--force") if name == "report, internal" else GOOD[name]
    with open("/dev/full", "w") as full:
        assert written_to(place, words, full) == 74
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        assert written_to(place, words, gone) == 1


def test_every_command_is_tried():
    serving = {"studio"}  # until Ctrl-C: tests/studio has its hostile words and requests
    assert {words[0] for words in GOOD.values()} == set(COMMANDS) - serving
