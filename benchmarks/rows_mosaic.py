"""Mosaic: loss against CPU seconds on the census, its loss against Mondrian's, planning against the floor, and its growth."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import log

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import Cost, measure
from benchmarks.row import Row
from benchmarks.rows_floor import QUASI

FIVE = (*QUASI, "marital_status", "work_class")

SETUP = """
import polars as pl
import reticent as rt
from reticent.engines import local
from reticent.methods.mondrian import Mondrian
from reticent.methods.mosaic import Mosaic
from reticent.methods.mosaic.kernel_tables import make_loss_space
from reticent.models.promise import Promises
from reticent.randomness import Random
columns = {name: rt.quasi() for name in quasi} | {"salary_class": rt.sensitive()}
promises = Promises.from_iterable([{"k": rt.KAnonymity(5), "beta": rt.BetaLikeness(4), "t": rt.TCloseness("0.2")}[promise]])
planner = Mondrian(cuts="loss") if effort == "mondrian" else Mosaic(effort=effort, threads=1)
count = lambda: local.count_rows(pl.scan_parquet(path).select(list(columns)), columns).cells
def loss(recipe):
    lower, upper = recipe.find_spans()
    return float((make_loss_space(recipe.cells).compute_loss_per_row(lower, upper) * recipe.as_groups().sizes).sum() / recipe.cells.rows)
"""
WHOLE = "planner.plan(count(), promises, Random.from_seed(1))"
PLAN_ONLY = "recipe = planner.plan(cells, promises, Random.from_seed(1)); value = loss(recipe)"


@cache
def planned(rows: int, promise: str, effort: str | float, *, counting: bool = False) -> Cost:
    given = {"path": str(census_file(rows)), "quasi": list(FIVE), "promise": promise, "effort": effort}
    setup = SETUP if counting else SETUP + "\ncells = count()"
    return measure(WHOLE if counting else PLAN_ONLY, setup=setup, given=given, runs=1)


def against_floor(promise: str, at_most: float, rows: int = 5_000_000) -> Callable[[], Row]:
    def row() -> Row:
        least = floor(census_file(rows), (*FIVE, "salary_class"))
        cost = planned(rows, promise, "quick", counting=True)
        return Row(
            ours=cost.cpu,
            reference=least["cpu"],
            against=f"floor ({least['engine']})",
            at_most=at_most,
            note="read, count and plan, quick",
        )

    return row


def against_mondrian(
    promise: str, effort: str | float, at_most: float | None = None, rows: int = 100_000
) -> Callable[[], Row]:
    """Loss, not time: what a recipient loses against loss-guided Mondrian, and the CPU seconds it took."""

    def row() -> Row:
        ours = planned(rows, promise, effort)
        theirs = planned(rows, promise, "mondrian")
        return Row(
            ours=float(ours.value),
            reference=float(theirs.value),
            against="mondrian(cuts='loss')",
            unit="loss",
            at_most=at_most,
            note=f"{ours.cpu:.2f} CPU s",
        )

    return row


def growth(promise: str, few: int = 100_000, many: int = 5_000_000) -> Callable[[], Row]:
    """Quick planning alone, from cells: at most as n log n grows."""

    def row() -> Row:
        ours, reference = (planned(rows, promise, "quick").cpu for rows in (many, few))
        return Row(ours=ours, reference=reference, against=f"{few:,} rows", at_most=many * log(many) / (few * log(few)))

    return row


CURVE = [
    (f"mosaic 100k: {promise}, {effort}", against_mondrian(promise, effort))
    for promise in ("k", "beta", "t")
    for effort in ("quick", 1.5, 3.0, 6.0, 12.0)
]
ROWS = [
    ("mosaic 5M: k 5, quick", against_floor("k", 4)),
    ("mosaic 5M: enhanced beta 4, quick", against_floor("beta", 10)),
    *CURVE,
    ("mosaic growth: k, 100k to 5M rows", growth("k")),
    ("mosaic growth: beta, 100k to 5M rows", growth("beta")),
]
