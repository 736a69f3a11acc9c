"""What builders share: the values of a column with their weights, and the hierarchy they make of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import polars as pl

from reticent.errors import HierarchyError
from reticent.limits import moderate
from reticent.table.hierarchy import Hierarchy

ROOT = "*"


@dataclass(frozen=True, eq=False)
class BuiltHierarchy(Hierarchy):
    """A hierarchy over numbers, dates or other values (`kind`), made by a builder.

    Where its leaves are the data's `own` values it is published only as far as its labels occur in the release; where a
    steward listed them, as it is.  `asked` is how a job asked for it, by which an audit against the source builds it again.
    """

    kind: str = "categorical"
    own: bool = True
    asked: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Values:
    """Distinct values as they print, with the rows that hold each; `own` where they come from the data."""

    texts: list[str]
    rows: list[int]
    own: bool

    @classmethod
    def of(cls, values: Any, rows: Sequence[int] | None = None) -> Values:
        """From a Series, an array, a list or a `range`; nulls are left out: a null is a leaf of its own in any column."""
        own = not isinstance(values, range)
        series = values if isinstance(values, pl.Series) else _series(values)
        if isinstance(series.dtype, pl.Categorical | pl.Enum):
            series = series.cast(pl.String)
        if series.dtype.is_float():
            series = series.fill_nan(None)
        weight = pl.Series("rows", rows if rows is not None else [1] * len(series), dtype=pl.Int64)
        table = (
            pl.DataFrame([series.alias("value"), weight])
            .drop_nulls("value")
            .group_by("value")
            .agg(pl.sum("rows"))
            .sort("value")
        )
        if not len(table):
            raise HierarchyError("There are no values to build a hierarchy over.", attempt="a column with values.")
        return cls(table["value"].cast(pl.String).to_list(), table["rows"].to_list(), own)

    def numbers(self) -> list[Fraction]:
        """The values as exact numbers."""
        found = [number for text in self.texts if (number := _number(text)) is not None]
        if lacking := len(self.texts) - len(found):
            raise HierarchyError(
                f"{lacking} of {len(self.texts)} distinct values are no numbers.",
                attempt="missing = [...] in [source] if they stand for nothing, or a builder for text.",
            )
        return found

    def sorted_by(self, keys: Sequence[Any]) -> Values:
        order = sorted(range(len(self.texts)), key=lambda at: keys[at])
        return Values([self.texts[at] for at in order], [self.rows[at] for at in order], self.own)

    def hierarchy(self, rows: Iterable[Sequence[str]], kind: str = "categorical") -> BuiltHierarchy:
        found = Hierarchy.from_rows(rows, "a built hierarchy")
        parts = {field.name: getattr(found, field.name) for field in fields(Hierarchy)}
        return BuiltHierarchy(**parts, kind=kind, own=self.own)


def _series(values: Any) -> pl.Series:
    try:
        return pl.Series("value", values)
    except Exception as error:
        raise HierarchyError(
            f"The values cannot be read as one column: {type(error).__name__}.", attempt="values of one type."
        ) from None


def exactly(value: Any, what: str) -> Fraction:
    """A number as it was written: 0.1 is one tenth."""
    found = None if isinstance(value, bool) else _number(repr(float(value)) if isinstance(value, float) else str(value))
    if found is None:
        raise HierarchyError(f"{what} must be a number.", attempt="a number such as 10 or 0.5.")
    return found


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip()) if moderate(text) else None
    except (ValueError, ZeroDivisionError):
        return None


def without_idle_levels(rows: list[list[str]]) -> list[list[str]]:
    """Rows without the levels between leaf and root that have as many groups as the level below, or just one."""
    kept = [0]
    groups = len({row[0] for row in rows})
    for level in range(1, len(rows[0]) - 1):
        here = len({row[level] for row in rows})
        if 1 < here < groups:
            kept.append(level)
            groups = here
    kept.append(len(rows[0]) - 1)
    return [[row[level] for level in kept] for row in rows]


def padded(rows: list[list[str]]) -> list[list[str]]:
    """Rows of unequal length made equal: a value nearer to the root stands for itself on the levels it lacks."""
    width = max(len(row) for row in rows)
    return [[row[0]] * (width - len(row)) + row for row in rows]
