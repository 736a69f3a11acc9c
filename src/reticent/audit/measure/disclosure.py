"""delta-disclosure (Brickell & Shmatikov 2008): |log(q / p)| < delta for every value of the published table, strictly.

A value absent from a group breaks it, whatever delta (log 0), unless absent = "ignore"; the logarithm is natural, or base 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import log, log2
from typing import Any

from reticent.audit.evidence import Evidence, Judgement
from reticent.audit.measure.counts import GroupCounts
from reticent.audit.measure.exact_comparison import compare_ln, compare_log2, find_greatest, find_least, parse_parameter
from reticent.exact_arithmetic import as_ratio


def judge_disclosure(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge delta-disclosure, strictly, in the base that is promised."""
    ratio = find_worst_ratio(evidence.column(column).views, absent=parameters.get("absent", "break"))
    base = parameters.get("base", "e")
    return Judgement(
        {"delta": compute_delta(ratio, base)}, delta_holds(ratio, parse_parameter(parameters["delta"]), base)
    )


def find_worst_ratio(views: list[GroupCounts], *, absent: str = "break") -> Fraction | None:
    """Find the greatest of q / p and p / q; None where an absent value breaks every delta."""
    worst = Fraction(1)
    for view in views:
        if absent != "ignore" and not view.complete:
            return None
        if not len(view.group):
            continue
        count, sizes, totals = view.integers()
        observed = count * view.rows
        expected = totals[view.value] * sizes[view.group]
        worst = max(worst, find_greatest(observed, expected), 1 / find_least(observed, expected))
    return worst


def compute_delta(ratio: Fraction | None, base: object = "e") -> float | None:
    """Compute |log| of the worst ratio, for display: every delta above it holds."""
    if ratio is None:
        return None
    logarithm = log2 if str(base) == "2" else log
    numerator, denominator = as_ratio(ratio)
    return logarithm(numerator) - logarithm(denominator)


def delta_holds(ratio: Fraction | None, delta: Fraction, base: object = "e") -> bool:
    if ratio is None:
        return False
    return (compare_log2 if str(base) == "2" else compare_ln)(ratio, delta) < 0
