"""Information loss of a generalized table, in one pass over the distinct labels and the group sizes.

    AIL        (= NCP, GCP) Cao & Karras 2012, equations 2-5: the loss of a release (`labels.label_loss`), the one that
               planning reports too
    DM         Bayardo & Agrawal 2005: sum |G|^2, and |DB| for each withheld row
    DM*        El Emam et al. 2009: sum |G|^2 without the penalty
    C_avg      LeFevre et al. 2006 (AECS): (published rows / groups) / k, k as promised, 1 where no k is
    precision  Sweeney 2002: 1 - mean over all cells of height(label) / height(hierarchy); a column without one has height 1
    entropy    Gionis & Tassa 2009, non-uniform: sum over all cells of -log2 Pr(value | label), Pr by the source column's
               frequencies; a withheld cell counts as `*`; needs the source
    row loss   how much of a person's row a release hides, for users who want rows and not statistics:
               1 - (share of people with a row) * (1 - the mean over columns of what is lost)

In the row loss, a quasi-identifier loses what its label does (IL of Cao & Karras 2012, 0 where it is exact). The
sensitive column loses the chance that what a row shows is not the person's own value: 0 where rows have their own, 1 -
retention where it was redrawn, and in groups that do not reveal who has which value the chance that a value of the
group, drawn at random, is another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.labels.label_loss import ColumnLoss, compute_release_loss
from reticent.release.kind import reader_for


@dataclass(frozen=True, slots=True)
class GroupSizes:
    """Statistics of group sizes that the measures need: how many groups there are, their rows, and the sum of their
    squares.
    """

    groups: int
    rows: int
    squares: int

    @classmethod
    def from_sizes(cls, sizes: np.ndarray) -> GroupSizes:
        rows = int(sizes.sum())
        exact = sizes.astype(object if rows >= 1 << 31 else np.int64)
        return cls(len(sizes), rows, int((exact**2).sum()))


def compute_loss_measures(
    columns: Sequence[ColumnLoss],
    sizes: np.ndarray | GroupSizes,
    *,
    withheld: int = 0,
    k: int = 1,
    weights: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Compute AIL and the other measures of sizes and labels.

    `weights` by column are normalized, equal where none are given.
    """
    group_sizes = sizes if isinstance(sizes, GroupSizes) else GroupSizes.from_sizes(sizes)
    published = group_sizes.rows
    squares = group_sizes.squares
    rows = published + withheld
    loss = compute_release_loss(columns, published, withheld, weights)
    return {
        "ail": loss.ail,
        "ail_by_column": loss.by_column,
        "dm": squares + withheld * rows,
        "dm_star": squares,
        "c_avg": published / group_sizes.groups / k,
        "precision": 1 - sum(column.height for column in columns) / len(columns) if columns else None,
    }


def compute_entropy_bits(
    label_rows: np.ndarray, covered: np.ndarray, value_rows: np.ndarray, withheld: int = 0
) -> float:
    """Compute non-uniform entropy of one column: `covered[i]` source rows hold a value that label i covers,
    `value_rows` count each value.

    sum over cells of log2(rows under the label) - log2(rows of the value); the second sum runs over the whole source.
    """
    occurring = covered > 0
    bits = float((label_rows[occurring] * np.log2(covered[occurring])).sum()) + withheld * log2(
        max(int(value_rows.sum()), 1)
    )
    return bits - float((value_rows * np.log2(np.maximum(value_rows, 1))).sum())


def compute_row_loss(release: Any, audited: Mapping[str, Any], cells: Cells) -> float:
    """Compute the row loss of a release; `audited` is the report of its audit, `cells` the people it was made of."""
    labels = audited["utility"].get("ail_by_column") or {}
    published = int(release.manifest.rows)
    with_row = min(published / cells.rows, 1.0)
    withheld = int(audited["withheld"] or 0)
    # A loss of labels counts a withheld row as 1; what published rows lose is asked for here.
    losses = [
        max(float(labels.get(domain.name, 0.0)) * (published + withheld) - withheld, 0.0) / max(published, 1)
        for domain in cells.quasi
    ]
    lost = float(np.mean([*losses, _compute_sensitive_loss(release, audited, cells)]))
    return 1 - with_row * (1 - lost)


def compute_table_loss(audited: Mapping[str, Any], cells: Cells) -> float:
    """Compute the row loss of a table that another tool made: its rows show their own sensitive values."""
    labels = audited["utility"].get("ail_by_column") or {}
    lost = sum(float(labels.get(domain.name) or 0.0) for domain in cells.quasi) / (len(cells.quasi) + 1)
    return 1 - min(int(audited["rows"]) / cells.rows, 1.0) * (1 - lost)


def _compute_sensitive_loss(release: Any, audited: Mapping[str, Any], cells: Cells) -> float:
    if not reader_for(release.kind).elsewhere:
        return 0.0
    if "retention" in audited["utility"]:
        return 1 - float(audited["utility"]["retention"])
    counts = release.sight(cells).counts.astype(float)
    sizes = counts.sum(axis=1, keepdims=True)
    own = float((counts**2 / np.maximum(sizes, 1e-300)).sum() / max(counts.sum(), 1e-300))
    return 1 - own
