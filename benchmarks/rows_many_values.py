"""Mosaic where columns have very many values: its loss against Mondrian's for k-anonymity and distinct l-diversity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from benchmarks.measure import Cost, measure
from benchmarks.row import Row

SETUP = """
import numpy as np
import polars as pl
import reticent as rt
from reticent.engines import local
from reticent.methods.mondrian import Mondrian
from reticent.methods.mosaic import Mosaic
from reticent.methods.mosaic.kernel_tables import make_loss_space
from reticent.models.promise import Promises
from reticent.randomness import Random
rng = np.random.default_rng(3)
columns = {"sex": rt.quasi(), "region": rt.quasi(), "disease": rt.sensitive()}
people = {"sex": rng.integers(0, 2, rows).astype(str), "region": rng.integers(0, 6, rows).astype(str),
          "disease": rng.integers(0, 10, rows).astype(str)}
if table == "three incomes":
    shared = rng.normal(0, 1, rows)
    for name in ("wage", "rent", "tax"):
        people[name] = np.round(1e6 * (shared / 2 + rng.normal(0, 1, rows))).astype(np.int64)
        columns[name] = rt.quasi(numeric=True)
else:
    codes = [f"{a}{b:02}{c:02}" for a in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for b in range(100) for c in range(27)]
    people["age"] = rng.integers(0, 100, rows)
    people["code"] = np.array(codes)[(rng.random(rows) ** 2 * len(codes)).astype(np.int64)]
    columns |= {"age": rt.quasi(numeric=True), "code": rt.quasi(hierarchy=[[c, c[:3] + "-", c[0] + "--", "*"] for c in codes])}
cells = local.count_rows(pl.LazyFrame(people), columns).cells
promises = Promises.from_iterable([{"k": rt.KAnonymity(5), "l": rt.DistinctLDiversity(3)}[promise]])
planner = Mondrian(cuts="loss") if effort == "mondrian" else Mosaic(effort=effort, threads=1)
"""
BODY = """
recipe = planner.plan(cells, promises, Random.from_seed(1))
lower, upper = recipe.find_spans()
value = float((space_of(cells).per_row(lower, upper) * recipe.as_groups().sizes).sum() / cells.rows)
"""


@cache
def planned(table: str, promise: str, effort: str | float, rows: int = 50_000) -> Cost:
    given = {"table": table, "promise": promise, "effort": effort, "rows": rows}
    return measure(BODY, setup=SETUP, given=given, runs=1)


def against_mondrian(table: str, promise: str, effort: str | float, at_most: float) -> Callable[[], Row]:
    def row() -> Row:
        ours = planned(table, promise, effort)
        theirs = planned(table, promise, "mondrian")
        return Row(
            ours=float(ours.value),
            reference=float(theirs.value),
            against="mondrian(cuts='loss')",
            unit="loss",
            at_most=at_most,
            note=f"{ours.cpu:.2f} CPU s",
        )

    return row


ROWS = [
    ("mosaic many values: three incomes, k 5, quick", against_mondrian("three incomes", "k", "quick", 1.0)),
    ("mosaic many values: three incomes, k 5, 3 s", against_mondrian("three incomes", "k", 3.0, 1.0)),
    ("mosaic many values: 70,200 codes, k 5, quick", against_mondrian("codes", "k", "quick", 1.0)),
    ("mosaic many values: 70,200 codes, l 3, 3 s", against_mondrian("codes", "l", 3.0, 1.0)),
]
