"""beta-likeness (Cao & Karras, VLDB 2012, section 3): how far a group lifts a value of the published table, relatively.

    basic       q <= p (1 + beta)                                  beta achieved = max q / p - 1
    enhanced    q <= p (1 + min(beta, -ln p))                      the same where every gain is within -ln p, else none
    two-sided   and q >= p / (1 + the same bound) (ERRATA 1.12)    also p / q - 1, and none where a value is absent

All `<=`. Whether a gain is within -ln p is decided for each value separately: capping the measured gain would hide a
violation.

By perturbation (definition 6), beta-likeness follows from the parameters that a perturbed release publishes. An
adversary who sees v and knows the overall distribution p and the matrix M believes in v_i with p_i M[i][v] / sum_u p_u
M[u][v], by Bayes. The relative gain over p_i is at most beta and, enhanced, at most -ln p_i; two-sided, p_i over the
posterior - 1 as well.

Families of values are nodes of a sensitive hierarchy (semantic) or windows of a width (proximity). Semantic: rows of
one family are counted as one value, and the measure is the same. Proximity: values i .. j are all that some interval of
the width holds iff x_j - x_i <= width and the neighbours on both sides do not fit as well, x_(j+1) - x_(i-1) > width.

delta-disclosure (Brickell & Shmatikov 2008) bounds the same ratio on both sides: |log(q / p)| < delta for every value of
the published table, strictly. A value absent from a group breaks it, whatever delta (log 0), unless absent = "ignore";
the logarithm is natural, or base 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm, log, log2
from typing import Any

import numpy as np

from reticent.audit.groups import FROM_PARAMETERS, NEEDS_SOURCE, Evidence, Judgement, Perturbation
from reticent.audit.measure.counts import (
    GroupCounts,
    compare_ln,
    compare_log2,
    find_extremes_by_value,
    find_greatest,
    find_least,
    parse_parameter,
)
from reticent.errors import BundleDamaged
from reticent.exact_arithmetic import as_ratio, find_common_denominator

CHUNK_COUNTS = 1 << 22  # counts of windows in groups that are computed together


def judge_likeness(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge from the groups' histograms; where values were redrawn, from the matrix they were redrawn by."""
    form = {"enhanced": bool(parameters.get("enhanced", True)), "two_sided": bool(parameters.get("two_sided", False))}
    limit = parse_parameter(parameters["beta"])
    if evidence.perturbation is not None:
        return _judge_perturbation(evidence.perturbation, limit, form)
    beta = measure_beta(evidence.column(column).views, **form)
    return Judgement({"beta": beta}, beta is not None and beta <= limit)


def bound_likeness_belief(parameters: Mapping[str, Any], prior: np.ndarray) -> float:
    """Bound the belief that beta-likeness leaves in any value of this overall distribution."""
    limit = float(parse_parameter(parameters["beta"]))
    enhanced = parameters.get("enhanced", True)
    caps = (p * (1 + (min(limit, -log(p)) if enhanced else limit)) for p in prior.tolist() if p > 0)
    return max(min(cap, 1.0) for cap in caps)


def judge_semantic(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge beta-likeness of the nodes at a level of the sensitive hierarchy."""
    sensitive = evidence.column(column)
    level = int(parameters.get("level", 1))
    if sensitive.paths is None or not 1 <= level < sensitive.paths.shape[1] - 1:
        raise BundleDamaged(
            f"A promise speaks of level {level} of the hierarchy of {sensitive.name!r}, which has none."
        )
    form = {"enhanced": parameters.get("enhanced", True), "two_sided": parameters.get("two_sided", False)}
    beta = measure_semantic_beta(sensitive.views, sensitive.paths[:, level], **form)
    return Judgement({"beta": beta, "level": level}, beta is not None and beta <= parse_parameter(parameters["beta"]))


def judge_proximity(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge beta-likeness of the values in every window of a width."""
    sensitive = evidence.column(column)
    width = parse_parameter(parameters["width"])
    if sensitive.positions is None:
        raise BundleDamaged(f"A promise speaks of windows of {sensitive.name!r}, which has no order.")
    beta = measure_proximity_beta(
        sensitive.views, sensitive.positions, width, enhanced=parameters.get("enhanced", True)
    )
    return Judgement({"beta": beta, "width": width}, beta is not None and beta <= parse_parameter(parameters["beta"]))


def measure_perturbation_beta(
    matrix: Sequence[Sequence[Fraction]], distribution: Sequence[Fraction], *, enhanced: bool, two_sided: bool
) -> Fraction | None:
    """Measure the least beta that holds by perturbation, at least 0; None where none does."""
    beta = Fraction(0)
    for p, gain in list_perturbation_gains(matrix, distribution, two_sided=two_sided):
        if gain is None or (enhanced and not _is_within_log(p, gain)):
            return None
        beta = max(beta, gain)
    return beta


def list_perturbation_gains(
    matrix: Sequence[Sequence[Fraction]], distribution: Sequence[Fraction], *, two_sided: bool
) -> list[tuple[Fraction, Fraction | None]]:
    """List (p, greatest gain) of each value that occurs.

    The gain is None where a value can be ruled out and two sides are asked for.
    """
    ratios = [[as_ratio(entry) for entry in row] for row in matrix]
    unit = lcm(*{denominator for row in ratios for _, denominator in row})
    scale = find_common_denominator(distribution)
    weight = [int(p * scale) for p in distribution]
    joint = [
        [w * numerator * (unit // denominator) for numerator, denominator in row]
        for w, row in zip(weight, ratios, strict=True)
    ]
    column_sums = [sum(column) for column in zip(*joint, strict=True)]
    gains: list[tuple[Fraction, Fraction | None]] = []
    for p, row in zip(distribution, joint, strict=True):
        if p == 0:
            continue
        lowest, highest = _find_ratio_extremes(row, column_sums)
        gains.append((p, highest / p - 1))
        if two_sided:
            gains.append((p, p / lowest - 1 if lowest else None))
    return gains


def is_stochastic(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Whether the matrix is square and each row is a distribution."""
    return all(len(row) == len(matrix) and sum(row) == 1 and min(row) >= 0 for row in matrix)


def measure_beta(views: list[GroupCounts], *, enhanced: bool, two_sided: bool) -> Fraction | None:
    """Measure the least beta that holds, at least 0; None where none does."""
    beta = Fraction(0)
    for view in views:
        if two_sided and not view.complete:
            return None
        for p, gain in _list_gains(view, two_sided):
            if enhanced and not _is_within_log(p, gain):
                return None
            beta = max(beta, gain)
    return beta


def measure_semantic_beta(
    views: list[GroupCounts], family: np.ndarray, *, enhanced: bool, two_sided: bool
) -> Fraction | None:
    """Measure the least beta of the families' frequencies; `family` is that of each value."""
    return measure_beta([_merge_families(view, family) for view in views], enhanced=enhanced, two_sided=two_sided)


def measure_proximity_beta(
    views: list[GroupCounts], positions: Sequence[Fraction | None], width: Fraction, *, enhanced: bool
) -> Fraction | None:
    """Measure the least beta that holds for every window; `positions` ascend, None (a null) is by itself."""
    beta = Fraction(0)
    for view in views:
        greatest: dict[Fraction, Fraction] = {}  # the worst window of each frequency decides
        for p, q in _list_window_frequencies(view, positions, width):
            greatest[p] = max(q, greatest.get(p, q))
        for p, q in greatest.items():
            gain = q / p - 1
            if enhanced and gain > 0 and not _is_within_log(p, gain):
                return None
            beta = max(beta, gain)
    return beta


def list_windows(positions: Sequence[Fraction], width: Fraction) -> list[tuple[int, int]]:
    """List (first, last) of every window with a different set of values."""
    windows = []
    reach = 0  # the last value of the window that starts at the previous value
    for i in range(len(positions)):
        before = reach
        reach = max(reach, i)
        while reach + 1 < len(positions) and positions[reach + 1] - positions[i] <= width:
            reach += 1
        windows += [(i, j) for j in range(max(i, before), reach + 1)]
    return windows


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


def _judge_perturbation(perturbation: Perturbation, limit: Fraction, form: Mapping[str, bool]) -> Judgement:
    """Judge from the parameters what the promise is worth if values were redrawn as stated.

    That they were, only the source shows.
    """
    if perturbation.distribution is None:
        return Judgement({}, None, NEEDS_SOURCE)
    beta = measure_perturbation_beta(perturbation.matrix, perturbation.distribution, **form)
    if beta is None or beta > limit:
        return Judgement({"beta": beta}, False, FROM_PARAMETERS)
    why = (
        "no file can show that values were redrawn at random; the matrix and the distribution that it was made for were checked, "
        "exactly"
    )
    return Judgement({"beta": beta}, perturbation.proven, FROM_PARAMETERS, "" if perturbation.proven else why)


def _is_within_log(p: Fraction, gain: Fraction) -> bool:
    """Whether gain <= -ln p."""
    return compare_ln(1 / p, gain) >= 0


def _find_ratio_extremes(parts: Sequence[int], totals: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Find the least and the greatest part / whole, by cross-multiplication; wholes of 0 are never published."""
    pairs = [(part, total) for part, total in zip(parts, totals, strict=True) if total]
    low = pairs[0]
    high = pairs[0]
    for part, total in pairs:
        if part * high[1] > high[0] * total:
            high = (part, total)
        if part * low[1] < low[0] * total:
            low = (part, total)
    return Fraction(*low), Fraction(*high)


def _list_gains(view: GroupCounts, two_sided: bool) -> list[tuple[Fraction, Fraction]]:
    """List (p, greatest gain) of each value that occurs."""
    size = view.sizes[view.group]
    frequency = {v: Fraction(int(total), view.rows) for v, total in enumerate(view.totals) if total}
    upper = find_extremes_by_value(view.value, view.count, size, max)
    gains = [(frequency[v], q / frequency[v] - 1) for v, q in upper.items()]
    if two_sided:
        gains += [
            (frequency[v], frequency[v] / q - 1)
            for v, q in find_extremes_by_value(view.value, view.count, size, min).items()
        ]
    return gains


def _merge_families(view: GroupCounts, family: np.ndarray) -> GroupCounts:
    families = int(family.max(initial=-1)) + 1
    pair, inverse = np.unique(view.group * families + family[view.value], return_inverse=True)
    count = np.bincount(inverse, weights=view.count).astype(np.int64)
    totals = np.bincount(family, weights=view.totals, minlength=families).astype(np.int64)
    return GroupCounts(pair // families, pair % families, count, totals, view.emptied)


def _list_window_frequencies(
    view: GroupCounts, positions: Sequence[Fraction | None], width: Fraction
) -> list[tuple[Fraction, Fraction]]:
    """List (frequency in the table, greatest in a group) of each window."""
    occurring = np.flatnonzero(view.totals).tolist()
    placed = [(v, place) for v in occurring if (place := positions[v]) is not None]
    spans = [(placed[i][0], placed[j][0]) for i, j in list_windows([place for _, place in placed], width)]
    spans += [(v, v) for v in occurring if positions[v] is None]
    first, last = (np.array(ends, np.int64) for ends in zip(*spans, strict=True))
    until = np.append(0, np.cumsum(view.totals))
    share = [Fraction(int(n), view.rows) for n in until[last + 1] - until[first]]
    worst: dict[int, Fraction] = {}
    step = max(CHUNK_COUNTS // len(spans), 1)
    for start in range(0, view.groups, step):
        in_chunk = (view.group >= start) & (view.group < start + step)
        sizes = view.sizes[start : start + step]
        cumulated = np.zeros((len(sizes), len(view.totals) + 1), np.int64)
        np.add.at(cumulated, (view.group[in_chunk] - start, view.value[in_chunk] + 1), view.count[in_chunk])
        cumulated = np.cumsum(cumulated, axis=1)
        inside = cumulated[:, last + 1] - cumulated[:, first]
        window = np.broadcast_to(np.arange(len(spans)), inside.shape)
        greatest = find_extremes_by_value(window.ravel(), inside.ravel(), np.repeat(sizes, len(spans)), max)
        worst = {w: max(q, worst.get(w, Fraction(0))) for w, q in greatest.items()}
    return [(share[w], q) for w, q in worst.items()]
