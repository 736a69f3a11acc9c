"""Measures of how many rows look alike.

k-anonymity (Samarati & Sweeney 1998), (alpha,k) (Wong et al. 2006) and k-map (Sweeney 2002).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent.audit.evidence import NEEDS_SOURCE, Evidence, Judgement
from reticent.audit.measure import diversity
from reticent.audit.measure.exact_comparison import parse_parameter


def judge_k(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge k-anonymity by the rows that agree in all quasi-identifiers."""
    k = measure_k(evidence.class_sizes, evidence.rows_per_person)
    return Judgement({"k": k}, k >= parse_parameter(parameters["k"]))


def judge_alpha_k(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge (alpha,k)-anonymity: k by rows, alpha by the most frequent value of a group."""
    alpha = diversity.measure_alpha(evidence.column(column).views)
    k = measure_k(evidence.class_sizes, evidence.rows_per_person)
    return Judgement(
        {"alpha": alpha, "k": k},
        k >= parse_parameter(parameters["k"]) and alpha <= parse_parameter(parameters["alpha"]),
    )


def judge_k_map(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge by the population under each group's labels; without a population table it is undecided."""
    if evidence.population is None:
        return Judgement({}, None, NEEDS_SOURCE)
    k = measure_k(evidence.population)
    return Judgement({"k": k}, k >= parse_parameter(parameters["k"]))


def bound_alpha_belief(parameters: Mapping[str, Any], prior: np.ndarray) -> float:
    """Bound the belief that (alpha,k)-anonymity leaves in a value."""
    return float(parse_parameter(parameters["alpha"]))


def measure_k(sizes: np.ndarray, rows_per_person: int = 1) -> int:
    """Measure the fewest persons that the smallest group can have.

    Rows count whether or not their sensitive value is known. If nobody has more than r rows, n rows are those of
    ceil(n / r) persons or more; rounded down, against the publisher.
    """
    return int(sizes.min()) // rows_per_person
