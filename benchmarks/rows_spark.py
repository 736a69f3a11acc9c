"""Spark beside the engines of one machine, in the same run: CPU seconds of all processes, Java included.

500,000 census rows, or as many as SPARK_ROWS says.  What starting Spark costs is told apart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache

from benchmarks.data import census_file
from benchmarks.row import Row

ROWS_ASKED = int(os.environ.get("SPARK_ROWS", "500000"))
PUBLISH = """
import json, os, sys
from pathlib import Path
import reticent as rt

def family():
    found, parents = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            said = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(place.name)] = int(said[1])
        found[int(place.name)] = sum(map(int, said[11:15]))
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(found[pid] for pid in mine) / os.sysconf("SC_CLK_TCK")

path, engine, carried = sys.argv[1], sys.argv[2], sys.argv[3] == "carried"
columns = {name: rt.quasi() for name in ("age", "gender", "education")} | {"salary_class": rt.sensitive()}
columns |= {"work_class": rt.insensitive()} if carried else {}
job = rt.Job(source=path, columns=columns, promises=[rt.KAnonymity(10), rt.BetaLikeness(4)],
             release=rt.Output(undeclared="drop"))
engine = rt.Spark(master="local[2]") if engine == "spark" else engine
if engine not in ("local", "stream"):
    rt.count(job, engine=engine)
began = family()
rt.publish(job, seed=1, engine=engine)
print(json.dumps({"cpu": family() - began, "start": began}))
"""


@cache
def cost(rows: int, engine: str, carried: str) -> dict[str, float]:
    given = [sys.executable, "-c", PUBLISH, str(census_file(rows)), engine, carried]
    return json.loads(subprocess.run(given, capture_output=True, text=True, check=True).stdout)


def overhead(carried: str) -> Callable[[], Row]:
    def row() -> Row:
        by, one, stream = (cost(ROWS_ASKED, engine, carried) for engine in ("spark", "local", "stream"))
        note = f"stream {stream['cpu']:.2f} CPU s; and {by['start']:.0f} CPU s to start Spark, ship the package and count once"
        return Row(ours=by["cpu"], reference=one["cpu"], against="local", note=note)

    return row


ROWS = [
    (f"spark {ROWS_ASKED:,} rows: nothing carried", overhead("plain")),
    (f"spark {ROWS_ASKED:,} rows: a carried column", overhead("carried")),
]
