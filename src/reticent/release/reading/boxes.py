"""Groups of a generalized release as boxes of codes, exactly as their labels say: sets with holes, nulls, nodes, `*`.

The codes are those of the table that the boxes are laid over (the source's cells).  A node covers all leaves under it, `*` the
whole domain: a reader of the labels knows no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged
from reticent.release.manifest import ColumnEntry
from reticent.release.reading.cover import Cover, cover, join
from reticent.release.reading.pairs import Pairs
from reticent.release.reading.places import placed
from reticent.release.reading.range_ends import RangeEnds, range_ends
from reticent.table.cells import Cells, distinct_rows
from reticent.table.domain import Domain

CHUNK = 256  # points looked at together
POINTS_AT_ONCE = 1 << 17
PAIRS_AT_ONCE = 4_000_000
LARGE, SPARSE = (
    20_000_000,
    16,
)  # of so many pairs of a point and a box, those that meet are listed if they are one in so many


@dataclass(frozen=True, eq=False)
class Boxes:
    """`covers` says which codes each label of a quasi-identifier covers, `label` which label each group has there."""

    covers: tuple[Cover, ...]
    label: np.ndarray  # (quasi, groups)
    until: np.ndarray  # (groups, values + 1): rows of a group with a value below v
    ends: tuple[RangeEnds | None, ...] = ()  # by quasi-identifier, of each label; None for categories
    texts: tuple[list[str | None], ...] = ()  # by quasi-identifier, each label as it is published
    source_room: np.ndarray | None = None  # the room of each box over the source, where the points are of other people

    @classmethod
    def of_spans(cls, first: np.ndarray, last: np.ndarray, until: np.ndarray) -> Boxes:
        """Boxes without holes, from the first and last code of each group on each quasi-identifier: (quasi, groups) each."""
        first, last = (np.asarray(ends, np.int64) for ends in (first, last))
        none = np.zeros((0, 1), np.int32)
        covers = tuple(
            Cover(low, high, np.full(len(low), -1, np.int64), none) for low, high in zip(first, last, strict=True)
        )
        return cls(covers, np.repeat(np.arange(first.shape[1])[None, :], len(covers), axis=0), until)

    @cached_property
    def counts(self) -> np.ndarray:
        """(groups, values): the rows that each group publishes of each value."""
        return np.diff(self.until, axis=1)

    @cached_property
    def first(self) -> np.ndarray:
        return self._each(lambda column, label: column.lower[label])

    @cached_property
    def last(self) -> np.ndarray:
        return self._each(lambda column, label: column.upper[label])

    @cached_property
    def widths(self) -> np.ndarray:
        """(quasi, groups): how many codes a group's label covers."""
        return self._each(lambda column, label: column.sizes[label])

    def _each(self, pick: Callable[[Cover, np.ndarray], np.ndarray]) -> np.ndarray:
        found = [pick(column, label) for column, label in zip(self.covers, self.label, strict=True)]
        return np.ascontiguousarray(np.array(found, np.int32).reshape(len(self.covers), -1))

    @cached_property
    def room(self) -> np.ndarray:
        """How many combinations of values each box covers."""
        if self.source_room is not None:
            return self.source_room
        return np.prod(self.widths.astype(np.float64), axis=0)

    @cached_property
    def density(self) -> np.ndarray:
        """(groups, values): the rows of each value for each combination that a box covers; 0 where it covers none."""
        covered = np.where(self.room > 0, self.room, np.inf)
        return self.counts / covered[:, None]

    def lay_over(self, entries: Sequence[ColumnEntry], cells: Cells, foreign: bool = False) -> Boxes:
        """Lay the same groups over the cells of other people: a label may cover none of them.

        Values keep their codes, and groups the density that they have over the source.
        """
        return replace(
            self,
            covers=covers_of(entries, cells, self.texts, foreign, others=True),
            ends=ends_of(entries, cells, self.texts, foreign),
            source_room=self.room,
        )

    @cached_property
    def holes(self) -> tuple[np.ndarray, np.ndarray]:
        """(quasi, groups) the row of a table of prefix counts for labels that have holes, -1 for others; and that table."""
        wide = max((column.prefix.shape[1] for column in self.covers), default=1)
        tables, start = [], 0
        place = np.full(self.label.shape, -1, np.int32)
        for axis, column in enumerate(self.covers):
            hole = column.holes[self.label[axis]]
            place[axis] = np.where(hole >= 0, hole + start, -1)
            tables.append(np.pad(column.prefix, ((0, 0), (0, wide - column.prefix.shape[1])), mode="edge"))
            start += len(column.prefix)
        return place, np.ascontiguousarray(np.concatenate(tables or [np.zeros((0, wide))]), np.int32)

    def covering(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """(points, groups): which boxes cover each point, a chunk of points at a time."""
        groups = self.label.shape[1]
        for start in range(0, len(points), CHUNK):
            here = slice(start, min(start + CHUNK, len(points)))
            inside = np.ones((here.stop - start, groups), bool)
            for axis, column in enumerate(self.covers):
                inside &= column.table(points[here, axis])[:, self.label[axis]]
            yield here, inside

    def spread(self, axis: int, size: int) -> np.ndarray:
        """(codes, values): the rows of every group counted at every code that its label covers."""
        column, label = self.covers[axis], self.label[axis]
        held = np.zeros((len(column.lower), self.counts.shape[1]))
        np.add.at(held, label, self.counts)
        return column.spread(held, size)

    def belief(self, points: np.ndarray) -> np.ndarray:
        """(points, values): of every box that covers a point the density of its rows; 0 where none does."""
        density = self.density
        found = np.zeros((len(points), density.shape[1]))
        if (few := self._few(points)) is not None:
            return few.added_up(density, found)
        for here, inside in self.covering(points):
            found[here] = inside @ density
        return found

    def _few(self, points: np.ndarray) -> Pairs | None:
        """Which boxes cover which points, where it is worth listing: of many points and boxes, few of which meet."""
        if len(points) * self.label.shape[1] < LARGE:
            return None
        regions = join(self.covers, self.label.T.astype(np.int64), points)
        return Pairs.of(*regions.pairs()) if regions.many * SPARSE <= len(points) * self.label.shape[1] else None

    def list_pairs(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield (point, box) of each box that covers a point, of some points after the other; points count from their first."""
        labels = self.label.T.astype(np.int64)
        starts = range(0, len(points), POINTS_AT_ONCE)
        waiting = [slice(start, min(start + POINTS_AT_ONCE, len(points))) for start in reversed(starts)]
        while waiting:
            here = waiting.pop()
            regions = join(self.covers, labels, points[here])
            middle = (here.start + here.stop) // 2
            if regions.many > PAIRS_AT_ONCE and here.start < middle:
                waiting += [slice(middle, here.stop), slice(here.start, middle)]
                continue
            yield here, *regions.pairs()

    def memberships(
        self, points: np.ndarray, people: np.ndarray, nearest: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(point, group, people): the densest boxes over each point, at most `nearest`, sharing its people by their density."""
        density = self.counts.sum(axis=1) / np.where(self.room > 0, self.room, np.inf)
        if (few := self._few(points)) is not None:
            return few.densest(density, people, nearest)
        most = min(nearest, len(density))
        found, groups, weights = [], [], []
        for here, inside in self.covering(points):
            reach = np.where(inside, density, 0)
            chosen = np.argpartition(-reach, most - 1, axis=1)[:, :most]
            share = np.take_along_axis(reach, chosen, axis=1)
            at, _ = np.nonzero(share)
            found.append(at + here.start)
            groups.append(chosen[share > 0])
            whole = np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
            weights.append((share / whole)[share > 0] * people[at + here.start])
        return np.concatenate(found), np.concatenate(groups), np.concatenate(weights)


def boxes(
    entries: Sequence[ColumnEntry],
    frame: pl.DataFrame,
    cells: Cells,
    *,
    foreign: bool = False,
    others: bool = False,
    weights: np.ndarray | None = None,
) -> Boxes:
    """The groups of a published table, over the cells of the table it was made from; `foreign`: another tool's labels.

    `others`: the cells are of people who are not in the release, so that a label may cover none of them.  `weights`: how many people
    each row stands for.
    """
    sensitive = cells.sensitive[0]
    numbers, labels = [], []
    for entry in entries:
        number, distinct = _numbered(frame[entry.name])
        numbers.append(number)
        labels.append(distinct)
    numbered = np.column_stack(numbers) if numbers else np.zeros((len(frame), 0), np.int64)
    unique, group = distinct_rows(numbered)
    known = {text: code for code, text in enumerate(sensitive.texts)}
    texts = frame[sensitive.name].cast(pl.String)
    value = texts.replace_strict(known, default=max(sensitive.null_code, 0), return_dtype=pl.Int64).to_numpy()
    counts = np.zeros((len(unique), sensitive.size + 1), np.int64)
    np.add.at(counts, (group, value + 1), 1 if weights is None else weights)
    covers, ends = covers_of(entries, cells, labels, foreign, others), ends_of(entries, cells, labels, foreign)
    return Boxes(covers, np.ascontiguousarray(unique.T), np.cumsum(counts, axis=1), ends, tuple(labels))


def _numbered(labels: pl.Series) -> tuple[np.ndarray, list[str | None]]:
    """The number of each row's label, and the labels."""
    distinct = labels.unique(maintain_order=True)
    number = pl.DataFrame({"label": distinct, "number": np.arange(len(distinct))})
    rows = pl.DataFrame({"label": labels}).join(number, on="label", how="left", nulls_equal=True, maintain_order="left")
    return rows["number"].to_numpy(), distinct.to_list()


def covers_of(
    entries: Sequence[ColumnEntry],
    cells: Cells,
    labels: Sequence[list[str | None]],
    foreign: bool = False,
    others: bool = False,
) -> tuple[Cover, ...]:
    """Which codes of the cells the distinct labels of each quasi-identifier cover."""
    return tuple(_cover(*column, foreign, others) for column in zip(entries, cells.quasi, labels, strict=True))


def ends_of(
    entries: Sequence[ColumnEntry], cells: Cells, labels: Sequence[list[str | None]], foreign: bool = False
) -> tuple[RangeEnds | None, ...]:
    """Which codes of the cells stand at the ends of the distinct labels of each quasi-identifier."""
    columns = zip(entries, cells.quasi, labels, strict=True)
    return tuple(range_ends(entry, shown, _texts(domain), foreign=foreign) for entry, domain, shown in columns)


def _texts(domain: Domain) -> pl.Series:
    return pl.Series(domain.name, [*domain.texts, *([None] if domain.null else [])], dtype=pl.String)


def _cover(entry: ColumnEntry, domain: Domain, labels: list[str | None], foreign: bool, others: bool) -> Cover:
    """What the labels cover, in the domain's own codes."""
    texts = _texts(domain)
    try:
        found = placed(entry, labels, texts, foreign=foreign)
    except (ValueError, RecursionError):  # Unreadable, or quoted and no JSON
        raise BundleDamaged(f"A label of column {domain.name!r} names no value of the source.") from None
    order = np.argsort(found.codes, kind="stable")  # several values may stand at one place: beyond a declared top
    places = found.codes[order]
    covered = [np.sort(order[_among(places, held)]) for held in found.covered]
    if not foreign and not others and not all(len(codes) for codes in covered):
        raise BundleDamaged(f"A label of column {domain.name!r} names no value of the source.")
    return cover(covered, domain.size)


def _among(places: np.ndarray, held: np.ndarray) -> np.ndarray | slice:
    """Which of the sorted places are among the sorted ones held."""
    if len(held) and held[-1] - held[0] + 1 == len(held):
        return slice(np.searchsorted(places, held[0]), np.searchsorted(places, held[-1], "right"))
    return np.isin(places, held)
