"""The loss of planned groups, from the labels that will be printed: the figure that the audit of the release finds.

`measure_label_loss` is `labels.label_loss` of labels that are not written yet. `describe_wider_labels` compares it, for
the owner, with the loss that the same groups would have under tight labels. `expect_count_error` is what a draw of
perturbed rows loses beside labels: how uncertain a count is.

What methods minimize while they search is their own affair (`group_labels.compute_column_losses`: spans over the
source's domains); what is reported of a plan is the loss here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from reticent.data.columns import Column
from reticent.data.domain import Domain
from reticent.data.label_styles import WidenedDomain
from reticent.errors import pluralize
from reticent.format.manifest import ColumnEntry
from reticent.labels.label_loss import ReleaseLoss, compute_ail, compute_release_loss, read_column_labels
from reticent.recipe.group_labels import GroupLabels, build_quasi_entry
from reticent.recipe.recipe import Recipe

COUNTED_SHARE = 0.1  # of the people, in the count whose error is expected


def measure_recipe_loss(
    recipe: Recipe, labels: GroupLabels, columns: Mapping[str, Column], weights: Mapping[str, Any] | None = None
) -> ReleaseLoss:
    """Measure the loss of a recipe whose groups are published with these labels."""
    entries = [
        build_quasi_entry(domain, texts, columns[domain.name])
        for domain, texts in zip(recipe.cells.quasi, labels.texts, strict=True)
    ]
    return measure_label_loss(entries, labels, recipe.as_groups().sizes, recipe.all_withheld, weights)


def measure_label_loss(
    entries: Iterable[Mapping[str, Any]],
    labels: GroupLabels,
    sizes: np.ndarray,
    withheld: int = 0,
    weights: Mapping[str, Any] | None = None,
) -> ReleaseLoss:
    """Measure the loss of groups of these sizes by their labels; `entries` are the manifest's, by which labels are read."""
    columns = []
    for column_index, entry in enumerate(entries):
        texts = labels.texts[column_index]
        rows = np.bincount(labels.of_group[:, column_index], weights=sizes, minlength=len(texts)).astype(np.int64)
        columns.append(read_column_labels(ColumnEntry.parse(entry), texts, rows).measure_loss())
    return compute_release_loss(columns, int(sizes.sum()), withheld, weights)


def describe_wider_labels(
    recipe: Recipe, columns: Mapping[str, Column], printed: ReleaseLoss, weights: Mapping[str, Any] | None = None
) -> list[str]:
    """Describe, for the owner, what snapped and padded labels lose beside tight ones; `printed` is the release's loss.

    The loss of tight labels is a sum over hidden ends, so it is in no file that is handed out.
    """
    if not recipe.groups or not _count_widened(recipe.cells.quasi):
        return []
    sizes = recipe.as_groups().sizes
    tight = dict(printed.by_column)
    for column_index, domain in enumerate(recipe.cells.quasi):
        if isinstance(domain, WidenedDomain):
            is_declared = columns[domain.name].domain is not None
            losses = _compute_tight_losses(domain, *recipe.find_column_spans(column_index), is_declared=is_declared)
            tight[domain.name] = (float(sizes @ losses) + recipe.all_withheld) / max(recipe.cells.source_rows, 1)
    return describe_label_cost(recipe.cells.quasi, compute_ail(tight, weights), printed.ail)


def describe_label_cost(quasi: Sequence[Domain], tight: float | None, printed: float | None) -> list[str]:
    """Describe, for the owner, what wider labels lose beside tight ones, from both losses."""
    columns = _count_widened(quasi)
    if not columns or tight is None or printed is None or f"{tight:.4f}" == f"{printed:.4f}":
        return []
    increase = f" ({printed / tight - 1:+.1%} by the wider ones)" if tight else ""
    return [
        f"The labels of {pluralize(columns, 'column')} are wider than their groups: the loss (AIL) is {printed:.4f}, "
        f"with tight labels it would be {tight:.4f}{increase}. The second figure is for you alone: it tells of ends "
        "that are hidden."
    ]


def _count_widened(quasi: Sequence[Domain]) -> int:
    return sum(isinstance(domain, WidenedDomain) for domain in quasi)


def _compute_tight_losses(
    domain: WidenedDomain, lower: np.ndarray, upper: np.ndarray, *, is_declared: bool
) -> np.ndarray:
    """Compute what tight labels of groups would lose: over the declared domain, or over the range that would be published."""
    losses = domain.tight.loss(lower, upper)
    ranged = upper != domain.null_code
    if is_declared or not ranged.any():
        return losses
    published = domain.positions[upper[ranged].max()] - domain.positions[lower[ranged].min()]
    reach = domain.span[1] - domain.span[0]
    losses[ranged] *= reach / published if published > 0 else 0
    return losses


def expect_count_error(p: float, domain: int, people: int, squares: float) -> float:
    """Expect the standard error of a count: of one value, which a tenth of all people have.

    `squares` is the sum over groups of their size squared over the rows drawn of them. The variance is that of
    the release's estimates, for groups that differ by chance.
    """
    shown = p * COUNTED_SHARE + (1 - p) / domain
    variance = squares * shown * (1 - shown) / p**2 - people * COUNTED_SHARE * (1 - COUNTED_SHARE)
    return sqrt(max(variance, 0.0))
