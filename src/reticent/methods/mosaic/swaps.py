"""Swaps: rows of equal sensitive values change places, so that a group may shed what makes its box wide.

Every group keeps its histogram of all sensitive columns, so any promise survives, known to the kernels or not.
"""

from __future__ import annotations

import numpy as np

from reticent.kernels.mosaic_swaps import Swapper
from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.sweeps import GREATEST_SEED
from reticent.methods.mosaic.tiling import Tiling, tiling_of
from reticent.table.cells import Cells
from reticent.workers import run_in_workers

SHARE = 0.2  # of a group's rows that may have to go
LOOKS = (300, 3000)  # rows looked at to find one of them a place
WORK = 100_000_000
MOST_ROWS = 2_000_000


class SwapSweeps:
    def __init__(self, cells: Cells, space: Space) -> None:
        self.cells, self.space = cells, space
        if cells.values.shape[1] == 1:
            values = cells.values[:, 0]
        elif cells.values.shape[1]:
            values = np.unique(cells.values, axis=0, return_inverse=True)[1].ravel()
        else:
            values = np.zeros(len(cells), np.int64)
        self.values = np.ascontiguousarray(values, np.int32)

    def swaps(self, now: Tiling, draw: np.random.Generator) -> Tiling | None:
        if self.cells.rows > MOST_ROWS:
            return None
        lower, upper = now.boxes(self.cells)
        sizes = now.sizes()
        group = np.repeat(np.arange(len(now), dtype=np.int32), sizes)
        cell = np.repeat(now.cell, now.quota)
        value = self.values[cell]
        by_value = np.argsort(value, kind="stable").astype(np.int32)
        first = np.searchsorted(value[by_value], np.arange(int(value.max()) + 2))
        slots = cell, group, value, by_value, first, np.append(0, np.cumsum(sizes))
        boxes = np.ascontiguousarray(np.stack([lower, upper], axis=1), np.int32)
        space = self.space.spans, self.space.places, self.space.nodes, self.space.trees
        looks = int(np.clip(WORK // self.cells.rows, *LOOKS))
        costliest = np.argsort(-self.space.per_row(lower, upper) * sizes, kind="stable").astype(np.int32)
        swapper = Swapper(self.cells.codes, space, slots, boxes, looks)
        seed = int(draw.integers(1, GREATEST_SEED))
        run_in_workers(lambda order, _worker, stop: swapper.sweep(order, seed, SHARE, stop), [costliest])
        return tiling_of(cell, group, np.ones(len(cell), np.int64))
