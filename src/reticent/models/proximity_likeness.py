"""Proximity beta-likeness: beta-likeness of every window of a chosen width, for numeric sensitive values.

Cao & Karras (VLDB 2012, section 7) ask for it: an extension to numbers "should constrain not merely the variation in the frequencies
of discrete numerical values, but rather of any values in close proximity", against proximity attacks (Li, Tao & Xiao, SIGMOD 2008).

A window is any interval [x, x + width]; width 0 is beta-likeness of single values.  As x moves, the values in the window change where
x passes a value or x + width reaches one: 2m windows at most have different values in them.  Numbers are compared as they are written,
dates in days (times in microseconds), ordered values by rank.  The null is in no window of others.  Closed under union.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.errors import JobError
from reticent.exact import common_denominator
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.exact import Number
from reticent.models.families import Runs, family_check
from reticent.models.shapes import Check, Promise, Totals, totals_of
from reticent.table.cells import Cells
from reticent.table.domain import Domain, RangeDomain


@dataclass(frozen=True, slots=True)
class ProximityLikeness(Promise):
    """beta-likeness of the rows in every window of a width."""

    beta: Fraction
    width: Fraction
    enhanced: bool = True
    column: str | None = None
    name: ClassVar[str] = "proximity-beta-likeness"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, beta: Number, width: Number, enhanced: bool = True, column: str | None = None) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def likeness(self) -> BetaLikeness:
        return BetaLikeness(self.beta, self.enhanced)

    def bind(self, cells: Cells, totals: Totals | None = None) -> Check:
        at = cells.sensitive_at(self.column)
        domain, reference = cells.sensitive[at], totals_of(cells, totals)[at]
        occurring = [code for code in np.flatnonzero(reference).tolist() if code != domain.null_code]
        spans = windows([position(domain, code) for code in occurring], self.width)
        ends = [(occurring[first], occurring[last]) for first, last in spans]
        ends += [(domain.null_code, domain.null_code)] if domain.null else []
        first, last = np.array(ends, np.int64).reshape(-1, 2).T
        return family_check(self.likeness, at, Runs(first, last, domain.size), reference, domain.null_code)


def position(domain: Domain, code: int) -> Fraction:
    """Where a value stands, exactly."""
    if not isinstance(domain, RangeDomain):
        raise JobError(
            f"proximity-beta-likeness needs numbers, dates or ordered values in {domain.name!r}.",
            attempt='type = "numeric", order = [...], or semantic-beta-likeness for categories.',
        )
    return Fraction(domain.texts[code]) if domain.kind == "numeric" else Fraction(float(domain.positions[code]))


def windows(positions: list[Fraction], width: Fraction) -> list[tuple[int, int]]:
    """(first, last) of every run of values that some interval of this width holds and no more; positions ascend."""
    unit = 2 * common_denominator((*positions, width))  # whole numbers are compared faster; 2 leaves room between
    places, wide = [int(x * unit) for x in positions], int(width * unit)
    events = sorted({*places, *(x - wide for x in places)})
    between = [(a + b) // 2 for a, b in pairwise(events)]
    found = {(bisect_left(places, x), bisect_right(places, x + wide) - 1) for x in [*events, *between]}
    return sorted((first, last) for first, last in found if first <= last)
