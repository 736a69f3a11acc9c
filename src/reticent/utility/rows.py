"""How much of a person's row a release shows: for who wants rows, not statistics.

    row loss   1 - (share of people with a row) * (1 - the mean over columns of what is lost)

A quasi-identifier loses what its label does (IL of Cao & Karras 2012, 0 where it is exact).  The sensitive column loses the chance that
what a row shows is not the person's own value: 0 where rows have their own, 1 - retention where it was redrawn, and in groups that do
not say who has which value the chance that a value of the group, drawn at random, is another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent.release.kind import reader
from reticent.table.cells import Cells


def row_loss(release: Any, audited: Mapping[str, Any], cells: Cells) -> float:
    """`audited`: what an audit of the release reports; `cells`: the people it was made of."""
    labels = audited["utility"].get("ail_by_column") or {}
    published = int(release.manifest.rows)
    with_row = min(published / cells.rows, 1.0)
    withheld = int(audited["withheld"] or 0)
    # A loss of labels counts a withheld row as 1; what published rows lose is asked for here.
    shown = [
        max(float(labels.get(domain.name, 0.0)) * (published + withheld) - withheld, 0.0) / max(published, 1)
        for domain in cells.quasi
    ]
    lost = float(np.mean([*shown, _sensitive(release, audited, cells)]))
    return 1 - with_row * (1 - lost)


def table_loss(audited: Mapping[str, Any], cells: Cells) -> float:
    """The same of a table that another tool made: its rows show their own sensitive values."""
    labels = audited["utility"].get("ail_by_column") or {}
    lost = sum(float(labels.get(domain.name) or 0.0) for domain in cells.quasi) / (len(cells.quasi) + 1)
    return 1 - min(int(audited["rows"]) / cells.rows, 1.0) * (1 - lost)


def _sensitive(release: Any, audited: Mapping[str, Any], cells: Cells) -> float:
    if not reader(release.kind).elsewhere:
        return 0.0
    if "retention" in audited["utility"]:
        return 1 - float(audited["utility"]["retention"])
    counts = release.sight(cells).counts.astype(float)
    sizes = counts.sum(axis=1, keepdims=True)
    own = float((counts**2 / np.maximum(sizes, 1e-300)).sum() / max(counts.sum(), 1e-300))
    return 1 - own
