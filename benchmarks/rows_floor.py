"""The yardsticks themselves: this machine against the one the bars were set on, and each engine against the floor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from benchmarks.data import census_file
from benchmarks.floor import ENGINES, costs, floor
from benchmarks.measure import measure
from benchmarks.row import Row

QUASI = ("age", "gender", "education")
PUBLISHED = (*QUASI, "salary_class")

LEXSORT = """
rng = np.random.default_rng(0)
columns = [rng.integers(0, 50, 500_000) for _ in range(8)]
"""


@cache
def machine() -> Row:
    """The best of many, once in a run: every CPU second that is allowed is scaled by this figure."""
    cost = measure("np.lexsort(columns)", setup="import numpy as np\n" + LEXSORT, runs=9)
    return Row(ours=cost.cpu, reference=0.25, against="the machine the issues assume; scale CPU seconds by this")


def engine(name: str, rows: int) -> Callable[[], Row]:
    def row() -> Row:
        path = census_file(rows)
        least = floor(path, PUBLISHED)
        cost = costs(path, PUBLISHED)[name]
        note = f"peak {cost.peak / 2**20:.0f} MiB, wall {cost.wall:.2f} s"
        return Row(ours=cost.cpu, reference=least["cpu"], against=f"floor ({least['engine']})", note=note)

    return row


SIZES = {"100k": 100_000, "500k": 500_000, "5M": 5_000_000}

ROWS = [
    ("machine: np.lexsort of 8 columns of 500k rows", machine),
    *((f"floor {size}: {name}", engine(name, rows)) for size, rows in SIZES.items() for name in ENGINES),
]
