"""Tables of one label a group, with an order and a tree of their sensitive values."""

from __future__ import annotations

import numpy as np
import polars as pl

ORDER = [f"s{i}" for i in range(5)]


TREE = [
    ["s0", "a", "x", "*"],
    ["s1", "a", "x", "*"],
    ["s2", "b", "x", "*"],
    ["s3", "c", "y", "*"],
    ["s4", "c", "y", "*"],
]


def table_of(groups):
    rows = [(f"g{i}", value) for i, group in enumerate(groups) for value, count in group.items() for _ in range(count)]
    order = np.random.default_rng(len(rows)).permutation(len(rows))
    return pl.DataFrame(
        {"q": [rows[i][0] for i in order], "s": [rows[i][1] for i in order]}, schema={"q": pl.String, "s": pl.String}
    )
