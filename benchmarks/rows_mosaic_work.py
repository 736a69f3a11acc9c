"""Mosaic on the common work that every tool is judged on: loss by the common judge, within CPU seconds of this machine.

The work lies outside the repository (`../shared`); without it there are no rows.  A row's bar is a loss; the CPU seconds
allowed are those of the reference machine times the ratio of the row `machine`.  The promise is verified by the oracle.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.measure import ROOT, measure
from benchmarks.row import Row
from benchmarks.rows_floor import machine

SHARED = ROOT.parent / "shared"
SETUP = """
import importlib.util, json, time
import reticent as rt
from reticent import registry
from reticent.recipe.generalized import GeneralizedWriter
from tests.oracle import measures
from tests.oracle.groups import histograms, rows_of
spec = importlib.util.spec_from_file_location("judge", judge)
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
meta, source, trees = module.load(work, name)
columns = {q: rt.quasi(numeric=True) if q in meta["numeric"] else rt.quasi(hierarchy=trees[q]) for q in meta["qi"]}
columns |= {meta["sensitive"]: rt.sensitive(type="categorical"), "rid": rt.insensitive(acknowledge=True)}
method = rt.Mosaic(effort=effort, threads=1)
job = rt.Job(columns=columns, promises=[registry.make_promise(p) for p in promises], method=method)
from reticent.engines import local
import polars as pl
counted = local.count_rows(pl.from_pandas(source).lazy().select(list(columns)), columns)
"""
BODY = """
from reticent.randomness import Random
began = time.process_time()
recipe = method.plan(counted.cells, job.promises, Random.from_seed(1))
spent = time.process_time() - began
release = rt.publish(job.at(method=type("Planned", (), {"name": "mosaic", "kind": "generalized", "keeps": (object,), "plan": lambda s, c, p, r: recipe})()), frame=source, seed=1)
rows = rows_of(release.frame().to_dicts(), meta["qi"], meta["sensitive"])
assert measures.all_hold(histograms(rows), promises), "the oracle says the promise is broken"
found = module.evaluate(work, name, release.frame().to_pandas().astype(str), keepstar=True)
assert found["suppressed"] == 0
value = {"loss": found["AIL_published"], "cpu": spent}
"""


@cache
def work() -> Path:
    out = ROOT / ".cache" / "bench"
    if not out.exists():
        subprocess.run([sys.executable, str(SHARED / "bench/prepare.py"), str(SHARED / "data"), str(out)], check=True)
    return out


@cache
def factor() -> float:
    return machine().ratio


def judged(name: str, promises: list[dict], loss: float, seconds: float) -> Callable[[], Row]:
    def row() -> Row:
        allowed = seconds * factor()
        given = {
            "judge": str(SHARED / "bench/loss.py"),
            "work": str(work()),
            "name": name,
            "promises": promises,
            "effort": allowed,
        }
        found = measure(BODY, setup=SETUP, given=given, runs=0)
        note = f"{found.value['cpu']:.2f} of {allowed:.2f} CPU s"
        return Row(
            ours=found.value["loss"], reference=loss, against="the loss asked for", unit="loss", at_most=1, note=note
        )

    return row


def beta(value: float, enhanced: bool = True) -> list[dict]:
    return [{"model": "beta-likeness", "beta": value, "enhanced": enhanced}]


def k(value: int, *more: dict) -> list[dict]:
    return [{"model": "k-anonymity", "k": value}, *more]


def t(value: str) -> list[dict]:
    return [{"model": "t-closeness", "t": value}]


DELTA = [{"model": "delta-disclosure", "delta": 2, "absent": "ignore", "base": 2}]
WORK = [
    ("adult30k", "k 5", k(5), 0.0170, 1),
    ("adult30k", "k 10", k(10), 0.0315, 1),
    ("adult30k", "distinct l 4, k 5", k(5, {"model": "distinct-l-diversity", "l": 4}), 0.025, 1),
    *(
        ("adult30k", f"enhanced beta {b}", beta(b), bar, 1)
        for b, bar in ((2, 0.235), (3, 0.168), (4, 0.130), (5, 0.116))
    ),
    *(("adult30k", f"basic beta {b}", beta(b, False), bar, 1) for b, bar in ((2, 0.235), (4, 0.110))),
    *(("adult30k", f"t {value}", t(value), bar, 3) for value, bar in (("0.2", 0.34), ("0.5", 0.055))),
    ("adult30k", "delta 2, absent ignored, base 2", DELTA, 0.21, 3),
    ("acs100k", "k 5", k(5), 0.0255, 1.5),
    ("acs100k", "enhanced beta 4", beta(4), 0.122, 2),
    ("acs100k", "t 0.2", t("0.2"), 0.345, 5),
    ("acs265k", "k 5", k(5), 0.0150, 2),
    ("acs265k", "enhanced beta 4", beta(4), 0.091, 6),
    ("acs500k", "k 5", k(5), 0.0002, 0.5),
    ("acs500k", "enhanced beta 4", beta(4), 0.075, 4),
]
AIMS = [0.0150, 0.0285, 0.0215, 0.215, 0.150, 0.115, 0.100, 0.215, 0.100, 0.30, 0.045, 0.18, 0.022, 0.108, 0.315, 0.0130, 0.082,
        0.0001, 0.062]  # fmt: skip
ROWS = [
    *(
        (f"work {name}: mosaic, {promise}", judged(name, promises, loss, seconds))
        for name, promise, promises, loss, seconds in WORK
    ),
    # what the same work is hoped to reach in thrice the time
    *(
        (f"aim {name}: mosaic, {promise}", judged(name, promises, aim, 3 * seconds))
        for (name, promise, promises, _, seconds), aim in zip(WORK, AIMS, strict=True)
    ),
]
ROWS = ROWS if SHARED.is_dir() else []
