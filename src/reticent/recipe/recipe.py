"""A recipe: one flat table (cell, group or withheld, published or not, sensitive value, quota), and a table of groups.

Of this cell's rows so many go to group 17 and keep their value, so many go to group 52 with another value instead, so many
are withheld.  A row that has a group and is not published (a sample leaves it out) still counts where the group's label is
made.  Which row of a cell gets which outcome is the engine's business.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from reticent.errors import InternalError
from reticent.models.shapes import Groups, rows_by_group
from reticent.table.cells import Cells

WITHHELD = -1


@dataclass(frozen=True, eq=False)
class GroupTable:
    """What groups publish apart from their rows: of `group` so many (`count`) of a `value` (a code, or a node's number)."""

    group: np.ndarray
    value: np.ndarray
    count: np.ndarray


@dataclass(frozen=True, eq=False)
class Padded:
    """The label of each group in a column whose ends were moved, and what it loses: drawn once, and the same ever after."""

    labels: list[str | None]
    loss: np.ndarray


@dataclass(frozen=True, eq=False)
class Recipe:
    """`labels` is how groups print: hierarchy "nodes" (and ranges), or exact "sets".  `values` None: rows keep theirs.

    `published` marks the entries whose rows are published, None: all that have a group.  `listed` is what groups publish apart
    from their rows, for kinds that do not link sensitive values to rows and list other values than their rows hold.
    `arranged`: entries stand in an order that is a function of what is published, so rows expanded from it need no shuffling.
    """

    cells: Cells
    cell: np.ndarray  # int64 or int32, as the two others: a recipe for distinct rows is as long as the data
    group: np.ndarray  # WITHHELD or 0 .. groups - 1
    quota: np.ndarray  # > 0
    groups: int
    values: np.ndarray | None = None  # (entries, sensitive) int32
    labels: str = "nodes"
    arranged: bool = False
    published: np.ndarray | None = None  # (entries,) bool
    listed: GroupTable | None = None
    padded: dict[int, Padded] = field(
        default_factory=dict
    )  # by quasi-identifier, where ends are moved by secret amounts

    @classmethod
    def of_groups(cls, cells: Cells, group_of_cell: np.ndarray, labels: str = "nodes") -> Recipe:
        """Whole cells in groups: what strict methods give."""
        group = np.asarray(group_of_cell, np.int64)
        return cls(cells, np.arange(len(cells)), group, cells.counts, int(group.max(initial=-1)) + 1, labels=labels)

    @cached_property
    def shown(self) -> np.ndarray:
        """The entries whose rows are published."""
        grouped = self.group != WITHHELD
        return np.flatnonzero(grouped if self.published is None else grouped & self.published)

    @cached_property
    def whole(self) -> bool:
        """Whether every row is published."""
        return len(self.shown) == len(self.group)

    @cached_property
    def withheld(self) -> int:
        """Rows without a group; one that a sample leaves out is not withheld."""
        return int(self.quota[self.group == WITHHELD].sum())

    @cached_property
    def alone(self) -> bool:
        """Whether every entry is of one row."""
        return bool((self.quota == 1).all())

    @cached_property
    def published_values(self) -> np.ndarray:
        """(entries, sensitive): the codes that are published."""
        return self.cells.values[self.cell] if self.values is None else self.values

    def check_conserved(self) -> None:
        """Every row of every cell has exactly one outcome."""
        weights = None if self.alone else self.quota
        given = np.bincount(self.cell, weights=weights, minlength=len(self.cells)).astype(np.int64)
        if (self.quota <= 0).any() or not np.array_equal(given, self.cells.counts):
            raise InternalError("A recipe gives a cell's rows no outcome or two.")

    def as_groups(self) -> Groups:
        """The groups with their cells, for checks over groups and for labels; withheld rows are left out."""
        return self._groups

    @cached_property
    def _groups(self) -> Groups:
        kept = np.flatnonzero(self.group != WITHHELD)
        order, offsets = rows_by_group(self.group if len(kept) == len(self.group) else self.group[kept], self.groups)
        order = order if len(kept) == len(self.group) else kept[order]
        return Groups(self.cells, self.cell[order], self.quota[order], offsets)

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest code of each group in each quasi-identifier: (groups, quasi) each."""
        found = [self.spans_of(at) for at in range(len(self.cells.quasi))]
        lower, upper = zip(*found, strict=True) if found else ([], [])
        empty = np.zeros((len(self.as_groups()), 0), np.int32)
        return np.column_stack([empty, *lower]), np.column_stack([empty, *upper])

    def spans_of(self, at: int) -> tuple[np.ndarray, np.ndarray]:
        """The same in one quasi-identifier."""
        groups = self.as_groups()
        return spans_of(groups, self.cells.codes[groups.cell, at])

    def renumbered(self, number: np.ndarray) -> Recipe:
        """Groups merged and renumbered: group g becomes number[g]."""
        kept = self.group != WITHHELD
        group = np.where(kept, number[np.maximum(self.group, 0)], WITHHELD)
        return replace(self, group=group, groups=int(number.max(initial=-1)) + 1)


def spans_of(groups: Groups, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest code of each group, of the codes of its entries in a column."""
    if not len(groups):
        return codes[:0], codes[:0]
    return np.minimum.reduceat(codes, groups.offsets[:-1]), np.maximum.reduceat(codes, groups.offsets[:-1])
