"""Questions to kinds that publish groups: exact rows with a group on the one side, the values of each group on the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged
from reticent.release.answer import NOTHING, Answer
from reticent.release.asking.assignment import Groups
from reticent.release.asking.axis import Axis, of_values
from reticent.release.asking.condition import Condition
from reticent.release.asking.independent import between, extreme, tidy
from reticent.release.asking.laid import DENSE, Laid, by_column, laid
from reticent.release.asking.matched import Pairs
from reticent.release.asking.pieces import Pieces
from reticent.release.asking.rows import Listed, Rows

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
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

    def answer(
        self,
        condition: Condition | None,
        aggregate: str,
        column: str | None,
        chances: Callable[[Triple, Triple, np.ndarray | None], Chances],
    ) -> Answer:
        """`chances`: of the rows and the published values of each group, those that are alike to the question taken together."""
        spare = self.spare
        sensitive = str(self.values.name)
        asked = by_column(condition)
        names = [name for name in dict.fromkeys([*asked, *([column] if column else [])]) if name != sensitive]
        cells = laid(self.rows, condition, names)
        values = of_values(sensitive, np.arange(len(self.values)), self.values, asked.get(sensitive, []))
        meets = met(cells, values, condition)
        if column == sensitive:
            meets &= ~values.null
        number = None
        if column is not None and column != sensitive:
            number, missing = _numbers(cells, column)
            meets[missing] = False
        kinds, kind = _kinds(meets, number)
        met_by = meets[kinds]
        held = None if number is None else number[kinds]
        own = numbers_of(self.values) if column == sensitive and values.low is not None else None
        inside = meets.any(axis=1)
        if inside.any() and int(cells.counted()[inside].sum()) * FEW < len(self.group):
            part, rows = self._part(cells, kind, inside)
            return part._answer(rows, spare[part.among], met_by, values, held, own, aggregate, chances)
        rows = _counted(self.group, kind[cells.of_row])
        return self._answer(rows, spare, met_by, values, held, own, aggregate, chances)

    def _part(self, cells: Laid, kind: np.ndarray, inside: np.ndarray) -> tuple[Grouped, Triple]:
        """The groups that have a row which may be selected, and their rows: all others of a group are of one type."""
        chosen = cells.combined.listed.places(np.flatnonzero(inside))
        here = np.zeros(self.many, bool)
        here[self.group[chosen]] = True
        among = np.flatnonzero(here)
        group = (np.cumsum(here) - 1)[self.group[chosen]]
        rest = self.people[among] - np.bincount(group, minlength=len(among))
        outside = np.full(len(among), kind[np.argmin(inside)])
        rows = _counted(
            np.concatenate([group, np.arange(len(among))]),
            np.concatenate([kind[cells.of_row[chosen]], outside]),
            np.concatenate([np.ones(len(group), np.int64), rest]),
        )
        places = self.listed.places(among)
        held = ((np.cumsum(here) - 1)[self.held[0][places]], self.held[1][places], self.held[2][places])
        return replace(self, held=held, many=len(among), among=among), rows

    @cached_property
    def people(self) -> np.ndarray:
        """The rows of each group."""
        return np.bincount(self.group, minlength=self.many)

    @cached_property
    def listed(self) -> Listed:
        """Which published values each group has."""
        return Listed.of(self.held[0], self.many)

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

    def _answer(self, rows: Triple, spare: np.ndarray, meets: np.ndarray, values: Axis, held: np.ndarray | None, number: np.ndarray | None,
                aggregate: str, chances: Callable[[Triple, Triple, np.ndarray | None], Chances]) -> Answer:  # fmt: skip
        piece = values.may.argmax(axis=1)
        pairs = self._pairs(rows, spare, meets, piece, held, number)
        of = chances(pairs.groups.rows, pairs.groups.values, self.among)
        selected = meets[of.kind, piece[of.value]]
        weight = of.rows * of.chance * selected
        if aggregate == "count":
            least, most = pairs.count()
            return Answer(between(tidy(float(weight.sum())), least, most), least, most)
        ends = pairs.ends(aggregate)
        if ends is None:
            return NOTHING
        worth = number[of.value] if number is not None else held[of.kind] if held is not None else weight
        whole = np.issubdtype(worth.dtype, np.integer) and aggregate != "avg"
        lower, upper = ((round(end) if whole else float(end)) for end in ends)
        estimate = _estimated(aggregate, worth.astype(float), weight, of, selected)
        return Answer(between(estimate, lower, upper), lower, upper)

    def _pairs(
        self,
        rows: Triple,
        left: np.ndarray,
        meets: np.ndarray,
        piece: np.ndarray,
        held: np.ndarray | None,
        number: np.ndarray | None,
    ) -> Pairs:
        """By row type and published value, from row type and value; published values that are alike count as the first of them."""
        each = meets[:, piece]  # (row types, values)
        until = np.concatenate([np.zeros((len(each), 1), np.int64), np.cumsum(each, axis=1)], axis=1)
        inside = until[:, self.last + 1] - until[:, self.first]
        may, spare = inside > 0, inside < (self.last - self.first + 1)
        if number is None:
            low = high = np.broadcast_to(
                (np.zeros(len(each)) if held is None else held)[:, None].astype(float), may.shape
            )
        else:
            low, high = (self._ends(each, number.astype(float), sign) for sign in (1, -1))
        low, high = np.where(may, low, 0.0), np.where(may, high, 0.0)
        _, first, sort = np.unique(
            np.concatenate([may, spare, low, high]).T, axis=0, return_index=True, return_inverse=True
        )
        group, kind, many = _counted(self.held[0], sort.reshape(-1)[self.held[1]], self.held[2])
        return Pairs(Groups(rows, (group, first[kind], many), self.many, left), may, spare, low, high)

    def _ends(self, each: np.ndarray, number: np.ndarray, sign: int) -> np.ndarray:
        """The least (greatest) number among the selected values that each published value stands for."""
        found = np.full((len(each), len(self.first)), np.inf)
        for width in np.unique(self.last - self.first):
            nodes = np.flatnonzero(self.last - self.first == width)
            for step in range(width + 1):
                at = self.first[nodes] + step
                found[:, nodes] = np.minimum(found[:, nodes], np.where(each[:, at], sign * number[at], np.inf))
        return sign * found


@dataclass(frozen=True, eq=False)
class Chances:
    """Of `rows` rows of a type, each holds a value with a chance."""

    kind: np.ndarray
    value: np.ndarray
    chance: np.ndarray
    rows: np.ndarray


def met(cells: Laid, values: Axis, condition: Condition | None) -> np.ndarray:
    """(cells, pieces of the sensitive column): whether rows of exact columns meet the condition with a value there."""
    pieces = Pieces.of((*cells.axes, values), condition)
    found = pieces.added(cells.cells, {axis.name: axis.may.astype(float) for axis in cells.axes}, values.name) > 0
    return np.broadcast_to(found, (cells.many, values.pieces)).copy()


def _numbers(cells: Laid, column: str) -> tuple[np.ndarray, np.ndarray]:
    """The number of each cell in an exact column, and which are missing."""
    axis = next(axis for axis in cells.axes if axis.name == column)
    label = cells.cells[column]
    piece = axis.may.argmax(axis=1)[label]
    if axis.low is None:
        return np.zeros(len(label), np.int64), axis.null[piece]
    return axis.low[label, piece], axis.null[piece]


def numbers_of(values: pl.Series) -> np.ndarray:
    whole = values.dtype.is_integer()
    return values.cast(pl.Int64 if whole else pl.Float64).fill_null(0).to_numpy()


def _kinds(meets: np.ndarray, number: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The first cell of each row type, and the row type of each cell."""
    signs = meets.astype(float) if number is None else np.column_stack([meets, np.where(meets.any(axis=1), number, 0)])
    _, first, kind = np.unique(signs, axis=0, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


def _counted(group: np.ndarray, kind: np.ndarray, number: np.ndarray | None = None) -> Triple:
    """How many rows each group has of each kind, each of them counted once or `number` times."""
    wide = int(kind.max(initial=0)) + 1
    word = group.astype(np.int64) * wide + kind
    if (int(group.max(initial=0)) + 1) * wide <= DENSE:
        total = np.bincount(word, number)  # in doubles where weighted, and exact: a release has fewer than 2^53 rows
        held = np.flatnonzero(total)
        return (held >> 1, held & 1, total[held].astype(np.int64)) if wide == 2 else (
            held // wide, held % wide, total[held].astype(np.int64)
        )  # fmt: skip
    distinct, place = np.unique(word, return_inverse=True)
    return distinct // wide, distinct % wide, np.bincount(place.reshape(-1), number).astype(np.int64)


def _estimated(
    aggregate: str, worth: np.ndarray, weight: np.ndarray, of: Chances, selected: np.ndarray
) -> float | None:
    if not weight.sum() > 0:
        return None
    if aggregate in ("sum", "avg"):
        total = float(weight @ worth)
        return total if aggregate == "sum" else total / float(weight.sum())
    return extreme(worth[selected], of.chance[selected], of.rows[selected], aggregate)
