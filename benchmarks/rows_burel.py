"""Paper 1's methods: planning BUREL, SABRE and a perturbation, from the file to the recipe, against the floor; their growth."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import log

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import Cost, measure
from benchmarks.row import Row
from benchmarks.rows_floor import PUBLISHED, QUASI

SETUP = """
import polars as pl
import reticent as rt
from reticent.engines import local
from reticent.methods.beta_perturbation import BetaPerturbation
from reticent.methods.burel import Burel
from reticent.methods.sabre import Sabre
from reticent.models.promise import Promises
from reticent.randomness import Random
columns = {name: rt.quasi() for name in quasi} | {"salary_class": rt.sensitive()}
promises = Promises.from_iterable([rt.TCloseness("0.2") if method == "sabre" else rt.BetaLikeness(4)])
planner = {"burel": Burel(), "nearest": Burel(fill="nearest"), "sabre": Sabre(), "perturbation": BetaPerturbation()}[method]
count = lambda: local.count_rows(pl.scan_parquet(path).select(list(columns)), columns).cells
"""
WHOLE = "planner.plan(count(), promises, Random.from_seed(1))"
PLAN_ONLY = "planner.plan(cells, promises, Random.from_seed(1))"


@cache
def planned(rows: int, method: str, *, counting: bool = True) -> Cost:
    given = {"path": str(census_file(rows)), "quasi": list(QUASI), "method": method}
    setup = SETUP if counting else SETUP + "\ncells = count()"
    return measure(WHOLE if counting else PLAN_ONLY, setup=setup, given=given)


def against_floor(method: str, at_most: float | None) -> Callable[[], Row]:
    def row() -> Row:
        least = floor(census_file(500_000), PUBLISHED)
        cost = planned(500_000, method)
        return Row(
            ours=cost.cpu,
            reference=least["cpu"],
            against=f"floor ({least['engine']})",
            at_most=at_most,
            note=f"read, count and plan; wall {cost.wall:.2f} s",
        )

    return row


def growth(method: str, few: int = 100_000, many: int = 5_000_000) -> Callable[[], Row]:
    """Planning alone, from cells: at most as n log n grows."""

    def row() -> Row:
        ours, reference = (planned(rows, method, counting=False).cpu for rows in (many, few))
        return Row(ours=ours, reference=reference, against=f"{few:,} rows", at_most=many * log(many) / (few * log(few)))

    return row


ROWS = [
    ("burel 500k: enhanced beta 4, along the curve", against_floor("burel", 3)),
    ("burel 500k: enhanced beta 4, nearest neighbours", against_floor("nearest", None)),
    ("sabre 500k: t 0.2, equal", against_floor("sabre", 3)),
    ("beta-perturbation 500k: beta 4, rank-one", against_floor("perturbation", 2)),
    ("burel growth: 100k to 5M rows", growth("burel")),
    ("beta-perturbation growth: 100k to 5M rows", growth("perturbation")),
]
