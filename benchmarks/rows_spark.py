"""Spark beside the engines of one machine, and the loss of a plan in two levels.  CPU seconds of all processes, Java included."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache

from benchmarks.data import census_file
from benchmarks.row import Row

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


def overhead(rows: int, carried: str) -> Callable[[], Row]:
    def row() -> Row:
        by, one = cost(rows, "spark", carried), cost(rows, "local", carried)
        note = f"and {by['start']:.0f} CPU s to start Spark, ship the package and count once"
        return Row(ours=by["cpu"], reference=one["cpu"], against="local", note=note)

    return row


LOSS = """
import json, sys
import numpy as np, polars as pl
import reticent as rt
from reticent import datasets
from reticent.methods.regions import plan
from reticent.models.promises import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import coalesce
from reticent.recipe.losses import printed_loss

rows, regions, beta = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "beta"
draw = np.random.default_rng(1)
people = datasets.load("census", rows=rows, seed=1).with_columns(
    height=pl.Series(draw.normal(170, 10, rows).round().astype(int)), weeks=pl.Series(draw.integers(0, 53, rows)),
    income=pl.Series(draw.lognormal(10, 0.5, rows).round(-2).astype(int)))
quasi = [name for name in people.columns if name != "salary_class"]
job = rt.Job(columns={**{name: rt.quasi() for name in quasi}, "salary_class": rt.sensitive()},
             promises=[rt.KAnonymity(10), *([rt.BetaLikeness(4)] if beta else [])])
cells, promises = rt.count(job, frame=people), job.promises
one, two = rt.Mondrian().plan(cells, promises, Random.from_seed(1)), plan(
    rt.Mondrian(), cells, promises, Random.from_seed(1), regions)
both = [coalesce(recipe)[0] for recipe in (one, two)]
assert promises.bind(cells).allow(both[1].as_groups()).all()
print(json.dumps({"cells": len(cells), "one": printed_loss(both[0]), "two": printed_loss(both[1])}))
"""


def loss(rows: int, regions: int, promise: str) -> Callable[[], Row]:
    def row() -> Row:
        given = [sys.executable, "-c", LOSS, str(rows), str(regions), promise]
        found = json.loads(subprocess.run(given, capture_output=True, text=True, check=True).stdout)
        note = f"{found['cells']:,} cells of {rows:,} rows, {regions} regions from a sample of 65,536 cells"
        return Row(ours=found["two"], reference=found["one"], against="one plan", unit="AIL", at_most=1.1, note=note)

    return row


ROWS = [
    ("spark 500k: nothing carried", overhead(500_000, "plain")),
    ("spark 500k: a carried column", overhead(500_000, "carried")),
    ("two-level plan 2M, 8 quasi-identifiers: k", loss(2_000_000, 64, "k")),
    ("two-level plan 2M, 8 quasi-identifiers: k and beta", loss(2_000_000, 64, "beta")),
]
