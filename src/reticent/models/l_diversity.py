"""l-diversity in four forms: distinct, entropy, probabilistic and recursive.

A null never counts toward diversity: every inequality holds with and without the null rows.  All four are closed under
union.

`DistinctLDiversity` (Machanavajjhala et al., ICDE 2006): every group holds `>= l` different sensitive values; a null is
never one of them.  A union holds the values of its parts.

`EntropyLDiversity` (Machanavajjhala et al., ICDE 2006, section 4.1): -sum (c/s) ln (c/s) `>=` ln l in every group.  In
whole numbers s^s >= l^s * prod c^c, for counts c that sum to s; l may be a fraction.  Ties are common: l equally
frequent values reach ln l exactly.  Doubles with a proven error bound decide most groups; the rest are decided by whole
numbers.  Closed under union, because entropy is concave.

`ProbabilisticLDiversity` (frequency l-diversity): no value exceeds 1/l of a group, `count * l <= size`.  This is the
reading of l-diversity that papers 2 and 4 use.  Closed under union: the greatest frequency of a union is at most that
of its parts.

`RecursiveLDiversity`, (c,l)-diversity (Machanavajjhala et al., ICDE 2006, section 4.2): r_1 `<=` c (r_l + r_{l+1} + ...
+ r_m), where r_1 >= r_2 >= ... are a group's counts; a group of fewer than l values fails.  The paper writes `<`; `<=`
is what the field uses (ERRATA 5.6).  Closed under union: r_1 of a union is at most the sum of its parts' r_1, and what
lies outside the l - 1 greatest counts of the union is at least the sum of what lies outside those of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.catalogue import PROMISES
from reticent.data.cells import Cells
from reticent.exact_arithmetic import as_ratio, shares_at_least, shares_at_most
from reticent.models.promise import (
    CandidateGroups,
    Caps,
    GroupCheck,
    Promise,
    Totals,
    exclude_value,
    list_excluded_values,
    make_upper_caps,
    resolve_totals,
)
from reticent.models.rational_bounds import Number, compute_log_sum_sign, find_fraction_below
from reticent.validation import check_parameters, document_parameters


@document_parameters(PROMISES["distinct-l-diversity"])
@dataclass(frozen=True, slots=True)
class DistinctLDiversity(Promise):
    """The number of values that occur is >= l."""

    l: int  # noqa: E741  the field's own name
    column: str | None = None
    name: ClassVar[str] = "distinct-l-diversity"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        return [Caps(len(totals), least_size=self.l, least_distinct=self.l, null=null)]


@document_parameters(PROMISES["entropy-l-diversity"])
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

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        column = cells.find_sensitive(self.column)
        excluded_values = list_excluded_values(resolve_totals(cells, totals)[column], cells.sensitive[column].null_code)

        def keeps(groups: CandidateGroups) -> np.ndarray:
            counts = groups.histogram(column)
            return np.logical_and.reduce(
                [are_diverse(exclude_value(counts, excluded), self.l) for excluded in excluded_values]
            )

        return keeps


def are_diverse(counts: np.ndarray, l: Fraction) -> np.ndarray:  # noqa: E741
    """Tell which groups (rows of counts) have an entropy of at least ln l; an empty one has not."""
    size = counts.sum(axis=1)
    present = (counts > 0).sum(axis=1)
    # Entropy is at most ln(present): a group needs at least l values.
    diverse = shares_at_least(present, l, np.ones(1, np.int64))
    even = counts.max(axis=1, initial=0) * present == size  # and just that where all are equally frequent
    undecided = np.flatnonzero(diverse & ~even)
    if len(undecided):
        excess, error = _bound_entropy_excess(counts[undecided], size[undecided], l)
        diverse[undecided] = excess > 0
        near = undecided[np.abs(excess) <= error]
        for group in near:
            diverse[group] = _is_diverse_exactly(counts[group], int(size[group]), l)
    return diverse


@document_parameters(PROMISES["probabilistic-l-diversity"])
@dataclass(frozen=True, slots=True)
class ProbabilisticLDiversity(Promise):
    """count <= size / l for every value."""

    l: Fraction  # noqa: E741  the field's own name
    column: str | None = None
    name: ClassVar[str] = "probabilistic-l-diversity"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, l: Number, column: str | None = None) -> None: ...  # noqa: E741

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        cap = find_fraction_below(1 / self.l, int(totals.sum()))
        return [
            Caps(len(totals), upper=make_upper_caps([cap] * len(totals), excluded), without=excluded)
            for excluded in list_excluded_values(totals, null)
        ]


@document_parameters(PROMISES["recursive-l-diversity"])
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

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        column = cells.find_sensitive(self.column)
        excluded_values = list_excluded_values(resolve_totals(cells, totals)[column], cells.sensitive[column].null_code)
        # r_1 <= c * tail  <=>  r_1 / (r_1 + tail) <= c / (1 + c): a frequency, so that its cap fits 64 bits
        cap = find_fraction_below(self.c / (1 + self.c), cells.rows)

        def keeps(groups: CandidateGroups) -> np.ndarray:
            counts = groups.histogram(column)
            return np.logical_and.reduce(
                [self._are_diverse(exclude_value(counts, excluded), cap) for excluded in excluded_values]
            )

        return keeps

    def _are_diverse(self, counts: np.ndarray, cap: Fraction) -> np.ndarray:
        if counts.shape[1] < self.l:
            return np.zeros(len(counts), bool)
        falling = -np.sort(-counts, axis=1)
        first = falling[:, 0]
        tail = falling[:, self.l - 1 :].sum(axis=1)
        return (tail > 0) & shares_at_most(first, cap, first + tail)


def _bound_entropy_excess(counts: np.ndarray, size: np.ndarray, l: Fraction) -> tuple[np.ndarray, np.ndarray]:  # noqa: E741
    """Compute s ln s - sum c ln c - s ln l in doubles, and a bound on its error.

    A logarithm is good to 4 units in the last place, a product adds 1/2, a sum of m terms at most m; ln l also has the
    error of rounding l.  The bound counts each of them generously.
    """
    c = counts.astype(np.float64)
    s = size.astype(np.float64)
    counts_term = (c * np.log(np.maximum(c, 1))).sum(axis=1)
    size_term = s * np.log(s)
    required_term = s * log(l)
    return size_term - counts_term - required_term, (counts.shape[1] + 16) * 2.0**-52 * (
        size_term + counts_term + required_term + s
    )


def _is_diverse_exactly(counts: np.ndarray, size: int, l: Fraction) -> bool:  # noqa: E741
    numerator, denominator = as_ratio(l)
    terms = [(size, size), (denominator, size), (numerator, -size)]
    return compute_log_sum_sign(terms + [(int(c), -int(c)) for c in counts if c]) >= 0
