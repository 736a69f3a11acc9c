"""What an adversary reads from a release: its groups as boxes of codes, or groups whose members are known.

`Boxes` are the groups of a generalized release, exactly as their labels describe them: sets with holes, nulls, nodes,
`*`. The codes are those of the table that the boxes are laid over (the source's cells). A node covers all leaves
under it, `*` the whole domain: a reader of the labels knows no more. `PointBoxPairs` lists points with the boxes that
cover them, for large tables, where most boxes cover few of the points.

`GroupMembers` are groups whose people are known: each published row has exact quasi-identifiers and names its group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from reticent.data.cells import Cells, find_distinct_rows
from reticent.data.domain import Domain
from reticent.errors import BundleDamaged, RequestError, pluralize
from reticent.format.manifest import ColumnEntry
from reticent.labels.cover import LabelCover, join_boxes, make_cover, place_values, rebuild_hierarchy
from reticent.labels.range_ends import RangeEnds, find_range_ends

PAIRS_PER_BLOCK = 100_000  # pairs whose values are held together
POINTS_PER_CHUNK = 256  # points looked at together
POINTS_AT_ONCE = 1 << 17
PAIRS_AT_ONCE = 4_000_000
MIN_PAIRS_LISTED = 20_000_000
MAX_LISTED_SHARE_DIVISOR = 16
"""Pairs of a point and a box that meet are listed if they are at most one in so many of all pairs."""


@dataclass(frozen=True, eq=False)
class PointBoxPairs:
    """Pairs in which `box` covers `point`; sorted by point, then by box."""

    point: np.ndarray
    box: np.ndarray

    @classmethod
    def from_pairs(cls, point: np.ndarray, box: np.ndarray) -> PointBoxPairs:
        order = np.lexsort((box, point))
        return cls(point[order], box[order])

    def add_up_boxes(self, of_boxes: np.ndarray, sums: np.ndarray, block_pairs: int = PAIRS_PER_BLOCK) -> np.ndarray:
        """Add up in `found`, (points, ...), what the boxes over each point hold, some points at a time."""
        starts = np.flatnonzero(np.diff(self.point, prepend=-1))
        stops = np.append(starts[1:], len(self.point))
        first = 0
        while first < len(starts):
            last = max(int(np.searchsorted(stops, starts[first] + block_pairs, side="right")), first + 1)
            block = slice(starts[first], stops[last - 1])
            sums[self.point[starts[first:last]]] = np.add.reduceat(
                of_boxes[self.box[block]], starts[first:last] - starts[first], axis=0
            )
            first = last
        return sums

    def find_densest(
        self, density: np.ndarray, people: np.ndarray, nearest: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (point, box, people): the densest boxes over each point, at most `nearest`.

        They share the point's people by their density.
        """
        dense = density[self.box] > 0
        point = self.point[dense]
        box = self.box[dense]
        order = np.lexsort((box, -density[box], point))
        point = point[order]
        box = box[order]
        starts = np.flatnonzero(np.diff(point, prepend=-1))
        lengths = np.diff(np.append(starts, len(point)))
        is_near = np.arange(len(point)) - np.repeat(starts, lengths) < nearest
        point = point[is_near]
        box = box[is_near]
        total_density = np.bincount(point, weights=density[box], minlength=len(people))
        return point, box, density[box] / total_density[point] * people[point]


@dataclass(frozen=True, slots=True)
class PairLimits:
    """When pairs of a point and a box are listed, and how many are added up together."""

    min_pairs: int = MIN_PAIRS_LISTED
    share_divisor: int = MAX_LISTED_SHARE_DIVISOR
    block_pairs: int = PAIRS_PER_BLOCK


@dataclass(frozen=True, eq=False)
class Boxes:
    """Groups as boxes of codes.

    `covers` are the codes under each label of a quasi-identifier, `label` is each group's label there.
    """

    covers: tuple[LabelCover, ...]
    label: np.ndarray  # (quasi, groups)
    until: np.ndarray  # (groups, values + 1): rows of a group with a value below v
    ends: tuple[RangeEnds | None, ...] = ()  # by quasi-identifier, of each label; None for categories
    texts: tuple[list[str | None], ...] = ()  # by quasi-identifier, each label as it is published
    source_room: np.ndarray | None = None  # the room of each box over the source, where the points are of other people
    pair_limits: PairLimits = PairLimits()

    @classmethod
    def from_spans(cls, first: np.ndarray, last: np.ndarray, until: np.ndarray) -> Boxes:
        """Make boxes without holes.

        `first` and `last` are the first and last code of each group on each quasi-identifier: (quasi, groups) each.
        """
        first, last = (np.asarray(ends, np.int64) for ends in (first, last))
        no_prefix = np.zeros((0, 1), np.int32)
        covers = tuple(
            LabelCover(low, high, np.full(len(low), -1, np.int64), no_prefix)
            for low, high in zip(first, last, strict=True)
        )
        return cls(covers, np.repeat(np.arange(first.shape[1])[None, :], len(covers), axis=0), until)

    @cached_property
    def counts(self) -> np.ndarray:
        """(groups, values): the rows that each group publishes of each value."""
        return np.diff(self.until, axis=1)

    @cached_property
    def first(self) -> np.ndarray:
        return self._pick_by_label(lambda column, label: column.lower[label])

    @cached_property
    def last(self) -> np.ndarray:
        return self._pick_by_label(lambda column, label: column.upper[label])

    @cached_property
    def widths(self) -> np.ndarray:
        """(quasi, groups): how many codes a group's label covers."""
        return self._pick_by_label(lambda column, label: column.sizes[label])

    def _pick_by_label(self, pick: Callable[[LabelCover, np.ndarray], np.ndarray]) -> np.ndarray:
        picked = [pick(column, label) for column, label in zip(self.covers, self.label, strict=True)]
        return np.ascontiguousarray(np.array(picked, np.int32).reshape(len(self.covers), -1))

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
        """Lay the same groups over the cells of other people, where a label may cover none.

        Values keep their codes, and groups the density that they have over the source.
        """
        return replace(
            self,
            covers=find_covers(entries, cells, self.texts, foreign, others=True),
            ends=list_range_ends(entries, cells, self.texts, foreign),
            source_room=self.room,
        )

    @cached_property
    def holes(self) -> tuple[np.ndarray, np.ndarray]:
        """(quasi, groups) the row of a table of prefix counts for labels that have holes, -1 for others; and that table."""
        table_width = max((column.prefix.shape[1] for column in self.covers), default=1)
        tables = []
        start = 0
        table_row = np.full(self.label.shape, -1, np.int32)
        for axis, column in enumerate(self.covers):
            hole = column.holes[self.label[axis]]
            table_row[axis] = np.where(hole >= 0, hole + start, -1)
            tables.append(np.pad(column.prefix, ((0, 0), (0, table_width - column.prefix.shape[1])), mode="edge"))
            start += len(column.prefix)
        return table_row, np.ascontiguousarray(np.concatenate(tables or [np.zeros((0, table_width))]), np.int32)

    def covering(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (points, groups): which boxes cover each point, a chunk of points at a time."""
        groups = self.label.shape[1]
        for start in range(0, len(points), POINTS_PER_CHUNK):
            chunk = slice(start, min(start + POINTS_PER_CHUNK, len(points)))
            inside = np.ones((chunk.stop - start, groups), bool)
            for axis, column in enumerate(self.covers):
                inside &= column.table(points[chunk, axis])[:, self.label[axis]]
            yield chunk, inside

    def spread(self, axis: int, size: int) -> np.ndarray:
        """Return (codes, values): the rows of every group counted at every code that its label covers."""
        column = self.covers[axis]
        label = self.label[axis]
        counts_by_label = np.zeros((len(column.lower), self.counts.shape[1]))
        np.add.at(counts_by_label, label, self.counts)
        return column.spread(counts_by_label, size)

    def belief(self, points: np.ndarray) -> np.ndarray:
        """Return (points, values): the summed density of the rows of every box that covers a point.

        It is 0 where none does.
        """
        density = self.density
        sums = np.zeros((len(points), density.shape[1]))
        if (pairs := self._find_sparse_pairs(points)) is not None:
            return pairs.add_up_boxes(density, sums, self.pair_limits.block_pairs)
        for chunk, inside in self.covering(points):
            sums[chunk] = inside @ density
        return sums

    def _find_sparse_pairs(self, points: np.ndarray) -> PointBoxPairs | None:
        """Return which boxes cover which points, if listing them pays: for many points and boxes, few of which meet."""
        if len(points) * self.label.shape[1] < self.pair_limits.min_pairs:
            return None
        regions = join_boxes(self.covers, self.label.T.astype(np.int64), points)
        return (
            PointBoxPairs.from_pairs(*regions.pairs())
            if regions.many * self.pair_limits.share_divisor <= len(points) * self.label.shape[1]
            else None
        )

    def list_pairs(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield (point, box) of each box that covers a point, a chunk of points at a time.

        Points count from the chunk's first.
        """
        labels = self.label.T.astype(np.int64)
        starts = range(0, len(points), POINTS_AT_ONCE)
        waiting = [slice(start, min(start + POINTS_AT_ONCE, len(points))) for start in reversed(starts)]
        while waiting:
            chunk = waiting.pop()
            regions = join_boxes(self.covers, labels, points[chunk])
            middle = (chunk.start + chunk.stop) // 2
            if regions.many > PAIRS_AT_ONCE and chunk.start < middle:
                waiting += [slice(middle, chunk.stop), slice(chunk.start, middle)]
                continue
            yield chunk, *regions.pairs()

    def memberships(
        self, points: np.ndarray, people: np.ndarray, nearest: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (point, group, people): the densest boxes over each point, at most `nearest`.

        They share the point's people by their density.
        """
        density = self.counts.sum(axis=1) / np.where(self.room > 0, self.room, np.inf)
        if (pairs := self._find_sparse_pairs(points)) is not None:
            return pairs.find_densest(density, people, nearest)
        box_count = min(nearest, len(density))
        point_blocks = []
        groups = []
        weights = []
        for chunk, inside in self.covering(points):
            reach = np.where(inside, density, 0)
            densest = np.argpartition(-reach, box_count - 1, axis=1)[:, :box_count]
            share = np.take_along_axis(reach, densest, axis=1)
            row, _ = np.nonzero(share)
            point_blocks.append(row + chunk.start)
            groups.append(densest[share > 0])
            total_share = np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
            weights.append((share / total_share)[share > 0] * people[row + chunk.start])
        return np.concatenate(point_blocks), np.concatenate(groups), np.concatenate(weights)


def build_boxes(
    entries: Sequence[ColumnEntry],
    frame: pl.DataFrame,
    cells: Cells,
    *,
    foreign: bool = False,
    others: bool = False,
    weights: np.ndarray | None = None,
) -> Boxes:
    """Build the groups of a published table over the cells of the table it was made from.

    `foreign`: another tool's labels. `others`: the cells are of people who are not in the release, so that a label
    may cover none of them. `weights`: how many people each row stands for.
    """
    sensitive = cells.sensitive[0]
    numbers = []
    labels = []
    for entry in entries:
        number, distinct = _encode_labels(frame[entry.name])
        numbers.append(number)
        labels.append(distinct)
    numbered = np.column_stack(numbers) if numbers else np.zeros((len(frame), 0), np.int64)
    unique, group = find_distinct_rows(numbered)
    code_by_text = {text: code for code, text in enumerate(sensitive.texts)}
    texts = frame[sensitive.name].cast(pl.String)
    value = texts.replace_strict(code_by_text, default=max(sensitive.null_code, 0), return_dtype=pl.Int64).to_numpy()
    counts = np.zeros((len(unique), sensitive.size + 1), np.int64)
    np.add.at(counts, (group, value + 1), 1 if weights is None else weights)
    covers = find_covers(entries, cells, labels, foreign, others)
    ends = list_range_ends(entries, cells, labels, foreign)
    return Boxes(covers, np.ascontiguousarray(unique.T), np.cumsum(counts, axis=1), ends, tuple(labels))


def find_covers(
    entries: Sequence[ColumnEntry],
    cells: Cells,
    labels: Sequence[list[str | None]],
    foreign: bool = False,
    others: bool = False,
) -> tuple[LabelCover, ...]:
    """Find the codes of the cells that the distinct labels of each quasi-identifier cover."""
    columns = zip(restore_hierarchies(entries, cells), cells.quasi, labels, strict=True)
    return tuple(_find_cover(*column, foreign, others) for column in columns)


def restore_hierarchy(entry: ColumnEntry, domain: Domain, rows: np.ndarray) -> ColumnEntry:
    """Return a column with the whole of a hierarchy that was built from data; `rows` are those of each code.

    A manifest holds only as much of it as is published, and the values alone do not tell it: a balanced tree depends on
    how many rows have each value.
    """
    occurring = np.flatnonzero(rows[: len(domain.texts)])
    if entry.built is None or not len(occurring):
        return entry
    texts = pl.Series(domain.name, [domain.texts[code] for code in occurring], dtype=pl.String)
    return rebuild_hierarchy(entry, texts, rows[occurring].tolist())


def restore_hierarchies(entries: Sequence[ColumnEntry], cells: Cells) -> tuple[ColumnEntry, ...]:
    """Return the quasi-identifiers with the hierarchies that were built from these cells."""
    return tuple(
        restore_hierarchy(
            entry, domain, np.bincount(codes, weights=cells.counts, minlength=domain.size).astype(np.int64)
        )
        for entry, domain, codes in zip(entries, cells.quasi, cells.codes.T, strict=True)
    )


def list_range_ends(
    entries: Sequence[ColumnEntry], cells: Cells, labels: Sequence[list[str | None]], foreign: bool = False
) -> tuple[RangeEnds | None, ...]:
    """List the codes of the cells at the ends of the distinct labels of each quasi-identifier."""
    columns = zip(restore_hierarchies(entries, cells), cells.quasi, labels, strict=True)
    return tuple(
        find_range_ends(entry, column_labels, _list_texts(domain), foreign=foreign)
        for entry, domain, column_labels in columns
    )


@dataclass(frozen=True, eq=False)
class GroupMembers:
    """Groups with known members: `people` people with the quasi-identifiers `codes` are in `group`.

    `counts` are the groups' published values.
    """

    codes: np.ndarray  # (members, quasi)
    group: np.ndarray
    people: np.ndarray
    counts: np.ndarray  # (groups, values)

    @cached_property
    def shares(self) -> np.ndarray:
        return self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)

    def spread(self, axis: int, size: int) -> np.ndarray:
        sums = np.zeros((size, self.counts.shape[1]))
        np.add.at(sums, self.codes[:, axis], self.shares[self.group] * self.people[:, None])
        return sums

    def belief(self, points: np.ndarray) -> np.ndarray:
        sums = np.zeros((len(points), self.counts.shape[1]))
        np.add.at(sums, self._point(points), self.shares[self.group] * self.people[:, None])
        return sums

    def memberships(
        self, points: np.ndarray, people: np.ndarray, nearest: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._point(points), self.group, self.people

    def keep_members_at(self, points: np.ndarray) -> GroupMembers:
        """Leave out the members who are at none of the points; the groups' values stay."""
        is_present = self._find_points(points) >= 0
        return replace(self, codes=self.codes[is_present], group=self.group[is_present], people=self.people[is_present])

    def _point(self, points: np.ndarray) -> np.ndarray:
        """Return the index of each member's point."""
        point_index = self._find_points(points)
        if (point_index < 0).any():
            raise RequestError(
                f"{pluralize(int(self.people[point_index < 0].sum()), 'published row', 'is', 'are')} not in the source.",
                attempt="the data that the release was made from.",
            )
        return point_index

    def _find_points(self, points: np.ndarray) -> np.ndarray:
        """Return the index of each member's point, -1 where it is none of the points."""
        all_points = np.concatenate([points, self.codes])
        _, number = np.unique(all_points, axis=0, return_inverse=True)
        number = number.reshape(-1)
        point_by_number = np.full(int(number.max(initial=0)) + 1, -1, np.int64)
        point_by_number[number[: len(points)]] = np.arange(len(points))
        return point_by_number[number[len(points) :]]


def build_members(quasi: pl.DataFrame, group: pl.Series, counts: np.ndarray, cells: Cells) -> GroupMembers:
    """Build members from exact quasi-identifiers and the group of each row, in the codes of the source's cells."""
    codes = [encode_values(domain, quasi[domain.name]) for domain in cells.quasi]
    rows = np.column_stack([*codes, group.to_numpy().astype(np.int64)])
    distinct, people = np.unique(rows, axis=0, return_counts=True)
    return GroupMembers(distinct[:, :-1], distinct[:, -1], people.astype(np.float64), counts)


def encode_values(domain: Domain, series: pl.Series) -> np.ndarray:
    """Return the codes of published values in the source's domain."""
    code_by_text = {text: code for code, text in enumerate(domain.texts)}
    texts = series.cast(pl.String)
    known_codes = texts.replace_strict(code_by_text, default=-1, return_dtype=pl.Int64)
    coded = pl.select(pl.when(texts.is_null()).then(domain.null_code).otherwise(known_codes)).to_series().to_numpy()
    if (coded < 0).any():
        raise RequestError(
            f"Column {domain.name!r} holds {pluralize(int((coded < 0).sum()), 'value')} that the source lacks."
        )
    return coded


def _encode_labels(labels: pl.Series) -> tuple[np.ndarray, list[str | None]]:
    """Return the code of each row's label, and the labels."""
    distinct = labels.unique(maintain_order=True)
    number = pl.DataFrame({"label": distinct, "number": np.arange(len(distinct))})
    rows = pl.DataFrame({"label": labels}).join(number, on="label", how="left", nulls_equal=True, maintain_order="left")
    return rows["number"].to_numpy(), distinct.to_list()


def _find_cover(
    entry: ColumnEntry, domain: Domain, labels: list[str | None], foreign: bool, others: bool
) -> LabelCover:
    """Find what the labels cover, in the domain's own codes."""
    texts = _list_texts(domain)
    try:
        placed = place_values(entry, labels, texts, foreign=foreign)
    except (ValueError, RecursionError):  # UnreadableLabel, or quoted and no JSON
        if foreign:
            raise RequestError(
                f"Nothing explains the labels of column {domain.name!r}: one of them names no value of the source.",
                attempt=f"--hierarchy {domain.name}=FILE, the hierarchy by which the table was made "
                "(`reticent hierarchy` builds one from the source), or the source as it was read then.",
            ) from None
        raise BundleDamaged(f"A label of column {domain.name!r} names no value of the source.") from None
    order = np.argsort(placed.codes, kind="stable")  # several values may stand at one place: beyond a declared top
    places = placed.codes[order]
    covered = [np.sort(order[_find_held_places(places, label_places)]) for label_places in placed.covered]
    if not foreign and not others and not all(len(codes) for codes in covered):
        raise BundleDamaged(f"A label of column {domain.name!r} names no value of the source.")
    return make_cover(covered, domain.size)


def _list_texts(domain: Domain) -> pl.Series:
    return pl.Series(domain.name, [*domain.texts, *([None] if domain.null else [])], dtype=pl.String)


def _find_held_places(places: np.ndarray, wanted: np.ndarray) -> np.ndarray | slice:
    """Return which of the sorted places are among the sorted `held` ones."""
    if len(wanted) and wanted[-1] - wanted[0] + 1 == len(wanted):
        return slice(np.searchsorted(places, wanted[0]), np.searchsorted(places, wanted[-1], "right"))
    return np.isin(places, wanted)
