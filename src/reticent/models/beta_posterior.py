"""beta-likeness of a perturbation (Cao & Karras, VLDB 2012, definition 6): a property of the matrix, not of groups.

M[i][v] is the chance that v_i is published as v, as whole numbers over a common denominator.  Who sees v and knows
the distribution p and the matrix believes in v_i with p_i M[i][v] / sum_u p_u M[u][v]; the relative gain over p_i
is at most min(beta, -ln p_i) (basic: beta), and two-sided so is the loss.  Compared exactly, for every value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from reticent.errors import PromiseUnreachable
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.exact import at_most_log, log_bounds

ROUNDED = 2.0**-50  # more than what three roundings to 53 bits, and those of the comparison, can make of it


@dataclass(frozen=True, slots=True)
class BetaPosterior:
    """A promise of beta-likeness as the mechanism that a perturbation is."""

    promise: BetaLikeness
    name: ClassVar[str] = "beta-likeness"

    def verify(self, parameters: Mapping[str, Any]) -> None:
        """Raise where the `matrix`, over values held by `counts` rows each, lifts a belief above its cap."""
        over = self.excess(parameters["matrix"], parameters["counts"])
        if over is not None:
            raise PromiseUnreachable(
                "The perturbation matrix does not keep beta-likeness.",
                why=f"The belief in a value can exceed its cap by {over:.3g}.",
                attempt='matrix = "rank-one", which is always valid.',
            )

    def excess(self, matrix: Sequence[Sequence[int]], counts: Sequence[int]) -> float | None:
        """By how much the worst posterior exceeds its cap, None where all are within."""
        rows, found = sum(counts), None
        for count, (up, down) in zip(counts, worst_gains(matrix, counts), strict=True):
            p = Fraction(count, rows)
            fine = self.allows(p, up) and (not self.promise.two_sided or (down is not None and self.allows(p, down)))
            if not fine:
                found = max(found or 0.0, float(p * (up - self.gain(p))))
        return found

    def allows(self, p: Fraction, gain: Fraction) -> bool:
        """gain <= beta and, enhanced, gain <= -ln p."""
        return gain <= self.promise.beta and (not self.promise.enhanced or at_most_log(gain, 1 / p))

    def gain(self, p: Fraction) -> Fraction:
        """A rational not above min(beta, -ln p): what construction aims at; the check uses the logarithm itself."""
        if not self.promise.enhanced or at_most_log(self.promise.beta, 1 / p):
            return self.promise.beta
        lower, _ = log_bounds(1 / p, 30)
        return Fraction(int(lower * 10**15), 10**15)


def worst_gains(matrix: Sequence[Sequence[int]], counts: Sequence[int]) -> list[tuple[Fraction, Fraction | None]]:
    """For each value the greatest posterior / prior - 1 and prior / posterior - 1 (None: ruled out), exactly."""
    rows = sum(counts)
    entries = np.array(matrix, dtype=object)
    seen = np.array(counts, dtype=object) @ entries  # n WHOLE Pr(v), as whole numbers
    found = []
    for row in entries:
        ratios = [Fraction(int(entry) * rows, int(s)) for entry, s in _extremes(row, seen)]
        low, high = min(ratios), max(ratios)
        found.append((high - 1, None if low == 0 else 1 / low - 1))
    return found


def _extremes(row: np.ndarray, seen: np.ndarray) -> list[tuple[int, int]]:
    """The entries whose ratio to the column may be the greatest or the least.

    Floating point only sorts out the others: a quotient of two rounded numbers is off by less than three roundings.
    """
    possible = np.flatnonzero(seen > 0)
    ratio = row[possible].astype(np.float64) / seen[possible].astype(np.float64)
    near = (ratio >= ratio.max() * (1 - ROUNDED)) | (ratio <= ratio.min() * (1 + ROUNDED))
    return [(row[v], seen[v]) for v in possible[near]]
