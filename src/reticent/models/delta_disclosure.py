"""delta-disclosure privacy (Brickell & Shmatikov, KDD 2008, definition 3): |log(q / p)| `<` delta, strictly.

For every value of the published table with frequency p there and q in a group: p / B < q < p * B with B = e^delta,
or 2^delta for `base` 2.  As defined, a value absent from a group breaks it (log 0); `absent = "ignore"` bounds only
the values a group holds, as ARX and pyCANON do, and such a promise is *not* closed under union: a group that lacks
a value can dilute one that holds it.  For the same reason an adversary who pools all groups whose labels cover a
person can see q <= p / B there, though no group by itself shows it; never q >= p * B, since the pooled q is a
mean.  With `absent = "break"` neither happens: q of a union lies between the q of its parts.

e^delta is irrational for a rational delta > 0, and so is 2^delta unless delta is whole: only there can a tie occur,
and there the caps are strict.  The inequality holds with and without the null rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.catalogue import PROMISES
from reticent.exact_arithmetic import as_ratio, is_whole
from reticent.models.promise import (
    Caps,
    Promise,
    exclude_value,
    list_excluded_values,
    make_upper_caps,
    to_integer_pairs,
)
from reticent.models.rational_bounds import (
    Number,
    compute_log_sum_sign,
    enclose_exp,
    enclose_exp_range,
    enclose_log,
    find_fraction_below,
    find_fraction_below_real,
    is_at_most_log,
)
from reticent.validation import check_parameters, document_parameters


@document_parameters(PROMISES["delta-disclosure"])
@dataclass(frozen=True, slots=True)
class DeltaDisclosure(Promise):
    """|log(q / p)| < delta for every value."""

    delta: Fraction
    absent: str = "break"
    base: str | int = "e"
    column: str | None = None
    name: ClassVar[str] = "delta-disclosure"
    needs_sensitive: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self, delta: Number, absent: str = "break", base: str | int = "e", column: str | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def union_closed(self) -> bool:
        return self.absent == "break"

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        return [
            self._compute_caps(exclude_value(totals, excluded), excluded)
            for excluded in list_excluded_values(totals, null)
        ]

    def _compute_caps(self, totals: np.ndarray, excluded: int) -> Caps:
        rows = int(totals.sum())
        upper = {c: self.cap(c, rows) for c in set(totals.tolist())}
        lower = {c: self.floor(c, rows) for c in set(totals.tolist())}
        return Caps(
            len(totals),
            least_size=int(excluded < 0),
            upper=make_upper_caps([upper[c] for c in totals.tolist()], excluded),
            lower=to_integer_pairs([lower[c] for c in totals.tolist()]),
            present_only=self.absent == "ignore",
            without=excluded,
        )

    def cap(self, count: int, rows: int) -> Fraction:
        """Compute the greatest frequency below p * B that a group of at most `rows` rows can have, for p = count / rows."""
        if not count:
            return Fraction(0)
        p = Fraction(count, rows)
        if self._exceeds(1 / p):
            return Fraction(1)
        if factor := self._rational_base():
            return find_fraction_below(p * factor, rows, strictly=True)
        return find_fraction_below_real(lambda digits: self._enclose_function(digits, lambda end: p * end), rows)

    def floor(self, count: int, rows: int) -> Fraction:
        """Compute the least frequency above p / B: 1 minus the greatest that all others may have together."""
        if not count:
            return Fraction(0)
        p = Fraction(count, rows)
        if self._exceeds(Fraction(count)):  # p / B < 1 / rows: any row at all is enough
            return Fraction(1, rows)
        if factor := self._rational_base():
            return 1 - find_fraction_below(1 - p / factor, rows, strictly=True)
        return 1 - find_fraction_below_real(
            lambda digits: self._enclose_function(digits, lambda end: 1 - p / end), rows
        )

    def _rational_base(self) -> int | None:
        """Return B if it is rational."""
        return 2 ** int(self.delta) if self.base == 2 and is_whole(self.delta) else None

    def _exceeds(self, ratio: Fraction) -> bool:
        """Tell whether B > ratio."""
        if self.base == "e":
            return not is_at_most_log(self.delta, ratio)
        numerator_of_delta, denominator_of_delta = as_ratio(self.delta)  # times * ln 2 > over * ln ratio
        numerator, denominator = as_ratio(ratio)
        return (
            compute_log_sum_sign(
                [(2, numerator_of_delta), (numerator, -denominator_of_delta), (denominator, denominator_of_delta)]
            )
            > 0
        )

    def _enclose_function(self, digits: int, of: Callable[[Fraction], Fraction]) -> tuple[Fraction, Fraction]:
        """Enclose a function of B that rises with it."""
        lower, upper = self._enclose_factor(digits)
        return of(lower), of(upper)

    def _enclose_factor(self, digits: int) -> tuple[Fraction, Fraction]:
        """Enclose B."""
        if self.base == "e":
            return enclose_exp(self.delta, digits)
        two = enclose_log(Fraction(2), digits)
        return enclose_exp_range(self.delta * two[0], self.delta * two[1], digits)
