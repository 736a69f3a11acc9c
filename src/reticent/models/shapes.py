"""The three shapes a promise can have, and what a method may ask of each.

count-capped    integer caps on each value's count by the group's size: k, l, beta, (alpha,k), ...
bound           `bind(cells, totals)` gives a batched check over candidate groups: t-closeness, entropy, (B,t), k-map, ...
mechanism       a property of parameters, not of groups: rho, Delta, perturbation matrices
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from reticent.kernels.group_order import by_group
from reticent.models.caps import Caps
from reticent.table.cells import Cells


@dataclass(frozen=True, eq=False)
class Groups:
    """Candidate groups over cells: group g holds `quota[i]` rows of `cell[i]` for i in offsets[g] .. offsets[g + 1]."""

    cells: Cells
    cell: np.ndarray
    quota: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def group(self) -> np.ndarray:
        """The group of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.bincount(self.group, weights=self.quota, minlength=len(self)).astype(np.int64)

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """(offsets, point): the combinations of quasi-identifiers in each group, numbered as `cells.point` does."""
        many = int(self.cells.point[-1]) + 1 if len(self.cells) else 1
        both = np.unique(self.group * many + self.cells.point[self.cell])
        offsets = np.searchsorted(both, np.arange(len(self) + 1) * many)
        return offsets.astype(np.int64), (both % many).astype(np.int32)

    def histogram(self, column: int) -> np.ndarray:
        """(groups, values) counts of a sensitive column."""
        size = self.cells.sensitive[column].size
        flat = self.group * size + self.cells.values[self.cell, column]
        return np.bincount(flat, weights=self.quota, minlength=len(self) * size).astype(np.int64).reshape(-1, size)


def rows_by_group(group: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of each group, one group after another and in their own order, and where each group begins and the last ends."""
    offsets = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))
    order = np.empty(len(group), np.int64)
    by_group(np.arange(len(group)), np.ascontiguousarray(group, np.int64), offsets.copy(), order)
    return order, offsets


Check = Callable[[Groups], np.ndarray]
Totals = Sequence[np.ndarray]
"""How many rows of the whole table hold each value, for each sensitive column: the reference distribution."""


def totals_of(cells: Cells, totals: Totals | None) -> Totals:
    """The reference distribution: the one given, or that of the cells, which are then the whole table's."""
    return [cells.totals(at) for at in range(len(cells.sensitive))] if totals is None else totals


class Promise(Protocol):
    """What every promise says of itself; what a method asks of it besides is its shape's."""

    name: ClassVar[str]
    needs_sensitive: ClassVar[bool]  # whether it is about the values of a sensitive column


@runtime_checkable
class CountCapped(Protocol):
    """Declares what a group may hold; `totals` are the table's counts of each value, the null's last where there is one."""

    name: ClassVar[str]

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]: ...


@runtime_checkable
class Bound(Protocol):
    """Judges whole groups; closed under union or not, as `union_closed` says."""

    name: ClassVar[str]

    def bind(self, cells: Cells, totals: Totals | None = None) -> Check:
        """The check over groups of these cells; `totals` are the whole table's where the cells are a part of it."""


@runtime_checkable
class Mechanism(Protocol):
    """Holds by construction of a random mechanism.

    Whoever runs the mechanism, a method or a preparing stage, calls `verify` with the parameters it runs with.
    It raises where they do not give the promise.
    """

    name: ClassVar[str]

    def verify(self, parameters: Mapping[str, Any]) -> None: ...
