"""Information loss of a recipe: AIL's numerator (Cao & Karras 2012, equations 2 to 5).

Each published row loses the weighted mean of what its group's span loses in each column, a withheld row loses 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import Domain
from reticent.data.label_styles import WidenedDomain
from reticent.errors import pluralize
from reticent.recipe.recipe import Recipe


def compute_weight_shares(cells: Cells, weights: Mapping[str, Any] | None = None) -> np.ndarray:
    """Compute how much each quasi-identifier's loss counts; the shares sum to 1."""
    column_weights = np.array([float((weights or {}).get(domain.name, 1)) for domain in cells.quasi])
    return column_weights / column_weights.sum()


def compute_column_losses(recipe: Recipe) -> np.ndarray:
    """Compute (groups, quasi): what each group's span loses in each column."""
    lower, upper = recipe.find_spans()
    return np.column_stack(
        [
            domain.loss(lower[:, column_index], upper[:, column_index])
            for column_index, domain in enumerate(recipe.cells.quasi)
        ]
    )


def compute_label_losses(recipe: Recipe) -> np.ndarray:
    """Compute (groups, quasi): what each group's label loses; no less than its span, where labels are snapped or padded."""
    losses = []
    for column_index, domain in enumerate(recipe.cells.quasi):
        padded = recipe.padded.get(column_index)
        losses.append(
            domain.compute_printed_loss(*recipe.find_column_spans(column_index)) if padded is None else padded.loss
        )
    return np.column_stack(losses)


def compute_label_loss(recipe: Recipe, weights: Mapping[str, Any] | None = None) -> float:
    """Compute the mean loss over all rows, a withheld one counting 1: AIL (equation 5)."""
    sizes = recipe.as_groups().sizes
    lost = (
        float(sizes @ (compute_label_losses(recipe) @ compute_weight_shares(recipe.cells, weights))) + recipe.withheld
    )
    return lost / max(recipe.cells.rows, 1)


def describe_wider_labels(recipe: Recipe, weights: Mapping[str, Any] | None = None) -> list[str]:
    """Describe, for the owner, what snapped and padded labels lose beside tight ones.

    The loss of tight labels is a sum over hidden ends, so it is in no file that is handed out.
    """
    if not recipe.groups or not _count_widened(recipe.cells.quasi):
        return []
    tight = compute_total_loss(recipe, weights) / max(recipe.cells.rows, 1)
    printed = compute_label_loss(recipe, weights)
    return describe_label_cost(recipe.cells.quasi, tight, printed)


def _count_widened(quasi: Sequence[Domain]) -> int:
    return sum(isinstance(domain, WidenedDomain) for domain in quasi)


def describe_label_cost(quasi: Sequence[Domain], tight: float, printed: float) -> list[str]:
    """Describe, for the owner, what wider labels lose beside tight ones, from both losses."""
    columns = _count_widened(quasi)
    if not columns or f"{tight:.4f}" == f"{printed:.4f}":
        return []
    increase = f" ({printed / tight - 1:.1%} more)" if tight else ""
    return [
        f"The labels of {pluralize(columns, 'column')} are wider than their groups: over the source's "
        f"own ranges AIL is {printed:.4f}, with tight labels it would be "
        f"{tight:.4f}{increase}. The second figure is for you alone: it tells of ends that are hidden."
    ]


def compute_total_loss(recipe: Recipe, weights: Mapping[str, Any] | None = None) -> float:
    sizes = recipe.as_groups().sizes
    return (
        float(sizes @ (compute_column_losses(recipe) @ compute_weight_shares(recipe.cells, weights))) + recipe.withheld
    )
