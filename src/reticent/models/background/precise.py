"""A group whose risk doubles do not decide, decided with sixty digits: within *their* error bound it counts as broken.

The same formulas as the kernel's, on exact kernel weights.  A group too large for that counts as broken, too: the promise is
sacred, and a cut the less costs little.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

from reticent.exact import ratio_of
from reticent.models.background.distances import Distances
from reticent.models.background.margin import units
from reticent.models.background.weights import WHOLE, Bandwidth

DIGITS = 60
WORK = 1 << 20  # pairs of a point of the group and an entry of the table
Column = tuple[Distances | None, Bandwidth]


def weight(column: Column, kernel: str, i: int, j: int) -> Decimal:
    """The kernel's weight of two codes."""
    distances, bandwidth = column
    if i == j or bandwidth == WHOLE:
        return Decimal(1)
    if bandwidth == 0 or distances is None:
        return Decimal(0)
    d = Fraction(int(distances.parts[i, j]), distances.unit)
    assert isinstance(bandwidth, Fraction)  # a number: "whole" is answered above
    if d >= bandwidth:
        return Decimal(0)
    x = d / bandwidth
    if kernel == "uniform":
        return Decimal(1)
    if kernel == "gaussian":
        return (-decimal(Fraction(9, 2) * x * x)).exp()
    return decimal(1 - (x if kernel == "triangular" else x * x))


def decimal(x: Fraction) -> Decimal:
    """The nearest decimal of the context's digits."""
    numerator, denominator = ratio_of(x)
    return Decimal(numerator) / Decimal(denominator)


def priors(
    columns: Sequence[Column], kernel: str, codes: np.ndarray, entries: np.ndarray, values: int, points: np.ndarray
) -> list[list[Decimal]]:
    """Equation 2 at some points; entries are (point, value, count)."""
    found = []
    for q in points.tolist():
        total = [Decimal(0)] * values
        known: dict[int, Decimal] = {}
        for t, value, count in entries.tolist():
            if t not in known:
                product = Decimal(1)
                for a, column in enumerate(columns):
                    product *= weight(column, kernel, int(codes[q, a]), int(codes[t, a]))
                    if not product:
                        break
                known[t] = product
            total[value] += known[t] * count
        whole = sum(total)
        found.append([x / whole for x in total])
    return found


def within(
    prior: list[list[Decimal]],
    people: Sequence[int],
    counts: Sequence[int],
    smooth: list[list[Decimal]],
    rounds: int,
    t: Decimal,
    terms: int,
) -> bool:
    """Whether every belief of the group moves by at most t bits, and by a margin larger than the error of these digits."""
    values = len(counts)
    error = Decimal(units(terms, len(prior), values, rounds, bool(smooth))) * Decimal(10) ** (1 - DIGITS)
    share, factor = [Decimal(n) for n in people], [Decimal(0)] * values
    for _ in range(rounds):
        held = [sum((w * row[v] for w, row in zip(share, prior, strict=True)), Decimal(0)) for v in range(values)]
        factor = [n / h if n else Decimal(0) for n, h in zip(counts, held, strict=True)]
        whole = [sum((f * x for f, x in zip(factor, row, strict=True)), Decimal(0)) for row in prior]
        share = [n / w for n, w in zip(people, whole, strict=True)]
    for row, w in zip(prior, whole, strict=True):
        after = [f * x / w for f, x in zip(factor, row, strict=True)]
        if _bits(_smoothed(row, smooth), _smoothed(after, smooth)) + error > t:
            return False
    return True


def _smoothed(belief: list[Decimal], smooth: list[list[Decimal]]) -> list[Decimal]:
    if not smooth:
        return belief
    found = [sum((w * x for w, x in zip(row, belief, strict=True)), Decimal(0)) for row in smooth]
    whole = sum(found)
    return [x / whole for x in found]


def _bits(p: list[Decimal], q: list[Decimal]) -> Decimal:
    total = Decimal(0)
    for a, b in zip(p, q, strict=True):
        for x in (a, b):
            if x:
                total += x * (2 * x / (a + b)).ln()
    return total / (2 * Decimal(2).ln())


def precisely() -> AbstractContextManager[Context]:
    """The context that all of this is computed in."""
    return localcontext(Context(prec=DIGITS))
