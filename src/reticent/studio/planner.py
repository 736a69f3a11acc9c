"""Plans several jobs of one source on one sample, in a child process: `python -m reticent.studio.planner ROWS JOB...`.

The source is read and counted once; each job is then planned as `rt.sweep` plans, and measured by what a row keeps.
Nothing is published, and nothing is drawn but the sample.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reticent.data.columns import has_types
from reticent.data.source import TextRows, collect_frame, scan_source
from reticent.errors import JobError, PromiseUnreachable, ReticentError
from reticent.job.job import Job
from reticent.planning import count, plan

SEED = 1  # of the sample and of the plans: what differs between two points is the promise


def plan_jobs(jobs: Mapping[str, Job], rows: int, announce: Callable[[str, float], None]) -> dict[str, Any]:
    """Plan jobs by name, which differ in their promises alone, on so many rows (0: all); return a row of figures for each.

    Raises:
        ReticentError: the source cannot be read or counted as the jobs say.
    """
    first = next(iter(jobs.values()))
    announce("reading", 0.0)
    people = collect_frame(scan_source(first.source, None), "Reading the source")
    total = len(people)
    if 0 < rows < total:
        people = people.sample(rows, seed=SEED)
    cells = count(first, frame=people if has_types(first.source) else TextRows(people))
    figures = []
    for number, (name, job) in enumerate(jobs.items()):
        announce(f"planning {number + 1} of {len(jobs)}", (number + 0.5) / (len(jobs) + 0.5))
        figures.append({"name": name, "method": job.method.name, **_plan_job(job, cells)})
    return {"people": len(people), "of": total, "rows": figures}


def _plan_job(job: Job, cells: Any) -> dict[str, Any]:
    try:
        planned = plan(job, cells=cells, seed=SEED)
    except (PromiseUnreachable, JobError) as error:
        return {"reached": False, "why": error.what}
    sizes = planned.sizes
    try:
        kept = 1 - planned.loss
    except (ReticentError, AssertionError):  # a kind that shows no groups of labels
        kept = None
    return {"reached": True, "kept": kept, "smallest": int(sizes.min(initial=cells.rows)), "withheld": planned.withheld}


def main(words: Sequence[str]) -> int:
    """Plan the job files that are named, and print the figures as JSON; options of every run are passed over."""
    rows, *paths = (word for word in words if not word.startswith("--"))

    def announce(stage: str, done: float) -> None:
        sys.stderr.write(json.dumps({"stage": stage, "done": round(done, 3)}) + "\n")
        sys.stderr.flush()

    try:
        jobs = {Path(path).stem: Job.read(path) for path in paths}
        sys.stdout.write(json.dumps(plan_jobs(jobs, int(rows), announce)))
    except ReticentError as error:
        sys.stdout.write(json.dumps({"error": {"what": error.what, "why": error.why, "try": error.attempt}}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
