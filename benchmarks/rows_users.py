"""What people wait for in their first week: one function per row."""

from __future__ import annotations

import resource
import subprocess
import tempfile
from pathlib import Path

from benchmarks.measure import ROOT
from benchmarks.row import Row

PARTS = {"packages": "venv", "kernels": "install", "the demo": "demo"}  # each target rests on those before it


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def demo_from_nothing() -> Row:
    """`make demo` in a fresh clone, in CPU seconds of all its processes; what is downloaded is not counted."""
    with tempfile.TemporaryDirectory(prefix="reticent-") as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        took = {}
        for part, target in PARTS.items():
            before = children()
            subprocess.run(
                ["make", target], cwd=clone, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            took[part] = children() - before
    note = ", ".join(f"{part} {seconds:.1f}" for part, seconds in took.items())
    return Row(ours=sum(took.values()), reference=60, against="the 60 s it may cost", at_most=1, note=note)


ROWS = [
    ("users: make demo from a clean clone", demo_from_nothing),
]
