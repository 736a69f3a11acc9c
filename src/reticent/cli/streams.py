"""Where a command was started: without Unicode, without a terminal, without a stream at all, or with settings for a library of ours."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any


def prepare() -> None:
    """Letters that a stream cannot show are spelled out; a stream that is closed is one that nobody reads."""
    while (
        spare := os.open(os.devnull, os.O_RDWR)
    ) <= 2:  # else the first file that is opened would be the closed stream
        pass
    os.close(spare)
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)


def forget_settings() -> None:
    """Polars' own settings are made for who programs with it: some change its engine, some make it panic or quote what it reads.

    The number of its threads is the one that stays, where it is a number.
    """
    for name in [name for name in os.environ if name.startswith("POLARS_")]:
        threads = name == "POLARS_MAX_THREADS" and os.environ[name].isdecimal() and 0 < int(os.environ[name]) <= 4096
        if not threads:
            del os.environ[name]


def _usable(stream: Any) -> Any:
    if stream is None or getattr(stream, "closed", False):
        return open(os.devnull, "w", encoding="utf-8")  # as long as the process
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return stream


def silence() -> None:
    """Nothing more is written to standard output: its reader has gone, or it is full, and Python would try again at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
