"""The information loss of a release: one figure, computed from the labels as they are printed, wherever a loss is shown.

    loss of a label    IL (Cao & Karras 2012, equations 2 and 3): (u - l) / (U - L) of a range, leaves(a) / leaves(root)
                       of a node or a set, a being the lowest common ancestor; 0 for a single value and for a null, 1 for
                       `*` and for whatever covers the null beside other values
    loss of a column   the mean over all rows, published and withheld; a withheld row loses 1
    loss of a release  AIL (equations 4 and 5): the mean over the quasi-identifiers, weighted as the method weighs them

The domain [L, U] and the hierarchy are those of the column's entry in the manifest, so the figure follows from the files
alone. Planning computes it from the labels that it is about to print (`recipe.planned_loss`), and the audit from those
that it reads; sums are correctly rounded (`math.fsum`), so that the two agree to the last digit in whatever order labels
come. Planning uses it to report, never to decide on a promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, fsum
from typing import Any

import numpy as np
import polars as pl

from reticent.format.manifest import ColumnEntry
from reticent.format.schema_checks import parse_fraction
from reticent.labels.scale import Extent, LeafExtents, Scale, TreeScale, make_scale, read_leaf_extents

STARRED_LOSS = 0.999  # a column that loses this much is as good as `*` in every row


@dataclass(frozen=True, eq=False)
class ColumnLabels:
    """One quasi-identifying column: its distinct labels as extents on a scale, and how many rows have each."""

    name: str
    scale: Scale
    extents: Sequence[Extent]
    rows: np.ndarray

    def mean(self, of: Sequence[float] | np.ndarray) -> float:
        """Compute the mean over the rows of a figure of each label, correctly rounded: the order of labels is no matter."""
        products = self.rows * np.asarray(of, np.float64)
        return fsum(products.tolist()) / max(int(self.rows.sum()), 1)

    def loss(self) -> float:
        """Compute the mean IL of this column's cells."""
        return self.mean([self.scale.loss(extent) for extent in self.extents])

    def height(self) -> float:
        return self.mean([self.scale.height(extent) for extent in self.extents])

    def measure_loss(self) -> ColumnLoss:
        return ColumnLoss(self.name, self.loss(), self.height())


@dataclass(frozen=True, eq=False)
class FlatLabels(ColumnLabels):
    """Categories without a hierarchy: a label of several values has the root for its ancestor, and loses all."""

    def loss(self) -> float:
        assert isinstance(self.extents, LeafExtents)
        return self.mean(self.extents.several)

    def height(self) -> float:
        return self.loss()


@dataclass(frozen=True, slots=True)
class ColumnLoss:
    """What the labels of one column lose: the mean IL of its cells, and their mean height."""

    name: str
    loss: float
    height: float


@dataclass(frozen=True, slots=True)
class ReleaseLoss:
    """The loss of a release: AIL, None where there is no column to lose by, and the loss of each quasi-identifier."""

    ail: float | None
    by_column: Mapping[str, float]


def read_column_labels(entry: ColumnEntry, texts: Sequence[str | None], rows: np.ndarray) -> ColumnLabels:
    """Read the distinct labels of a column of a release, given how many rows have each."""
    scale = make_scale(entry, texts)
    if not isinstance(scale, TreeScale):
        return ColumnLabels(entry.name, scale, scale.read(texts), rows)
    return make_tree_labels(entry.name, scale, read_leaf_extents(scale, pl.Series(texts, dtype=pl.String)), rows)


def make_tree_labels(name: str, scale: TreeScale, extents: LeafExtents, rows: np.ndarray) -> ColumnLabels:
    """Make the labels of a column of categories, with a hierarchy or flat."""
    return (FlatLabels if scale.hierarchy.height == 1 else ColumnLabels)(name, scale, extents, rows)


def compute_release_loss(
    columns: Sequence[ColumnLoss], published: int, withheld: int = 0, weights: Mapping[str, Any] | None = None
) -> ReleaseLoss:
    """Compute the loss of a release from that of each column's published labels; `weights` by column, equal where none are given."""
    rows = published + withheld
    by_column = {column.name: (column.loss * published + withheld) / max(rows, 1) for column in columns}
    return ReleaseLoss(compute_ail(by_column, weights), by_column)


def compute_ail(loss: Mapping[str, float], weights: Mapping[str, Any] | None = None) -> float | None:
    """Compute equation 4's weighted mean over the columns; None without any."""
    share = {name: float(parse_fraction((weights or {}).get(name, 1))) for name in loss}
    return fsum(share[name] * loss[name] for name in loss) / fsum(share.values()) if loss else None


def format_kept_share(share: float) -> str:
    """Format a share that is kept, rounded down; a little more than nothing is not called nothing."""
    percent = floor(share * 100)
    return "less than 1 %" if share > 0 and percent == 0 else f"{percent} %"


def find_starred_columns(by_column: Mapping[str, float]) -> tuple[str, ...]:
    """Find the columns that are as good as `*` in every row."""
    return tuple(name for name, loss in by_column.items() if loss >= STARRED_LOSS)
