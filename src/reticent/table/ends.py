"""Top and bottom coding: values beyond a declared bound are published as the bound, so that `80` means 80 or more.

Done on typed values before they are ranked: the codes, and all that is planned and published, know nothing beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl

from reticent.errors import ColumnError
from reticent.table.roles import Column


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
