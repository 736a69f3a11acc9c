"""Errors of a release's answers to COUNT and AVG questions, and widths of guaranteed ranges, for all kinds.

counts      SELECT COUNT(*) with ranges over 1 to 3 quasi-identifiers and the sensitive column (the workload of Cao &
            Karras 2012); error |estimate - true| / true, the median and the mean over questions whose true answer is
            not 0
averages    SELECT AVG(column) with ranges over quasi-identifiers; error |estimate - true| / r, r being the span of the
            column. The estimate is the mean under the estimated counts of each value; the error is 1 where no row is
            estimated to be selected
ranges      SELECT AVG(column) FROM release WHERE A_1 IN R_1 AND A_2 IN R_2, with the ranges of the COUNT workload over
            quasi-identifiers; err = (u - l) / r (Koudas et al., VLDB 2009, section 5): u and l bound the answer over
            every table that the release leaves possible, and r is the span of the column. Kinds whose answers are
            estimates alone have none
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.domain import BandDomain, Domain, RangeDomain
from reticent.data.parsing import parse_dtype, parse_texts
from reticent.estimate.condition import IS_NULL, Atom, CompoundCondition, Condition
from reticent.estimate.question import Question
from reticent.format.manifest import Manifest
from reticent.release.kind import reader_for
from reticent.utility.workload import (
    NO_RANGE,
    Answerer,
    Workload,
    group_errors_by_dimension,
    group_errors_by_selectivity,
    range_errors,
    summarize_errors,
)

COUNT_QUERIES = 500
MAX_PREDICATES = 3
QUERY_SELECTIVITY = 0.1
AVERAGE_QUERIES_RANGE = (20, 200)
MAX_COUNTS_FOR_AVERAGES = 20_000
"""The fewest and most AVG questions, and the most counts that they may need: one for each value."""
RANGE_QUERIES = 20


def measure_count_errors(ask: Answerer, cells: Cells, seed: int, queries: int = COUNT_QUERIES) -> dict[str, Any]:
    """Measure the median and mean relative error, over all questions, by the number of columns asked about and by the
    share of rows selected.
    """
    rng = np.random.default_rng(seed)
    parts = [
        Workload.draw(cells, predicates=predicates, selectivity=QUERY_SELECTIVITY, queries=queries, rng=rng)
        for predicates in range(1, min(len(cells.quasi), MAX_PREDICATES) + 1)
    ]
    workload = Workload(np.concatenate([part.lower for part in parts]), np.concatenate([part.upper for part in parts]))
    truth = workload.exact(cells)
    estimate = ask(workload)
    return {
        **summarize_errors(estimate, truth),
        "by_dimension": group_errors_by_dimension(workload, estimate, truth),
        "by_selectivity": group_errors_by_selectivity(estimate, truth, cells.rows),
    }


def find_averaged_axis(cells: Cells) -> int | None:
    """Find the column to average: the sensitive one if it holds numbers, else the first quasi-identifier that does."""
    axes = [len(cells.quasi), *range(len(cells.quasi))]
    domains: list[Domain] = [*cells.quasi, cells.sensitive[0]]
    return next((axis for axis in axes if domains[axis].kind == "numeric" and len(domains[axis].texts) > 1), None)


def measure_average_errors(ask: Answerer, cells: Cells, seed: int) -> dict[str, Any] | None:
    """Measure errors of AVG questions; None where no column holds numbers."""
    axis = find_averaged_axis(cells)
    if axis is None:
        return None
    domain = [*cells.quasi, cells.sensitive[0]][axis]
    assert isinstance(domain, RangeDomain | BandDomain)
    places = np.asarray(domain.positions, float)[: len(domain.texts)]
    queries = int(np.clip(MAX_COUNTS_FOR_AVERAGES // len(places), *AVERAGE_QUERIES_RANGE))
    workload = Workload.draw(
        cells,
        predicates=min(2, len(cells.quasi)),
        selectivity=QUERY_SELECTIVITY,
        queries=queries,
        rng=np.random.default_rng(seed),
    )
    by_value = _split_by_value(workload, axis, len(places), cells.sensitive[0].size)
    truth = _count_by_value(workload, axis, cells)[:, : len(places)].astype(float)
    estimate = ask(by_value).reshape(queries, len(places))
    is_selected = truth.sum(axis=1) > 0
    span = float(places.max() - places.min())
    errors = (
        np.abs(_compute_means(estimate[is_selected], places, span) - _compute_means(truth[is_selected], places, span))
        / span
    )
    summary = {"column": domain.name, "queries": int(is_selected.sum())}
    return {**summary, "median": _aggregate_or_none(np.median, errors), "mean": _aggregate_or_none(np.mean, errors)}


def measure_average_ranges(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest, cells: Cells, seed: int, queries: int = RANGE_QUERIES
) -> dict[str, Any] | None:
    """Measure the median and the mean of err.

    Return None where no column holds numbers, or the kind gives no guaranteed range.
    """
    axis = find_averaged_axis(cells)
    if axis is None:
        return None
    column = [*cells.quasi, cells.sensitive[0]][axis]
    types = {entry.name: entry.dtype for entry in manifest.columns}
    if not isinstance(column, RangeDomain) or not parse_dtype(types[column.name]).is_numeric():
        return None
    workload = Workload.draw(
        cells,
        predicates=min(2, len(cells.quasi)),
        selectivity=QUERY_SELECTIVITY,
        queries=queries,
        rng=np.random.default_rng(seed),
    )
    cache: dict[str, Any] = {}
    answers = [
        reader_for(manifest.kind).estimate(
            tables,
            manifest,
            Question(aggregate="avg", column=column.name, condition=condition, density="even", known=cache),
        )
        for condition in make_conditions(workload, cells, types)
    ]
    answers = [
        answer.published or answer for answer in answers
    ]  # answers over published rows: withheld ones have no range
    places = np.asarray(column.positions, float)[: len(column.texts)]
    widths = range_errors(answers, float(places[-1] - places[0]))
    if not len(widths):
        return None
    return {
        "column": column.name,
        "queries": len(widths),
        "median": float(np.median(widths)),
        "mean": float(widths.mean()),
    }


def make_conditions(workload: Workload, cells: Cells, types: Mapping[str, str]) -> list[Condition | None]:
    """Convert the questions of a workload over quasi-identifiers to conditions on a release."""
    conditions: list[Condition | None] = []
    for lower, upper in zip(workload.lower, workload.upper, strict=True):
        parts = [
            _make_range_condition(domain, int(lower[axis]), int(upper[axis]), types[domain.name])
            for axis, domain in enumerate(cells.quasi)
            if upper[axis] != NO_RANGE
        ]
        conditions.append(CompoundCondition(True, tuple(parts)) if parts else None)
    return conditions


def _split_by_value(workload: Workload, axis: int, values: int, sensitive_size: int) -> Workload:
    """Ask each question once for each value of a column; without a range over the sensitive column if that is the one."""
    lower, upper = (np.repeat(side, values, axis=0) for side in (workload.lower, workload.upper))
    if axis == lower.shape[1] - 1:
        lower[:, -1] = 0
        upper[:, -1] = sensitive_size - 1
    lower[:, axis] = upper[:, axis] = np.tile(np.arange(values), len(workload))
    assert NO_RANGE not in upper[:, axis]
    return Workload(np.ascontiguousarray(lower, np.int32), np.ascontiguousarray(upper, np.int32))


def _count_by_value(workload: Workload, axis: int, cells: Cells) -> np.ndarray:
    """Count (questions, values): the rows of the source that each question selects, by the value of a column it has no
    range over.
    """
    lower = workload.lower.copy()
    upper = workload.upper.copy()
    lower[:, axis] = 0
    upper[:, axis] = NO_RANGE
    column = np.column_stack([cells.codes, cells.values[:, 0]])[:, axis]
    return Workload(lower, upper).count_by(cells, column, [*cells.quasi, cells.sensitive[0]][axis].size)


def _compute_means(counts: np.ndarray, places: np.ndarray, span: float) -> np.ndarray:
    """Compute the mean of each line.

    Reconstructed counts may be negative, so a mean is kept within the column, or is a whole span away.
    """
    total = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.clip(counts @ places / total, places.min(), places.max())
    return np.where(total > 0, mean, places.min() - span)


def _aggregate_or_none(of: Any, errors: np.ndarray) -> float | None:
    return float(min(of(errors), 1.0)) if len(errors) else None


def _make_range_condition(domain: Domain, lower: int, upper: int, dtype: str) -> Condition:
    """Make a condition for the values from one code to another; the last code may be that of a missing value."""
    values = parse_texts(list(domain.texts[lower : upper + 1]), dtype).to_list()
    missing = (Atom(domain.name, IS_NULL),) if upper >= len(domain.texts) else ()
    if isinstance(domain, RangeDomain) and domain.kind == "numeric" and values:
        span = CompoundCondition(True, (Atom(domain.name, ">=", values[0]), Atom(domain.name, "<=", values[-1])))
        return CompoundCondition(False, (span, *missing))
    return CompoundCondition(False, (*(Atom(domain.name, "=", value) for value in values), *missing))
