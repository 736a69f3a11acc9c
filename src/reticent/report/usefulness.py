"""What the release lost of its source, column by column, and how far answers to counting questions are off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent.opened import Release
from reticent.release.reading.boxes import Boxes
from reticent.report.parts import plain, section, table, text
from reticent.table.cells import Cells
from reticent.utility.workload import Workload, mean_relative_error, median_relative_error

QUERIES, SEED = 1_000, 1
ASKED = ((1, 0.1), (2, 0.1), (3, 0.1), (2, 0.05), (2, 0.2))
"""Columns in a question, and the share of the rows that it would select if rows were spread evenly."""


def losses(release: Release, found: Mapping[str, Any], cells: Cells) -> dict[str, Any]:
    lost = found["utility"].get("ail_by_column") or {}
    frame = release.frame()
    distinct = [
        (domain.name, domain.size, frame[domain.name].n_unique() if domain.name in frame.columns else None, plain(lost.get(domain.name)))
        for domain in cells.quasi
    ]  # fmt: skip
    by_column = [(name, plain(value)) for name, value in lost.items()]
    return section(
        "loss", "Loss by column",
        text("The loss of a column is the mean share of its domain that a label covers beyond one value: 0 is exact, 1 says nothing."),
        table("Information loss", ("column", "loss"), by_column, bars=(0, 1)) if by_column else
        text("The quasi-identifiers are published as they are: no column lost anything."),
        table("Distinct values and labels", ("column", "in the source", "in the release", "loss"), distinct),
    )  # fmt: skip


def questions(seen: Any, cells: Cells) -> dict[str, Any]:
    """Errors of random COUNT questions, as the papers ask them; the baseline knows no group at all."""
    if not isinstance(seen, Boxes) or not len(cells.quasi):
        return section(
            "utility",
            "Utility",
            text("Random questions are asked of releases whose groups are boxes; this one has none."),
        )
    rng, rows = np.random.default_rng(SEED), []
    for predicates, selectivity in ASKED:
        if predicates > len(cells.quasi):
            continue
        asked = Workload.draw(cells, predicates=predicates, selectivity=selectivity, queries=QUERIES, rng=rng)
        selected = asked.histograms(cells)
        true, estimate, baseline = (
            asked.exact(cells, selected),
            asked.generalized(seen),
            asked.baseline(cells, selected),
        )
        rows.append((predicates, selectivity, _error(median_relative_error(estimate, true)), _error(mean_relative_error(estimate, true)),
                     _error(median_relative_error(baseline, true))))  # fmt: skip
    head = ("columns asked about", "selectivity", "median error", "mean error", "median error without groups")
    return section(
        "utility", "Utility",
        text(f"{QUERIES:,} random questions of each form, SELECT COUNT(*) with ranges over some columns and the sensitive one; the error is "
             "|estimate - truth| / truth. Without groups: exact quasi-identifiers beside the overall distribution of the sensitive column."),
        table("Relative error of counts", head, rows),
    )  # fmt: skip


def _error(value: float) -> float | None:
    return None if np.isnan(value) else value
