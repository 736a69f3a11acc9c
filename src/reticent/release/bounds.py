"""The typed ends of published ranges."""

from __future__ import annotations

import polars as pl

from reticent.errors import BundleDamaged, RequestError, listed, some
from reticent.release.manifest import ColumnEntry, Manifest
from reticent.release.reading.line import Line
from reticent.release.reading.scale import scale
from reticent.table.grammar import ANY, parse
from reticent.table.roles import Role
from reticent.table.types import typed


def bounds(labels: pl.Series, column: ColumnEntry) -> tuple[pl.Series, pl.Series]:
    """Typed lower and upper ends of a range column's labels; null for `*`, for null, and where a top or bottom hides the end."""
    distinct = labels.unique().drop_nulls()
    found = []
    try:
        named = _named(column, distinct)
        ends = {label: named.get(label) or parse(label)[1] for label in distinct if label != ANY}
        for at in (0, -1):
            texts = labels.replace_strict(
                list(ends), [pair[at] for pair in ends.values()], default=None, return_dtype=pl.String
            )
            found.append(typed(texts, column.dtype))
    except (pl.exceptions.PolarsError, ValueError, LookupError, ArithmeticError, RecursionError):
        raise BundleDamaged(f"Column {column.name!r} holds labels that its schema does not explain.") from None
    return _ends(found[0], found[1], column)


def _named(column: ColumnEntry, labels: pl.Series) -> dict[str, tuple[str, str]]:
    """The ends of labels that are nodes of a steward's hierarchy over numbers: `20-29`, or `2` for a decade."""
    if not column.hierarchy or column.type != "numeric":
        return {}
    line = scale(column, labels.to_list())
    assert isinstance(line, Line)
    return {
        label: (str(line.named[label].lower), str(line.named[label].upper)) for label in labels if label in line.named
    }


def _together(parts: list[pl.Series]) -> pl.DataFrame:
    names = [part.name for part in parts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise RequestError(
            f"The release has {some(len(twice), 'column')} named as the ends of another would be: {listed(twice)}.",
            attempt="frame() without bounds.",
        )
    return pl.DataFrame(parts)


def with_bounds(frame: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """The frame with `age_lower` and `age_upper` after each range column."""
    parts: list[pl.Series] = []
    for column in manifest.columns:
        series = frame[column.name]
        parts.append(series)
        if column.role == Role.QUASI and column.type != "categorical":
            parts += bounds(series, column)
    return _together(parts)


def exact_bounds(frame: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """A table of exact values with both ends of each column that has an order: the value itself, unless a top or bottom hides it."""
    parts: list[pl.Series] = []
    kinds = {column.name: column for column in manifest.columns if column.role == Role.QUASI}
    for name in frame.columns:
        parts.append(frame[name])
        if name in kinds and kinds[name].type != "categorical":
            parts += _ends(frame[name], frame[name], kinds[name])
    return _together(parts)


def _ends(lower: pl.Series, upper: pl.Series, column: ColumnEntry) -> tuple[pl.Series, pl.Series]:
    return (
        _shown(lower, column.bottom, column).alias(f"{column.name}_lower"),
        _shown(upper, column.top, column).alias(f"{column.name}_upper"),
    )


def _shown(ends: pl.Series, hidden: object, column: ColumnEntry) -> pl.Series:
    return ends if hidden is None else ends.set(ends == typed([str(hidden)], column.dtype)[0], None)
