"""The folder on this machine of a session that we start: its catalogue, the archive for executors, and rows that Spark spills.

It is staged as everything temporary is: it goes when the process ends and, if the process is killed, with the next command that
writes, by the record that the user's ledger has of it.
"""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from reticent.owner import staging

_OPEN = ExitStack()


@cache
def session_folder() -> Path:
    """Return the folder; it is made when it is first asked for."""
    folder = _OPEN.enter_context(staging.staged(None))
    atexit.register(staging.discard, folder)
    return folder


def make_session_folder(name: str) -> Path:
    """Make a folder of this name in the session's."""
    folder = session_folder() / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder.resolve()
