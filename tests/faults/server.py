"""A process that forks a child for each command and imports what its children had to: killing one costs no start.

Started with `faults.c` preloaded.  A line of JSON in: the words of a command, where to run it, and which change to spoil
how.  A line out: how the child ended, how many changes it made, what it printed.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

MODES = {"count": 0, "kill": 1, "term": 2, "half": 3, "once": 4, "on": 5, "full": 6}


def load(names: list[str]) -> None:
    """Import what a child had to, without starting a thread: a child has only the thread that forked it."""
    for name in names:
        with contextlib.suppress(Exception):  # some modules are made by others and cannot be imported by name
            importlib.import_module(name)


def arm(library: ctypes.CDLL, asked: dict) -> None:
    for name, value in (
        ("at", asked["at"]),
        ("mode", MODES[asked["mode"]]),
        ("errno", asked["errno"]),
        ("count", 0),
        ("no_exchange", asked["no_exchange"]),
    ):
        ctypes.c_int.in_dll(library, f"fault_{name}").value = value
    root = os.fsencode(asked["root"])
    ctypes.memmove(ctypes.addressof(ctypes.c_char.in_dll(library, "fault_root")), root + b"\0", len(root) + 1)


def child(asked: dict, out: int, told: int) -> None:
    from reticent.cli.main import main

    known = set(sys.modules)
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
        os.pwrite(told, json.dumps({"changes": made, "modules": sorted(set(sys.modules) - known)}).encode(), 0)
        os._exit(code)


def serve() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as told:
            number = os.fork()
            if number == 0:
                child(asked, out.fileno(), told.fileno())
            _, status, used = os.wait4(number, 0)
            out.seek(0)
            told.seek(0)
            facts = json.loads(told.read() or '{"changes": 0, "modules": []}')
            said = {
                "code": os.waitstatus_to_exitcode(status),
                "changes": facts["changes"],
                "said": out.read().decode(errors="replace"),
                "cpu": used.ru_utime + used.ru_stime,
            }
        load(facts["modules"])
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2])]
    serve()
