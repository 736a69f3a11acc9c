"""Dates by month, quarter, year and decade: `2024-03-17`, `2024-03`, `2024-Q1`, `2024`, `2020s`, `*`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from reticent.errors import HierarchyError
from reticent.table.builders.built import ROOT, BuiltHierarchy, Values

LEVELS = {
    "month": lambda day: f"{day.year:04d}-{day.month:02d}",
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10 * 10:04d}s",
}
"""From fine to coarse; a day is the leaf."""


def dates(values: Any, levels: Sequence[str] = tuple(LEVELS), *, rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """Levels in the order of `LEVELS`; text must be YYYY-MM-DD, of a time only the day counts."""
    found = Values.of(values, rows)
    order = list(LEVELS)
    if not levels or any(level not in LEVELS for level in levels) or sorted(levels, key=order.index) != list(levels):
        raise HierarchyError("Levels of a calendar go from fine to coarse.", attempt=f"levels = {order}.")
    table = sorted((day, text) for text in found.texts if (day := _day(text)) is not None)
    if lacking := len(found.texts) - len(table):
        raise HierarchyError(
            f"{lacking} of {len(found.texts)} distinct values are no dates.", attempt="dates as YYYY-MM-DD."
        )
    return found.hierarchy([[text, *(LEVELS[level](day) for level in levels), ROOT] for day, text in table], "date")


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None
