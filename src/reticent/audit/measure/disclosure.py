"""delta-disclosure (Brickell & Shmatikov 2008): |log(q / p)| < delta for every value of the published table, strictly.

A value absent from a group breaks it, whatever delta (log 0), unless absent = "ignore"; the logarithm is natural, or base 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import log, log2
from typing import Any

from reticent.audit.evidence import Evidence, Judgement
from reticent.audit.measure.comparison import compare_ln, compare_log2, exact, greatest, least
from reticent.audit.measure.counts import Counts
from reticent.exact import ratio_of


def worst_ratio(views: list[Counts], *, absent: str = "break") -> Fraction | None:
    """The greatest of q / p and p / q; None where an absent value breaks every delta."""
    found = Fraction(1)
    for view in views:
        if absent != "ignore" and not view.complete:
            return None
        if not len(view.group):
            continue
        count, sizes, totals = view.integers()
        observed, expected = count * view.rows, totals[view.value] * sizes[view.group]
        found = max(found, greatest(observed, expected), 1 / least(observed, expected))
    return found


def delta(ratio: Fraction | None, base: object = "e") -> float | None:
    """|log| of the worst ratio, for display: every delta above it holds."""
    if ratio is None:
        return None
    logarithm = log2 if str(base) == "2" else log
    numerator, denominator = ratio_of(ratio)
    return logarithm(numerator) - logarithm(denominator)


def delta_holds(ratio: Fraction | None, asked: Fraction, base: object = "e") -> bool:
    if ratio is None:
        return False
    return (compare_log2 if str(base) == "2" else compare_ln)(ratio, asked) < 0


def judge(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    ratio = worst_ratio(evidence.column(column).views, absent=asked.get("absent", "break"))
    base = asked.get("base", "e")
    return Judgement({"delta": delta(ratio, base)}, delta_holds(ratio, exact(asked["delta"]), base))
