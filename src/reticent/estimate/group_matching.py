"""Bounds of aggregates over groups whose rows and values are known, but not which row has which value.

Matching: there are row types i and value types t; every row of a group takes one of its values, and some values may be
left over.  A pair is worth worth[i, t]; `find_best_matching` finds the greatest worth of each group.  If all rows are
of two types, or all values are, the best is found by sorting by the gain of one type over the other, for all groups at
once; otherwise by augmenting paths, group by group, equal groups once.

Bounds: a pair of a row type and a value type (a value, or a node that stands for one of several) is selected for
certain, possibly or not, and if it is, its number lies between two ends (`RowValuePairs`).  Bounds are over all
matchings of each group and all values that nodes stand for: sums of best matchings; AVG by Dinkelbach's steps (the mean
is raised until no matching is worth more); MIN and MAX by the least threshold that some matching keeps.  They are over
the tables in which some row is selected.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import frexp
from typing import Any

import numpy as np
import polars as pl

from reticent.estimate.condition import convert_to_doubles
from reticent.estimate.independent_rows import UncertainRows, round_to_double
from reticent.kernels.matching_taken import take_first

GroupTypeCounts = tuple[np.ndarray, np.ndarray, np.ndarray]  # group, type, number; sorted by group
MAX_INSERTED_ENTRIES = 256  # entries of a group that are sorted by putting each where it belongs
MIN_PATH_WORTH = -(1 << 62)  # less than any path is worth
ROUNDING_MARGIN = 2.0**-50
EXACT_DOUBLE_LIMIT = 2.0**53  # doubles hold every whole number that is less


@dataclass(frozen=True, eq=False)
class MatchingGroups:
    """The number of rows of each type and of values of each type in every group; rows of type -1 take the values left over."""

    rows: GroupTypeCounts
    values: GroupTypeCounts
    many: int
    left: np.ndarray | None = None  # `spare`, where it is known already

    def size(self, side: GroupTypeCounts) -> np.ndarray:
        return np.bincount(side[0], weights=side[2], minlength=self.many).astype(np.int64)

    @cached_property
    def spare(self) -> np.ndarray:
        """The values of each group that no row takes."""
        return self.size(self.values) - self.size(self.rows) if self.left is None else self.left

    @cached_property
    def two_types(self) -> TwoTypeMatching | None:
        """The groups for rows of at most two types, or for values of so few; None if there are more on both sides."""
        if self.spare.any():
            return None
        for small_side, side, is_turned in ((self.rows, self.values, False), (self.values, self.rows, True)):
            types = np.flatnonzero(np.bincount(small_side[1]))
            if 1 <= len(types) <= 2:
                first_type_counts = np.bincount(
                    small_side[0], weights=small_side[2] * (small_side[1] == types[0]), minlength=self.many
                ).astype(np.int64)
                return TwoTypeMatching(int(types[0]), int(types[-1]), first_type_counts, side, is_turned)
        return None

    @cached_property
    def together(self) -> tuple[np.ndarray, np.ndarray]:
        """The (row type, value type) of all pairs that some group has, each once."""
        is_turned = self.rows[1].max(initial=0) > self.values[1].max(initial=0)
        small_side, side = (self.values, self.rows) if is_turned else (self.rows, self.values)
        pair_blocks = [np.empty((0, 2), np.int64)]
        for kind in np.flatnonzero(np.bincount(small_side[1])):
            has_kind = np.zeros(self.many, bool)
            has_kind[small_side[0][small_side[1] == kind]] = True
            others = np.flatnonzero(np.bincount(side[1][has_kind[side[0]]]))
            pair_blocks.append(np.column_stack([np.full(len(others), kind), others]))
        pairs = np.concatenate(pair_blocks)
        return (pairs[:, 1], pairs[:, 0]) if is_turned else (pairs[:, 0], pairs[:, 1])

    def only(self, group: int) -> MatchingGroups:
        rows, values = (
            (np.zeros((side[0] == group).sum(), np.int64), side[1][side[0] == group], side[2][side[0] == group])
            for side in (self.rows, self.values)
        )
        return MatchingGroups(rows, values, 1)


@dataclass(frozen=True, eq=False)
class TwoTypeMatching:
    """Rows of a first type, a number in each group, take what gains most over the other; what is taken depends on the order alone.

    `turned`: values of a first type, a number in each group, are taken by the rows that gain most.
    """

    first: int
    other: int
    room: np.ndarray
    side: GroupTypeCounts
    turned: bool
    taken: dict[bytes, np.ndarray] = field(default_factory=dict)

    def sum_best(self, layers: tuple[np.ndarray, ...]) -> np.ndarray:
        """Sum each layer of worths over all groups for the matching that is best by the first layer."""
        pair = np.array([(layer.T if self.turned else layer)[[self.first, self.other]] for layer in layers], float)
        gain = pair[:, 0] - pair[:, 1]
        type_count = pair.shape[2]
        rank = _rank_gains(gain[0])
        if (key := rank.tobytes()) not in self.taken:
            taken = count_taken(self.side, self.room, rank)
            self.taken[key] = np.bincount(self.side[1], weights=taken, minlength=type_count)
        return (
            pair[:, 1] @ np.bincount(self.side[1], weights=self.side[2], minlength=type_count) + gain @ self.taken[key]
        )


def count_taken(
    side: GroupTypeCounts, capacity: np.ndarray, rank: np.ndarray, max_inserted: int = MAX_INSERTED_ENTRIES
) -> np.ndarray:
    """Count how many of each entry of a side are taken if each group takes `room`, those of the least place first."""
    group, kind, number = side
    size = np.bincount(group, minlength=len(capacity))
    until = np.append(0, np.cumsum(size))
    widest = int(size.max(initial=0))
    if widest <= max_inserted:
        taken = np.empty(len(group), np.int64)
        take_first(
            until, rank[kind], np.require(number, np.int64, ["C", "W"]), capacity, np.empty(widest, np.int64), taken
        )
        return taken
    order = np.lexsort((rank[kind], group))
    amount = number[order]
    total = np.cumsum(amount)
    before = total - amount - np.append(0, total)[until[group]]
    taken = np.empty(len(group), np.int64)
    taken[order] = np.clip(capacity[group] - before, 0, amount)
    return taken


def sum_best_matching(groups: MatchingGroups, worth: np.ndarray, *other_layers: np.ndarray) -> np.ndarray:
    """Sum the result of `find_best_matching` over all groups."""
    return (
        find_best_matching(groups, worth, *other_layers).sum(axis=1)
        if groups.two_types is None
        else groups.two_types.sum_best((worth, *other_layers))
    )


def find_best_matching(groups: MatchingGroups, worth: np.ndarray, *other_layers: np.ndarray) -> np.ndarray:
    """Return (1 + besides, groups): the greatest worth of each group, and the sums of `besides` over the pairs of that matching."""
    if not len(groups.values[0]):
        return np.zeros((1 + len(other_layers), groups.many))
    layers, rows, values = _merge_equal_types(groups, (worth, *other_layers))
    if layers.shape[1] <= 2:
        return _match_two_types(layers, rows, values, groups.many)
    if layers.shape[2] <= 2:
        return _match_two_types(layers.transpose(0, 2, 1), values, rows, groups.many)
    return _match_by_paths(layers, rows, values, groups.many)


@dataclass(frozen=True, eq=False)
class RowValuePairs:
    """By (row types, value types): whether a pair may be selected, whether it may be left out, and the ends of its number."""

    groups: MatchingGroups
    may: np.ndarray
    spare: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def negate(self) -> RowValuePairs:
        """Return the pairs with negated numbers, so that the least becomes the greatest."""
        return replace(self, low=-self.high, high=-self.low)

    def count(self) -> tuple[int, int]:
        worths = self.may.astype(float), -(~self.spare).astype(float)
        greatest, smallest = (sum_best_matching(self.groups, worth)[0] for worth in worths)
        return round(-smallest), round(greatest)

    def ends(self, aggregate: str, withheld_rows: UncertainRows | None = None) -> tuple[Any, Any] | None:
        """Return the least and the greatest; None if no table selects a published row.  Infinite if a number has no end."""
        lower_count, upper_count = self.count()
        if not upper_count:
            return None
        negated = self.negate()
        if aggregate == "max":
            published_ends = self.minimise_maximum(), self.top()
        elif aggregate == "min":
            published_ends = -negated.top(), -negated.minimise_maximum()
        elif aggregate == "sum":
            published_ends = -negated.maximise_sum(), self.maximise_sum()
        else:
            return -negated.maximise_mean(UnpublishedRows.from_uncertain_rows(withheld_rows, -1)), self.maximise_mean(
                UnpublishedRows.from_uncertain_rows(withheld_rows, 1)
            )
        return (
            published_ends
            if withheld_rows is None
            else join_ends(aggregate, published_ends, withheld_rows, always=lower_count > 0)
        )

    def select_best(self, worth: np.ndarray, number: np.ndarray, *, eager: bool = False) -> tuple[float, int, float]:
        """Return the best worth, the number of pairs it selects, and the sum of their numbers; an optional pair is selected if it pays."""
        pays = worth >= 0 if eager else worth > 0
        select = self.may & (pays | ~self.spare)
        value, rows, total = sum_best_matching(
            self.groups, np.where(select, worth, 0.0), select.astype(float), np.where(select, number, 0.0)
        )
        return float(value), round(rows), float(total)

    def maximise_sum(self) -> float:
        if not np.isfinite(self.high[self.may]).all():
            return np.inf
        value, rows, _ = self.select_best(self.high.astype(float), self.high)
        return self.round_outwards(value if rows else self.maximise_nonempty_sum())

    def maximise_nonempty_sum(self) -> float:
        """Maximise the sum if selecting nothing, which is NULL, would be best: require one pair, and try from the best pair on."""
        best = -np.inf
        worth = np.where(self.spare, np.where(self.may, np.maximum(self.high, 0.0), 0.0), self.high).astype(float)
        group, row, value = _list_pairs(self.groups)
        may_be_selected = self.may[row, value]
        group = group[may_be_selected]
        row = row[may_be_selected]
        value = value[may_be_selected]
        number = self.high[row, value].astype(float)
        for pair in np.argsort(-number, kind="stable"):
            if number[pair] <= best:
                break
            rest = _remove_pair(self.groups.only(group[pair]), row[pair], value[pair])
            best = max(best, float(number[pair]) + float(find_best_matching(rest, worth)[0].sum()))
        return best

    def maximise_mean(self, unpublished: UnpublishedRows | None = None) -> float:
        """Maximise the mean, upwards from that of some table; unpublished rows are taken if they must be or raise it, else none."""
        if not np.isfinite(self.high[self.may]).all() or (
            unpublished is not None and not np.isfinite(unpublished.high)
        ):
            return np.inf
        _, rows, total = self.select_best(np.ones(self.high.shape), self.high, eager=True)
        unpublished_total = 0.0
        if unpublished is not None and unpublished.must:
            rows = rows + unpublished.rows
            unpublished_total = unpublished.total
        mean = (total + unpublished_total) / rows
        while True:
            _, next_rows, next_total = self.select_best(self.high - mean, self.high)
            next_unpublished = 0.0
            if unpublished is not None and (unpublished.must or unpublished.high > mean):
                next_rows = next_rows + unpublished.rows
                next_unpublished = unpublished.total
            if not next_rows or (next_total + next_unpublished) / next_rows <= mean:
                return round_mean_up(Fraction(self.round_outwards(total)) + _round_up(unpublished_total), rows)
            mean = (next_total + next_unpublished) / next_rows
            rows = next_rows
            total = next_total
            unpublished_total = next_unpublished

    def top(self) -> float:
        row, value = self.groups.together
        may_be_selected = self.may[row, value]
        return _round_outwards(float(self.high[row, value][may_be_selected].max()), np.inf)

    def minimise_maximum(self) -> float:
        """Find the least threshold that every selected number of some table keeps."""
        row, value = self.groups.together
        steps = np.unique(self.low[row, value][self.may[row, value]])
        first = 0
        last = len(steps) - 1
        while first < last:
            middle = (first + last) // 2
            if self.keeps(steps[middle]):
                last = middle
            else:
                first = middle + 1
        return _round_outwards(float(steps[first]), -np.inf)

    def keeps(self, threshold: float) -> bool:
        below = self.may & (self.low <= threshold)
        penalty = float(self.groups.rows[2].sum() + 1)
        return bool(sum_best_matching(self.groups, np.where(below, 1.0, np.where(self.spare, 0.0, -penalty)))[0] >= 1)

    def round_outwards(self, value: float) -> float:
        """Round outwards if the numbers are not whole, or if their sum may be no double."""
        numbers = self.high[self.may]
        rows = float(self.groups.rows[2].sum())
        greatest = float(np.abs(numbers).max())
        if (numbers == np.rint(numbers)).all() and greatest * rows < EXACT_DOUBLE_LIMIT:
            return value
        return value + (rows + 4) * ROUNDING_MARGIN * greatest * (len(self.groups.rows[2]) + 1)


@dataclass(frozen=True, slots=True)
class UnpublishedRows:
    """`rows` rows whose numbers are at most `high`; all of them are selected if they `must` be, else any of them."""

    rows: int
    must: bool
    high: float

    @property
    def total(self) -> float:
        return self.rows * self.high

    @classmethod
    def from_uncertain_rows(cls, withheld_rows: UncertainRows | None, sign: int) -> UnpublishedRows | None:
        if withheld_rows is None or withheld_rows.low is None or withheld_rows.high is None:
            return None
        end = float(convert_to_doubles(withheld_rows.high if sign > 0 else withheld_rows.low)[0]) * sign
        return cls(int(withheld_rows.rows[0]), bool(withheld_rows.must[0]), _round_outwards(end, np.inf))


def join_ends(
    aggregate: str, published_ends: tuple[Any, Any], withheld_rows: UncertainRows, *, always: bool
) -> tuple[Any, Any]:
    """Combine SUM, MIN or MAX of published rows, whose ends are known if one of them is selected, with rows beside them.

    `always`: a published row is selected in every table.
    """
    low, high = (UnpublishedRows.from_uncertain_rows(withheld_rows, sign) for sign in (-1, 1))
    assert low is not None and high is not None
    if aggregate == "sum":
        return -_add_unpublished_sum(-published_ends[0], low, always), _add_unpublished_sum(
            published_ends[1], high, always
        )
    if aggregate == "max":
        return -_combine_least_end(-published_ends[0], low, always), max(published_ends[1], high.high)
    return -max(-published_ends[0], low.high), _combine_least_end(published_ends[1], high, always)


def round_mean_up(value: Fraction, rows: int = 1) -> float:
    """Return the least double that is not less than a sum, or than a mean of this many rows."""
    return round_to_double(value / rows, 1)


def _rank_gains(gain: np.ndarray) -> np.ndarray:
    """Rank the types, the one that gains most first."""
    rank = np.empty(len(gain), np.int64)
    rank[np.argsort(-gain, kind="stable")] = np.arange(len(gain))
    return rank


def _merge_equal_types(
    groups: MatchingGroups, worths: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, GroupTypeCounts, GroupTypeCounts]:
    """Worths by types of rows and values that differ in some of them, and both sides by these types."""
    layers = np.array([np.vstack([layer, np.zeros(layer.shape[1])]) for layer in worths])  # the last row type is no row
    groups_with_spare = np.flatnonzero(groups.spare)
    rows = groups.rows
    values = groups.values
    if len(groups_with_spare):
        no_row_type = np.full(len(groups_with_spare), layers.shape[1] - 1)
        rows = (
            np.concatenate([rows[0], groups_with_spare]),
            np.concatenate([rows[1], no_row_type]),
            np.concatenate([rows[2], groups.spare[groups_with_spare]]),
        )
        by_group = np.argsort(rows[0], kind="stable")
        rows = (rows[0][by_group], rows[1][by_group], rows[2][by_group])
    is_used = [np.bincount(side[1]) > 0 for side in (rows, values)]
    layers = layers[:, np.flatnonzero(is_used[0])][:, :, np.flatnonzero(is_used[1])]
    layers, kind = _merge_equal_layers(layers)
    rows = (rows[0], kind[np.cumsum(is_used[0]) - 1][rows[1]], rows[2])
    layers_by_value, value_kind = _merge_equal_layers(layers.transpose(0, 2, 1))
    values = (values[0], value_kind[np.cumsum(is_used[1]) - 1][values[1]], values[2])
    return layers_by_value.transpose(0, 2, 1), rows, values


def _match_two_types(
    layers: np.ndarray, rows: GroupTypeCounts, values: GroupTypeCounts, group_count: int
) -> np.ndarray:
    """Match two types of rows: those of the first take the values that gain most."""
    group, kind, number = values
    sums = np.array(
        [np.bincount(group, weights=number * layer[kind], minlength=group_count) for layer in layers[:, -1]]
    )
    if layers.shape[1] == 1:
        return sums
    gain = layers[:, 0] - layers[:, 1]
    first_type_counts = np.bincount(rows[0], weights=rows[2] * (rows[1] == 0), minlength=group_count).astype(np.int64)
    taken = count_taken(values, first_type_counts, _rank_gains(gain[0]))
    return sums + np.array([np.bincount(group, weights=taken * layer[kind], minlength=group_count) for layer in gain])


def _match_by_paths(layers: np.ndarray, rows: GroupTypeCounts, values: GroupTypeCounts, group_count: int) -> np.ndarray:
    needed = np.zeros((group_count, layers.shape[1]), np.int64)
    available = np.zeros((group_count, layers.shape[2]), np.int64)
    np.add.at(needed, (rows[0], rows[1]), rows[2])
    np.add.at(available, (values[0], values[1]), values[2])
    distinct_groups, group_index = np.unique(np.concatenate([needed, available], axis=1), axis=0, return_inverse=True)
    sums = np.array(
        [_match_group(layers, line[: needed.shape[1]], line[needed.shape[1] :]) for line in distinct_groups]
    )
    return sums[group_index.reshape(-1)].T


def _list_pairs(groups: MatchingGroups) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List (group, row type, value type) of all pairs of each group."""
    rows = pl.DataFrame({"group": groups.rows[0], "row": groups.rows[1]}).unique()
    values = pl.DataFrame({"group": groups.values[0], "value": groups.values[1]}).unique()
    pairs = rows.join(values, on="group").unique(maintain_order=True)
    return pairs["group"].to_numpy(), pairs["row"].to_numpy(), pairs["value"].to_numpy()


def _remove_pair(groups: MatchingGroups, row: int, value: int) -> MatchingGroups:
    def less(side: tuple[np.ndarray, np.ndarray, np.ndarray], kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        number = side[2].copy()
        number[np.flatnonzero(side[1] == kind)[0]] -= 1
        return side[0][number > 0], side[1][number > 0], number[number > 0]

    return MatchingGroups(less(groups.rows, row), less(groups.values, value), 1)


def _round_up(total: float) -> Fraction:
    """Round a product of doubles up, unless it is a whole number that doubles hold."""
    exact = abs(total) < EXACT_DOUBLE_LIMIT and total == round(total)
    return Fraction(total if exact else float(np.nextafter(total + abs(total) * ROUNDING_MARGIN, np.inf)))


def _round_outwards(end: float, beyond: float) -> float:
    """Return the next double in a direction, for a number that may have been rounded when it became a double."""
    return end if abs(end) < EXACT_DOUBLE_LIMIT else float(np.nextafter(end, beyond))


def _add_unpublished_sum(greatest: float, unpublished: UnpublishedRows, always: bool) -> float:
    if not (np.isfinite(greatest) and np.isfinite(unpublished.high)):
        return np.inf
    is_taken = unpublished.must or unpublished.high > 0
    unpublished_total = _round_up(unpublished.total) if is_taken else Fraction(0)
    alone = unpublished_total if is_taken else Fraction(unpublished.high)
    total = Fraction(greatest) + unpublished_total
    return round_mean_up(total if always else max(total, alone))


def _combine_least_end(end: float, unpublished: UnpublishedRows, always: bool) -> float:
    """Combine the upper end of MIN (the lower of MAX, turned): if published rows are selected, others need not be, or lie as high."""
    if unpublished.must:
        return min(end, unpublished.high) if always else unpublished.high
    return end if always else max(end, unpublished.high)


def _merge_equal_layers(layers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    flat = np.concatenate(list(layers), axis=1)
    _, first, kind = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    return layers[:, first], kind.reshape(-1)


def _match_group(layers: np.ndarray, needed: np.ndarray, available: np.ndarray) -> np.ndarray:
    """Match by successive best paths: a row type that still needs values, value types that have some, and back along what is taken."""
    worth = _scale_to_integers(layers[0])
    needed = needed.copy()
    available = available.copy()
    taken = np.zeros(worth.shape, np.int64)
    while needed.any():
        gain = np.where(needed > 0, 0, MIN_PATH_WORTH)  # of reaching each row type
        reach = np.full(len(available), MIN_PATH_WORTH)
        from_row = np.full(len(available), -1)
        from_value = np.full(len(needed), -1)
        for _ in range(len(needed) + 1):
            step = np.where(gain[:, None] > MIN_PATH_WORTH, gain[:, None] + worth, MIN_PATH_WORTH)
            better = step.max(axis=0)
            is_better = better > reach
            from_row[is_better] = step.argmax(axis=0)[is_better]
            reach = np.where(is_better, better, reach)
            back = np.where(taken > 0, reach[None, :] - worth, MIN_PATH_WORTH)
            better = back.max(axis=1)
            is_better = better > gain
            if not is_better.any():
                break
            from_value[is_better] = back.argmax(axis=1)[is_better]
            gain = np.where(is_better, better, gain)
        value_type = int(np.argmax(np.where(available > 0, reach, MIN_PATH_WORTH)))
        path = []
        last_value_type = value_type
        while True:
            row = int(from_row[value_type])
            path.append((row, value_type, 1))
            if from_value[row] < 0:
                break
            value_type = int(from_value[row])
            path.append((row, value_type, -1))
        amount = min(
            [int(needed[row]), int(available[last_value_type]), *(int(taken[r, t]) for r, t, sign in path if sign < 0)]
        )
        for r, t, sign in path:
            taken[r, t] += sign * amount
        needed[row] -= amount
        available[last_value_type] -= amount
    return np.array([(layer * taken).sum() for layer in layers])


def _scale_to_integers(worth: np.ndarray) -> np.ndarray:
    """Convert worths to multiples of a power of two, so small that a sum along a path just fits 64 bits.

    In a comparison of doubles, two ways of equal worth may each seem better than the other by a rounding, and a path
    would run in circles.  What is lost is less than 2^-50 of the greatest worth for each row if there are fewer than
    500 types.
    """
    greatest = float(np.abs(worth).max(initial=0.0))
    steps = 2 * min(worth.shape) + 3
    if not greatest:
        return np.zeros(worth.shape, np.int64)
    return np.rint(np.ldexp(worth, 61 - steps.bit_length() - frexp(greatest)[1])).astype(np.int64)
