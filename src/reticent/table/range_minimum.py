"""The least value of any span of an array, for whole arrays of spans at once."""

from __future__ import annotations

import numpy as np


class RangeMinimum:
    """A sparse table: minima over 1, 2, 4, ... positions; two of them answer for any span."""

    def __init__(self, values: np.ndarray):
        self.levels = [np.asarray(values, np.int32)]
        width = 1
        while 2 * width <= len(values):
            below = self.levels[-1]
            self.levels.append(np.minimum(below[:-width], below[width:]))
            width *= 2

    def __call__(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Minimum of values[lower..upper], both ends included."""
        level = np.frexp((upper - lower + 1).astype(np.float64))[1] - 1
        found = np.empty(len(lower), np.int32)
        for step in np.unique(level):
            here = level == step
            table = self.levels[step]
            found[here] = np.minimum(table[lower[here]], table[upper[here] - (1 << int(step)) + 1])
        return found
