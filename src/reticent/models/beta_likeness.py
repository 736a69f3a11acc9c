"""beta-likeness (Cao & Karras, VLDB 2012, definitions 2 and 3): no group lifts a value's frequency by more than beta, relatively.

    basic       q <= p (1 + beta)
    enhanced    q <= p (1 + min(beta, -ln p))
    two-sided   and q >= p / (1 + min(beta, -ln p))      (ERRATA 1.12: the literal lower side says nothing for beta >= 1)

p is the value's frequency in the published table, q in a group; both sides are `<=`.  A null in the sensitive column is a
value like another, and the caps hold with and without the null rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from reticent.errors import JobError
from reticent.models.caps import NEVER, Caps, fractions
from reticent.models.exact import at_most_log, below, below_real, exact, log_bounds


@dataclass(frozen=True, slots=True)
class BetaLikeness:
    """No group lifts a value of frequency p above p * (1 + min(beta, -ln p))."""

    beta: Fraction
    enhanced: bool = True
    two_sided: bool = False
    column: str | None = None
    name: ClassVar[str] = "beta-likeness"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", exact(self.beta, "beta"))
        if self.beta <= 0:
            raise JobError("beta-likeness needs beta > 0.", why="beta = 0 asks that every group mirror the table exactly.",
                           attempt="beta = 1 (strict) to 4 (usual).")  # fmt: skip

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        found = [self._caps(totals, NEVER)]
        if null >= 0 and totals[null]:
            found.append(self._caps(totals, null))
        return found

    def _caps(self, totals: np.ndarray, without: int) -> Caps:
        held = [0 if v == without else int(c) for v, c in enumerate(totals)]
        rows = sum(held)
        upper = [self.cap(Fraction(c, rows), rows) if c else Fraction(0) for c in held]
        lower = None
        if self.two_sided:
            lower = fractions([self.floor(Fraction(c, rows), rows) if c else Fraction(0) for c in held])
        if without >= 0:
            upper[without] = Fraction(1)
        return Caps(len(totals), upper=fractions(upper), lower=lower, without=without)

    def cap(self, p: Fraction, rows: int) -> Fraction:
        """The greatest frequency a group of at most `rows` rows can have without exceeding f(p), equation 1."""
        if not self.enhanced or at_most_log(self.beta, 1 / p):
            return below(min(p * (1 + self.beta), Fraction(1)), rows)
        if p == 1:
            return Fraction(1)
        return below_real(lambda digits: _enhanced(p, digits), rows)

    def floor(self, p: Fraction, rows: int) -> Fraction:
        """The least frequency the two-sided form allows: 1 minus the greatest that the others may have together."""
        if not self.enhanced or at_most_log(self.beta, 1 / p):
            return 1 - below(1 - p / (1 + self.beta), rows)
        if p == 1:
            return Fraction(1)
        return 1 - below_real(lambda digits: _others(p, digits), rows)


def _enhanced(p: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    lower, upper = log_bounds(1 / p, digits)
    return p * (1 + lower), min(p * (1 + upper), Fraction(1))


def _others(p: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    lower, upper = log_bounds(1 / p, digits)
    return 1 - p / (1 + lower), 1 - p / (1 + upper)
