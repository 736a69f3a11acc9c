"""Planning with mondrian against `np.lexsort` of the same quasi-identifiers as int64, in one process; and the loss it leaves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.data import census_file
from benchmarks.measure import ROOT, measure
from benchmarks.row import Row
from reticent.datasets.census import SAL_COLUMNS

SHARED = ROOT.parent / "shared"
PLAN = """
import json, time
import numpy as np, polars as pl
import reticent as rt
from reticent import registry
from reticent.engines import local
from reticent.models.promise import Promises
from reticent.randomness import Random
frame = pl.read_parquet(path) if path.endswith(".parquet") else pl.read_csv(path, infer_schema=False)
columns = {name: rt.quasi(**how) for name, how in quasi.items()} | {sensitive: rt.sensitive(type="categorical")}
promises = Promises.from_iterable([registry.make_promise(promise) for promise in asked])
cells = local.count_rows(frame.lazy().select(list(columns)), columns).cells
keys = [np.unique(frame[name].to_numpy(), return_inverse=True)[1].astype(np.int64) for name in quasi]


def clock(work):
    started = time.process_time()
    made = work()
    return time.process_time() - started, made


def loss(recipe):
    low, high = recipe.find_spans()
    lost = sum(domain.loss(low[:, j], high[:, j]) for j, domain in enumerate(cells.quasi)) / len(cells.quasi)
    sizes = recipe.as_groups().sizes
    return float((lost * sizes).sum() / sizes.sum())
"""
BODY = """
plans, sorts = [], []
for _ in range(rounds):  # by turns, so that both meet the same machine
    sorts.append(clock(lambda: np.lexsort(keys))[0])
    took, recipe = clock(lambda: rt.Mondrian(**method).plan(cells, promises, Random.from_seed(1)))
    plans.append(took)
value = {"plan": min(plans), "lexsort": min(sorts), "loss": loss(recipe), "groups": recipe.groups}
"""


def planned(path: str, quasi: dict, sensitive: str, asked: list[dict], at_most: float | None, **method: object) -> Row:
    given = {"path": path, "quasi": quasi, "sensitive": sensitive, "asked": asked, "method": method}
    given["rounds"] = 3 if "500000" in path else 10
    found = measure(BODY, setup=PLAN, given=given, runs=1).value
    note = f"loss {found['loss']:.4f}, {found['groups']:,} groups"
    return Row(ours=found["plan"], reference=found["lexsort"], against="np.lexsort", at_most=at_most, note=note)


def census(asked: list[dict], at_most: float | None, rows: int = 500_000, **method: object) -> Callable[[], Row]:
    """The nine attributes of paper 5: nearly all rows distinct in the eight quasi-identifiers."""

    def row() -> Row:
        from reticent.datasets import hierarchies

        trees = hierarchies("sal")
        quasi = {name: {"hierarchy": trees[name]} if name in trees else {} for name in SAL_COLUMNS[:-1]}
        return planned(str(census_file(rows, SAL_COLUMNS)), quasi, SAL_COLUMNS[-1], asked, at_most, **method)

    return row


@cache
def common_work() -> Path:
    """The work that every tool is judged on, prepared once."""
    folder = ROOT / ".cache" / "bench"
    if not (folder / "acs500k.json").exists():
        subprocess.run(
            [sys.executable, SHARED / "bench/prepare.py", SHARED / "data", folder], check=True, capture_output=True
        )
    return folder


def common(work: str, asked: list[dict], **method: object) -> Callable[[], Row]:
    def row() -> Row:
        import json

        folder = common_work()
        meta = json.loads((folder / f"{work}.json").read_text())
        quasi = {
            name: {"numeric": True}
            if name in meta["numeric"]
            else {"hierarchy": str(folder / f"{work}.h" / f"{name}.csv")}
            for name in meta["qi"]
        }
        return planned(str(folder / f"{work}.csv"), quasi, meta["sensitive"], asked, 8, **method)

    return row


K5 = {"model": "k-anonymity", "k": 5}
K10 = {"model": "k-anonymity", "k": 10}
BETA = {"model": "beta-likeness", "beta": 4}
T = {"model": "t-closeness", "t": "0.2"}

ROWS = [
    ("mondrian 500k, 8 quasi: k 10, median cuts", census([K10], 3, cuts="median")),
    ("mondrian 500k, 8 quasi: enhanced beta 4, median cuts", census([BETA], None, cuts="median")),
    ("mondrian 500k, 8 quasi: k 10", census([K10], 8)),
    ("mondrian 500k, 8 quasi: enhanced beta 4", census([BETA], 8)),
]
if SHARED.is_dir():
    ROWS += [
        ("mondrian adult30k: k 5", common("adult30k", [K5])),
        ("mondrian adult30k: k 10", common("adult30k", [K10])),
        ("mondrian adult30k: distinct l 4, k 5", common("adult30k", [K5, {"model": "distinct-l-diversity", "l": 4}])),
        ("mondrian adult30k: enhanced beta 4", common("adult30k", [BETA])),
        ("mondrian adult30k: t 0.2, equal", common("adult30k", [T])),
        ("mondrian acs100k: k 5", common("acs100k", [K5])),
        ("mondrian acs100k: enhanced beta 4", common("acs100k", [BETA])),
        ("mondrian acs265k: k 5", common("acs265k", [K5])),
        ("mondrian acs500k: k 5", common("acs500k", [K5])),
    ]
