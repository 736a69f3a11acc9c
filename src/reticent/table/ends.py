"""Top and bottom coding: values beyond a declared bound are published as the bound, so that `80` means 80 or more.

Done on typed values before they are ranked: the codes, and all that is planned and published, know nothing beyond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import ColumnError
from reticent.table.parsing import dates, numbers
from reticent.table.roles import Column

MANY_BEYOND = 0.1  # of the rows lie beyond a bound that is told of


@dataclass(frozen=True, slots=True)
class Ends:
    """The bounds of a column as they are declared, for tables that are read after it."""

    bottom: Any = None
    top: Any = None


NO_ENDS = Ends()


def clipped(name: str, column: Column | Ends, values: pl.Series) -> pl.Series:
    """Numbers or dates within the column's bounds."""
    if column.top is None and column.bottom is None:
        return values
    bounds = [_bound(name, side, getattr(column, side), values.dtype) for side in ("bottom", "top")]
    try:
        return values.clip(*(None if bound is None else pl.lit(bound, values.dtype) for bound in bounds))
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
        raise ColumnError(
            f"Column {name!r} has the type {values.dtype}, which cannot hold its top or its bottom.",
            attempt="bounds within that type.",
        ) from None


def count_beyond(name: str, column: Column, values: pl.Series, counts: np.ndarray) -> dict[str, int]:
    """How many rows hold a number or a date below the bottom and above the top, which are published as the bound."""
    bound = column.bottom if column.top is None else column.top
    if bound is None:
        return {}
    held = values.is_not_null()
    counts = counts[held.to_numpy()]
    found = (dates if isinstance(bound, str) else numbers)(name, values.filter(held))
    kept = clipped(name, column, found)
    beyond = {"bottom": found < kept, "top": found > kept}
    return {side: int(counts[is_beyond.to_numpy()].sum()) for side, is_beyond in beyond.items() if is_beyond.any()}


def describe_beyond(name: str, counts: Mapping[str, int], rows: int) -> list[str]:
    """Sentences where a bound stands for many rows."""
    return [
        f"Column {name!r}: {count:,} of {rows:,} rows lie {'above its top' if side == 'top' else 'below its bottom'} and are "
        "published as the bound: it says little of them."
        for side, count in counts.items()
        if count > MANY_BEYOND * rows
    ]


def refuse_unordered(name: str, column: Column) -> None:
    """Categories have no ends."""
    if column.top is not None or column.bottom is not None:
        raise ColumnError(
            f"Column {name!r} has a top or a bottom, but its values have no order to be cut at.",
            attempt='type = "numeric" or "date", or a hierarchy that puts the rare values together.',
        )


def _bound(name: str, side: str, given: Any, dtype: pl.DataType) -> Any:
    """A bound as a value of the column's type."""
    if given is None:
        return None
    if dtype.is_temporal() != isinstance(given, str):
        example = '"2001-12-31"' if dtype.is_temporal() else "80"
        raise ColumnError(
            f"Column {name!r}: {side} is not of the column's type {dtype}.", attempt=f"{side} = {example}."
        )
    if isinstance(given, str):
        return date.fromisoformat(given[:10]) if dtype == pl.Date else datetime.fromisoformat(given)
    if dtype.is_integer() and not isinstance(given, int):
        raise ColumnError(
            f"Column {name!r} holds whole numbers, and {side} = {given} is none.", attempt=f"{side} = {round(given)}."
        )
    return given
