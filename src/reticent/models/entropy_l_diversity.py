"""Entropy l-diversity (Machanavajjhala et al., ICDE 2006, section 4.1): -sum (c/s) ln (c/s) `>=` ln l in every group.

In whole numbers s^s >= l^s * prod c^c, for counts c that sum to s; l may be a fraction.  Ties are common: l equally
frequent values reach ln l exactly.  Doubles with a proven error bound decide most groups; the rest are decided by whole
numbers.  A null never counts toward diversity: the inequality holds with and without the null rows.  Closed under union,
because entropy is concave.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.exact import ratio_of, shares_at_least
from reticent.models.caps import left_out, ways
from reticent.models.exact import Number, sign_of_log_sum
from reticent.models.shapes import Check, Groups, Promise, Totals, totals_of
from reticent.table.cells import Cells


@dataclass(frozen=True, slots=True)
class EntropyLDiversity(Promise):
    """Entropy >= ln l."""

    l: Fraction  # noqa: E741  the field's own name
    column: str | None = None
    name: ClassVar[str] = "entropy-l-diversity"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, l: Number, column: str | None = None) -> None: ...  # noqa: E741

    def __post_init__(self) -> None:
        check_parameters(self)

    def bind(self, cells: Cells, totals: Totals | None = None) -> Check:
        at = cells.sensitive_at(self.column)
        leave = ways(totals_of(cells, totals)[at], cells.sensitive[at].null_code)

        def keeps(groups: Groups) -> np.ndarray:
            counts = groups.histogram(at)
            return np.logical_and.reduce([diverse(left_out(counts, without), self.l) for without in leave])

        return keeps


def diverse(counts: np.ndarray, l: Fraction) -> np.ndarray:  # noqa: E741
    """Which groups (rows of counts) have an entropy of at least ln l; an empty one has not."""
    size = counts.sum(axis=1)
    present = (counts > 0).sum(axis=1)
    found = shares_at_least(
        present, l, np.ones(1, np.int64)
    )  # entropy is at most ln(present): the rest need at least l values
    even = counts.max(axis=1, initial=0) * present == size  # and just that where all are equally frequent
    open_ = np.flatnonzero(found & ~even)
    if len(open_):
        excess, error = _excess(counts[open_], size[open_], l)
        found[open_] = excess > 0
        near = open_[np.abs(excess) <= error]
        for at in near:
            found[at] = _exactly(counts[at], int(size[at]), l)
    return found


def _excess(counts: np.ndarray, size: np.ndarray, l: Fraction) -> tuple[np.ndarray, np.ndarray]:  # noqa: E741
    """s ln s - sum c ln c - s ln l in doubles, and a bound on its error.

    A logarithm is good to 4 units in the last place, a product adds 1/2, a sum of m terms at most m; ln l has the error of
    rounding l besides.  The bound counts each of them generously.
    """
    c, s = counts.astype(np.float64), size.astype(np.float64)
    held = (c * np.log(np.maximum(c, 1))).sum(axis=1)
    whole, asked = s * np.log(s), s * log(l)
    return whole - held - asked, (counts.shape[1] + 16) * 2.0**-52 * (whole + held + asked + s)


def _exactly(counts: np.ndarray, size: int, l: Fraction) -> bool:  # noqa: E741
    numerator, denominator = ratio_of(l)
    terms = [(size, size), (denominator, size), (numerator, -size)]
    return sign_of_log_sum(terms + [(int(c), -int(c)) for c in counts if c]) >= 0
