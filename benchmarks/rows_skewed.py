"""Suppression of counts by the number of records, and Anatomy of rows against the floor."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import measure
from benchmarks.row import Row

QUASI = ("age", "gender", "education")
SENSITIVE = "salary_class"

COUNTS = """
import numpy as np
from reticent.methods.suppression.stage import SUPPRESSION_KINDS
from reticent.methods.suppression.stage import rank_values
kind = SUPPRESSION_KINDS[kind]
weight = 1 / np.arange(1, 1001) ** 1.2
counts = np.maximum(weight / weight.sum() * records, 1).astype(np.int64)
rng = np.random.default_rng(1)
"""
DRAW = """
for _ in range(50):
    kind.draw(counts[ranked(counts, rng)], 20, rng)
"""
PUBLISH = """
job = rt.Job(
    source=path,
    columns={**{name: rt.quasi() for name in quasi}, sensitive: rt.sensitive()},
    promises=[rt.ProbabilisticLDiversity(5)],
    method=Anatomy(grouping=grouping),
    release=rt.Output(undeclared="drop"),
)
rt.publish(job, to=scratch / "release")
"""
PLAN = """
Anatomy(grouping=grouping).plan(cells, promises, Random.secure())
"""


def suppression(kind: str) -> Callable[[], Row]:
    """Planning 50 suppressions of 10^8 records in 10^3 values, against 10^4 records in as many."""

    def row() -> Row:
        many, few = (
            measure(DRAW, setup=COUNTS, given={"kind": kind, "records": records}).cpu for records in (10**8, 10**4)
        )
        return Row(ours=many, reference=few, against="10^4 records", at_most=10)

    return row


def anatomy(grouping: str, rows: int, at_most: float | None) -> Callable[[], Row]:
    def row() -> Row:
        path = census_file(rows)
        least = floor(path, (*QUASI, SENSITIVE))
        given = {"path": str(path), "quasi": QUASI, "sensitive": SENSITIVE, "grouping": grouping}
        cost = measure(
            PUBLISH, setup="import reticent as rt\nfrom reticent.methods.anatomy import Anatomy", given=given
        )
        note = f"published and audited; peak {cost.peak / 2**20:.0f} MiB, wall {cost.wall:.2f} s"
        return Row(
            ours=cost.cpu, reference=least["cpu"], against=f"floor ({least['engine']})", at_most=at_most, note=note
        )

    return row


def planning(grouping: str, rows: int, at_most: float | None) -> Callable[[], Row]:
    """Anatomy itself, from cells to recipe."""
    setup = """
import reticent as rt
from reticent.engines import local
from reticent.methods.anatomy import Anatomy
from reticent.models.promise import Promises
from reticent.randomness import Random
import polars as pl
columns = {**{name: rt.quasi() for name in quasi}, sensitive: rt.sensitive()}
cells = local.count_rows(pl.scan_parquet(path), columns).cells
promises = Promises.from_iterable([rt.ProbabilisticLDiversity(5)])
"""

    def row() -> Row:
        path = census_file(rows)
        least = floor(path, (*QUASI, SENSITIVE))
        given = {"path": str(path), "quasi": QUASI, "sensitive": SENSITIVE, "grouping": grouping}
        cost = measure(PLAN, setup=setup, given=given)
        return Row(ours=cost.cpu, reference=least["cpu"], against=f"floor ({least['engine']})", at_most=at_most)

    return row


ROWS = [
    *(
        (f"suppression {kind}: 10^8 records in 10^3 values", suppression(kind))
        for kind in ("unsafe", "safe", "randomized", "calibrated")
    ),
    ("anatomy 500k: publish, random", anatomy("random", 500_000, None)),
    ("anatomy 500k: publish, hilbert", anatomy("hilbert", 500_000, None)),
    ("anatomy 5M: plan, random", planning("random", 5_000_000, None)),
    ("anatomy 5M: publish, random", anatomy("random", 5_000_000, 3)),
]
