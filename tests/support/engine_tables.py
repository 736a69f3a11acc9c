"""A table that every engine publishes alike."""

from __future__ import annotations

import random

import polars as pl


def people(rows: int = 600, seed: int = 3) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "person": [f"p{i:05d}" for i in range(rows)],
            "age": [draw.randint(20, 60) for _ in range(rows)],
            "city": [draw.choice(["Ulm", "Bonn", "Kiel", None]) for _ in range(rows)],
            "illness": [draw.choice(["flu", "flu", "cold", "gout", "mumps"]) for _ in range(rows)],
            "note": [f"n{i}" for i in range(rows)],
        }
    )
