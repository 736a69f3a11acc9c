"""What a piece of Python costs: CPU seconds, wall seconds and memory, measured in a fresh process.

The piece runs once to warm up (files in the page cache, modules loaded), then three times; the least counts (with no
further runs, the first).  CPU time
is that of all threads and of child processes.  Memory is the peak of the first run above what the imports left.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (str(ROOT), str(ROOT / "src"))  # this checkout is measured, whichever is installed

CHILD = r"""
import json, os, resource, shutil, sys, tempfile, time
from pathlib import Path

task = json.loads(sys.stdin.read())
space = dict(task["given"])
exec(compile(task["setup"], "<setup>", "exec"), space)
body = compile(task["body"], "<body>", "exec")


def memory(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field + ":"))


def cpu():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def once():
    space["scratch"] = Path(tempfile.mkdtemp(dir=task["scratch"]))
    os.environ["RETICENT_LEDGER"] = str(space["scratch"] / "ledger")
    started, used = time.perf_counter(), cpu()
    exec(body, space)
    took = cpu() - used, time.perf_counter() - started
    shutil.rmtree(space["scratch"])
    return took


before = memory("VmRSS")
try:
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark of the imports is not the task's
except OSError:
    pass
first = once()
peak = max(0, memory("VmHWM") - before)
runs = [once() for _ in range(task["runs"])] or [first]
Path(task["result"]).write_text(json.dumps({
    "cpu": min(run[0] for run in runs), "wall": min(run[1] for run in runs), "peak": peak,
    "value": space.get("value"),
}))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU and wall seconds of the best run, peak bytes above import, and what the piece left in `value`."""

    cpu: float
    wall: float
    peak: int
    value: object = None


def measure(body: str, *, setup: str = "", given: dict[str, object] | None = None, runs: int = 3) -> Cost:
    """Cost of `body` after `setup`, both source text.

    They see the names in `given` (plain values only), and `body` a fresh folder `scratch` in each run; what it leaves
    in `value` comes back.
    """
    cache = ROOT / ".cache"
    cache.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        result = Path(folder) / "result.json"
        task = {"setup": setup, "body": body, "given": given or {}, "runs": runs}
        task |= {"scratch": folder, "result": str(result)}
        # A child that cannot run is a wrong benchmark: its traceback goes to the terminal and the run stops.
        subprocess.run(
            [sys.executable, "-c", CHILD],
            input=json.dumps(task),
            text=True,
            check=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(SOURCES)},
            stdout=subprocess.DEVNULL,
        )
        return Cost(**json.loads(result.read_text()))
