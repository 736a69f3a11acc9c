"""Progress on a terminal is one live line; test_log.py has what is told where nobody watches."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest


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
