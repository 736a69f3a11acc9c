"""A table of every type that databases hold."""

from __future__ import annotations

import datetime

import polars as pl


def people() -> pl.DataFrame:
    rows = 60
    return pl.DataFrame(
        {
            "age": [20 + i % 17 for i in range(rows)],
            "weight": [50.5 + i % 9 for i in range(rows)],
            "born": [datetime.date(1960 + i % 20, 1 + i % 12, 1) for i in range(rows)],
            "city": [["Ulm", "Bonn", None][i % 3] for i in range(rows)],
            "smokes": [i % 2 == 0 for i in range(rows)],
            "illness": [["flu", "cold", "gout"][i % 3] for i in range(rows)],
        }
    )
