"""Steps before any command: limits of memory, streams, and recovery of interrupted runs.

`require_address_space` refuses a limit of addresses (`ulimit -v`) that is too small before anything is loaded: the
libraries that read tables end the process by themselves when memory runs out, some of them while they are loaded.

`prepare_streams` and `drop_polars_settings` handle the place where a command was started: without Unicode, without a
terminal, without a stream at all, or with settings for a library of ours.

`recover_interrupted_runs` settles what interrupted runs of this user left, by the journal and the records of the
ledger. A command that only reads settles the ledger's journal.  One that writes also removes the staging folders that
the ledger has records of, and names this user's folders of older versions in the temporary folder.  Neither looks at
the paths in its arguments.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import reticent
from reticent.errors import OutOfMemory, ReticentError
from reticent.operating_system import get_address_limit

MIN_ADDRESS_BYTES = 2 << 30  # bytes of addresses, of which a small table fills a tenth
AMPLE_ADDRESS_BYTES = 16 << 30  # a limit that needs no care
FRUGAL_ENVIRONMENT = {"POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_M_ARENA_MAX = -8  # of mallopt
READING_COMMANDS = ("check", "audit", "risk", "query", "attack", "advise", "calibrate", "plugins", "releases", "studio")
SECONDS_PER_DAY = 86_400.0  # seconds: a run of an older version may be using what is younger
WRITING_COMMANDS = (
    "init",
    "schema",
    "hierarchy",
    "publish",
    "export",
    "report",
    "compare",
    "withdraw",
    "forget",
    "data",
    "demo",
)


def require_address_space() -> None:
    """Refuse a limit of addresses at which libraries fail or end the process; under a greater one, have them use few."""
    limit = get_address_limit()
    if limit is None or limit >= AMPLE_ADDRESS_BYTES:
        return
    for name, value in FRUGAL_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(Exception):  # not every system has such a call
        import ctypes

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    if limit < MIN_ADDRESS_BYTES:
        raise OutOfMemory(
            f"This process may take {limit >> 20:,} MiB of addresses (ulimit -v), and {MIN_ADDRESS_BYTES >> 20:,} are the least.",
            why="The libraries that read tables reserve addresses that they never fill. Nothing was read or kept.",
            attempt="ulimit -v unlimited; a control group limits what is filled.",
        )


def exit_if_out_of_memory(code: int) -> None:
    """End the process at once if a limit of addresses was met: an orderly end of libraries needs memory, and crashes."""
    if code == OutOfMemory.exit_code and get_address_limit() is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def recover_interrupted_runs(words: Sequence[str]) -> list[str]:
    """Recover, and return a line about what was done, or about what could not be done; most often none.

    `publish` recovers by itself and ends if it cannot; a command that only reads goes on.
    """
    from reticent.ledger.journal import describe_older_folders, recover
    from reticent.ledger.paths import resolve_ledger_folder
    from reticent.ledger.staging import find_temp_dir

    ledger = next((word.partition("=")[2] for word in words if word.startswith("--ledger=")), None)
    if "--ledger" in words[:-1]:
        ledger = words[words.index("--ledger") + 1]
    command = next((word for word in words if not word.startswith("-")), "")
    is_writing = command in WRITING_COMMANDS
    try:
        sentences = recover(resolve_ledger_folder(ledger), only_journal=not is_writing)
    except (ReticentError, OSError) as error:
        reason = f"{error.what} {error.why or ''}" if isinstance(error, ReticentError) else "the disk refuses"
        return [f"Note: what an interrupted run left could not be settled: {reason}".rstrip()]
    if is_writing:
        sentences += describe_older_folders(find_temp_dir(), SECONDS_PER_DAY)
    return ["Note: " + " ".join(sentences)] if sentences else []


def prepare_streams() -> None:
    """Have characters that a stream cannot show spelled out, and replace a closed stream by one that nobody reads."""
    # Else the first file that is opened would be the closed stream.
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(spare)
    sys.stdout = _make_usable(sys.stdout)
    sys.stderr = _make_usable(sys.stderr)


def drop_polars_settings() -> None:
    """Drop the environment's settings of Polars: some change its engine, some make it panic or quote what it reads.

    The number of its threads stays, if it is a number.
    """
    for name in [name for name in os.environ if name.startswith("POLARS_")]:
        threads = name == "POLARS_MAX_THREADS" and os.environ[name].isdecimal() and 0 < int(os.environ[name]) <= 4096
        if not threads:
            del os.environ[name]


def describe_version() -> str:
    """Describe this version in a line, with whether the loops of planning and auditing are compiled."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said here, in the version's own words
        from reticent.kernels import list_uncompiled_kernels
    slow = len(list_uncompiled_kernels())
    state = f"{slow} kernels not compiled: slow" if slow else "kernels compiled"
    return f"reticent {reticent.__version__} ({state})"


def silence_stdout() -> None:
    """Write nothing more to standard output: its reader has gone, or it is full, and Python would try again at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _make_usable(stream: Any) -> Any:
    if stream is None or getattr(stream, "closed", False):
        return open(os.devnull, "w", encoding="utf-8")  # as long as the process
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return stream
