"""Estimates for kinds that publish groups: exact rows with a group on one side, the values of each group on the other.

Rows and values that are alike to a question are of one type (`merge_row_types`), and every group has a number of each
type (`count_group_types`).  `ConditionMatch` is which rows meet a condition with which value.  `ValueSelection` is the
values that a question selects, as each group has them, and how likely a row of the group holds one; the kind decides
that likelihood (`ChanceModel`).  `GroupEstimator.answer` combines them into an estimate and bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged
from reticent.estimate.answer import NO_ANSWER, Answer
from reticent.estimate.condition import (
    ColumnAxis,
    Condition,
    ConditionPieces,
    convert_to_doubles,
    convert_to_numbers,
    make_value_axis,
)
from reticent.estimate.group_matching import MatchingGroups, RowValuePairs
from reticent.estimate.independent_rows import (
    UncertainRows,
    add_unpublished_count,
    answer_aggregate,
    clamp_to_bounds,
    estimate_extreme,
    tidy_number,
)
from reticent.estimate.known_totals import KnownTotals
from reticent.estimate.published_rows import (
    MAX_COUNTED_SPAN,
    PlaceIndex,
    PublishedRows,
    RowTypes,
    get_or_make,
    group_atoms_by_column,
    make_row_types,
)

GroupTypeCounts = tuple[np.ndarray, np.ndarray, np.ndarray]
LARGE_GROUP_ROWS = 64  # rows of a group: of groups as large as these on the average, few are left out by any condition
FEW_SELECTED_DIVISOR = 4  # groups are looked at alone where at most one row in so many may be selected


@dataclass(frozen=True, eq=False)
class ConditionMatch:
    """By (cells, pieces of the sensitive column): whether rows of a cell may, and whether they must, meet the condition with such a value.

    `share` is the assumed share of them that does; `may` and `must` are one array if columns are exact.
    """

    may: np.ndarray
    must: np.ndarray
    share: np.ndarray

    @property
    def certain(self) -> bool:
        return self.may is self.must

    def only(self, is_wanted: np.ndarray) -> ConditionMatch:
        """Return the match without the values that are not kept, by cell and piece."""
        if self.certain:
            may = self.may & is_wanted
            return ConditionMatch(may, may, may.astype(float))
        return ConditionMatch(self.may & is_wanted, self.must & is_wanted, self.share * is_wanted)

    def select_cells(self, cells: np.ndarray) -> ConditionMatch:
        may = self.may[cells]
        return ConditionMatch(may, may if self.certain else self.must[cells], self.share[cells])


def satisfies(cells: RowTypes, values: ColumnAxis, condition: Condition | None) -> ConditionMatch:
    """Find which rows meet the condition with which value; a published value that stands for others may or may not."""
    pieces = ConditionPieces.from_condition((*cells.axes, values), condition)
    covered = {axis.name: axis.may.astype(float) for axis in cells.axes}
    shape = (cells.many, values.pieces)
    may = np.broadcast_to(pieces.sum_weights(cells.cells, covered, values.name) > 0, shape).copy()
    if all((axis.may.sum(axis=1) == 1).all() for axis in cells.axes):
        return ConditionMatch(may, may, may.astype(float))
    unmet = np.broadcast_to(pieces.sum_weights(cells.cells, covered, values.name, unmet=True) > 0, shape)
    shares = {axis.name: axis.share for axis in cells.axes}
    share = np.broadcast_to(pieces.sum_weights(cells.cells, shares, values.name), shape)
    return ConditionMatch(may, ~unmet & may, np.clip(share, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class CellNumbers:
    """The number of each cell in a column: its ends, its assumed value, and which are missing.  One array if the column is exact."""

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    missing: np.ndarray
    whole: bool = False

    def select_cells(self, cells: np.ndarray) -> CellNumbers:
        low = self.low[cells]
        if self.exact:
            return CellNumbers(low, low, low, self.missing[cells], self.whole)
        return CellNumbers(low, self.high[cells], self.mean[cells], self.missing[cells], self.whole)

    @property
    def exact(self) -> bool:
        return self.low is self.high

    def times(self, is_wanted: np.ndarray) -> list[np.ndarray]:
        """Return the arrays by which cells differ, with 0 for cells that are not kept."""
        ends = [self.low] if self.exact else [self.low, self.high, self.mean]
        return [np.where(is_wanted, end, 0) for end in ends]


def read_cell_numbers(cells: RowTypes, column: str) -> CellNumbers:
    """Read the numbers of cells in a column that is exact, or whose published values stand for others."""
    axis = next(axis for axis in cells.axes if axis.name == column)
    label = cells.cells[column]
    piece = axis.may.argmax(axis=1)[label]
    if axis.low is None or axis.high is None or axis.mean is None:
        zeros = np.zeros(len(label), np.int64)
        return CellNumbers(zeros, zeros, zeros, axis.null[piece])
    if (axis.may.sum(axis=1) == 1).all() and (axis.low == axis.high)[axis.may].all():
        numbers = axis.low if axis.low.dtype.kind == "i" else axis.mean
        exact = numbers[label, piece]
        return CellNumbers(exact, exact, exact, axis.null[piece], exact.dtype.kind == "i")
    has_value = axis.may & ~axis.null
    low = np.where(has_value, convert_to_doubles(axis.low), np.inf).min(axis=1)[label]
    high = np.where(has_value, convert_to_doubles(axis.high), -np.inf).max(axis=1)[label]
    weight = axis.share * has_value
    total = np.maximum(weight.sum(axis=1), 1e-300)
    mean = ((weight * np.where(has_value & np.isfinite(axis.mean), axis.mean, 0)).sum(axis=1) / total)[label]
    missing = ~has_value.any(axis=1)[label]
    low, high = (np.where(missing, 0.0, end) for end in (low, high))
    return CellNumbers(low, high, mean, missing, axis.low.dtype.kind == "i")


def merge_row_types(meets: ConditionMatch, number: CellNumbers | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the first cell of each row type, and the row type of each cell."""
    parts = [meets.may] if meets.certain else [meets.may, meets.must, meets.share]
    signs = np.column_stack(parts).astype(float)
    if number is not None:
        signs = np.column_stack([signs, *number.times(np.asarray(meets.may.any(axis=1)))])
    _, first, kind = np.unique(signs, axis=0, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


def count_group_types(group: np.ndarray, kind: np.ndarray, number: np.ndarray | None = None) -> GroupTypeCounts:
    """Count the rows of each kind in each group, each row once or `number` times."""
    type_count = int(kind.max(initial=0)) + 1
    group_and_type = group.astype(np.int64) * type_count + kind
    if (int(group.max(initial=0)) + 1) * type_count <= MAX_COUNTED_SPAN:
        total = np.bincount(
            group_and_type, number
        )  # in doubles where weighted, and exact: a release has fewer than 2^53 rows
        group_and_type = np.flatnonzero(total)
        total = total[group_and_type]
    else:
        group_and_type, place = np.unique(group_and_type, return_inverse=True)
        total = np.bincount(place.reshape(-1), number)
    return *np.divmod(group_and_type, type_count), total.astype(np.int64)


def mask_of(group: np.ndarray, group_count: int) -> np.ndarray:
    """Return which of `many` groups are among these."""
    is_among = np.zeros(group_count, bool)
    is_among[group] = True
    return is_among


@dataclass(frozen=True, eq=False)
class ValueChances:
    """Chances of values: each of `rows` rows of a type holds a value with a chance."""

    kind: np.ndarray
    value: np.ndarray
    chance: np.ndarray
    rows: np.ndarray


class ChanceModel(Protocol):
    """How likely a kind assumes a row to hold a value."""

    def compute_chances(self, rows: GroupTypeCounts, held: GroupTypeCounts, among: np.ndarray | None) -> ValueChances:
        """Compute chances from the rows and the published values of each group, those that are alike to the question merged."""

    def shares(self, groups: GroupEstimator, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the chance that a row of a group holds a wanted value: the kind of each group, and the chance of each kind."""


@dataclass(frozen=True, eq=False)
class ValueSelection:
    """Some of the values that rows can hold, as each group has them.

    `may` and `others` are how many of its published values may stand for one of them, and for others; `share` is how
    likely a row has one.
    """

    may: np.ndarray
    others: np.ndarray
    kind: np.ndarray
    share: np.ndarray

    @classmethod
    def from_groups(cls, groups: GroupEstimator, wanted: np.ndarray, model: ChanceModel) -> ValueSelection:
        group, node, number = groups.held
        may, others = (
            np.bincount(group, weights=number * groups.may(values)[node], minlength=groups.many).astype(np.int64)
            for values in (wanted, ~wanted)
        )
        return cls(may, others, *model.shares(groups, wanted))


@dataclass(frozen=True, eq=False)
class GroupEstimator:
    """Groups of a release: a row can hold `values`; a published value of a group stands for one of those from `first` to `last`."""

    rows: PublishedRows
    group: np.ndarray  # of each row
    values: pl.Series
    first: np.ndarray
    last: np.ndarray
    held: GroupTypeCounts  # group, which of the published values, how many
    many: int
    among: np.ndarray | None = None  # where these are some of the groups of the release: which
    totals: KnownTotals | None = None  # what is known of all groups together
    merged: dict[bytes, GroupTypeCounts] = field(default_factory=dict)  # `held` as the last question saw it
    selections: dict[bytes, ValueSelection] = field(default_factory=dict)  # of values, by the last question
    views: dict[int, GroupEstimator] = field(default_factory=dict)  # over other rows

    def with_rows(self, rows: PublishedRows) -> GroupEstimator:
        """Return the same groups with other rows: as they are published, or as what they stand for."""
        if rows is self.rows:
            return self
        return self.views.setdefault(id(rows), replace(self, rows=rows, merged={}, selections={}, views={}))

    def answer(
        self,
        condition: Condition | None,
        aggregate: str,
        column: str | None,
        model: ChanceModel,
        withheld_rows: UncertainRows | None = None,
    ) -> Answer:
        """Answer an aggregate; `beside` are rows without a group, of which nothing is published."""
        spare = self.spare  # first, because it refuses what was forged
        sensitive = str(self.values.name)
        atoms_by_column = group_atoms_by_column(condition)
        names = [name for name in dict.fromkeys([*atoms_by_column, *([column] if column else [])]) if name != sensitive]
        cells = make_row_types(self.rows, condition, names)
        sensitive_atoms = atoms_by_column.get(sensitive, [])
        values = self.rows.get_cached_axis(
            sensitive,
            sensitive_atoms,
            lambda: make_value_axis(sensitive, np.arange(len(self.values)), self.values, sensitive_atoms),
        )
        meets = satisfies(cells, values, condition)
        if column == sensitive:
            meets = meets.only(~values.null[None, :])
        number = None
        if column is not None and column != sensitive:
            number = read_cell_numbers(cells, column)
            meets = meets.only(~number.missing[:, None])
        if aggregate == "count" and meets.certain and (common_pieces := _find_common_pieces(meets.may)) is not None:
            counted = self._count(
                cells, np.asarray(meets.may.any(axis=1)), common_pieces[values.may.argmax(axis=1)], model
            )
            return add_unpublished_count(counted, withheld_rows)
        first_cells, kind = merge_row_types(meets, number)
        type_numbers = None if number is None else number.select_cells(first_cells)
        sensitive_numbers = convert_to_numbers(self.values) if column == sensitive and values.low is not None else None
        part, rows = self._part(cells, kind, meets.may, values)
        if not part.many:
            if withheld_rows is not None:
                return answer_aggregate(withheld_rows, aggregate)
            return Answer(0, 0, 0) if aggregate == "count" else NO_ANSWER
        spare_values = spare if part.among is None else spare[part.among]
        return part._answer_matched(
            rows,
            spare_values,
            meets.select_cells(first_cells),
            values,
            type_numbers,
            sensitive_numbers,
            aggregate,
            model,
            withheld_rows,
        )

    def _count(self, cells: RowTypes, inside: np.ndarray, wanted: np.ndarray, model: ChanceModel) -> Answer:
        """Count the rows of some cells that hold a wanted value, from the numbers of each group alone."""
        if int(cells.count_rows()[inside].sum()) * FEW_SELECTED_DIVISOR < len(self.group):
            group = self.group[cells.combined.listed.places(np.flatnonzero(inside))]
        else:
            group = self.group[inside[cells.of_row]]
        selection = get_or_make(
            self.selections, wanted.tobytes(), 1, lambda: ValueSelection.from_groups(self, wanted, model)
        )
        row_counts = np.bincount(group, minlength=self.many)
        lower = int(np.maximum(row_counts - selection.others, 0).sum())
        upper = int(np.minimum(row_counts, selection.may).sum())
        if self.totals is not None:
            lower, upper = self.totals.narrow_count(row_counts, selection.may, selection.others, wanted)
        expected = np.bincount(selection.kind[group], minlength=len(selection.share)) @ selection.share
        return Answer(clamp_to_bounds(tidy_number(float(expected)), lower, upper), lower, upper)

    def _part(
        self, cells: RowTypes, kind: np.ndarray, meets: np.ndarray, values: ColumnAxis
    ) -> tuple[GroupEstimator, GroupTypeCounts]:
        """Return the groups with a row and a value that may be selected, if these are few, and their rows of each type."""
        if self.many * LARGE_GROUP_ROWS < len(self.group):
            return self, count_group_types(self.group, kind[cells.of_row])
        inside = meets.any(axis=1)
        is_selected = np.ones(self.many, bool)
        is_few = int(cells.count_rows()[inside].sum()) * FEW_SELECTED_DIVISOR < len(self.group)
        selected_rows = cells.combined.listed.places(np.flatnonzero(inside)) if is_few else None
        if selected_rows is not None:
            is_selected &= mask_of(self.group[selected_rows], self.many)
        wanted = self.may(np.asarray(meets.any(axis=0))[values.may.argmax(axis=1)])
        if int(np.diff(self.by_value.until)[wanted].sum()) * FEW_SELECTED_DIVISOR < len(self.held[0]):
            is_selected &= mask_of(self.held[0][self.by_value.places(np.flatnonzero(wanted))], self.many)
        selected_groups = np.flatnonzero(is_selected)
        if len(selected_groups) * 2 > self.many:
            return self, count_group_types(self.group, kind[cells.of_row])
        new_number = np.cumsum(is_selected) - 1
        places = self.by_group.places(selected_groups)
        published = (new_number[self.held[0][places]], self.held[1][places], self.held[2][places])
        part = replace(self, held=published, many=len(selected_groups), among=selected_groups, merged={})
        if selected_rows is None:
            selected_rows = self.members.places(selected_groups)
            return part, count_group_types(new_number[self.group[selected_rows]], kind[cells.of_row[selected_rows]])
        selected_rows = selected_rows[is_selected[self.group[selected_rows]]]
        group = new_number[self.group[selected_rows]]
        other_rows = self.people[selected_groups] - np.bincount(group, minlength=len(selected_groups))
        outside = np.full(
            len(selected_groups), kind[np.argmin(inside)]
        )  # all rows that cannot be selected are of one type
        return part, count_group_types(
            np.concatenate([group, np.arange(len(selected_groups))]),
            np.concatenate([kind[cells.of_row[selected_rows]], outside]),
            np.concatenate([np.ones(len(group), np.int64), other_rows]),
        )

    def may(self, wanted: np.ndarray) -> np.ndarray:
        """Return which published values stand for a wanted one."""
        until = np.append(0, np.cumsum(wanted))
        return np.asarray(until[self.last + 1] > until[self.first])

    @cached_property
    def people(self) -> np.ndarray:
        """The number of rows of each group."""
        return np.bincount(self.group, minlength=self.many)

    @cached_property
    def members(self) -> PlaceIndex:
        return PlaceIndex.from_numbers(self.group, self.many)

    @cached_property
    def by_group(self) -> PlaceIndex:
        """The published values of each group."""
        return PlaceIndex.from_numbers(self.held[0], self.many)

    @cached_property
    def by_value(self) -> PlaceIndex:
        return PlaceIndex.from_numbers(self.held[1], len(self.first))

    @cached_property
    def spare(self) -> np.ndarray:
        """The values of each group that no row takes.

        A forged release may have values that are no nodes, or groups with fewer values than rows: it is refused.
        """
        values = np.bincount(self.held[0], weights=self.held[2], minlength=self.many)
        if (self.held[1] < 0).any() or (self.people > values).any():
            raise BundleDamaged(
                "The groups of the release lack values for their rows, or hold some that it does not list."
            )
        return values.astype(np.int64) - self.people

    def _answer_matched(
        self,
        rows: GroupTypeCounts,
        spare: np.ndarray,
        meets: ConditionMatch,
        values: ColumnAxis,
        type_numbers: CellNumbers | None,
        number: np.ndarray | None,
        aggregate: str,
        model: ChanceModel,
        withheld_rows: UncertainRows | None,
    ) -> Answer:
        piece = values.may.argmax(axis=1)
        pairs = self._make_pairs(rows, spare, meets, piece, type_numbers, number)
        chances = model.compute_chances(pairs.groups.rows, pairs.groups.values, self.among)
        selected = meets.share[chances.kind, piece[chances.value]]
        weight = chances.rows * chances.chance * selected
        if aggregate == "count":
            lower_count, upper_count = pairs.count()
            return add_unpublished_count(
                Answer(
                    clamp_to_bounds(tidy_number(float(weight.sum())), lower_count, upper_count),
                    lower_count,
                    upper_count,
                ),
                withheld_rows,
            )
        ends = pairs.ends(aggregate, withheld_rows)
        if ends is None:
            return NO_ANSWER if withheld_rows is None else answer_aggregate(withheld_rows, aggregate)
        worth = weight
        if number is not None:
            worth = number[chances.value]
        elif type_numbers is not None:
            worth = type_numbers.mean[chances.kind]
        of_values_alone = number is not None and np.issubdtype(number.dtype, np.integer)
        whole = (of_values_alone or (type_numbers is not None and type_numbers.whole)) and aggregate != "avg"
        lower, upper = (_convert_end(end, whole=whole) for end in ends)
        estimate = _estimate_aggregate(aggregate, worth.astype(float), weight, chances, selected)
        return Answer(clamp_to_bounds(estimate, lower, upper), lower, upper)

    def _make_pairs(
        self,
        rows: GroupTypeCounts,
        spare_values: np.ndarray,
        meets: ConditionMatch,
        piece: np.ndarray,
        type_numbers: CellNumbers | None,
        number: np.ndarray | None,
    ) -> RowValuePairs:
        """Make pairs of row type and published value from row type and value; equal published values count as the first of them."""
        is_selected = meets.may[:, piece]  # (row types, values)
        may = self._count_marked_values(is_selected) > 0
        is_certain = is_selected if meets.certain else meets.must[:, piece]
        spare = self._count_marked_values(is_certain) < (self.last - self.first + 1)
        if number is None:
            ends = (np.zeros(len(is_selected)),) * 2 if type_numbers is None else (type_numbers.low, type_numbers.high)
            low, high = (np.broadcast_to(end[:, None].astype(float), may.shape) for end in ends)
        else:
            low, high = (self._ends(is_selected, number.astype(float), sign) for sign in (1, -1))
        low = np.where(may, low, 0.0)
        high = np.where(may, high, 0.0)
        _, first, sort = np.unique(
            np.concatenate([may, spare, low, high]).T, axis=0, return_index=True, return_inverse=True
        )
        sort = sort.reshape(-1)
        if len(first) == len(sort) and self.in_order:
            group = self.held[0]
            kind = sort[self.held[1]]
            counts = self.held[2]
        else:
            group, kind, counts = get_or_make(
                self.merged,
                sort.tobytes(),
                1,
                lambda: count_group_types(self.held[0], sort[self.held[1]], self.held[2]),
            )
        return RowValuePairs(
            MatchingGroups(rows, (group, first[kind], counts), self.many, spare_values), may, spare, low, high
        )

    def _count_marked_values(self, is_marked: np.ndarray) -> np.ndarray:
        """Return (row types, published values): how many of the values that each stands for are marked."""
        until = np.concatenate([np.zeros((len(is_marked), 1), np.int64), np.cumsum(is_marked, axis=1)], axis=1)
        return until[:, self.last + 1] - until[:, self.first]

    @cached_property
    def in_order(self) -> bool:
        """Whether the published values are listed group by group; a value that a group lists twice does no harm."""
        return self.among is not None or bool((np.diff(self.held[0]) >= 0).all())

    def _ends(self, is_selected: np.ndarray, number: np.ndarray, sign: int) -> np.ndarray:
        """Return the least (greatest) number among the selected values that each published value stands for."""
        least = np.full((len(is_selected), len(self.first)), np.inf)
        for width in np.unique(self.last - self.first):
            nodes = np.flatnonzero(self.last - self.first == width)
            for step in range(width + 1):
                position = self.first[nodes] + step
                least[:, nodes] = np.minimum(
                    least[:, nodes], np.where(is_selected[:, position], sign * number[position], np.inf)
                )
        return sign * least


def _find_common_pieces(meets: np.ndarray) -> np.ndarray | None:
    """Find the pieces with which rows meet the condition, if they are the same for all cells that meet it with any; else None."""
    inside = meets[meets.any(axis=1)]
    return None if not len(inside) or (inside != inside[0]).any() else inside[0]


def _convert_end(end: float, *, whole: bool) -> float | None:
    """Return a bound as the nearest whole number or as a double; None if it has no end."""
    if not np.isfinite(end):
        return None
    return round(end) if whole else float(end)


def _estimate_aggregate(
    aggregate: str, worth: np.ndarray, weight: np.ndarray, chances: ValueChances, share: np.ndarray
) -> float | None:
    if not weight.sum() > 0:
        return None
    if aggregate in ("sum", "avg"):
        total = float(weight @ worth)
        return total if aggregate == "sum" else total / float(weight.sum())
    selected = share > 0
    return estimate_extreme(worth[selected], (chances.chance * share)[selected], chances.rows[selected], aggregate)
