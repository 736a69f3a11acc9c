"""A process that has loaded everything and forks a child for each command: killing one costs no start.

Started with `faults.c` preloaded.  A line of JSON in: the words of a command, where to run it, and which change to spoil
how.  A line out: how the child ended, how many changes it made, what it printed.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

MODES = {"count": 0, "kill": 1, "term": 2, "half": 3, "once": 4, "on": 5, "full": 6}


def load() -> None:
    """Import what a command needs and start no thread: a child has only the thread that forked it."""
    import duckdb  # noqa: F401  # loaded here and used by the children
    import pyarrow.parquet  # noqa: F401

    import reticent.audit
    import reticent.batches
    import reticent.cli.audit
    import reticent.cli.export
    import reticent.cli.publish
    import reticent.methods.mondrian
    import reticent.publish
    import reticent.recipe.generalized
    import reticent.release.database  # noqa: F401


def arm(library: ctypes.CDLL, asked: dict) -> None:
    for name, value in (("at", asked["at"]), ("mode", MODES[asked["mode"]]), ("errno", asked["errno"]), ("count", 0),
                        ("no_exchange", asked["no_exchange"])):  # fmt: skip
        ctypes.c_int.in_dll(library, f"fault_{name}").value = value
    root = os.fsencode(asked["root"])
    ctypes.memmove(ctypes.addressof(ctypes.c_char.in_dll(library, "fault_root")), root + b"\0", len(root) + 1)


def child(asked: dict, out: int, count: int) -> None:
    from reticent.cli.main import main

    os.dup2(out, 1)
    os.dup2(out, 2)
    os.chdir(asked["folder"])
    os.environ.update(asked["environment"])
    tempfile.tempdir = None
    os.umask(asked["umask"])
    if asked["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    library = ctypes.CDLL(None)
    if asked["log"]:
        ctypes.c_int.in_dll(library, "fault_log").value = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    arm(library, asked)
    code = 70
    try:
        code = main(asked["words"])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        made = ctypes.c_int.in_dll(library, "fault_count").value
        library.fault_root = b""
        os.pwrite(count, str(made).encode(), 0)
        os._exit(code)


def serve() -> None:
    load()
    for line in sys.stdin:
        asked = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as count:
            number = os.fork()
            if number == 0:
                child(asked, out.fileno(), count.fileno())
            _, status, used = os.wait4(number, 0)
            out.seek(0)
            count.seek(0)
            said = out.read().decode(errors="replace")
            told = {
                "code": os.waitstatus_to_exitcode(status),
                "changes": int(count.read() or 0),
                "said": said,
                "cpu": used.ru_utime + used.ru_stime,
            }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2])]
    serve()
