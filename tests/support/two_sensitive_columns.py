"""A table with two sensitive columns."""

from __future__ import annotations

import random

import polars as pl


def people(rows: int = 900) -> pl.DataFrame:
    draw = random.Random(11)
    return pl.DataFrame(
        {
            "age": [draw.randint(20, 70) for _ in range(rows)],
            "city": [draw.choice(["Ulm", "Bonn", "Kiel", "Hof"]) for _ in range(rows)],
            "illness": [draw.choice(["flu", "flu", "cold", "gout", "mumps"]) for _ in range(rows)],
            "wage": [draw.choice([1, 1, 2, 3, 4]) for _ in range(rows)],
        }
    )
