"""Questions to kinds that publish groups: exact rows with a group on the one side, the values of each group on the other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged
from reticent.release.answer import NOTHING, Answer
from reticent.release.asking.alike import Meeting, Numbers, Triple, counted, kinds_of, marked, met, numbers_in
from reticent.release.asking.assignment import Groups
from reticent.release.asking.axis import Axis, numbers_of, of_values
from reticent.release.asking.condition import Condition
from reticent.release.asking.independent import Uncertain, add_unpublished_count, answer, between, extreme, tidy
from reticent.release.asking.laid import Laid, by_column, laid
from reticent.release.asking.matched import Pairs
from reticent.release.asking.rows import Listed, Rows, remembered
from reticent.release.asking.selection import Chances, Likely, Selection

LARGE = 64  # rows of a group: of groups as large as these on the average, few are left out by any condition
FEW = 4  # groups are looked at alone where at most one row in so many may be selected


@dataclass(frozen=True, eq=False)
class Grouped:
    """`values` are what a row can hold; a published value of a group stands for one of those from `first` to `last`."""

    rows: Rows
    group: np.ndarray  # of each row
    values: pl.Series
    first: np.ndarray
    last: np.ndarray
    held: Triple  # group, which of the published values, how many
    many: int
    among: np.ndarray | None = None  # where these are some of the groups of the release: which
    merged: dict[bytes, Triple] = field(default_factory=dict)  # `held` as the last question saw it
    selections: dict[bytes, Selection] = field(default_factory=dict)  # of values, by the last question
    views: dict[int, Grouped] = field(default_factory=dict)  # over other rows

    def over(self, rows: Rows) -> Grouped:
        """The same groups, their rows being read otherwise: as they are published, or as what they stand for."""
        if rows is self.rows:
            return self
        return self.views.setdefault(id(rows), replace(self, rows=rows, merged={}, selections={}, views={}))

    def answer(
        self,
        condition: Condition | None,
        aggregate: str,
        column: str | None,
        likely: Likely,
        beside: Uncertain | None = None,
    ) -> Answer:
        """`beside` are rows without a group, of which nothing is published."""
        spare = self.spare  # first, because it refuses what was forged
        sensitive = str(self.values.name)
        asked = by_column(condition)
        names = [name for name in dict.fromkeys([*asked, *([column] if column else [])]) if name != sensitive]
        cells = laid(self.rows, condition, names)
        about = asked.get(sensitive, [])
        values = self.rows.kept(
            sensitive, about, lambda: of_values(sensitive, np.arange(len(self.values)), self.values, about)
        )
        meets = met(cells, values, condition)
        if column == sensitive:
            meets = meets.only(~values.null[None, :])
        number = None
        if column is not None and column != sensitive:
            number = numbers_in(cells, column)
            meets = meets.only(~number.missing[:, None])
        if aggregate == "count" and meets.certain and (same := _one_for_all(meets.may)) is not None:
            found = self._count(cells, np.asarray(meets.may.any(axis=1)), same[values.may.argmax(axis=1)], likely)
            return add_unpublished_count(found, beside)
        kinds, kind = kinds_of(meets, number)
        held = None if number is None else number.of(kinds)
        own = numbers_of(self.values) if column == sensitive and values.low is not None else None
        part, rows = self._part(cells, kind, meets.may, values)
        if not part.many:
            if beside is not None:
                return answer(beside, aggregate)
            return Answer(0, 0, 0) if aggregate == "count" else NOTHING
        left = spare if part.among is None else spare[part.among]
        return part._answer(rows, left, meets.of(kinds), values, held, own, aggregate, likely, beside)

    def _count(self, cells: Laid, inside: np.ndarray, wanted: np.ndarray, likely: Likely) -> Answer:
        """How many of the rows of some cells hold a value that is wanted: of each group, what its numbers alone say."""
        if int(cells.counted()[inside].sum()) * FEW < len(self.group):
            group = self.group[cells.combined.listed.places(np.flatnonzero(inside))]
        else:
            group = self.group[inside[cells.of_row]]
        chosen = remembered(self.selections, wanted.tobytes(), 1, lambda: Selection.of(self, wanted, likely))
        people = np.bincount(group, minlength=self.many)
        least = int(np.maximum(people - chosen.others, 0).sum())
        most = int(np.minimum(people, chosen.may).sum())
        expected = np.bincount(chosen.kind[group], minlength=len(chosen.share)) @ chosen.share
        return Answer(between(tidy(float(expected)), least, most), least, most)

    def _part(self, cells: Laid, kind: np.ndarray, meets: np.ndarray, values: Axis) -> tuple[Grouped, Triple]:
        """The groups that have a row and a value which may be selected, where these are few, and their rows of each type."""
        if self.many * LARGE < len(self.group):
            return self, counted(self.group, kind[cells.of_row])
        inside = meets.any(axis=1)
        here, few = np.ones(self.many, bool), int(cells.counted()[inside].sum()) * FEW < len(self.group)
        chosen = cells.combined.listed.places(np.flatnonzero(inside)) if few else None
        if chosen is not None:
            here &= marked(self.group[chosen], self.many)
        wanted = self.may(np.asarray(meets.any(axis=0))[values.may.argmax(axis=1)])
        if int(np.diff(self.by_value.until)[wanted].sum()) * FEW < len(self.held[0]):
            here &= marked(self.held[0][self.by_value.places(np.flatnonzero(wanted))], self.many)
        among = np.flatnonzero(here)
        if len(among) * 2 > self.many:
            return self, counted(self.group, kind[cells.of_row])
        number, places = np.cumsum(here) - 1, self.by_group.places(among)
        held = (number[self.held[0][places]], self.held[1][places], self.held[2][places])
        part = replace(self, held=held, many=len(among), among=among, merged={})
        if chosen is None:
            chosen = self.members.places(among)
            return part, counted(number[self.group[chosen]], kind[cells.of_row[chosen]])
        chosen = chosen[here[self.group[chosen]]]
        group = number[self.group[chosen]]
        rest = self.people[among] - np.bincount(group, minlength=len(among))
        outside = np.full(len(among), kind[np.argmin(inside)])  # all rows that cannot be selected are of one type
        return part, counted(
            np.concatenate([group, np.arange(len(among))]),
            np.concatenate([kind[cells.of_row[chosen]], outside]),
            np.concatenate([np.ones(len(group), np.int64), rest]),
        )

    def may(self, wanted: np.ndarray) -> np.ndarray:
        """Which published values stand for one of those wanted."""
        until = np.append(0, np.cumsum(wanted))
        return np.asarray(until[self.last + 1] > until[self.first])

    @cached_property
    def people(self) -> np.ndarray:
        """The rows of each group."""
        return np.bincount(self.group, minlength=self.many)

    @cached_property
    def members(self) -> Listed:
        return Listed.of(self.group, self.many)

    @cached_property
    def by_group(self) -> Listed:
        """Which published values each group has."""
        return Listed.of(self.held[0], self.many)

    @cached_property
    def by_value(self) -> Listed:
        return Listed.of(self.held[1], len(self.first))

    @cached_property
    def spare(self) -> np.ndarray:
        """The values of each group that no row takes.

        A release that was forged may have values that are no nodes, or groups with fewer values than rows: it is refused.
        """
        values = np.bincount(self.held[0], weights=self.held[2], minlength=self.many)
        if (self.held[1] < 0).any() or (self.people > values).any():
            raise BundleDamaged(
                "The groups of the release lack values for their rows, or hold some that it does not list."
            )
        return values.astype(np.int64) - self.people

    def _answer(
        self,
        rows: Triple,
        spare: np.ndarray,
        meets: Meeting,
        values: Axis,
        held: Numbers | None,
        number: np.ndarray | None,
        aggregate: str,
        likely: Likely,
        beside: Uncertain | None,
    ) -> Answer:
        piece = values.may.argmax(axis=1)
        pairs = self._pairs(rows, spare, meets, piece, held, number)
        of = likely.chances(pairs.groups.rows, pairs.groups.values, self.among)
        selected = meets.share[of.kind, piece[of.value]]
        weight = of.rows * of.chance * selected
        if aggregate == "count":
            least, most = pairs.count()
            return add_unpublished_count(Answer(between(tidy(float(weight.sum())), least, most), least, most), beside)
        ends = pairs.ends(aggregate, beside)
        if ends is None:
            return NOTHING if beside is None else answer(beside, aggregate)
        worth = number[of.value] if number is not None else held.mean[of.kind] if held is not None else weight
        of_values_alone = number is not None and np.issubdtype(number.dtype, np.integer)
        whole = (of_values_alone or (held is not None and held.whole)) and aggregate != "avg"
        lower, upper = (None if not np.isfinite(end) else round(end) if whole else float(end) for end in ends)
        estimate = _estimated(aggregate, worth.astype(float), weight, of, selected)
        return Answer(between(estimate, lower, upper), lower, upper)

    def _pairs(
        self,
        rows: Triple,
        left: np.ndarray,
        meets: Meeting,
        piece: np.ndarray,
        held: Numbers | None,
        number: np.ndarray | None,
    ) -> Pairs:
        """By row type and published value, from row type and value; published values that are alike count as the first of them."""
        each = meets.may[:, piece]  # (row types, values)
        may = self._inside(each) > 0
        surely = each if meets.certain else meets.must[:, piece]
        spare = self._inside(surely) < (self.last - self.first + 1)
        if number is None:
            ends = (np.zeros(len(each)),) * 2 if held is None else (held.low, held.high)
            low, high = (np.broadcast_to(end[:, None].astype(float), may.shape) for end in ends)
        else:
            low, high = (self._ends(each, number.astype(float), sign) for sign in (1, -1))
        low, high = np.where(may, low, 0.0), np.where(may, high, 0.0)
        _, first, sort = np.unique(
            np.concatenate([may, spare, low, high]).T, axis=0, return_index=True, return_inverse=True
        )
        sort = sort.reshape(-1)
        if len(first) == len(sort) and self.in_order:
            group, kind, many = self.held[0], sort[self.held[1]], self.held[2]
        else:
            group, kind, many = remembered(
                self.merged, sort.tobytes(), 1, lambda: counted(self.held[0], sort[self.held[1]], self.held[2])
            )
        return Pairs(Groups(rows, (group, first[kind], many), self.many, left), may, spare, low, high)

    def _inside(self, each: np.ndarray) -> np.ndarray:
        """(row types, published values): how many of the values that each stands for are marked."""
        until = np.concatenate([np.zeros((len(each), 1), np.int64), np.cumsum(each, axis=1)], axis=1)
        return until[:, self.last + 1] - until[:, self.first]

    @cached_property
    def in_order(self) -> bool:
        """Whether the published values are listed group by group; a value that a group lists twice does no harm."""
        return self.among is not None or bool((np.diff(self.held[0]) >= 0).all())

    def _ends(self, each: np.ndarray, number: np.ndarray, sign: int) -> np.ndarray:
        """The least (greatest) number among the selected values that each published value stands for."""
        found = np.full((len(each), len(self.first)), np.inf)
        for width in np.unique(self.last - self.first):
            nodes = np.flatnonzero(self.last - self.first == width)
            for step in range(width + 1):
                at = self.first[nodes] + step
                found[:, nodes] = np.minimum(found[:, nodes], np.where(each[:, at], sign * number[at], np.inf))
        return sign * found


def _one_for_all(meets: np.ndarray) -> np.ndarray | None:
    """The pieces with which rows of a cell meet the condition, where these are the same for all cells that meet it with any."""
    inside = meets[meets.any(axis=1)]
    return None if not len(inside) or (inside != inside[0]).any() else inside[0]


def _estimated(aggregate: str, worth: np.ndarray, weight: np.ndarray, of: Chances, share: np.ndarray) -> float | None:
    if not weight.sum() > 0:
        return None
    if aggregate in ("sum", "avg"):
        total = float(weight @ worth)
        return total if aggregate == "sum" else total / float(weight.sum())
    selected = share > 0
    return extreme(worth[selected], (of.chance * share)[selected], of.rows[selected], aggregate)
