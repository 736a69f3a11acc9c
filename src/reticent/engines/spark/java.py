"""Java 17 or later, found before anything is started."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from reticent.errors import RequestError

LEAST = 17


def refuse_unfit() -> None:
    """Refuse a machine without a Java that Spark 4 runs on."""
    home = os.environ.get("JAVA_HOME")
    path = os.path.join(home, "bin", "java") if home else shutil.which("java")
    found = None if path is None else version(path)
    if found is None:
        where = "in JAVA_HOME" if home else "on the PATH"
        raise RequestError(
            f"The engine spark needs Java {LEAST} or later, and none is found {where}.",
            attempt=f"installing OpenJDK {LEAST}, or --engine stream, which needs none.",
        )
    if found < LEAST:
        raise RequestError(
            f"The engine spark needs Java {LEAST} or later, and {'JAVA_HOME' if home else 'the PATH'} has Java {found}.",
            attempt=f"JAVA_HOME of a Java {LEAST}, or --engine stream, which needs none.",
        )


def version(path: str) -> int | None:
    """The major version of a Java; None of something that does not run."""
    try:
        said = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    if found is None:
        return None
    return int(found[2] or 0) if found[1] == "1" else int(found[1])
