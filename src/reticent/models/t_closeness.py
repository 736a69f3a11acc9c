"""t-closeness (Li, Li & Venkatasubramanian, ICDE 2007): EMD(group, table) <= t, `<=`.

    equal          1/2 sum |q_v - p_v|
    ordered        1/(m-1) sum_i |sum_{j<=i} (q_j - p_j)|, values in their order, m = how many values occur in the table
    hierarchical   sum over inner nodes N of height(N)/H * min(positive, negative) extra of its children (section 5.2)

All three are sums of integers over 1/(rows * size): compared as integers.  The null of a sensitive column is a value like another;
in the ordered distance it stands last.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from reticent.errors import JobError, suggest
from reticent.models.exact import exact
from reticent.models.shapes import Check, Groups
from reticent.table.cells import Cells
from reticent.table.domain import Domain, TreeDomain

DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True, slots=True)
class TCloseness:
    """EMD(group, table) <= t for the ground distance named."""

    t: Fraction
    distance: str = "equal"
    column: str | None = None
    name: ClassVar[str] = "t-closeness"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", exact(self.t, "t"))
        if self.t <= 0:
            raise JobError("t-closeness needs t > 0.", why="t = 0 asks that every group mirror the table exactly.", attempt="t = 0.2.")
        if self.distance not in DISTANCES:
            raise JobError(f"Unknown ground distance {self.distance!r}.", attempt=suggest(self.distance, DISTANCES))

    def bind(self, cells: Cells) -> Check:
        at = cells.sensitive_at(self.column)
        totals, rows = cells.totals(at), cells.rows
        work, scale = emd_work(self.distance, cells.sensitive[at], totals)
        t = self.t

        def keeps(groups: Groups) -> np.ndarray:
            counts = groups.histogram(at)
            size = counts.sum(axis=1)
            excess = counts * rows - totals * size[:, None]  # rows * size * (q - p)
            # work / (scale * rows * size) <= t, in Python integers where 64 bits may not hold the product
            left = work(excess)
            bound = t.numerator * scale * rows
            if bound * int(size.max(initial=1)) < 1 << 62 and int(left.max(initial=0)) * t.denominator < 1 << 62:
                return left * t.denominator <= bound * size
            return np.array([int(a) * t.denominator <= bound * int(s) for a, s in zip(left, size, strict=True)], bool)

        return keeps


def emd_work(distance: str, domain: Domain, totals: np.ndarray):
    """(function of integer excesses, scale): EMD = function / (scale * rows * size)."""
    if distance == "equal":
        return lambda excess: np.abs(excess).sum(axis=1), 2
    if distance == "ordered":
        occurring = np.flatnonzero(totals)
        return (lambda excess: np.abs(np.cumsum(excess[:, occurring], axis=1)).sum(axis=1)), max(len(occurring) - 1, 1)
    if not isinstance(domain, TreeDomain):
        raise JobError(f"Hierarchical t-closeness needs a hierarchy over {domain.name!r}.", attempt='hierarchy = "file.csv" on that column.')
    return _tree_work(domain), 2 * domain.hierarchy.height


def _tree_work(domain: TreeDomain):
    """Each inner node at level h moves min(pos, neg) of its children's extra by h: = h/2 (sum |children| - |node|)."""
    tree = domain.hierarchy

    def work(excess: np.ndarray) -> np.ndarray:
        height = tree.height
        leaves = excess[:, : len(domain.texts)]
        total = np.zeros(len(excess), np.int64)
        below = np.abs(leaves).sum(axis=1)
        for level in range(1, height + 1):
            starts = np.flatnonzero(np.diff(tree.paths[:, level], prepend=-1))
            sums = np.add.reduceat(leaves, starts, axis=1)
            if level == height and domain.null:
                sums = sums + excess[:, [-1]]
                below = below + np.abs(excess[:, -1])
            here = np.abs(sums).sum(axis=1)
            total += level * (below - here)
            below = here
        return total

    return work
