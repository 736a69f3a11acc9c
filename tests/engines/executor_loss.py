"""Publications by `local-cluster`, executors in processes of their own; one of them is killed half-way in each.  Run as a script.

The package is not on the executors' path: it is shipped.  Prints the pids that were killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any


def executors() -> list[int]:
    """The pids of the executors of this process."""
    parents = {}
    named = []
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


def killing(when: str, killed: list[int]) -> Callable[[str], None]:
    """At that stage an executor is killed, once."""
    count = len(killed)

    def at(stage: str) -> None:
        if stage == when and len(killed) == count:
            killed.append(executors()[0])
            os.kill(killed[-1], signal.SIGKILL)

    return at


def jobs(people: str, census: str) -> tuple[Any, Any]:
    """One that is planned on the driver, and one for regions; both carry a column that is unique in every row."""
    import reticent as rt

    note = {"note": rt.insensitive(acknowledge=True)}
    columns = {"q": rt.quasi(), "s": rt.sensitive(), **note}
    whole = rt.Job(source=people, columns=columns, promises=[rt.BetaLikeness(2)], method="burel")
    quasi = ("age", "gender", "education", "marital_status", "work_class")
    columns = {**{name: rt.quasi() for name in quasi}, "salary_class": rt.sensitive(), **note}
    return whole, rt.Job(source=census, columns=columns, promises=[rt.KAnonymity(5), rt.BetaLikeness(4)])


def main(people: str, census: str, target: str) -> None:
    import reticent as rt

    killed: list[int] = []
    whole, in_regions = jobs(people, census)
    config = {"spark.sql.shuffle.partitions": "2", "spark.executor.memory": "512m", "spark.driver.memory": "512m"}
    engine = rt.Spark(master="local-cluster[2,1,1024]", config=config)
    how: dict[str, Any] = {"seed": 5, "ledger": f"{target}/ledger"}
    stage = killing("writing: drawing outcomes", killed)
    rt.publish(whole, to=f"{target}/whole", engine=engine, progress=stage, **how)
    stage = killing("writing: moving rows", killed)
    rt.publish(in_regions, to=f"{target}/regions", engine=replace(engine, regions=4), progress=stage, **how)
    print(json.dumps({"killed": killed}))  # noqa: T201


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    main(*sys.argv[2:])
