"""A conjunction of promises as the quota-cut kernel reads it.

Kernels judge one sensitive column: sizes, distinct values and caps by integers, closeness, entropy and recursive diversity by
doubles.  `exact` says whether that is all there is to it; where it is not (doubles, a second sensitive column, caps without
the null rows, promises a kernel does not know), what a kernel found is checked again by the promises themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from reticent.models.caps import Caps
from reticent.models.entropy_l_diversity import EntropyLDiversity
from reticent.models.promises import BoundPromises, Promises
from reticent.models.recursive_l_diversity import RecursiveLDiversity
from reticent.models.shapes import Bound
from reticent.models.t_closeness import TCloseness
from reticent.table.cells import Cells
from reticent.table.domain import TreeDomain

KNOWN = (TCloseness, EntropyLDiversity, RecursiveLDiversity)
EQUAL, ORDERED, HIERARCHICAL = 1, 2, 3


@dataclass(frozen=True, eq=False)
class Rule:
    """`column` is the sensitive column the kernel looks at, -1 where it needs none."""

    column: int
    least_size: int
    least_distinct: int
    null: int
    arrays: tuple[np.ndarray, ...]  # caps, rates, least, limits, edges
    capped: bool  # there are caps or more, beyond sizes and distinct values
    exact: bool  # the kernel's word is final
    known: bool  # every promise is at least approximated

    @property
    def capped_only(self) -> bool:
        """Whether integers decide it: no closeness, entropy or recursive diversity."""
        least, limits = self.arrays[2], self.arrays[3]
        return least[4] == 0 and least[5] == 0 and limits[1] == 0

    @property
    def upper(self) -> np.ndarray:
        """The upper cap of each value: numerator and denominator."""
        return self.arrays[0][:, :2]

    @property
    def lower(self) -> np.ndarray:
        return self.arrays[0][:, 2:]


def rule_of(cells: Cells, promises: Promises, bound: BoundPromises) -> Rule:
    near = [promise for promise in promises.shaped(Bound) if isinstance(promise, KNOWN)]
    columns = [cells.sensitive_at(promise.column) for promise in near] + [column for column, _ in bound.caps]
    column = columns[0] if columns else -1
    main = next((cap for at, cap in bound.caps if at == column and cap.without < 0), None)
    near = [promise for promise in near if cells.sensitive_at(promise.column) == column]
    arrays, capped = _arrays(cells, column, bound.least_size, main, near)
    known = len(near) == len(bound.checks) and all(at == column for at, _ in bound.caps)
    exact = known and not near and len(bound.caps) == (main is not None)
    few, null = (main.least_distinct, main.null) if main else (0, -1)
    return Rule(column, bound.least_size, few, null, arrays, capped, exact, known)


def _arrays(cells: Cells, column: int, size: int, main: Caps | None, near: list) -> tuple[tuple[np.ndarray, ...], bool]:
    values = cells.sensitive[column].size if column >= 0 else 1
    caps = np.tile(np.array([1, 1, 0, 1], np.int64), (values, 1))
    least = np.array([size, 0, 0, -1, 0, 0, 7], np.int64)
    limits = np.array([0.0, 0.0, 0.0, 0.7, 0.7])
    edges = np.ones((1, values), np.int8)
    if main is not None:
        least[1:4] = main.least_distinct, main.present_only, main.null
        if main.upper is not None:
            caps[:, :2] = main.upper
        if main.lower is not None:
            caps[:, 2:] = main.lower
    for promise in near:
        if isinstance(promise, TCloseness):
            least[4], limits[0], edges = _closeness(promise, cells, column)
            if least[4] == EQUAL:  # the excess is the distance itself: little to search for
                least[6], limits[3:] = 3, (limits[0], 0.85)
        elif isinstance(promise, EntropyLDiversity):
            limits[1] = max(limits[1], log(promise.l))
        else:
            least[5], limits[2] = promise.l, float(promise.c)
    rates = np.ones((3, values))
    # one unit in the last place too many, so that a whole product is never rounded below itself; `kept` decides
    rates[0] = np.nextafter(caps[:, 0] / caps[:, 1], 2)
    rates[1] = caps[:, 2] / caps[:, 3]
    if column >= 0:
        rates[2] = np.maximum(cells.totals(column), 1e-9) / cells.rows
    least[0] = max(size, _smallest(caps, rates, limits[0] if least[4] == EQUAL else 1.0))
    capped = bool(near) or (main is not None and (main.upper is not None or main.lower is not None))
    return (caps, rates, least, limits, edges), capped


def _smallest(caps: np.ndarray, rates: np.ndarray, t: float) -> int:
    """No group of fewer rows keeps upper caps, or an equal distance of t: kernels need not look for one."""
    for size in range(1, 1000):
        if (caps[:, 0] * size // caps[:, 1]).sum() < size:
            continue
        even = rates[2] * size
        gain = np.sort(np.minimum(1.0, even - np.floor(even)))[
            ::-1
        ]  # what one more row of a value takes off the distance
        spare = max(size - int(np.floor(even).sum()), 0)
        if (even - np.floor(even)).sum() - gain[:spare].sum() <= t * size * (1 + 1e-9):
            return size
    return 1


def _closeness(promise: TCloseness, cells: Cells, column: int) -> tuple[int, float, np.ndarray]:
    """(kind, limit on the kernel's sum per row, first values of the nodes of each level)."""
    domain, t = cells.sensitive[column], float(promise.t)
    if promise.distance == "equal":
        return EQUAL, t, np.ones((1, domain.size), np.int8)
    if promise.distance == "ordered":
        occurring = int((cells.totals(column) > 0).sum())
        return ORDERED, t * max(occurring - 1, 1), np.ones((1, domain.size), np.int8)
    assert isinstance(domain, TreeDomain)
    tree = domain.hierarchy
    edges = np.zeros((tree.height + 1, domain.size), np.int8)
    for level in range(tree.height + 1):
        edges[level, : len(domain.texts)] = np.diff(tree.paths[:, level], prepend=-1) != 0
    edges[:-1, len(domain.texts) :] = 1
    return HIERARCHICAL, 2 * t * tree.height, edges
