"""Progress on a terminal is one live line; test_log.py has what is told where nobody watches."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from reticent.cli.progress import EtaDisplay
from reticent.progress import ProgressEvent, format_duration, fraction_done, scale_progress


def on_a_terminal(*words: str) -> tuple[int, str]:
    """The exit code, and all that a terminal was shown."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "reticent.cli.main", *words]
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env={**os.environ, "TERM": "xterm"}
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(leader)
    return process.wait(), shown.decode()


@pytest.mark.parametrize("as_json", [False, True])
def test_the_stages_of_a_publication_show_on_a_terminal(place, as_json):
    code, shown = on_a_terminal("publish", "job.toml", "-o", "release", *(["--json"] if as_json else []))
    assert code == 0
    for stage in ("reading", "planning", "writing", "auditing"):
        assert (stage in shown) == (not as_json)
    assert "\x1b[?25h" in shown or as_json  # the cursor is back


def shares(shown: str) -> list[int]:
    return [int(share) for share in re.findall(r"(\d+)%", shown)]


def test_a_terminal_shows_how_much_is_done_and_it_never_goes_back(place):
    _, shown = on_a_terminal("publish", "job.toml", "-o", "release")
    found = shares(shown)
    assert found == sorted(found)
    assert {45, 75} <= set(found)  # planning and writing begin


def test_a_terminal_shows_how_long_a_search_may_still_take(place):
    job = place / "job.toml"
    job.write_text(re.sub(r"\[method\][^\[]*", "", job.read_text()) + '\n[method]\nname = "mosaic"\neffort = 3\n')
    code, shown = on_a_terminal("publish", "job.toml", "-o", "release")
    assert code == 0
    assert re.search(r"\d+%, about \d+ s left", shown)
    assert len(set(shares(shown))) > 4  # each sweep says how far it is


@pytest.mark.parametrize("words", [("check", "job.toml"), ("attack", "release", "--source", "people.csv")])
def test_comparing_and_attacking_say_how_far_they_are(place, run, words):
    run("publish", "job.toml", "-o", "release")
    _, shown = on_a_terminal(*words)
    assert len(set(shares(shown))) > 1


def test_a_quiet_run_shows_a_terminal_no_stage(place):
    _, shown = on_a_terminal("publish", "job.toml", "-o", "release", "--quiet")
    assert not shares(shown.split("Published")[0])
    assert "planning" not in shown


def test_what_is_left_is_what_the_done_share_took_for_the_rest():
    far = EtaDisplay(began=100.0)
    far.reach(0.25, now=110.0)
    assert far.format_eta(110.0) == "25%, about 30 s left"
    assert far.format_eta(120.0) == "25%, about 20 s left"  # it runs down until the next stage
    assert far.format_eta(200.0) == "25%"  # longer than thought: no guess is better than a wrong one
    far.reach(0.2, now=111.0)
    assert far.format_eta(110.0) == "25%, about 30 s left"  # never back


def test_nothing_is_said_of_the_time_left_before_anything_is_done():
    far = EtaDisplay(began=100.0)
    assert far.format_eta(100.0) == ""
    far.reach(0.01, now=200.0)
    assert far.format_eta(200.0) == "1%"


def test_seconds_are_spoken_as_people_say_them():
    assert [format_duration(seconds) for seconds in (0.2, 59, 90, 5400)] == ["1 s", "59 s", "2 min", "1.5 h"]


def test_the_share_of_a_part_is_told_as_one_of_the_whole():
    told: list[str] = []
    part = scale_progress(told.append, 0.2, 0.6)
    part(ProgressEvent("half", 0.5))
    part("words alone")
    assert told == ["half", "words alone"]
    assert [fraction_done(step) for step in told] == [0.4, None]
