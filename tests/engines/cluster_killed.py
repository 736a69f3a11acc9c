"""A publication by `local-cluster`, executors in processes of their own; one of them is killed half-way.  Run as a script.

The package is not on the executors' path: it is shipped.  Prints the pids that were killed and what was published.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path


def executors() -> list[int]:
    """The pids of the executors of this process."""
    parents, named = {}, []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            if b"CoarseGrainedExecutorBackend" in (place / "cmdline").read_bytes():
                named.append(int(place.name))
        except OSError:
            continue
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sorted(set(named) & mine)


def main(source: str, target: str) -> None:
    import reticent as rt

    killed = []

    def at(stage: str) -> None:
        if stage == "writing: drawing outcomes" and not killed:
            killed.append(executors()[0])
            os.kill(killed[0], signal.SIGKILL)

    columns = {"q": rt.quasi(), "s": rt.sensitive(), "note": rt.insensitive(acknowledge=True)}
    job = rt.Job(source=source, columns=columns, promises=[rt.BetaLikeness(2)], method="burel")
    config = {"spark.sql.shuffle.partitions": "2", "spark.executor.memory": "512m", "spark.driver.memory": "512m"}
    engine = rt.Spark(master="local-cluster[2,1,1024]", config=config)
    rt.publish(job, to=target, seed=5, engine=engine, progress=at)
    print(json.dumps({"killed": killed}))  # noqa: T201


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    main(*sys.argv[2:])
