"""(alpha,k)-anonymity (Wong et al. 2006) and the four l-diversities (Machanavajjhala et al. 2006).

    alpha           max count / size <= alpha
    distinct        number of values in a group >= l
    probabilistic   count <= size / l for every value:  l achieved = size / max count
    entropy         -sum q ln q >= ln l
    recursive       r_1 <= c (r_l + ... + r_m), counts of a group falling (`<=`: ERRATA 5.6)

A group of nulls alone shows no value: its diversity is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from math import exp, gcd, log
from typing import Any

import numpy as np

from reticent.audit.evidence import Evidence, Judgement
from reticent.audit.measure.counts import GroupCounts
from reticent.audit.measure.exact_comparison import find_greatest, parse_parameter
from reticent.exact_arithmetic import as_ratio, is_whole


def judge_distinct(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge distinct l-diversity."""
    achieved = measure_distinct_l(evidence.column(column).views)
    return Judgement({"l": achieved}, achieved >= parse_parameter(parameters["l"]))


def judge_probabilistic(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge probabilistic l-diversity."""
    achieved = measure_probabilistic_l(evidence.column(column).views)
    return Judgement({"l": achieved}, achieved >= parse_parameter(parameters["l"]))


def judge_entropy(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge entropy l-diversity: exactly, where floating point cannot decide."""
    views = evidence.column(column).views
    return Judgement({"l": measure_entropy_l(views)}, entropy_holds(views, parse_parameter(parameters["l"])))


def judge_recursive(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge recursive (c,l)-diversity."""
    least_l = parse_parameter(parameters["l"])
    if not is_whole(least_l) or least_l < 1:
        raise ValueError("l is a number of values")
    achieved = measure_recursive_c(evidence.column(column).views, int(least_l))
    return Judgement(
        {"c": achieved, "l": int(least_l)}, achieved is not None and achieved <= parse_parameter(parameters["c"])
    )


def bound_probabilistic_belief(parameters: Mapping[str, Any], prior: np.ndarray) -> float:
    """Bound the belief that probabilistic l-diversity leaves in a value."""
    return float(1 / parse_parameter(parameters["l"]))


def measure_alpha(views: list[GroupCounts]) -> Fraction:
    """Measure the greatest frequency of a value in a group."""
    return max(find_greatest(view.count, view.sizes[view.group]) for view in views)


def measure_distinct_l(views: list[GroupCounts]) -> int:
    return min(0 if view.emptied else int(np.diff(np.append(view.starts, len(view.group))).min()) for view in views)


def measure_probabilistic_l(views: list[GroupCounts]) -> Fraction:
    return Fraction(0) if any(view.emptied for view in views) else 1 / measure_alpha(views)


def measure_recursive_c(views: list[GroupCounts], l: int) -> Fraction | None:  # noqa: E741  the field's own letter
    """Measure the least c that holds at this l; None where a group has fewer than l values."""
    least_c = Fraction(0)
    for view in views:
        order = np.lexsort((-view.count, view.group))
        count = view.count[order]
        rank = np.arange(len(count)) - np.repeat(view.starts, np.diff(np.append(view.starts, len(count))))
        tail = np.bincount(view.group, weights=np.where(rank >= l - 1, count, 0), minlength=view.groups).astype(
            np.int64
        )
        if view.emptied or not tail.all():
            return None
        least_c = max(least_c, find_greatest(count[view.starts], tail))
    return least_c


def measure_entropy_l(views: list[GroupCounts]) -> float:
    """Measure exp of the least entropy, for display; `entropy_holds` decides."""
    return min(0.0 if view.emptied else exp(max(float(_compute_entropies(view).min()), 0.0)) for view in views)


def entropy_holds(views: list[GroupCounts], l: Fraction) -> bool:  # noqa: E741
    """Whether every group's entropy is at least ln l.

    Only groups that floating point cannot distinguish from the least are compared.
    """
    for view in views:
        if view.emptied:
            return False
        entropy = _compute_entropies(view)
        # Each term errs by a unit or two in the last place, and the sum of m of them by at most m units of ln(size).
        margin = (view.occurring + 8) * (log(view.rows) + 1) * 2.0**-50
        lowest = float(entropy.min())
        if lowest > log(l) + 2 * margin:
            continue
        ends = np.append(view.starts, len(view.count))
        near = np.flatnonzero(entropy <= lowest + 2 * margin).tolist()
        profiles = {tuple(sorted(view.count[ends[g] : ends[g + 1]].tolist())) for g in near}
        if not all(_is_entropy_at_least(profile, l) for profile in profiles):
            return False
    return True


def _compute_entropies(view: GroupCounts) -> np.ndarray:
    """Compute ln s - (1/s) sum c ln c of each group."""
    return np.log(view.sizes) - np.add.reduceat(view.count * np.log(view.count), view.starts) / view.sizes


def _is_entropy_at_least(counts: tuple[int, ...], l: Fraction) -> bool:  # noqa: E741
    """Whether s ln s - sum c ln c - s ln l >= 0, that is s^s d^s >= n^s prod c^c for l = n / d."""
    common = gcd(*counts)
    counts = tuple(count // common for count in counts)
    s = sum(counts)
    numerator, denominator = as_ratio(l)
    powers = [(s, s), (denominator, s), (numerator, -s), *((count, -count) for count in counts)]
    digits = 30
    while True:
        context = Context(prec=digits)
        logs = [(Decimal(base).ln(context), power) for base, power in powers]
        total = sum((Fraction(value) * power for value, power in logs), Fraction(0))
        error = sum(
            (Fraction(10) ** (value.adjusted() - digits + 1) * abs(power) for value, power in logs if value),
            Fraction(0),
        )
        if abs(total) > error:
            return total > 0
        if digits == 30 and _is_product_one(powers):
            return True
        digits *= 2


def _is_product_one(powers: list[tuple[int, int]]) -> bool:
    """Whether prod base^power = 1, by a coprime base: every pair of factors is split by its common divisor until none share one."""
    exponents: dict[int, int] = {}
    pending = [(base, power) for base, power in powers if base > 1]
    while pending:
        base, power = pending.pop()
        shared = next((factor for factor in exponents if gcd(factor, base) > 1), None)
        if shared is None:
            exponents[base] = exponents.get(base, 0) + power
        elif shared == base:
            exponents[base] += power
        else:
            common = gcd(shared, base)
            exponent = exponents.pop(shared)
            pending += [
                (part, p)
                for part, p in ((common, exponent + power), (shared // common, exponent), (base // common, power))
                if part > 1
            ]
    return not any(exponents.values())
