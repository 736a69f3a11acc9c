"""A publication that stops at a named function and is then interrupted, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

WAITING = """\
import pathlib, pkgutil, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores Ctrl-C
owner, _, name = {at!r}.rpartition(".")
owner = pkgutil.resolve_name(owner)
before = getattr(owner, name)
def wait(*given, **named):
    found = before(*given, **named)
    pathlib.Path({flag!r}).touch()
    time.sleep(600)
    return found
setattr(owner, name, wait)
from reticent.cli.main import main
sys.exit(main({words!r}))
"""


def interrupted(at: str, words: list[str], flag: Path, number: int) -> str:
    """Send a signal to `reticent WORDS` when the function `at` has returned; it must end with 130.  What it said on stderr."""
    script = WAITING.format(at=at, flag=str(flag), words=[*words, "--json"])
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + 300  # a machine may be busy
        while not flag.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        assert flag.exists(), process.communicate(timeout=5)
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert json.loads(out)["error"]["exit_code"] == 130
    return err
