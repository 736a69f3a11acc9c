"""Recursive (c,l)-diversity (Machanavajjhala et al., ICDE 2006, section 4.2): r_1 `<=` c (r_l + r_{l+1} + ... + r_m).

r_1 >= r_2 >= ... are a group's counts; a group of fewer than l values fails.  The paper writes `<`; `<=` is what the field
uses (ERRATA 5.6).  A null never counts toward diversity: the inequality holds with and without the null rows.

Closed under union: r_1 of a union is at most the sum of its parts' r_1, and what lies outside the l - 1 greatest counts of
the union is at least the sum of what lies outside those of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.exact import shares_at_most
from reticent.models.caps import left_out, ways
from reticent.models.exact import Number, below
from reticent.models.shapes import Check, Groups, Promise, Totals, totals_of
from reticent.table.cells import Cells


@dataclass(frozen=True, slots=True)
class RecursiveLDiversity(Promise):
    """The most frequent value is at most c times as frequent as all from the l-th on together."""

    c: Fraction
    l: int  # noqa: E741  the field's own name
    column: str | None = None
    name: ClassVar[str] = "recursive-l-diversity"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, c: Number, l: int, column: str | None = None) -> None: ...  # noqa: E741

    def __post_init__(self) -> None:
        check_parameters(self)

    def bind(self, cells: Cells, totals: Totals | None = None) -> Check:
        at = cells.sensitive_at(self.column)
        leave = ways(totals_of(cells, totals)[at], cells.sensitive[at].null_code)
        # r_1 <= c * tail  <=>  r_1 / (r_1 + tail) <= c / (1 + c): a frequency, so that its cap fits 64 bits
        cap = below(self.c / (1 + self.c), cells.rows)

        def keeps(groups: Groups) -> np.ndarray:
            counts = groups.histogram(at)
            return np.logical_and.reduce([self._diverse(left_out(counts, without), cap) for without in leave])

        return keeps

    def _diverse(self, counts: np.ndarray, cap: Fraction) -> np.ndarray:
        if counts.shape[1] < self.l:
            return np.zeros(len(counts), bool)
        falling = -np.sort(-counts, axis=1)
        first, tail = falling[:, 0], falling[:, self.l - 1 :].sum(axis=1)
        return (tail > 0) & shares_at_most(first, cap, first + tail)
