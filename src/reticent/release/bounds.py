"""The typed ends of published ranges."""

from __future__ import annotations

from typing import Any

import polars as pl

from reticent.table.labels import ANY, parse
from reticent.table.types import typed


def bounds(labels: pl.Series, column: dict[str, Any]) -> tuple[pl.Series, pl.Series]:
    """Typed lower and upper ends of a range column's labels; null for `*` and for null."""
    distinct = labels.unique().drop_nulls()
    ends = {label: parse(label)[1] for label in distinct if label != ANY}
    name, dtype = column["name"], column["dtype"]
    found = []
    for at, side in ((0, "lower"), (-1, "upper")):
        texts = labels.replace_strict(
            list(ends), [pair[at] for pair in ends.values()], default=None, return_dtype=pl.String
        )
        found.append(typed(texts, dtype).alias(f"{name}_{side}"))
    return found[0], found[1]
