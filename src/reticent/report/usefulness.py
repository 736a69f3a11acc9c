"""What the release lost of its source, column by column, and how far answers to counting questions are off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reticent.errors import RequestError
from reticent.opened import Release
from reticent.report.parts import Part, plain, section, table, text
from reticent.table.cells import Cells
from reticent.table.roles import Role
from reticent.utility.answering import answering
from reticent.utility.errors import by_selectivity
from reticent.utility.ranges import average_ranges
from reticent.utility.workload import Workload, mean_relative_error, median_relative_error

QUERIES, SEED = 1_000, 1
ASKED = ((1, 0.1), (2, 0.1), (3, 0.1), (2, 0.05), (2, 0.2))
"""Columns in a question, and the share of the rows that it would select if rows were spread evenly."""


def losses(release: Release, found: Mapping[str, Any], cells: Cells | str) -> dict[str, Any]:
    """`cells`: a text where the source was not counted."""
    lost = found["utility"].get("ail_by_column") or {}
    frame = release.frame()
    sizes = {} if isinstance(cells, str) else {domain.name: domain.size for domain in cells.quasi}
    names = [column.name for column in release.manifest.named(Role.QUASI)]
    distinct = [
        (name, sizes.get(name), frame[name].n_unique() if name in frame.columns else None, plain(lost.get(name)))
        for name in names
    ]
    by_column = [(name, plain(value)) for name, value in lost.items()]
    return section(
        "loss", "Loss by column",
        text("The loss of a column is the mean share of its domain that a label covers beyond one value: 0 is exact, 1 says nothing."),
        table("Information loss", ("column", "loss"), by_column, bars=(0, 1)) if by_column else
        text("The quasi-identifiers are published as they are: no column lost anything."),
        table("Distinct values and labels", ("column", "in the source", "in the release", "loss"), distinct),
    )  # fmt: skip


def questions(release: Release, cells: Cells | str) -> dict[str, Any]:
    """Errors of random COUNT questions, as the papers ask them; the baseline knows no group at all."""
    if isinstance(cells, str):
        return section("utility", "Utility", text(cells))
    if not cells.quasi:
        return section("utility", "Utility", text("Random questions are about quasi-identifiers; there are none."))
    try:
        ask = answering(release.tables, release.manifest, cells)
    except RequestError as error:
        return section("utility", "Utility", text(f"Random questions were not asked. {error.what}"))
    rng, rows, found = np.random.default_rng(SEED), [], []
    for predicates, selectivity in ASKED:
        if predicates > len(cells.quasi):
            continue
        asked = Workload.draw(cells, predicates=predicates, selectivity=selectivity, queries=QUERIES, rng=rng)
        selected = asked.histograms(cells)
        true, estimate, baseline = asked.exact(cells, selected), ask(asked), asked.baseline(cells, selected)
        rows.append((predicates, selectivity, _error(median_relative_error(estimate, true)), _error(mean_relative_error(estimate, true)),
                     _error(median_relative_error(baseline, true))))  # fmt: skip
        found.append((estimate, true))
    head = ("columns asked about", "selectivity", "median error", "mean error", "median error without groups")
    return section(
        "utility", "Utility",
        text(f"{QUERIES:,} random questions of each form, SELECT COUNT(*) with ranges over some columns and the sensitive one; the error is "
             "|estimate - truth| / truth. Estimates are those that a recipient makes of this kind. Without groups: exact quasi-identifiers "
             "beside the overall distribution of the sensitive column."),
        table("Relative error of counts", head, rows),
        _by_share(found, cells.rows),
        _ranges(release, cells),
    )  # fmt: skip


def _by_share(found: Sequence[tuple[np.ndarray, np.ndarray]], rows: int) -> Part:
    """Of estimates and truths: what few rows answer is answered worst."""
    estimate, true = (np.concatenate(side) for side in zip(*found, strict=True))
    lines = [
        (f"{line['above']:g} to {line['until']:g}", line["queries"], _error(line["median"]), _error(line["mean"]))
        for line in by_selectivity(estimate, true, rows)
    ]
    return table("The same by the share of rows selected", ("share", "questions", "median error", "mean error"), lines)


def _ranges(release: Release, cells: Cells) -> Part | None:
    """How wide the guaranteed range of an average is; None where the kind gives none."""
    found = average_ranges(release.tables, release.manifest, cells, SEED)
    if found is None:
        return None
    head = ("column", "questions", "median width", "mean width")
    line = (found["column"], found["queries"], found["median"], found["mean"])
    return table("Guaranteed ranges of averages, as shares of the column's span", head, [line])


def _error(value: float) -> float | None:
    return None if np.isnan(value) else value
