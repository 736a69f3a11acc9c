"""Does the order of the published rows say anything about the order of the source?

A row's content points to where its source row may stand: the mean position of the source rows it can stand for.  The statistic
is Spearman's rank correlation of that with the row's place in the published file.  If the rows were shuffled, its mean is 0
and its variance exactly 1/(n - 1), whatever the contents (a linear rank statistic over uniform permutations).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from reticent.audit.covering import Covering

SIGNIFICANCE = 1e-6
"""A shuffled release is called unshuffled once in a million audits."""


@dataclass(frozen=True, slots=True)
class Order:
    correlation: float
    p_value: float
    significance: float = SIGNIFICANCE

    @property
    def shuffled(self) -> bool:
        return self.p_value >= self.significance


def rank_correlation(found: Covering) -> Order:
    positions = np.bincount(
        found.point_of_row, weights=np.arange(len(found.point_of_row)), minlength=len(found.point_rows)
    )
    boxes = len(found.box_rows)
    held = found.regions.total(found.point_rows, boxes)
    mean = found.regions.total(positions, boxes) / np.maximum(held, 1)
    rank = _ranks(mean)[found.box_of_row]
    n = len(rank)
    place = np.arange(n) - (n - 1) / 2
    rank = rank - rank.mean()
    spread = sqrt(float(np.dot(rank, rank)) * float(np.dot(place, place)))
    if n < 3 or spread == 0:
        return Order(0.0, 1.0)
    correlation = float(np.dot(rank, place)) / spread
    return Order(correlation, erfc(abs(correlation) * sqrt(n - 1) / sqrt(2)))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Dense ranks; any monotone score keeps the null distribution."""
    return np.unique(values, return_inverse=True)[1].astype(np.float64)
