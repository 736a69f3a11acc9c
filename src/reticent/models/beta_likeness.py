"""beta-likeness and its relatives (Cao & Karras, VLDB 2012): no group lifts a value's frequency by more than beta, relatively.

`BetaLikeness` (definitions 2 and 3):

    basic       q <= p (1 + beta)
    enhanced    q <= p (1 + min(beta, -ln p))
    two-sided   and q >= p / (1 + min(beta, -ln p))      (ERRATA 1.12: the literal lower side bounds nothing for beta >= 1)

p is the value's frequency in the published table, q in a group; both sides are `<=`.  A null in the sensitive column is
a value like another, and the caps hold with and without the null rows.  Closed under union: q of a union lies between
the q of its parts.

`BetaPosterior` (definition 6) is beta-likeness of a perturbation: a property of the matrix, not of groups.  M[i][v] is
the chance that v_i is published as v, as whole numbers over a common denominator.  An adversary who sees v and knows
the distribution p and the matrix believes in v_i with p_i M[i][v] / sum_u p_u M[u][v]; the relative gain over p_i is at
most min(beta, -ln p_i) (basic: beta), and two-sided so is the loss.  Compared exactly, for every value.

Families of values (`ValueSets`, `ValueRuns`, `make_family_check`): a family is a set of values (a node's leaves, a
window's values); families may overlap.  With p and q the family's frequencies in the table and in a group, the
inequalities are those of beta-likeness, exact in the same way, with and without the null rows.

`ProximityLikeness` is beta-likeness of every window of a chosen width, for numeric sensitive values.  Section 7 asks
for it: an extension to numbers "should constrain not merely the variation in the frequencies of discrete numerical
values, but rather of any values in close proximity", against proximity attacks (Li, Tao & Xiao, SIGMOD 2008).  A window
is any interval [x, x + width]; width 0 is beta-likeness of single values.  As x moves, the values in the window change
where x passes a value or x + width reaches one: at most 2m windows have different values in them.  Numbers are compared
as they are written, dates in days (times in microseconds), ordered values by rank.  The null is in no window of others.
Closed under union.

`SemanticLikeness` (section 7) counts the values under one node of the sensitive hierarchy as one: no disease *family*
gains more than beta.  `level` 1 is the node just above a value; the null is a family of its own.  The promise does not
bound single values: promise beta-likeness as well where they matter.  Closed under union, as beta-likeness is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from reticent.catalogue import PROMISES
from reticent.data.cells import Cells
from reticent.data.domain import Domain, RangeDomain, TreeDomain
from reticent.errors import JobError, PromiseUnreachable, suggest
from reticent.exact_arithmetic import find_common_denominator
from reticent.models.promise import (
    NO_VALUE,
    CandidateGroups,
    Caps,
    GroupCheck,
    Promise,
    Totals,
    exclude_value,
    list_excluded_values,
    make_upper_caps,
    resolve_totals,
    to_integer_pairs,
)
from reticent.models.rational_bounds import (
    Number,
    enclose_log,
    find_fraction_below,
    find_fraction_below_real,
    is_at_most_log,
)
from reticent.validation import check_parameters, document_parameters

RATIO_ROUNDING = 2.0**-50  # more than what three roundings to 53 bits, and those of the comparison, can make of it


@document_parameters(PROMISES["beta-likeness"])
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
        return [
            self._compute_caps(exclude_value(totals, excluded), excluded)
            for excluded in list_excluded_values(totals, null)
        ]

    def _compute_caps(self, totals: np.ndarray, excluded: int) -> Caps:
        rows = int(totals.sum())
        frequencies = [Fraction(int(c), rows) if c else Fraction(0) for c in totals]
        cap = {p: self.cap(p, rows) for p in set(frequencies)}
        lower = None
        if self.two_sided:
            floor = {p: self.floor(p, rows) for p in set(frequencies)}
            lower = to_integer_pairs([floor[p] for p in frequencies])
        return Caps(
            len(totals),
            least_size=int(excluded < 0),
            upper=make_upper_caps([cap[p] for p in frequencies], excluded),
            lower=lower,
            without=excluded,
        )

    def cap(self, p: Fraction, rows: int) -> Fraction:
        """Compute the greatest frequency a group of at most `rows` rows can have without exceeding f(p), equation 1."""
        if p == 0:
            return Fraction(0)
        if not self.enhanced or is_at_most_log(self.beta, 1 / p):
            return find_fraction_below(min(p * (1 + self.beta), Fraction(1)), rows)
        if p == 1:
            return Fraction(1)
        return find_fraction_below_real(lambda digits: _enclose_enhanced_cap(p, digits), rows)

    def floor(self, p: Fraction, rows: int) -> Fraction:
        """Compute the least frequency the two-sided form allows: 1 minus the greatest that the others may have together."""
        if p == 0:
            return Fraction(0)
        if not self.enhanced or is_at_most_log(self.beta, 1 / p):
            return 1 - find_fraction_below(1 - p / (1 + self.beta), rows)
        if p == 1:
            return Fraction(1)
        return 1 - find_fraction_below_real(lambda digits: _enclose_others_cap(p, digits), rows)


@dataclass(frozen=True, slots=True)
class BetaPosterior:
    """beta-likeness as a mechanism promise: a check of the matrix of a perturbation."""

    promise: BetaLikeness
    name: ClassVar[str] = "beta-likeness"

    def verify(self, parameters: Mapping[str, Any]) -> None:
        """Raise if the `matrix`, over values held by `counts` rows each, lifts a belief above its cap."""
        excess = self.excess(parameters["matrix"], parameters["counts"])
        if excess is not None:
            raise PromiseUnreachable(
                "The perturbation matrix does not keep beta-likeness.",
                why=f"The belief in a value can exceed its cap by {excess:.3g}.",
                attempt='matrix = "rank-one", which is always valid.',
            )

    def excess(self, matrix: Sequence[Sequence[int]], counts: Sequence[int]) -> float | None:
        """Compute by how much the worst posterior exceeds its cap; None if all are within."""
        rows = sum(counts)
        worst = None
        for count, (up, down) in zip(counts, compute_worst_gains(matrix, counts), strict=True):
            p = Fraction(count, rows)
            fine = self.allows(p, up) and (not self.promise.two_sided or (down is not None and self.allows(p, down)))
            if not fine:
                worst = max(worst or 0.0, float(p * (up - self.gain(p))))
        return worst

    def allows(self, p: Fraction, gain: Fraction) -> bool:
        """Tell whether gain <= beta and, enhanced, gain <= -ln p."""
        return gain <= self.promise.beta and (not self.promise.enhanced or is_at_most_log(gain, 1 / p))

    def gain(self, p: Fraction) -> Fraction:
        """Compute a rational not above min(beta, -ln p): the construction aims at it, the check uses the logarithm itself."""
        if not self.promise.enhanced or is_at_most_log(self.promise.beta, 1 / p):
            return self.promise.beta
        lower, _ = enclose_log(1 / p, 30)
        return Fraction(int(lower * 10**15), 10**15)


def compute_worst_gains(
    matrix: Sequence[Sequence[int]], counts: Sequence[int]
) -> list[tuple[Fraction, Fraction | None]]:
    """Compute for each value the greatest posterior / prior - 1 and prior / posterior - 1 (None: ruled out), exactly."""
    rows = sum(counts)
    entries = np.array(matrix, dtype=object)
    column_sums = np.array(counts, dtype=object) @ entries  # n WHOLE Pr(v), as whole numbers
    gains = []
    for row in entries:
        ratios = [Fraction(int(entry) * rows, int(s)) for entry, s in _find_extreme_entries(row, column_sums)]
        low = min(ratios)
        high = max(ratios)
        gains.append((high - 1, None if low == 0 else 1 / low - 1))
    return gains


class ValueSets:
    """Families as sets of values: `member` is (values, families), 1 where a value belongs to a family."""

    def __init__(self, member: np.ndarray):
        self.member = member

    def sums(self, counts: np.ndarray) -> np.ndarray:
        """Add up counts by value into counts by family."""
        return counts @ self.member

    def only(self, mask: np.ndarray) -> ValueSets:
        return ValueSets(self.member[:, mask])

    def family(self) -> np.ndarray | None:
        """Return the family of each value, where each value has exactly one."""
        return self.member.argmax(axis=1) if (self.member.sum(axis=1) == 1).all() else None


class ValueRuns:
    """Families as runs of codes, `first` .. `last`: up to twice as many as values, so that a matrix of both would not fit."""

    def __init__(self, first: np.ndarray, last: np.ndarray, values: int):
        self.first = first
        self.last = last
        self.values = values

    def sums(self, counts: np.ndarray) -> np.ndarray:
        until = np.zeros((*counts.shape[:-1], self.values + 1), np.int64)
        np.cumsum(counts, axis=-1, out=until[..., 1:])
        return until[..., self.last + 1] - until[..., self.first]

    def only(self, mask: np.ndarray) -> ValueRuns:
        return ValueRuns(self.first[mask], self.last[mask], self.values)

    def family(self) -> np.ndarray | None:
        depth_changes = np.bincount(self.first, minlength=self.values + 1) - np.bincount(
            self.last + 1, minlength=self.values + 1
        )
        if not (np.cumsum(depth_changes)[:-1] == 1).all():
            return None
        order = np.argsort(self.first)
        return np.repeat(order, (self.last - self.first + 1)[order])


def make_family_check(
    like: BetaLikeness, column: int, families: ValueSets | ValueRuns, totals: np.ndarray, null: int
) -> GroupCheck:
    """Make a check that tells which groups keep every family within its caps."""
    views = [_FamilyReference(like, families, totals, excluded) for excluded in list_excluded_values(totals, null)]

    def keeps(groups: CandidateGroups) -> np.ndarray:
        counts = groups.histogram(column)
        return np.logical_and.reduce([view.is_within(counts) for view in views])

    if (family := families.family()) is not None:  # what a kernel can ask about many groups
        nothing = NO_VALUE if null < 0 else int(family[null])
        caps = like.caps(families.sums(totals), nothing)
        cast("Any", keeps).caps = tuple((column, replace(cap, family=family)) for cap in caps)
    return keeps


@document_parameters(PROMISES["proximity-beta-likeness"])
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

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        column = cells.find_sensitive(self.column)
        require_uncombined_values(cells, column, self.name)
        domain = cells.sensitive[column]
        reference = resolve_totals(cells, totals)[column]
        occurring = [code for code in np.flatnonzero(reference).tolist() if code != domain.null_code]
        spans = list_windows([find_position(domain, code) for code in occurring], self.width)
        ends = [(occurring[first], occurring[last]) for first, last in spans]
        ends += [(domain.null_code, domain.null_code)] if domain.null else []
        first, last = np.array(ends, np.int64).reshape(-1, 2).T
        return make_family_check(
            self.likeness, column, ValueRuns(first, last, domain.size), reference, domain.null_code
        )


def require_uncombined_values(cells: Cells, column: int, promise: str) -> None:
    """Refuse the combined values of several columns, which have neither an order nor a hierarchy."""
    if column == cells.joint:
        names = [domain.name for position, domain in enumerate(cells.sensitive) if position != column]
        raise JobError(
            f"{promise} is about the values of one column, and the job takes {len(names)} sensitive columns jointly.",
            attempt=f"column = {suggest('', names)}",
        )


def find_position(domain: Domain, code: int) -> Fraction:
    """Find the exact position of a value."""
    if not isinstance(domain, RangeDomain):
        raise JobError(
            f"proximity-beta-likeness needs numbers, dates or ordered values in {domain.name!r}.",
            attempt='order = [...] for that column, with every value, or type = "numeric" if they are numbers.',
        )
    return Fraction(domain.texts[code]) if domain.kind == "numeric" else Fraction(float(domain.positions[code]))


def list_windows(positions: list[Fraction], width: Fraction) -> list[tuple[int, int]]:
    """List (first, last) of every run of values that is all that some interval of this width holds; positions ascend."""
    unit = 2 * find_common_denominator((*positions, width))  # whole numbers are compared faster; 2 leaves room between
    places = [int(x * unit) for x in positions]
    wide = int(width * unit)
    events = sorted({*places, *(x - wide for x in places)})
    between = [(a + b) // 2 for a, b in pairwise(events)]
    windows = {(bisect_left(places, x), bisect_right(places, x + wide) - 1) for x in [*events, *between]}
    return sorted((first, last) for first, last in windows if first <= last)


@document_parameters(PROMISES["semantic-beta-likeness"])
@dataclass(frozen=True, slots=True)
class SemanticLikeness(Promise):
    """beta-likeness of the nodes at one level of the sensitive column's hierarchy."""

    beta: Fraction
    level: int = 1
    enhanced: bool = True
    two_sided: bool = False
    column: str | None = None
    name: ClassVar[str] = "semantic-beta-likeness"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            beta: Number,
            level: int = 1,
            enhanced: bool = True,
            two_sided: bool = False,
            column: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def likeness(self) -> BetaLikeness:
        return BetaLikeness(self.beta, self.enhanced, self.two_sided)

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        column = cells.find_sensitive(self.column)
        require_uncombined_values(cells, column, self.name)
        domain = cells.sensitive[column]
        family = self.families(domain)
        member = (family[:, None] == np.arange(family.max(initial=-1) + 1)).astype(np.int64)
        return make_family_check(
            self.likeness, column, ValueSets(member), resolve_totals(cells, totals)[column], domain.null_code
        )

    def families(self, domain: Domain) -> np.ndarray:
        """Return the family of each value, numbered from 0; the null's is the last."""
        if not isinstance(domain, TreeDomain) or self.level >= domain.hierarchy.height:
            raise JobError(
                f"{self.name} needs a hierarchy over {domain.name!r} with a level {self.level} below its root.",
                attempt='hierarchy = "file.csv" on that column'
                + (", or a lower level." if self.level > 1 and isinstance(domain, TreeDomain) else "."),
            )
        nodes = np.unique(domain.hierarchy.paths[:, self.level], return_inverse=True)[1].reshape(-1)
        return np.append(nodes, [nodes.max() + 1] * domain.null).astype(np.int64)


def _enclose_enhanced_cap(p: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    lower, upper = enclose_log(1 / p, digits)
    return p * (1 + lower), min(p * (1 + upper), Fraction(1))


def _enclose_others_cap(p: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    lower, upper = enclose_log(1 / p, digits)
    return 1 - p / (1 + lower), 1 - p / (1 + upper)


def _find_extreme_entries(row: np.ndarray, column_sums: np.ndarray) -> list[tuple[int, int]]:
    """Find the entries whose ratio to the column may be the greatest or the least.

    Floating point only rules out the others: a quotient of two rounded numbers is off by less than three roundings.
    """
    possible = np.flatnonzero(column_sums > 0)
    ratio = row[possible].astype(np.float64) / column_sums[possible].astype(np.float64)
    near = (ratio >= ratio.max() * (1 - RATIO_ROUNDING)) | (ratio <= ratio.min() * (1 + RATIO_ROUNDING))
    return [(row[v], column_sums[v]) for v in possible[near]]


class _FamilyReference:
    """The reference distribution by family: the table as published, or without its null rows."""

    def __init__(self, like: BetaLikeness, families: ValueSets | ValueRuns, totals: np.ndarray, excluded: int):
        self.without = excluded
        totals = exclude_value(totals, excluded)
        rows = int(totals.sum())
        family_totals = families.sums(totals)
        self.families = families.only(family_totals > 0)
        # Families of one size have one cap.
        counts, size_number = np.unique(family_totals[family_totals > 0], return_inverse=True)
        frequency = [Fraction(int(count), rows) for count in counts]
        self.upper = to_integer_pairs([like.cap(p, rows) for p in frequency])[size_number]
        self.lower = to_integer_pairs([like.floor(p, rows) for p in frequency])[size_number] if like.two_sided else None

    def is_within(self, counts: np.ndarray) -> np.ndarray:
        counts = exclude_value(counts, self.without)
        size = counts.sum(axis=1)[:, None]
        family_counts = self.families.sums(counts)
        fine = (family_counts * self.upper[:, 1] <= self.upper[:, 0] * size).all(axis=1)
        if self.lower is not None:
            fine &= (family_counts * self.lower[:, 1] >= self.lower[:, 0] * size).all(axis=1)
        return fine
