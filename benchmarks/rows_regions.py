"""Nearly distinct rows published in regions by Spark: what the plan loses beside one machine's, and what the driver holds.

2M rows with eight quasi-identifiers, or as many as REGIONS_ROWS says, in Parquet files of a million.  The driver is the process
that publishes; Java and the Python workers, which are executors too in `local[2]`, are told beside it.
Its memory is held to a bar where a quarter of the rows fills a few row groups too: REGIONS_ROWS=20000000 and more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.measure import ROOT
from benchmarks.row import Row

ROWS_ASKED = int(os.environ.get("REGIONS_ROWS", "2000000"))
REGIONS = int(os.environ.get("REGIONS", "64"))
PIECE = 1_000_000
FULL = 5_000_000  # rows from which whoever writes has held as much as it ever will: a few whole row groups
QUASI = ("age", "gender", "education", "marital_status", "work_class", "height", "weeks", "income")
SENSITIVE = "salary_class"
COLUMNS = f"""
import reticent as rt
quasi = {list(QUASI)}
job = rt.Job(source=path, columns={{**{{name: rt.quasi() for name in quasi}}, "{SENSITIVE}": rt.sensitive()}},
             promises=[rt.KAnonymity(10), *([rt.BetaLikeness(4)] if promise == "beta" else [])])
"""
MAKE = """
import sys
import numpy as np, polars as pl
from reticent import datasets
path, rows, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
draw = np.random.default_rng(seed)
datasets.load("census", rows=rows, seed=seed).with_columns(
    height=pl.Series(draw.normal(170, 10, rows).round().astype(int)), weeks=pl.Series(draw.integers(0, 53, rows)),
    income=pl.Series(draw.lognormal(10, 0.5, rows).round(-2).astype(int))).write_parquet(path)
"""
PUBLISH = (
    """
import json, os, sys, tempfile, threading, time
from pathlib import Path
path, promise, regions = sys.argv[1], sys.argv[2], int(sys.argv[3])
"""
    + COLUMNS
    + """
def family():
    found, parents = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            said = (place / "stat").read_text().rpartition(")")[2].split()
            held = next(int(line.split()[1]) for line in (place / "status").read_text().splitlines()
                        if line.startswith("VmRSS"))
        except (OSError, StopIteration):
            continue
        parents[int(place.name)] = int(said[1])
        found[int(place.name)] = (sum(map(int, said[11:15])) / os.sysconf("SC_CLK_TCK"), held / 1024)
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return {pid: found[pid] for pid in mine if pid in found}

def high():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

most, done = [0.0], threading.Event()
def watch():
    while not done.wait(2):
        most[0] = max(most[0], sum(held for pid, (_, held) in family().items() if pid != os.getpid()))
threading.Thread(target=watch, daemon=True).start()
began, stages = time.perf_counter(), []
def tell(stage):
    stages.append((str(stage), round(sum(cpu for cpu, _ in family().values())), round(high())))
    print(*stages[-1], file=sys.stderr, flush=True)
config = {"spark.driver.memory": os.environ.get("REGIONS_JAVA", "2g"), "spark.sql.shuffle.partitions": "16",
          "spark.network.timeout": "86400s", "spark.executor.heartbeatInterval": "3600s"}
with tempfile.TemporaryDirectory(dir=os.environ.get("REGIONS_ROOM")) as folder:
    engine = rt.Spark(master="local[2]", config={**config, "spark.local.dir": folder}, regions=regions)
    before = high()
    release = rt.publish(job, to=Path(folder) / "out", ledger=Path(folder) / "ledger", seed=1, engine=engine, progress=tell)
    done.set()
    found, driver, cpu = release.audited, high(), sum(cpu for cpu, _ in family().values())
    import polars as pl
    labels = pl.scan_parquet(Path(folder) / "out" / "data*.parquet").select(pl.col(quasi).n_unique()).collect().row(0)
    print(json.dumps({"labels": sum(labels), "kept": found.kept, "rows": found.rows, "groups": found.groups, "ail": found.utility["ail"],
                      "driver": driver, "before": before, "others": most[0], "stages": stages,
                      "cpu": cpu, "k": found.achieved["k-anonymity"],
                      "beta": found.achieved["beta-likeness-enhanced"]}))
"""
)
ONE = (
    """
import json, sys
path, promise = sys.argv[1:]
"""
    + COLUMNS
    + """
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.loss import compute_label_loss
cells = rt.count(job, engine="stream")
recipe = merge_equal_labels(rt.Mondrian().plan(cells, job.promises, Random.from_seed(1)))[0]
peak = next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"ail": compute_label_loss(recipe), "cells": len(cells), "peak": peak}))
"""
)


@cache
def files(rows: int) -> Path:
    """A folder with so many rows, in files of a million."""
    folder = Path(os.environ.get("REGIONS_ROOM") or ROOT / ".cache") / f"regions-v1-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    for at, start in enumerate(range(0, rows, PIECE)):
        made = folder / f".part-{at}"
        path = folder / f"{at:04}.parquet"
        if not path.exists():
            _run(MAKE, str(made), str(min(PIECE, rows - start)), str(at))
            made.replace(path)
    return folder


def _run(script: str, *given: str) -> str:
    """What a fresh process prints."""
    told = subprocess.run([sys.executable, "-c", script, *given], stdout=subprocess.PIPE, text=True, check=True)
    return told.stdout


@cache
def spread(rows: int, promise: str) -> dict[str, float]:
    return json.loads(_run(PUBLISH, str(files(rows)), promise, str(REGIONS)))


@cache
def alone(rows: int, promise: str) -> dict[str, float]:
    return json.loads(_run(ONE, str(files(rows)), promise))


def loss(promise: str) -> Callable[[], Row]:
    def row() -> Row:
        two = spread(ROWS_ASKED, promise)
        one = alone(ROWS_ASKED, promise)
        note = (
            f"{one['cells']:,} cells of {two['rows']:,} rows, {REGIONS} regions, kept: {two['kept']}, {two['groups']:,} groups; "
            f"{two['cpu']:.0f} CPU s; driver {two['driver']:,.0f} MiB, one machine {one['peak']:,.0f} MiB"
        )
        return Row(ours=two["ail"], reference=one["ail"], against="one plan", unit="AIL", at_most=1.1, note=note)

    return row


def driver(promise: str) -> Callable[[], Row]:
    def row() -> Row:
        many = spread(ROWS_ASKED, promise)
        few = spread(ROWS_ASKED // 4, promise)
        note = f"{ROWS_ASKED:,} rows and {many['labels']:,} labels against a quarter of them and {few['labels']:,}; Java and workers {many['others']:,.0f} and {few['others']:,.0f} MiB"
        return Row(
            ours=many["driver"],
            reference=few["driver"],
            against="a quarter",
            unit="MiB",
            at_most=1.1 if ROWS_ASKED // 4 >= FULL else None,
            note=note,
        )

    return row


ROWS = [
    ("regions by Spark, 8 quasi-identifiers: loss at k", loss("k")),
    ("regions by Spark, 8 quasi-identifiers: loss at k and beta", loss("beta")),
    ("regions by Spark: the driver's memory", driver("k")),
]
