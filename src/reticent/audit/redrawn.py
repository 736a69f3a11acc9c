"""A perturbed release against its source: the same people, the stated distribution, and values redrawn as the matrix says.

People whose quasi-identifiers are unique show what became of their value.  Of those with v_i a share M[i][i] should keep it: the number
that did is compared with its expectation in standard deviations.  A release that was not redrawn, or by another matrix, is far off.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.evidence import Redrawing
from reticent.audit.unchanged import Linked

FAR = 6.0  # standard deviations: one honest release in half a billion


@dataclass(frozen=True, eq=False)
class Redrawn:
    unique: int
    deviation: float | None

    @property
    def passed(self) -> bool | None:
        return None if self.deviation is None else abs(self.deviation) < FAR

    def to_dict(self) -> dict[str, Any]:
        return {"unique": self.unique, "deviation": self.deviation}

    def __str__(self) -> str:
        return f"values kept by {self.unique:,} unique people"


def against_source(
    frame: pl.DataFrame, source: pl.DataFrame, link: Linked, column: str, redrawing: Redrawing
) -> Redrawn:
    ours, theirs = link.counts
    alone = (ours == 1) & (theirs == 1)
    pub = np.empty(link.size, np.int64)
    pub[link.ours] = np.arange(len(link.ours))
    src = np.empty(link.size, np.int64)
    src[link.theirs] = np.arange(len(link.theirs))
    a, b = frame[column].cast(pl.String).gather(pub[alone]), source[column].cast(pl.String).gather(src[alone])
    stays = {value: float(redrawing.matrix[i][i]) for i, value in enumerate(redrawing.values)}
    expected = [stays.get(value, 0.0) for value in b.to_list()]
    kept = int((a == b).sum())
    spread = sqrt(sum(p * (1 - p) for p in expected))
    return Redrawn(len(a), (kept - sum(expected)) / spread if spread else None)
