"""A group whose risk doubles leave in doubt, decided with more digits: fifty, and twice as many until it is decided.

A risk computed with d digits is within `roundings` units of the last of them, 10^(1 - d), of the true one: the same
count of operations that bounds the error of doubles.  The group is decided where that interval lies on one side of t.
What the most digits leave in doubt, as an exact tie, counts as broken: against the publisher.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.audit.measure.background_beliefs import Table, kernel_weight
from reticent.audit.measure.background_people import Axis
from reticent.exact import ratio_of

DIGITS = (50, 100, 200, 400)
LIMIT = 8  # roundings of t in bits and of the comparison itself

Matrix = list[list[Decimal]]


def within(risk: Callable[[], Decimal], t: Fraction, base: str, roundings: int) -> bool:
    """Whether the risk in bits, computed in the precision of the context, is at most t."""
    for digits in DIGITS:
        with localcontext(Context(prec=digits)):
            found, bound = risk(), Decimal(roundings + LIMIT).scaleb(1 - digits)
            limit = decimal(t) if base == "2" else decimal(t) / Decimal(2).ln()
            if found + bound <= limit:
                return True
            if found - bound > limit:
                return False
    return False


def decimal(x: Any) -> Decimal:
    if not isinstance(x, Fraction):
        return Decimal(x)
    numerator, denominator = ratio_of(x)
    return Decimal(numerator) / Decimal(denominator)


def weight_in_digits(distance: Fraction, bandwidth: Any, kernel: str, same: bool) -> Decimal:
    """A kernel weight within six units: the Gaussian's exponent is at most 4.5, and adds as often its error."""
    if kernel == "gaussian" and bandwidth not in ("whole", 0) and not same and distance < bandwidth:
        return (-decimal(Fraction(9, 2) * (distance / bandwidth) ** 2)).exp()
    return decimal(kernel_weight(distance, bandwidth, kernel, same))


def prior_in_digits(
    table: Table, axes: Sequence[Axis], bandwidths: Sequence[Any], kernel: str, point: int
) -> list[Decimal]:
    """Equation 2 at a point, over all others."""
    total = [Decimal(0)] * table.held.shape[1]
    for other in range(len(table.codes)):
        product = Decimal(1)
        for axis, bandwidth, code, there in zip(axes, bandwidths, table.codes[point], table.codes[other], strict=True):
            d = Fraction(1) if bandwidth in ("whole", 0) else axis.apart(code, there)
            product *= weight_in_digits(d, bandwidth, kernel, code == there)
            if not product:
                break
        for value in np.flatnonzero(table.held[other]) if product else ():
            total[value] += product * int(table.held[other, value])
    return [x / sum(total) for x in total]


def smoothing_in_digits(apart: Sequence[Sequence[Fraction]], bandwidth: Fraction, kernel: str) -> Matrix:
    """Each row adds up to 1."""
    rows = [[weight_in_digits(d, bandwidth, kernel, i == j) for j, d in enumerate(row)] for i, row in enumerate(apart)]
    return [[x / sum(row) for x in row] for row in rows]


def risk_in_digits(
    prior: Matrix, people: Sequence[int], shown: Sequence[int], matrix: Matrix | None, rounds: int
) -> Decimal:
    """The greatest risk of a group in bits."""
    values = range(len(shown))
    share = [Decimal(n) for n in people]
    for _ in range(rounds):
        column = [sum((s * p[v] for s, p in zip(share, prior, strict=True)), Decimal(0)) for v in values]
        ratio = [shown[v] / column[v] if column[v] else Decimal(0) for v in values]
        row = [sum((ratio[v] * p[v] for v in values), Decimal(0)) for p in prior]
        share = [n / r if r else Decimal(0) for n, r in zip(people, row, strict=True)]
    worst = Decimal(0)
    for p, r in zip(prior, row, strict=True):
        pair = [list(p), [ratio[v] * p[v] / r if r else Decimal(shown[v]) / sum(shown) for v in values]]
        if matrix is not None:
            pair = [
                [sum((w * x for w, x in zip(line, one, strict=True)), Decimal(0)) for line in matrix] for one in pair
            ]
            pair = [[x / sum(one) for x in one] for one in pair]
        total = sum((x * (2 * x / (a + b)).ln() for a, b in zip(*pair, strict=True) for x in (a, b) if x), Decimal(0))
        worst = max(worst, total / (2 * Decimal(2).ln()))
    return worst
