"""A limit of addresses (`ulimit -v`) that is too small is refused before anything is loaded.

The libraries that read tables end the process by themselves where memory runs out, some of them while they are loaded.
"""

from __future__ import annotations

import contextlib
import os
import sys

from reticent.errors import OutOfMemory
from reticent.memory import address_limit

LEAST = 2 << 30  # bytes of addresses, of which a small table fills a tenth
AMPLE = 16 << 30  # a limit that needs no care
FRUGAL = {"POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_M_ARENA_MAX = -8  # of mallopt


def refuse_little_room() -> None:
    """Refuse a limit of addresses below which libraries fail or end the process; under a greater one, have them take few."""
    limit = address_limit()
    if limit is None or limit >= AMPLE:
        return
    for name, value in FRUGAL.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(Exception):  # not every system has such a call
        import ctypes

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    if limit < LEAST:
        raise OutOfMemory(
            f"This process may take {limit >> 20:,} MiB of addresses (ulimit -v), and {LEAST >> 20:,} are the least.",
            why="The libraries that read tables reserve addresses that they never fill. Nothing was read or kept.",
            attempt="ulimit -v unlimited; a control group limits what is filled.",
        )


def leave_if_short(code: int) -> None:
    """End at once where a limit of addresses was met: libraries that are ended in good order need memory for it, and crash."""
    if code == OutOfMemory.exit_code and address_limit() is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
