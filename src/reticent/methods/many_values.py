"""How many different sensitive values a method can plan with: its cost grows with their square or faster, so more are refused."""

from __future__ import annotations

from reticent.errors import ColumnError
from reticent.table.cells import Cells


def refuse_many_values(method: str, cells: Cells, column: int, most: int) -> None:
    """Before anything is planned."""
    held = int((cells.totals(column) > 0).sum())
    if held > most:
        raise ColumnError(
            f"The sensitive column {cells.sensitive[column].name!r} has {held:,} different values; {method} takes {most:,} at most.",
            why="What it computes grows with the square of their number, or faster.",
            attempt='fewer values (rounded, or grouped), or method = "mondrian".',
        )
