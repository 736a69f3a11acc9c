"""This checkout against another one of the same project: what publishing and auditing cost in each, run in turn.

`python -m benchmarks.against OTHER` prints CPU seconds here and there.  Each checkout has a process of its own; after a
warming run the two take turns, so that both meet the same load, and the least of all turns counts.  The other checkout
needs its kernels built; jobs say only what both versions understand.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.data import census_file
from benchmarks.measure import ROOT
from benchmarks.rows_audit import AUDIT, LARGE
from benchmarks.rows_floor import QUASI

CHILD = r"""
import json, os, resource, shutil, sys, tempfile, time
from pathlib import Path

task = json.loads(sys.stdin.readline())
space = dict(task["given"], folder=Path(task["folder"]))
os.environ["RETICENT_LEDGER"] = str(Path(task["folder"]) / "ledger")
exec(compile(task["setup"], "<setup>", "exec"), space)
body = compile(task["body"], "<body>", "exec")
print("ready", flush=True)
for _ in sys.stdin:
    space["scratch"] = Path(tempfile.mkdtemp(dir=task["folder"]))
    os.environ["RETICENT_LEDGER"] = str(space["scratch"] / "ledger")
    used = time.process_time()
    exec(body, space)
    print(time.process_time() - used, flush=True)
    shutil.rmtree(space["scratch"])
"""
SETUP = """
import polars, pyarrow.parquet, randomgen
import reticent as rt
from reticent.methods.anatomy import Anatomy
from reticent.methods.beta_perturbation import BetaPerturbation
from reticent.methods.burel import Burel
columns = {name: rt.quasi() for name in quasi} | {"salary_class": rt.sensitive()}
promises = eval(promise)
job = rt.Job(source=path, columns=columns, promises=[promises], method=eval(method), release=rt.Output(undeclared="drop"))
"""
PUBLISH = 'rt.publish(job, to=scratch / "release")'
RELEASED = SETUP + 'rt.publish(job, to=folder / "release", seed=0)\nfolder = str(folder / "release")\nhow = eval(how)\n'
METHODS = {
    "mondrian, median cuts, k 10": ('rt.Mondrian(cuts="median")', "rt.KAnonymity(10)"),
    "mondrian, loss cuts, k 10": ('rt.Mondrian(cuts="loss")', "rt.KAnonymity(10)"),
    "mondrian, median cuts, beta 4": ('rt.Mondrian(cuts="median")', "rt.BetaLikeness(4)"),
    "burel, beta 4": ("Burel()", "rt.BetaLikeness(4)"),
    "anatomy, l 5": ("Anatomy()", "rt.ProbabilisticLDiversity(5)"),
    "beta-perturbation, beta 4": ("BetaPerturbation()", "rt.BetaLikeness(4)"),
}


def tasks(rows: int) -> dict[str, dict[str, Any]]:
    """Name -> set-up, body and what they are given."""
    path = str(census_file(rows))
    given = {
        name: {"path": path, "quasi": list(QUASI), "method": method, "promise": promise}
        for name, (method, promise) in METHODS.items()
    }
    found = {f"publish: {name}": {"setup": SETUP, "body": PUBLISH, "given": these} for name, these in given.items()}
    median = {**given["mondrian, median cuts, k 10"], "quasi": list(LARGE), "promise": "rt.KAnonymity(8)"}
    for name, how in {"from its files": "{}", "against its source too": "{'source': path}"}.items():
        found[f"audit: {name}"] = {"setup": RELEASED, "body": AUDIT, "given": {**median, "how": how}}
    return found


class Worker:
    """One checkout's process, which runs a task's body whenever it is asked to."""

    def __init__(self, checkout: Path, task: dict[str, Any], folder: str) -> None:
        where = os.environ | {"PYTHONPATH": str(checkout / "src")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
            env=where,
        )
        self.answer(json.dumps({**task, "folder": folder}))

    def answer(self, line: str = "") -> str:
        print(line, file=self.process.stdin, flush=True)
        said = self.process.stdout.readline().strip()
        if not said:
            raise SystemExit("A checkout could not run its task; its traceback stands above.")
        return said

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def compared(task: dict[str, Any], checkouts: list[Path], turns: int) -> list[float]:
    """The least CPU seconds of each checkout in so many turns."""
    cache = ROOT / ".cache"
    cache.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        places = [Path(folder) / str(number) for number in range(len(checkouts))]
        for place in places:
            place.mkdir()
        workers = [Worker(checkout, task, str(place)) for checkout, place in zip(checkouts, places, strict=True)]
        taken = [[float(worker.answer()) for worker in workers] for _ in range(turns + 1)][1:]
        for worker in workers:
            worker.end()
    return [min(column) for column in zip(*taken, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the folder of the other checkout, its kernels built")
    parser.add_argument("words", nargs="*", help="only tasks whose name has one of these words")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--turns", type=int, default=15)
    options = parser.parse_args()
    for name, task in tasks(options.rows).items():
        if not options.words or any(word in name for word in options.words):
            ours, theirs = compared(task, [ROOT, options.other.resolve()], options.turns)
            print(f"{name:<40} {ours:8.3f} {theirs:8.3f} {ours / theirs:6.2f}", flush=True)


if __name__ == "__main__":
    main()
