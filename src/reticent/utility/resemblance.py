"""Resemblance of a release to its source: the distributions of its columns and their associations, before and after.

    marginals      for each column the total variation distance 1/2 sum |p - q| between its distribution before and after
    association    for each pair of columns Cramer's V before and after, V = sqrt(chi^2 / (n (m - 1))), m the fewer of their
                   blocks; columns of many values are cut into blocks of about equally many rows, the same before and after

What is after is estimated as questions are answered: from boxes, matchings or reconstruction.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.utility.workload import NO_RANGE, Answerer, Workload

MAX_BLOCKS = 8


def measure_resemblance(ask: Answerer, cells: Cells) -> dict[str, Any]:
    """Measure `marginals` by column and `association` by pair, each with its mean."""
    names = [*(domain.name for domain in cells.quasi), cells.sensitive[0].name]
    blocks = [_make_blocks(cells, axis) for axis in range(len(names))]
    marginals = {}
    for axis, name in enumerate(names):
        before, after = _count_tables(ask, cells, {axis: _list_single_codes(cells, axis)})
        marginals[name] = _compute_total_variation(before, after)
    pairs: list[dict[str, Any]] = []
    for a, b in combinations(range(len(names)), 2):
        before, after = _count_tables(ask, cells, {a: blocks[a], b: blocks[b]})
        pairs.append(
            {"columns": [names[a], names[b]], "before": compute_cramers_v(before), "after": compute_cramers_v(after)}
        )
    return {
        "marginals": marginals,
        "marginal_error": float(np.mean(list(marginals.values()))),
        "association": pairs,
        "association_error": float(np.mean([abs(pair["after"] - pair["before"]) for pair in pairs])) if pairs else 0.0,
    }


def compute_cramers_v(table: np.ndarray) -> float:
    """Compute Cramer's V: 0 where rows and columns are independent, 1 where the one decides the other.

    Estimated counts below 0 count as 0.
    """
    counts = np.maximum(table, 0.0)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    fewer = min(counts.shape) - 1
    if fewer < 1:
        return 0.0
    total = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    return float(min(np.sqrt(((counts - expected) ** 2 / expected).sum() / (total * fewer)), 1.0))


def _make_blocks(cells: Cells, axis: int) -> list[tuple[int, int]]:
    """Make at most MAX_BLOCKS stretches of codes, each of about equally many rows."""
    size = [*cells.quasi, cells.sensitive[0]][axis].size
    if size <= MAX_BLOCKS:
        return [(code, code) for code in range(size)]
    codes = cells.values[:, 0] if axis == len(cells.quasi) else cells.codes[:, axis]
    until = np.cumsum(np.bincount(codes, weights=cells.counts, minlength=size))
    cuts = np.unique(np.searchsorted(until, until[-1] * np.arange(1, MAX_BLOCKS) / MAX_BLOCKS, "left") + 1)
    ends = [0, *cuts[cuts < size].tolist(), size]
    return [(first, last - 1) for first, last in pairwise(ends)]


def _count_tables(
    ask: Answerer, cells: Cells, stretches_by_axis: dict[int, list[tuple[int, int]]]
) -> tuple[np.ndarray, np.ndarray]:
    """Count the rows in each combination of stretches: in the source, and as estimated from the release."""
    shape = [len(stretches) for stretches in stretches_by_axis.values()]
    combinations = int(np.prod(shape))
    lower = np.zeros((combinations, len(cells.quasi) + 1), np.int32)
    upper = np.full(lower.shape, NO_RANGE, np.int32)
    upper[:, -1] = cells.sensitive[0].size - 1
    for (axis, stretches), indices in zip(
        stretches_by_axis.items(), np.indices(shape).reshape(len(shape), -1), strict=True
    ):
        lower[:, axis] = np.array([first for first, _ in stretches])[indices]
        upper[:, axis] = np.array([last for _, last in stretches])[indices]
    workload = Workload(lower, upper)
    return workload.exact(cells).astype(float).reshape(shape), ask(workload).reshape(shape)


def _list_single_codes(cells: Cells, axis: int) -> list[tuple[int, int]]:
    size = [*cells.quasi, cells.sensitive[0]][axis].size
    return [(code, code) for code in range(size)]


def _compute_total_variation(before: np.ndarray, after: np.ndarray) -> float:
    after = np.maximum(after, 0.0)
    if not after.sum() > 0:
        return 1.0
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)
