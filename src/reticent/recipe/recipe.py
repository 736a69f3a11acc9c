"""Recipes: one flat table (cell, group or withheld, published or not, sensitive value, quota), and a table of groups.

A recipe assigns the rows of each cell by quotas: of this cell's rows so many go to group 17 and keep their value, so
many go to group 52 with another value instead, so many are withheld.  A row that has a group and is not published (a
sample leaves it out) still counts where the group's label is made.  The engine decides which row of a cell gets which
outcome.

`SampledRecipe` publishes one tuple of each group, its sensitive value perturbed.  `PerturbedRecipe` redraws sensitive
values by a matrix of probabilities.  The groups of a `TransformedRecipe` publish nodes of a hierarchy that follow a
target distribution.  `PreparedCells` is what a preparing stage makes of cells: those that still have rows, and how many
rows of each were withheld.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from reticent.data.cells import Cells, build_cells
from reticent.errors import InternalError
from reticent.models.promise import CandidateGroups, order_rows_by_group

WITHHELD_GROUP = -1


@dataclass(frozen=True, eq=False)
class GroupTable:
    """What groups publish apart from their rows: `group` publishes `count` of a `value` (a code, or a node's number)."""

    group: np.ndarray
    value: np.ndarray
    count: np.ndarray


@dataclass(frozen=True, eq=False)
class PaddedLabels:
    """The label of each group in a column whose ends were moved, and its loss: drawn once and not changed afterwards."""

    labels: list[str | None]
    loss: np.ndarray


@dataclass(frozen=True, eq=False)
class Recipe:
    """Quotas of cells by outcome, and how groups are published.

    `labels` is how groups print: hierarchy "nodes" (and ranges), or exact "sets".  `values` None: rows keep theirs.
    `published` marks the entries whose rows are published, None: all that have a group.  `listed` is what groups
    publish apart from their rows, for kinds that do not link sensitive values to rows and list other values than their
    rows hold. `chosen` are parameters that the method chose while planning, by name, as the manifest records them.
    `arranged`: the order of entries is a function of what is published, so rows expanded from it need no
    shuffling.
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
    padded: dict[int, PaddedLabels] = field(
        default_factory=dict
    )  # by quasi-identifier, where ends are moved by secret amounts
    chosen: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_groups(cls, cells: Cells, group_of_cell: np.ndarray, labels: str = "nodes") -> Recipe:
        """Make a recipe of whole cells in groups, as strict methods plan it."""
        group = np.asarray(group_of_cell, np.int64)
        return cls(cells, np.arange(len(cells)), group, cells.counts, int(group.max(initial=-1)) + 1, labels=labels)

    @cached_property
    def published_entries(self) -> np.ndarray:
        """The entries whose rows are published."""
        grouped = self.group != WITHHELD_GROUP
        return np.flatnonzero(grouped if self.published is None else grouped & self.published)

    @cached_property
    def is_complete(self) -> bool:
        """Whether every row is published."""
        return len(self.published_entries) == len(self.group)

    @cached_property
    def withheld(self) -> int:
        """The number of rows without a group; a row that a sample leaves out is not withheld."""
        return int(self.quota[self.group == WITHHELD_GROUP].sum())

    @property
    def all_withheld(self) -> int:
        """The number of rows of the source that are not published: those withheld here, and those that came into no cell."""
        return self.withheld + self.cells.withheld_before.total

    @cached_property
    def has_single_rows(self) -> bool:
        """Whether every entry is of one row."""
        return bool((self.quota == 1).all())

    @cached_property
    def published_values(self) -> np.ndarray:
        """The codes that are published, (entries, sensitive)."""
        return self.cells.values[self.cell] if self.values is None else self.values

    def require_conserved(self) -> None:
        """Require that every row of every cell has exactly one outcome."""
        weights = None if self.has_single_rows else self.quota
        planned_rows = np.bincount(self.cell, weights=weights, minlength=len(self.cells)).astype(np.int64)
        if (self.quota <= 0).any() or not np.array_equal(planned_rows, self.cells.counts):
            raise InternalError("A recipe gives a cell's rows no outcome or two.")

    def as_groups(self) -> CandidateGroups:
        """Return the groups with their cells, for checks over groups and for labels; withheld rows are left out."""
        return self._groups

    @cached_property
    def _groups(self) -> CandidateGroups:
        published = np.flatnonzero(self.group != WITHHELD_GROUP)
        order, offsets = order_rows_by_group(
            self.group if len(published) == len(self.group) else self.group[published], self.groups
        )
        order = order if len(published) == len(self.group) else published[order]
        return CandidateGroups(self.cells, self.cell[order], self.quota[order], offsets)

    def find_spans(self) -> tuple[np.ndarray, np.ndarray]:
        """Find the least and greatest code of each group in each quasi-identifier: (groups, quasi) each."""
        column_spans = [self.find_column_spans(column_index) for column_index in range(len(self.cells.quasi))]
        lower, upper = zip(*column_spans, strict=True) if column_spans else ([], [])
        empty = np.zeros((len(self.as_groups()), 0), np.int32)
        return np.column_stack([empty, *lower]), np.column_stack([empty, *upper])

    def find_column_spans(self, column_index: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the least and greatest code of each group in one quasi-identifier."""
        groups = self.as_groups()
        return find_spans(groups, self.cells.codes[groups.cell, column_index])

    def renumber(self, number: np.ndarray) -> Recipe:
        """Merge and renumber groups: group g becomes number[g]."""
        is_published = self.group != WITHHELD_GROUP
        group = np.where(is_published, number[np.maximum(self.group, 0)], WITHHELD_GROUP)
        return replace(self, group=group, groups=int(number.max(initial=-1)) + 1)


def find_spans(groups: CandidateGroups, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the least and greatest code of each group, among the codes of its entries in a column."""
    if not len(groups):
        return codes[:0], codes[:0]
    return np.minimum.reduceat(codes, groups.offsets[:-1]), np.maximum.reduceat(codes, groups.offsets[:-1])


@dataclass(frozen=True, slots=True)
class SamplingMechanism:
    """Retention `p`, least group `k`, the `domain` that perturbed values are drawn from, and what `declared` the domain."""

    p: Fraction
    k: int
    domain: tuple[str, ...]
    declared: str


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledRecipe(Recipe):
    """Recipe with published entries of one row, one or several of each group; their values are places in the mechanism's domain."""

    mechanism: SamplingMechanism

    @classmethod
    def from_recipe(cls, plain: Recipe, mechanism: SamplingMechanism) -> SampledRecipe:
        return cls(**{field.name: getattr(plain, field.name) for field in fields(plain)}, mechanism=mechanism)


@dataclass(frozen=True, eq=False)
class PreparedCells:
    """The result of a stage on `original`: the cells that still have rows, which cell each was, and the rows withheld of each."""

    original: Cells
    cells: Cells
    origin: np.ndarray  # (cells,) the original cell
    withheld: np.ndarray  # (original cells,) int64

    @classmethod
    def from_cells(cls, cells: Cells, withheld: np.ndarray) -> PreparedCells:
        """Withhold so many rows of each cell; a cell without rows left is dropped."""
        remaining = cells.counts - withheld
        origin = np.flatnonzero(remaining)
        if len(origin) == len(remaining) and not withheld.any():
            return cls(cells, cells, origin, withheld)
        remaining_cells = replace(
            cells, codes=cells.codes[origin], values=cells.values[origin], counts=remaining[origin]
        )
        return cls(cells, remaining_cells, origin, withheld)

    def chain(self, later: PreparedCells) -> PreparedCells:
        """Combine this stage with a later one that prepared what it kept."""
        withheld = self.withheld.copy()
        withheld[self.origin] += later.withheld
        return PreparedCells(self.original, later.cells, self.origin[later.origin], withheld)

    def complete(self, recipe: Recipe) -> Recipe:
        """Turn a recipe for the kept cells into one for the original cells."""
        withheld_cells = np.flatnonzero(self.withheld)
        values = recipe.values
        published = recipe.published
        if values is not None:
            values = np.concatenate([values, self.original.values[withheld_cells]])
        if published is not None:
            published = np.concatenate([published, np.zeros(len(withheld_cells), bool)])
        return replace(
            recipe,
            cells=self.original,
            cell=np.concatenate([self.origin[recipe.cell], withheld_cells]),
            group=np.concatenate([recipe.group, np.full(len(withheld_cells), WITHHELD_GROUP, np.int64)]),
            quota=np.concatenate([recipe.quota, self.withheld[withheld_cells]]),
            values=values,
            published=published,
        )


@dataclass(frozen=True, eq=False)
class PerturbedRecipe(Recipe):
    """Recipe of redrawn values: `matrix[i][v] / per` is the probability that `occurring[i]` is published as `occurring[v]`."""

    occurring: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    matrix: tuple[tuple[int, ...], ...] = ()
    matrix_denominator: int = 1

    @property
    def perturbed_cells(self) -> tuple[Cells, np.ndarray, np.ndarray]:
        """Return the cells as they are published, the matrix, and the codes it is about."""
        entries = self.published_entries
        cells = self.cells
        codes = cells.codes[self.cell[entries]]
        values = self.published_values[entries]
        quota = self.quota[entries]
        published, _ = build_cells(cells.quasi, cells.sensitive, codes, values, quota)
        return published, np.array(self.matrix) / self.matrix_denominator, self.occurring


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformedRecipe(Recipe):
    """Recipe whose groups publish nodes of a hierarchy.

    `listed` counts values of each group by node; the nodes cover `first` .. `last` of the domain's `texts`. `weights`
    has a row for each different target, `target` is the row of each group.  `units` are the domain's numbers times
    `scale`, None where it has none.
    """

    listed: GroupTable
    texts: tuple[str, ...] = ()
    node_labels: tuple[str, ...] = ()
    first: np.ndarray
    last: np.ndarray
    weights: tuple[tuple[int, ...], ...] = ()
    target: np.ndarray
    units: np.ndarray | None = None
    scale: int = 1
    sum_of_ranges: float = 0.0
