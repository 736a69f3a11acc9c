"""Information loss of a generalized table, in one pass over the distinct labels and the group sizes.

    AIL        (= NCP, GCP) Cao & Karras 2012, equations 2-5: sum over groups of |G| * sum_c w_c IL_c(G), over |DB|;
               IL of a range is (u - l) / (U - L), of a node leaves(a) / leaves(root), 0 for a single value; a withheld row counts 1
    DM         Bayardo & Agrawal 2005: sum |G|^2, and |DB| for each withheld row
    DM*        El Emam et al. 2009: sum |G|^2 without the penalty
    C_avg      LeFevre et al. 2006 (AECS): (published rows / groups) / k, k as promised, 1 where no k is
    precision  Sweeney 2002: 1 - mean over all cells of height(label) / height(hierarchy); a column without one has height 1
    entropy    Gionis & Tassa 2009, non-uniform: sum over all cells of -log2 Pr(value | label), Pr by the source column's
               frequencies; a withheld cell counts as `*`; needs the source

A null loses nothing; a label that covers the null beside other values loses 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from reticent.release.numbers import fraction
from reticent.release.reading.extent import Extent
from reticent.release.reading.scale import Scale


@dataclass(frozen=True, eq=False)
class Labelled:
    """One quasi-identifying column: its distinct labels as extents on a scale, and how many rows bear each."""

    name: str
    scale: Scale
    extents: Sequence[Extent]
    rows: np.ndarray

    def mean(self, of: Sequence[float] | np.ndarray) -> float:
        return float(np.dot(self.rows, np.asarray(of, np.float64)) / max(self.rows.sum(), 1))

    def loss(self) -> float:
        """The mean IL of this column's cells."""
        return self.mean([self.scale.loss(extent) for extent in self.extents])

    def height(self) -> float:
        return self.mean([self.scale.height(extent) for extent in self.extents])

    def measured(self) -> Measured:
        return Measured(self.name, self.loss(), self.height())


@dataclass(frozen=True, slots=True)
class Measured:
    """What the labels of one column lose: the mean IL of its cells, and their mean height."""

    name: str
    loss: float
    height: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """What loss asks of the sizes of groups: how many there are, their rows, and the sum of their squares."""

    groups: int
    rows: int
    squares: int

    @classmethod
    def of(cls, sizes: np.ndarray) -> Sizes:
        rows = int(sizes.sum())
        exact = sizes.astype(object if rows >= 1 << 31 else np.int64)
        return cls(len(sizes), rows, int((exact**2).sum()))


def measures(columns: Sequence[Measured], sizes: np.ndarray | Sizes, *, withheld: int = 0, k: int = 1,
             weights: Mapping[str, Any] | None = None) -> dict[str, Any]:  # fmt: skip
    """AIL and what else the sizes and labels give; `weights` by column are normalized, equal where none are given."""
    held = sizes if isinstance(sizes, Sizes) else Sizes.of(sizes)
    published, squares = held.rows, held.squares
    rows = published + withheld
    loss = {column.name: (column.loss * published + withheld) / rows for column in columns}
    return {"ail": ail(loss, weights), "ail_by_column": loss, "dm": squares + withheld * rows, "dm_star": squares,
            "c_avg": published / held.groups / k, "precision": 1 - sum(column.height for column in columns) / len(columns) if columns else None}  # fmt: skip


def ail(loss: Mapping[str, float], weights: Mapping[str, Any] | None = None) -> float | None:
    """Equation 4's weighted mean over the columns; None without any."""
    share = {name: float(fraction((weights or {}).get(name, 1))) for name in loss}
    return sum(share[name] * loss[name] for name in loss) / sum(share.values()) if loss else None


def entropy_bits(label_rows: np.ndarray, covered: np.ndarray, value_rows: np.ndarray, withheld: int = 0) -> float:
    """Non-uniform entropy of one column: `covered[i]` source rows hold a value that label i covers, `value_rows` count each value.

    sum over cells of log2(rows under the label) - log2(rows of the value); the second sum runs over the whole source.
    """
    seen = covered > 0
    bits = float((label_rows[seen] * np.log2(covered[seen])).sum()) + withheld * log2(max(int(value_rows.sum()), 1))
    return bits - float((value_rows * np.log2(np.maximum(value_rows, 1))).sum())
