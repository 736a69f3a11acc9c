"""The typed ends of published ranges."""

from __future__ import annotations

from typing import Any

import polars as pl

from reticent.table.grammar import ANY, parse
from reticent.table.types import typed


def bounds(labels: pl.Series, column: dict[str, Any]) -> tuple[pl.Series, pl.Series]:
    """Typed lower and upper ends of a range column's labels; null for `*`, for null, and where a top or bottom hides the end."""
    distinct = labels.unique().drop_nulls()
    ends = {label: parse(label)[1] for label in distinct if label != ANY}
    name, dtype = column["name"], column["dtype"]
    found = []
    for at, side, hidden in ((0, "lower", "bottom"), (-1, "upper", "top")):
        texts = labels.replace_strict(
            list(ends), [pair[at] for pair in ends.values()], default=None, return_dtype=pl.String
        )
        values = typed(texts, dtype)
        if hidden in column:
            values = values.set(values == typed([str(column[hidden])], dtype)[0], None)
        found.append(values.alias(f"{name}_{side}"))
    return found[0], found[1]
