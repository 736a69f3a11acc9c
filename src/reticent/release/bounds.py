"""The typed ends of published ranges."""

from __future__ import annotations

import polars as pl

from reticent.release.manifest import ColumnEntry, Manifest
from reticent.table.grammar import ANY, parse
from reticent.table.roles import Role
from reticent.table.types import typed


def bounds(labels: pl.Series, column: ColumnEntry) -> tuple[pl.Series, pl.Series]:
    """Typed lower and upper ends of a range column's labels; null for `*`, for null, and where a top or bottom hides the end."""
    distinct = labels.unique().drop_nulls()
    ends = {label: parse(label)[1] for label in distinct if label != ANY}
    found = []
    for at in (0, -1):
        texts = labels.replace_strict(
            list(ends), [pair[at] for pair in ends.values()], default=None, return_dtype=pl.String
        )
        found.append(typed(texts, column.dtype))
    return _ends(found[0], found[1], column)


def with_bounds(frame: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """The frame with `age_lower` and `age_upper` after each range column."""
    parts: list[pl.Series] = []
    for column in manifest.columns:
        series = frame[column.name]
        parts.append(series)
        if column.role == Role.QUASI and column.type != "categorical":
            parts += bounds(series, column)
    return pl.DataFrame(parts)


def exact_bounds(frame: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """A table of exact values with both ends of each column that has an order: the value itself, unless a top or bottom hides it."""
    parts: list[pl.Series] = []
    kinds = {column.name: column for column in manifest.columns if column.role == Role.QUASI}
    for name in frame.columns:
        parts.append(frame[name])
        if name in kinds and kinds[name].type != "categorical":
            parts += _ends(frame[name], frame[name], kinds[name])
    return pl.DataFrame(parts)


def _ends(lower: pl.Series, upper: pl.Series, column: ColumnEntry) -> tuple[pl.Series, pl.Series]:
    return (
        _shown(lower, column.bottom, column).alias(f"{column.name}_lower"),
        _shown(upper, column.top, column).alias(f"{column.name}_upper"),
    )


def _shown(ends: pl.Series, hidden: object, column: ColumnEntry) -> pl.Series:
    return ends if hidden is None else ends.set(ends == typed([str(hidden)], column.dtype)[0], None)
