"""beta-likeness (Cao & Karras, VLDB 2012, definitions 2 and 3): no group lifts a value's frequency by more than beta, relatively.

    basic       q <= p (1 + beta)
    enhanced    q <= p (1 + min(beta, -ln p))
    two-sided   and q >= p / (1 + min(beta, -ln p))      (ERRATA 1.12: the literal lower side says nothing for beta >= 1)

p is the value's frequency in the published table, q in a group; both sides are `<=`.  A null in the sensitive column is a
value like another, and the caps hold with and without the null rows.  Closed under union: q of a union lies between the
q of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.models.caps import Caps, fractions, left_out, upper_caps, ways
from reticent.models.exact import Number, at_most_log, below, below_real, log_bounds
from reticent.models.shapes import Promise


@dataclass(frozen=True, slots=True)
class BetaLikeness(Promise):
    """No group lifts a value of frequency p above p * (1 + min(beta, -ln p))."""

    beta: Fraction
    enhanced: bool = True
    two_sided: bool = False
    column: str | None = None
    name: ClassVar[str] = "beta-likeness"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self, beta: Number, enhanced: bool = True, two_sided: bool = False, column: str | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        return [self._caps(left_out(totals, without), without) for without in ways(totals, null)]

    def _caps(self, totals: np.ndarray, without: int) -> Caps:
        rows = int(totals.sum())
        frequencies = [Fraction(int(c), rows) if c else Fraction(0) for c in totals]
        cap = {p: self.cap(p, rows) for p in set(frequencies)}
        lower = None
        if self.two_sided:
            floor = {p: self.floor(p, rows) for p in set(frequencies)}
            lower = fractions([floor[p] for p in frequencies])
        return Caps(
            len(totals),
            least_size=int(without < 0),
            upper=upper_caps([cap[p] for p in frequencies], without),
            lower=lower,
            without=without,
        )

    def cap(self, p: Fraction, rows: int) -> Fraction:
        """The greatest frequency a group of at most `rows` rows can have without exceeding f(p), equation 1."""
        if p == 0:
            return Fraction(0)
        if not self.enhanced or at_most_log(self.beta, 1 / p):
            return below(min(p * (1 + self.beta), Fraction(1)), rows)
        if p == 1:
            return Fraction(1)
        return below_real(lambda digits: _enhanced(p, digits), rows)

    def floor(self, p: Fraction, rows: int) -> Fraction:
        """The least frequency the two-sided form allows: 1 minus the greatest that the others may have together."""
        if p == 0:
            return Fraction(0)
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
