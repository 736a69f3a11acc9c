"""How far answers are from the truth: relative errors, in sum and by what was asked; and how wide guaranteed ranges are.

relative error    |estimate - true| / true, of the questions whose true answer is not 0 (ERRATA 1.10)
range error       (upper - lower) / r, r being the span of the column's values (Koudas et al., VLDB 2009, section 5)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.release.answer import Answer

if TYPE_CHECKING:
    from reticent.utility.workload import Workload

SELECTIVITIES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 1.0)


def relative_errors(estimate: np.ndarray, true: np.ndarray) -> np.ndarray:
    """|estimate - true| / true where the true answer is not 0."""
    asked = true > 0
    return np.abs(estimate[asked] - true[asked]) / true[asked]


def median_relative_error(estimate: np.ndarray, true: np.ndarray) -> float:
    errors = relative_errors(estimate, true)
    return float(np.median(errors)) if len(errors) else float("nan")


def mean_relative_error(estimate: np.ndarray, true: np.ndarray) -> float:
    """What some papers average (Li, Li & Zhang 2009, figure 6); a few rare answers weigh a lot in it."""
    errors = relative_errors(estimate, true)
    return float(np.mean(errors)) if len(errors) else float("nan")


def summed_up(estimate: np.ndarray, true: np.ndarray) -> dict[str, float | int]:
    return {
        "queries": int((true > 0).sum()),
        "median": median_relative_error(estimate, true),
        "mean": mean_relative_error(estimate, true),
    }


def by_dimension(workload: Workload, estimate: np.ndarray, true: np.ndarray) -> list[dict[str, Any]]:
    """One line for each number of quasi-identifiers that queries ask about (Li, Li & Zhang, ICDE 2009, figure 6)."""
    dimension = (workload.upper[:, :-1] >= 0).sum(axis=1)
    return [
        {"dimension": int(each), **summed_up(estimate[dimension == each], true[dimension == each])}
        for each in np.unique(dimension)
    ]


def by_selectivity(
    estimate: np.ndarray, true: np.ndarray, rows: int, steps: Sequence[float] = SELECTIVITIES
) -> list[dict[str, Any]]:
    """One line for each stretch of selectivities, its upper end included, that some query has."""
    share = true / rows
    found = []
    for above, until in pairwise(steps):
        here = (share > above) & (share <= until)
        if here.any():
            found.append({"above": above, "until": until, **summed_up(estimate[here], true[here])})
    return found


def range_errors(answers: Iterable[Answer], span: float) -> np.ndarray:
    """Of answers with guaranteed bounds; those that are NULL, or without an end, are left out."""
    return np.array([
        (one.upper - one.lower) / span for one in answers if one.lower is not None and one.upper is not None
    ])  # fmt: skip
