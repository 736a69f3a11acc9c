"""How far a release's answers to counting and averaging questions are off, whatever its kind.

counts      SELECT COUNT(*) with ranges over 1 to 3 quasi-identifiers and the sensitive column (the workload of Cao & Karras 2012);
            error |estimate - true| / true, the median and the mean over questions whose true answer is not 0
averages    SELECT AVG(column) with ranges over quasi-identifiers; error |estimate - true| / r, r being the span of the column.
            The estimate is the mean under the estimated counts of each value; the error is 1 where no row is estimated to be selected
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reticent.table.cells import Cells
from reticent.table.domain import Domain, RangeDomain
from reticent.utility.answering import Ask
from reticent.utility.errors import by_dimension, by_selectivity, summed_up
from reticent.utility.workload import FREE, Workload

QUERIES = 500
MOST_PREDICATES, SELECTIVITY = 3, 0.1
AVERAGES, COUNTED = (20, 200), 20_000
"""How many averages are asked for, fewest and most, and how many counts they may need: one for each value."""


def count_errors(ask: Ask, cells: Cells, seed: int, queries: int = QUERIES) -> dict[str, Any]:
    """Median and mean relative error, over all questions, by the number of columns asked about and by the share of rows selected."""
    rng = np.random.default_rng(seed)
    parts = [
        Workload.draw(cells, predicates=predicates, selectivity=SELECTIVITY, queries=queries, rng=rng)
        for predicates in range(1, min(len(cells.quasi), MOST_PREDICATES) + 1)
    ]
    asked = Workload(np.concatenate([one.lower for one in parts]), np.concatenate([one.upper for one in parts]))
    true, estimate = asked.exact(cells), ask(asked)
    return {
        **summed_up(estimate, true),
        "by_dimension": by_dimension(asked, estimate, true),
        "by_selectivity": by_selectivity(estimate, true, cells.rows),
    }


def averaged(cells: Cells) -> int | None:
    """The column that averages are asked of: the sensitive one if it holds numbers, else the first quasi-identifier that does."""
    axes = [len(cells.quasi), *range(len(cells.quasi))]
    domains: list[Domain] = [*cells.quasi, cells.sensitive[0]]
    return next((axis for axis in axes if domains[axis].kind == "numeric" and len(domains[axis].texts) > 1), None)


def average_errors(ask: Ask, cells: Cells, seed: int) -> dict[str, Any] | None:
    """None where no column holds numbers."""
    axis = averaged(cells)
    if axis is None:
        return None
    domain = [*cells.quasi, cells.sensitive[0]][axis]
    assert isinstance(domain, RangeDomain)
    places = np.asarray(domain.positions, float)[: len(domain.texts)]
    queries = int(np.clip(COUNTED // len(places), *AVERAGES))
    asked = Workload.draw(
        cells,
        predicates=min(2, len(cells.quasi)),
        selectivity=SELECTIVITY,
        queries=queries,
        rng=np.random.default_rng(seed),
    )
    by_value = _by_value(asked, axis, len(places), cells.sensitive[0].size)
    true = _true_by_value(asked, axis, cells)[:, : len(places)].astype(float)
    estimate = ask(by_value).reshape(queries, len(places))
    some = true.sum(axis=1) > 0
    span = float(places[-1] - places[0])
    errors = np.abs(_means(estimate[some], places, span) - _means(true[some], places, span)) / span
    found = {"column": domain.name, "queries": int(some.sum())}
    return {**found, "median": _or_none(np.median, errors), "mean": _or_none(np.mean, errors)}


def _by_value(asked: Workload, axis: int, values: int, held: int) -> Workload:
    """Each question once for each value of a column; without a range over the sensitive column if that is the one."""
    lower, upper = (np.repeat(side, values, axis=0) for side in (asked.lower, asked.upper))
    if axis == lower.shape[1] - 1:
        lower[:, -1], upper[:, -1] = 0, held - 1
    lower[:, axis] = upper[:, axis] = np.tile(np.arange(values), len(asked))
    assert FREE not in upper[:, axis]
    return Workload(np.ascontiguousarray(lower, np.int32), np.ascontiguousarray(upper, np.int32))


def _true_by_value(asked: Workload, axis: int, cells: Cells) -> np.ndarray:
    """(questions, values): the rows of the source that each question selects, by the value of a column it has no range over."""
    lower, upper = asked.lower.copy(), asked.upper.copy()
    lower[:, axis], upper[:, axis] = 0, FREE
    column = np.column_stack([cells.codes, cells.values[:, 0]])[:, axis]
    return Workload(lower, upper).count_by(cells, column, [*cells.quasi, cells.sensitive[0]][axis].size)


def _means(counts: np.ndarray, places: np.ndarray, span: float) -> np.ndarray:
    """Of each line; reconstructed counts may be negative, so a mean is kept within the column, or is a whole span away."""
    total = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.clip(counts @ places / total, places[0], places[-1])
    return np.where(total > 0, mean, places[0] - span)


def _or_none(of: Any, errors: np.ndarray) -> float | None:
    return float(min(of(errors), 1.0)) if len(errors) else None
