"""t-closeness (Li, Li & Venkatasubramanian, ICDE 2007): EMD(group, table) <= t, `<=`.

    equal          1/2 sum |q_v - p_v|
    ordered        1/(m-1) sum_i |sum_{j<=i} (q_j - p_j)|, values in their order, m = how many values occur in the table
    hierarchical   sum over inner nodes N of height(N)/H * min(positive, negative) extra of its children (section 5.2)

All three are sums of integers over 1/(rows * size): compared as integers.  The null of a sensitive column is a value like
another (last in the ordered distance, a leaf under the root in the hierarchical one), and the inequality holds with and
without the null rows.  Closed under union, because each distance is convex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.catalogue import PROMISES
from reticent.data.cells import Cells
from reticent.data.domain import Domain, TreeDomain
from reticent.errors import JobError
from reticent.exact_arithmetic import shares_at_most
from reticent.models.promise import (
    CandidateGroups,
    GroupCheck,
    Promise,
    Totals,
    exclude_value,
    list_excluded_values,
    resolve_totals,
)
from reticent.models.rational_bounds import Number
from reticent.validation import check_parameters, document_parameters


@document_parameters(PROMISES["t-closeness"])
@dataclass(frozen=True, slots=True)
class TCloseness(Promise):
    """EMD(group, table) <= t for the ground distance named."""

    t: Fraction
    distance: str = "equal"
    column: str | None = None
    name: ClassVar[str] = "t-closeness"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, t: Number, distance: str = "equal", column: str | None = None) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        column = cells.find_sensitive(self.column)
        if column == cells.joint and self.distance != "equal":
            raise JobError(
                f"The combined values of several sensitive columns have no {self.distance} distance.",
                attempt='distance = "equal", or column = one of them.',
            )
        reference = resolve_totals(cells, totals)[column]
        domain = cells.sensitive[column]
        views = [
            _ClosenessReference(self.distance, domain, reference, excluded)
            for excluded in list_excluded_values(reference, domain.null_code)
        ]

        def keeps(groups: CandidateGroups) -> np.ndarray:
            counts = groups.histogram(column)
            return np.logical_and.reduce([view.is_within(counts, self.t) for view in views])

        return keeps


def make_emd_function(
    distance: str, domain: Domain, totals: np.ndarray
) -> tuple[Callable[[np.ndarray], np.ndarray], int]:
    """Return (function of integer excesses, scale): EMD = function / (scale * rows * size)."""
    if distance == "equal":
        return lambda excess: np.abs(excess).sum(axis=1), 2
    if distance == "ordered":
        occurring = np.flatnonzero(totals)
        return (lambda excess: np.abs(np.cumsum(excess[:, occurring], axis=1)).sum(axis=1)), max(len(occurring) - 1, 1)
    if not isinstance(domain, TreeDomain) or not domain.is_from_steward:
        raise JobError(
            f"Hierarchical t-closeness needs a hierarchy over {domain.name!r}.",
            attempt='hierarchy = "file.csv" on that column.',
        )
    return _make_tree_emd_function(domain), 2 * domain.hierarchy.height


class _ClosenessReference:
    """The reference that groups are compared with: the table as published, or without its null rows."""

    def __init__(self, distance: str, domain: Domain, totals: np.ndarray, excluded: int):
        self.without = excluded
        self.totals = exclude_value(totals, excluded)
        self.rows = int(self.totals.sum())
        self.work, self.scale = make_emd_function(distance, domain, self.totals)

    def is_within(self, counts: np.ndarray, t: Fraction) -> np.ndarray:
        """Tell whether work / (scale * rows * size) <= t; a group of nulls alone is empty without them and breaks nothing."""
        counts = exclude_value(counts, self.without)
        size = counts.sum(axis=1)
        totals = self.totals
        if self.rows * int(size.max(initial=0)) * self.scale >= 1 << 62:
            counts = counts.astype(object)
            totals = totals.astype(object)
        excess = counts * self.rows - totals * size[:, None]  # rows * size * (q - p)
        return shares_at_most(self.work(excess), t * self.scale * self.rows, size)


def _make_tree_emd_function(domain: TreeDomain) -> Callable[[np.ndarray], np.ndarray]:
    """Make the tree's EMD: each inner node at level h moves min(pos, neg) of its children's extra by h.

    That is h/2 (sum |children| - |node|).
    """
    tree = domain.hierarchy
    starts = [np.flatnonzero(np.diff(tree.paths[:, level], prepend=-1)) for level in range(tree.height + 1)]

    def work(excess: np.ndarray) -> np.ndarray:
        leaves = excess[:, : len(domain.texts)]
        total = np.zeros_like(excess, shape=len(excess))
        below = np.abs(leaves).sum(axis=1)
        for level in range(1, tree.height + 1):
            sums = np.add.reduceat(leaves, starts[level], axis=1)
            if level == tree.height and domain.null:
                sums = sums + excess[:, [-1]]
                below = below + np.abs(excess[:, -1])
            level_sum = np.abs(sums).sum(axis=1)
            total = total + level * (below - level_sum)
            below = level_sum
        return total

    return work
