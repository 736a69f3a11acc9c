"""A plugin of pytest that takes away what only POSIX systems have: `pytest -p tests.support.blocked_modules ...`.

Modules, functions and flags that Windows lacks are gone before reticent is imported. Paths, file names and the rules of
the disk stay those of the system that it runs on, so this shows that the code asks before it uses them, and no more.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Any

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "syslog", "readline")
FUNCTIONS_AND_FLAGS = (
    "geteuid",
    "getegid",
    "fchmod",
    "fchown",
    "pread",
    "pwrite",
    "mkfifo",
    "killpg",
    "setsid",
    "O_NOFOLLOW",
    "O_DIRECTORY",
    "O_NONBLOCK",
)
"""Of `os`. pytest itself needs `getuid`, which reticent does not use."""


def block() -> None:
    if any(name.split(".")[0] == "reticent" for name in sys.modules):
        raise RuntimeError("reticent was imported before modules were blocked")
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails from now on
    for name in FUNCTIONS_AND_FLAGS:
        if hasattr(os, name):
            delattr(os, name)
    os.supports_dir_fd = set()
    os.supports_fd = set()
    for name in ("SIGHUP",):
        if hasattr(signal, name):
            delattr(signal, name)
    vars(ctypes).update(CDLL=_LibraryByName)
    os.environ.setdefault("USERNAME", "somebody")  # as on Windows


class _LibraryByName(ctypes.CDLL):
    """Windows has no library of all that is loaded."""

    def __init__(self, name: Any, *arguments: Any, **options: Any) -> None:
        if name is None:
            raise TypeError("there is no library without a name")
        super().__init__(name, *arguments, **options)


block()
