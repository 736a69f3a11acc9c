"""No option or argument of any command, whatever it is given, ends in a bug of ours, a canary or a file left behind."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from reticent.cli.app import COMMANDS
from tests.hostile.commands import GOOD, contents, lines, prepared
from tests.hostile.running import Case, Ran, faults, run

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
    found, after = faults(ran, None), contents(place)
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


@pytest.mark.parametrize("name", GOOD)
def test_a_hostile_command_line_is_refused_in_our_own_words(name, place):
    every, wrong = EVERY * (3 if EVERY > 1 and name in SLOW else 1), {}
    for number, (what, words) in enumerate(lines(name)):
        if (number + len(name)) % every == 0:
            ran, found = tried(place, words)
            if found:
                wrong[what] = (found, ran.err[-400:])
    assert not wrong


def test_every_command_is_tried():
    assert {words[0] for words in GOOD.values()} == set(COMMANDS)
