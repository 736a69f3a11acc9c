"""Random small tables with hierarchies, orders, nulls and several bandwidths, as the product and as the oracle see them."""

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import polars as pl

import reticent as rt
from tests.oracle import background

BANDWIDTHS = [
    Fraction(0),
    Fraction(1, 5),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(51, 100),
    Fraction(1),
    Fraction(6, 5),
    "whole",
]
KERNELS = ["epanechnikov", "epanechnikov", "uniform", "triangular", "gaussian"]


@dataclass
class Drawn:
    frame: pl.DataFrame
    columns: dict[str, Any]
    rows: list[tuple[tuple, Any]]
    measures: list[Any]
    over: Any
    bandwidths: dict[str, Any]
    how: dict[str, Any]
    t: Fraction

    @property
    def quasi(self) -> list[str]:
        return list(self.bandwidths)

    def promise(self, t=None):
        return rt.BTPrivacy(bandwidth=self.bandwidths, t=self.t if t is None else t, **self.how)

    def job(self, promises=None, **method):
        return rt.Job(columns=self.columns, promises=promises or [self.promise()], method=rt.Mondrian(**method))

    def worst(self, groups, **changes):
        how = {**self.how, **changes}
        return background.worst(
            self.rows,
            groups,
            self.measures,
            list(self.bandwidths.values()),
            posterior=how["posterior"],
            name=how["kernel"],
            smoothing=how["smoothing"],
            over=self.over,
        )


def tree(random, leaves):
    inner = {leaf: f"n{random.randrange(max(len(leaves) // 2, 1))}" for leaf in leaves}
    return [[leaf, inner[leaf], "*"] for leaf in leaves]


def draw(seed: int, most: int = 24) -> Drawn:
    random = Random(seed)
    n = random.randint(2, most)
    columns = {}
    cells = {}
    measures = []
    bandwidths = {}
    for at in range(random.randint(1, 3)):
        name = f"q{at}"
        kind = random.choice(["number", "decimal", "tree", "flat", "order"])
        null = random.random() < 0.25
        if kind in ("number", "decimal"):
            step = Fraction(1) if kind == "number" else Fraction(1, 10)
            domain = [random.randrange(8) for _ in range(n)]
            values = [float(step * x) if kind == "decimal" else x for x in domain]
            places = dict(zip(values, (step * x for x in domain), strict=True))
            columns[name] = rt.quasi()
            if kind == "number" and random.random() < 0.3:
                columns[name] = rt.quasi(domain=[-1, 9])
                measures.append(background.on_a_line(places, -1, 9))
            else:
                measures.append(("line", places))
        else:
            leaves = [f"v{i}" for i in range(random.randint(1, 5))]
            values = [random.choice(leaves) for _ in range(n)]
            if kind == "tree":
                rows = tree(random, leaves)
                columns[name] = rt.quasi(hierarchy=rows)
                measures.append(background.in_a_tree(rows))
            elif kind == "order" and len(leaves) > 1:
                columns[name] = rt.quasi(order=leaves)
                measures.append(background.on_a_line({leaf: i for i, leaf in enumerate(leaves)}))
            else:
                columns[name] = rt.quasi(type="categorical")
                measures.append(background.flat)
        cells[name] = [None if null and random.random() < 0.15 else value for value in values]
        if isinstance(measures[-1], tuple):  # the range is that of the values that occur
            there = {value: place for value, place in measures[-1][1].items() if value in cells[name]}
            measures[-1] = background.on_a_line(there) if there else background.flat
        bandwidths[name] = random.choice(BANDWIDTHS)
    leaves = [f"s{i}" for i in range(random.randint(1, 5))]
    rows = tree(random, leaves)
    missing = random.random() < 0.25
    cells["s"] = [None if missing and random.random() < 0.2 else random.choice(leaves) for _ in range(n)]
    columns["s"] = rt.sensitive(hierarchy=rows, missing="category")
    frame = pl.DataFrame(cells, schema_overrides={"s": pl.String})
    how = {
        "smoothing": random.choice([Fraction(0), Fraction(0), Fraction(3, 5), Fraction(11, 10)]),
        "posterior": random.choice(["omega", "omega", "balanced"]),
        "kernel": random.choice(KERNELS),
    }
    whole = list(zip(zip(*(cells[name] for name in bandwidths), strict=True), cells["s"], strict=True))
    t = Fraction(random.choice([2, 5, 10, 20, 40, 80]), 100)
    return Drawn(frame, columns, whole, measures, background.in_a_tree(rows), bandwidths, how, t)
