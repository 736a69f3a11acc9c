"""Phase 3, stratified sampling: one tuple of each group, uniformly (steps S1 to S4)."""

from __future__ import annotations

import numpy as np

from reticent.models.shapes import rows_by_group
from reticent.table.cells import Cells


def draw(cells: Cells, group_of_cell: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """For each group the place of its drawn row among all rows, in the order of their cells, and that row's cell."""
    order, offsets = rows_by_group(group_of_cell, int(group_of_cell.max(initial=-1)) + 1)
    until = np.cumsum(cells.counts[order])
    size = np.diff(np.append(0, until)[offsets])
    place = np.cumsum(size) - size + rng.integers(0, size)
    found = np.searchsorted(until, place, side="right")
    cell = order[found]
    first = np.cumsum(cells.counts) - cells.counts
    return first[cell] + (place - (until[found] - cells.counts[cell])), cell
