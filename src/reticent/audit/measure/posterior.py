"""beta-likeness by perturbation (Cao & Karras, VLDB 2012, definition 6), from the parameters a perturbed release publishes.

Who sees v and knows the overall distribution p and the matrix M believes in v_i with p_i M[i][v] / sum_u p_u M[u][v], by Bayes.
The relative gain over p_i is at most beta and, enhanced, at most -ln p_i; two-sided, p_i over the posterior - 1 as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from reticent.audit.measure.comparison import compare_ln
from reticent.exact import common_denominator, ratio_of


def beta(
    matrix: Sequence[Sequence[Fraction]], distribution: Sequence[Fraction], *, enhanced: bool, two_sided: bool
) -> Fraction | None:
    """The least beta that holds, at least 0; None where none does."""
    least = Fraction(0)
    for p, gain in gains(matrix, distribution, two_sided=two_sided):
        if gain is None or (enhanced and compare_ln(1 / p, gain) < 0):
            return None
        least = max(least, gain)
    return least


def gains(
    matrix: Sequence[Sequence[Fraction]], distribution: Sequence[Fraction], *, two_sided: bool
) -> list[tuple[Fraction, Fraction | None]]:
    """(p, greatest gain) of each value that occurs; None where a value can be ruled out and two sides are asked for."""
    ratios = [[ratio_of(entry) for entry in row] for row in matrix]
    unit = lcm(*{denominator for row in ratios for _, denominator in row})
    scale = common_denominator(distribution)
    weight = [int(p * scale) for p in distribution]
    joint = [
        [w * numerator * (unit // denominator) for numerator, denominator in row]
        for w, row in zip(weight, ratios, strict=True)
    ]
    shown = [sum(column) for column in zip(*joint, strict=True)]
    found: list[tuple[Fraction, Fraction | None]] = []
    for p, row in zip(distribution, joint, strict=True):
        if p == 0:
            continue
        least, most = _extremes(row, shown)
        found.append((p, most / p - 1))
        if two_sided:
            found.append((p, p / least - 1 if least else None))
    return found


def _extremes(parts: Sequence[int], wholes: Sequence[int]) -> tuple[Fraction, Fraction]:
    """The least and the greatest part / whole, by cross-multiplication; wholes of 0 are never published."""
    pairs = [(part, whole) for part, whole in zip(parts, wholes, strict=True) if whole]
    low = high = pairs[0]
    for part, whole in pairs:
        if part * high[1] > high[0] * whole:
            high = (part, whole)
        if part * low[1] < low[0] * whole:
            low = (part, whole)
    return Fraction(*low), Fraction(*high)


def stochastic(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Whether the matrix is square and each row is a distribution."""
    return all(len(row) == len(matrix) and sum(row) == 1 and min(row) >= 0 for row in matrix)
