"""Matching of published rows with source rows: does each published row stand for a source row of its own?

A published row may stand for a source row that its labels cover and that has the same sensitive and carried values.
Rows with equal labels and values are one box, source rows with equal values one point. Where no point lies under two
boxes, counting decides; otherwise it is a matching problem, and a maximum flow finds whether a perfect matching exists
(`match_rows`). Rows with different sensitive or carried values never match: the rows with certain values are a part
that is matched by itself, with what labels cover known from the whole tables.

`link_rows` matches rows whose quasi-identifiers are published as they are: a published row stands for source rows with
the same values.

`link_blocks` puts rows of a release and of its source that agree in every exactly published column into blocks. Where
release and source have a block equally often, its published sensitive values are those of its source rows, in an
unknown order: the order is known where the source's values are all the same, as they always are in a block of one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import polars as pl

from reticent.audit.groups import (
    NumberedColumn,
    combine_columns,
    enumerate_words,
    number_values,
    pack_columns,
    rank_in_order,
)
from reticent.audit.source_comparison import (
    ComparedRows,
    ConvertedSource,
    RowKeys,
    SourceComparison,
    TextFunction,
    convert_source,
    find_places,
)
from reticent.audit.subject import Subject
from reticent.data.columns import Role
from reticent.data.parsing import parse_dtype, parse_texts
from reticent.errors import HierarchyError
from reticent.format.manifest import ColumnEntry
from reticent.kernels import row_matching
from reticent.labels.cover import CoveredRegions, LabelCover, join_boxes, place_values, rebuild_hierarchy
from reticent.labels.scale import UnreadableLabel


@dataclass(frozen=True, eq=False)
class LabelAxis:
    """A quasi-identifier: what each of its labels covers, and the codes of all source values, each with its rows."""

    name: str
    labels: pl.Series
    cover: LabelCover
    codes: np.ndarray
    row_counts: np.ndarray  # rows of the source by code


@dataclass(frozen=True, eq=False)
class RowMatching:
    """Result of matching: `unmatched` published rows stand for no source row.

    `stray` marks source rows that no published row could stand for.
    """

    regions: CoveredRegions
    box_rows: np.ndarray  # how many published rows each box has
    point_rows: np.ndarray  # how many source rows each point has
    box_of_row: np.ndarray  # of each published row
    point_of_row: np.ndarray  # of each source row
    overlapping: bool
    unmatched: int
    shared_values: tuple[np.ndarray, np.ndarray]  # the values of each published and of each source row, numbered alike
    positions: np.ndarray  # of each source row

    @property
    def stray(self) -> np.ndarray:
        return (self.regions.covering() == 0)[self.point_of_row]

    def compute_mean_places(self) -> np.ndarray:
        """Compute, for each published row, the mean position of the source rows that its box covers."""
        positions = np.bincount(self.point_of_row, weights=self.positions, minlength=len(self.point_rows))
        boxes = len(self.box_rows)
        covered_rows = self.regions.total(self.point_rows, boxes)
        return (self.regions.total(positions, boxes) / np.maximum(covered_rows, 1))[self.box_of_row]


def make_label_axes(
    subject: Subject, labels: Mapping[str, NumberedColumn], source: SourceComparison
) -> list[LabelAxis]:
    """Find what labels cover among all values of the source."""
    axes = []
    for entry in subject.quasi:
        distinct, times = source.values(entry.name)
        full_entry = rebuild_hierarchy(entry, distinct, times.tolist())
        named = labels[entry.name].distinct
        try:
            placed = place_values(full_entry, named.to_list(), distinct, foreign=subject.foreign)
        except UnreadableLabel:
            if not subject.foreign:
                raise
            raise HierarchyError(
                f"The hierarchy of {entry.name!r} does not have all labels of the table, so that these cannot be compared with the source.",
                attempt="a hierarchy with its labels, or the audit without the source.",
            ) from None
        row_counts = np.bincount(placed.codes, weights=times, minlength=placed.size).astype(np.int64)
        axes.append(LabelAxis(entry.name, named, placed.cover, placed.codes, row_counts))
    return axes


def match_rows(
    subject: Subject,
    axes: Sequence[LabelAxis],
    labels: Mapping[str, NumberedColumn],
    ours: ComparedRows,
    theirs: ComparedRows,
    source: SourceComparison,
) -> RowMatching:
    """Make boxes from the published rows and points from the source rows, join them and match them."""
    covers = [axis.cover for axis in axes]
    boxes = [labels[axis.name] for axis in axes]
    points = [_convert_to_places(axis, source.number_column(axis.name, theirs)) for axis in axes]
    published_values, source_values, size = _number_shared_values(subject, ours.frame, theirs.frame, source)
    covers.append(LabelCover(np.arange(size), np.arange(size), np.full(size, -1), np.zeros((0, size + 1), np.int32)))
    box, box_rows, box_of_row = _count_combinations([*boxes, published_values], ours)
    point, point_rows, point_of_row = _count_combinations([*points, source_values], theirs)
    regions = _join_disjoint_boxes(covers, box, point, boxes, points)
    overlapping = regions is None
    if regions is None:
        regions = join_boxes(covers, box, point)
        overlapping = bool((regions.covering() > 1).any())
    if overlapping:
        unmatched = _count_unserved_rows(regions, box_rows, point_rows)
    else:
        covered = regions.total(point_rows, len(box_rows))
        unmatched = int(np.maximum(box_rows - covered, 0).sum())
    return RowMatching(
        regions=regions,
        box_rows=box_rows,
        point_rows=point_rows,
        box_of_row=box_of_row,
        point_of_row=point_of_row,
        overlapping=overlapping,
        unmatched=unmatched,
        shared_values=(published_values.codes, source_values.codes),
        positions=theirs.positions,
    )


def number_labels(rows: ComparedRows, all_labels: Mapping[str, NumberedColumn]) -> dict[str, NumberedColumn]:
    """Number the labels of some rows as those of all rows are numbered."""
    return {
        name: NumberedColumn(find_places(rows.frame[name], column.distinct), column.distinct)
        for name, column in all_labels.items()
    }


def cover_labels(
    entry: ColumnEntry, labels: pl.Series, source: NumberedColumn, *, foreign: bool = False
) -> tuple[LabelCover, NumberedColumn]:
    """Return the codes under each label, and the source column in these codes."""
    placed = place_values(entry, labels.to_list(), source.distinct, foreign=foreign)
    return placed.cover, NumberedColumn(placed.codes[source.codes], pl.Series(np.arange(placed.size)))


def number_alike(
    published: pl.Series, source: pl.Series, format_published: TextFunction, format_source: TextFunction
) -> NumberedColumn:
    """Number the texts of a column's published and source values alike; the codes of published rows come first."""
    ours = number_values(published)
    theirs = number_values(source)
    combined = number_values(format_published(ours.distinct).append(format_source(theirs.distinct)))
    our_codes = combined.codes[: len(ours)][ours.codes]
    their_codes = combined.codes[len(ours) :][theirs.codes]
    return NumberedColumn(np.concatenate([our_codes, their_codes]), combined.distinct)


def format_shared_values(values: pl.Series, entry: ColumnEntry, *, is_readable: bool = True) -> pl.Series:
    """Format source values as the texts that a labelled release publishes.

    If not all of the column `is_readable` as the published type, format each value as it is.
    """
    rounded = round_values(values, entry)
    return format_texts(rounded, entry) if is_readable else rounded.cast(pl.String)


def can_format_shared_values(entry: ColumnEntry, source: SourceComparison) -> bool:
    """Whether all of a source column can be read as the type that is published."""
    return entry.round_to is not None or source.reads(entry.name, partial(cast_strictly, entry=entry))


def round_values(values: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Round source values as a column with `round_to` publishes them: to the nearest multiple, ties to the even one."""
    if entry.round_to is None:
        return values
    texts = values.cast(pl.String).str.strip_chars() if values.dtype == pl.String else values
    numbers = texts.cast(pl.Float64, strict=False).fill_nan(None)
    step = entry.round_to
    multiples = [None if x is None else round(x / step) * step for x in numbers.to_list()]
    return pl.Series(multiples, dtype=parse_dtype(entry.dtype), strict=False)


def format_texts(values: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Format values as texts of the published type, so that 1, 1.0 and "1" agree where the column is numeric."""
    wanted = parse_dtype(entry.dtype)
    if values.dtype.is_float():
        values = values.set(values.eq_missing(0.0), 0.0)  # the negative zero is zero
    if values.dtype == wanted or wanted == pl.String:
        return values.cast(pl.String)
    try:
        return cast_strictly(values, entry).cast(pl.String)
    except Exception:
        return values.cast(pl.String)


def cast_strictly(values: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Cast values to the type that is published; raise where a value does not fit."""
    wanted = parse_dtype(entry.dtype)
    if values.dtype == wanted or wanted == pl.String:
        return values
    return parse_texts(values.str.strip_chars(), entry.dtype) if values.dtype == pl.String else values.cast(wanted)


@dataclass(frozen=True, eq=False)
class BlockEntries:
    """How many (`count`) rows of a block hold a value, sorted by block and value."""

    block: np.ndarray
    value: np.ndarray
    count: np.ndarray

    def __len__(self) -> int:
        return len(self.block)


@dataclass(frozen=True, eq=False)
class LinkedBlocks:
    """The blocks that both tables have equally often.

    `values[column]` are their values; `places` ranks them in their order.

    `unmatched` rows are published and not in the source; `absent` ones are in the source and not published. Of other
    blocks that both have equally often, `unknown` rows hold a value that the manifest does not list.
    """

    sizes: np.ndarray
    source_entries: BlockEntries
    published_entries: BlockEntries
    values: dict[str, pl.Series]
    unmatched: int
    absent: int
    unknown: int

    @property
    def single(self) -> np.ndarray:
        """Blocks whose source rows hold one value: the source's value of each row is known."""
        return np.bincount(self.source_entries.block, minlength=len(self.sizes)) == 1

    @cached_property
    def places(self) -> dict[str, np.ndarray]:
        ranks = {}
        for name, values in self.values.items():
            column = number_values(values)
            ranks[name] = rank_in_order(column.distinct)[column.codes]
        return ranks


def join_blocks(parts: Sequence[LinkedBlocks]) -> LinkedBlocks:
    """Join the blocks of several parts; no block is in two parts."""
    if len(parts) == 1:
        return parts[0]
    first = np.cumsum([0, *(len(part.sizes) for part in parts)])
    return LinkedBlocks(
        sizes=np.concatenate([part.sizes for part in parts]),
        source_entries=_join_entries([part.source_entries for part in parts], first),
        published_entries=_join_entries([part.published_entries for part in parts], first),
        values={name: pl.concat([part.values[name] for part in parts]) for name in parts[0].values},
        unmatched=sum(part.unmatched for part in parts),
        absent=sum(part.absent for part in parts),
        unknown=sum(part.unknown for part in parts),
    )


def link_blocks(
    ours: ComparedRows, theirs: ComparedRows, keys: Sequence[str], values: tuple[np.ndarray, np.ndarray], size: int
) -> LinkedBlocks:
    """Make blocks of rows with equal `keys`.

    `values` are the codes, below `size`, of both tables' sensitive values; -1 is none.
    """
    columns = {name: number_values(pl.concat([ours.frame[name], theirs.frame[name]])) for name in keys}
    rows = len(ours)
    word = pack_columns(list(columns.values()), rows + len(theirs))
    distinct, first, of_row = np.unique(word, return_index=True, return_inverse=True)
    published_block = of_row[:rows]
    source_block = of_row[rows:]
    block_rows = ours.tally(published_block, len(distinct))
    difference = block_rows - theirs.tally(source_block, len(distinct))
    is_unknown = np.concatenate(values) < 0
    has_unknown = np.bincount(of_row, weights=is_unknown, minlength=len(distinct)) > 0
    is_linked = (difference == 0) & ~has_unknown
    number = np.where(is_linked, np.cumsum(is_linked) - 1, -1)
    multiplicities = np.concatenate([ours.multiplicities, theirs.multiplicities])
    return LinkedBlocks(
        sizes=block_rows[is_linked],
        source_entries=_count_entries(number[source_block], values[1], size, theirs.multiplicities),
        published_entries=_count_entries(number[published_block], values[0], size, ours.multiplicities),
        values={name: column.distinct.gather(column.codes[first[is_linked]]) for name, column in columns.items()},
        unmatched=int(np.maximum(difference, 0).sum()),
        absent=int(np.maximum(-difference, 0).sum()),
        unknown=int(multiplicities[is_unknown & (difference == 0)[of_row]].sum()),
    )


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """Rows linked by combination.

    `ours` and `theirs` number the combinations of published rows and of readable source rows alike. A source row with a
    value that its published type cannot hold stands for nothing: `readable` marks the others. `rows` are those of both
    tables.
    """

    ours: np.ndarray
    theirs: np.ndarray
    size: int
    readable: np.ndarray
    rows: tuple[ComparedRows, ComparedRows]

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """How many published and how many source rows have each combination."""
        return self.rows[0].tally(self.ours, self.size), self.rows[1].tally(self.theirs, self.size, self.readable)

    @property
    def unmatched(self) -> int:
        published, in_source = self.counts
        return int(np.maximum(published - in_source, 0).sum())

    @property
    def stray(self) -> np.ndarray:
        """Source rows whose combination is not published."""
        is_stray = np.ones(len(self.readable), bool)
        is_stray[self.readable] = (self.counts[0] == 0)[self.theirs]
        return is_stray

    @property
    def mean_place(self) -> np.ndarray:
        """For each published row, the mean position of the source rows it may stand for."""
        return self._mean(self.rows[1].positions)

    def mean(self, score: np.ndarray) -> np.ndarray:
        """Compute, for each published row, the mean score of the source rows it may stand for."""
        return self._mean(score * self.rows[1].multiplicities)

    def _mean(self, sums: np.ndarray) -> np.ndarray:
        total = np.bincount(self.theirs, weights=sums[self.readable], minlength=self.size)
        return (total / np.maximum(self.counts[1], 1))[self.ours]


def link_rows(
    published: ComparedRows, source: ConvertedSource, theirs: ComparedRows, names: Sequence[str]
) -> LinkedRows:
    """Link rows of both tables by their combination of these columns, which have one type in both.

    `source` are the rows `theirs` as they would be published.
    """
    readable = source.readable.to_numpy()
    rows = len(published)
    columns = [
        number_values(published.frame[name].append(source.frame[name].filter(source.readable))) for name in names
    ]
    word = pack_columns(columns, rows + int(readable.sum()))
    distinct, code = np.unique(word, return_inverse=True)
    return LinkedRows(code[:rows], code[rows:], len(distinct), readable, (published, theirs))


def make_exact_keys(columns: Sequence[ColumnEntry], names: Sequence[str]) -> RowKeys:
    """Make row keys of the columns that are published as they were, as texts."""
    return {
        entry.name: (_format_values, partial(_format_source_values, entry=entry))
        for entry in columns
        if entry.name in names
    }


def _convert_to_places(axis: LabelAxis, values: NumberedColumn) -> NumberedColumn:
    """Convert numbered source values to the codes of an axis."""
    return NumberedColumn(axis.codes[values.codes], pl.Series(np.arange(len(axis.row_counts))))


def _number_shared_values(
    subject: Subject, frame: pl.DataFrame, source: pl.DataFrame, comparison: SourceComparison
) -> tuple[NumberedColumn, NumberedColumn, int]:
    """Number the sensitive and carried values of published and of source rows alike: they must be equal."""
    columns = []
    for entry in subject.columns:
        if entry.role == Role.QUASI:
            continue
        format_source = partial(
            format_shared_values, entry=entry, is_readable=can_format_shared_values(entry, comparison)
        )
        columns.append(
            number_alike(frame[entry.name], source[entry.name], partial(format_texts, entry=entry), format_source)
        )
    word = pack_columns(columns, len(frame) + len(source))
    distinct, codes = enumerate_words(word, int(word.max(initial=0)) + 1)
    names = pl.Series(distinct)
    rows = len(frame)
    return NumberedColumn(codes[:rows], names), NumberedColumn(codes[rows:], names), len(distinct)


def _count_combinations(
    columns: Sequence[NumberedColumn], rows: ComparedRows
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct combinations of codes, how many rows have each, and the one of each row."""
    combinations, of_row = combine_columns(columns, len(rows))
    row = np.empty(combinations, np.int64)
    row[of_row] = np.arange(len(rows))
    count = rows.tally(of_row, combinations)
    return np.column_stack([column.codes[row] for column in columns]), count.astype(np.int64), of_row


def _join_disjoint_boxes(
    covers: Sequence[LabelCover],
    box: np.ndarray,
    point: np.ndarray,
    labels: Sequence[NumberedColumn],
    places: Sequence[NumberedColumn],
) -> CoveredRegions | None:
    """Join boxes and points whose last column must be equal; return None where a place lies under two groups' labels.

    Labels are joined with places once, whatever other values rows have: then a box covers the points of its group that
    have its value.
    """
    groups, group_of_box, label = _number_rows(box, labels)
    _, place_of_point, place = _number_rows(point, places)
    regions = join_boxes(covers[:-1], label, place)
    if (regions.covering() > 1).any():
        return None
    group_of_place = np.full(len(place), groups, np.int64)  # one more than there are: under no label
    covered_place, group = regions.pairs()
    group_of_place[covered_place] = group
    values = int(max(box[:, -1].max(initial=0), point[:, -1].max(initial=0))) + 1
    key = group_of_place[place_of_point] * values + point[:, -1]
    order = np.argsort(key, kind="stable")
    wanted = group_of_box * values + box[:, -1]
    start = np.searchsorted(key[order], wanted)
    stop = np.searchsorted(key[order], wanted, side="right")
    return CoveredRegions(order, np.arange(len(box)), start, stop)


def _count_unserved_rows(regions: CoveredRegions, box_rows: np.ndarray, point_rows: np.ndarray) -> int:
    """Count rows of boxes that no flow can serve; boxes that cover few points choose first."""
    covered_rows = regions.total(point_rows, len(box_rows))
    turn = np.argsort(covered_rows, kind="stable")
    place = np.empty(len(turn), np.int64)
    place[turn] = np.arange(len(turn))
    by_box = np.argsort(place[regions.box], kind="stable")
    stretches = np.column_stack([regions.start, regions.stop])[by_box].astype(np.int64)
    first = np.searchsorted(place[regions.box][by_box], np.arange(len(turn) + 1))
    boxes = np.zeros((len(turn), 5), np.int64)
    boxes[:, 0] = first[:-1]
    boxes[:, 1] = first[1:]
    boxes[:, 3] = box_rows[turn]
    points = np.zeros((len(point_rows), 2), np.int64)
    points[:, 0] = point_rows[regions.order]
    pool = np.zeros((int(box_rows.sum()) + 2, 3), np.int64)
    pool[0, 2] = 1
    chain = np.arange(len(points) + 1, dtype=np.int64)
    path = np.zeros((len(turn) + 1, 3), np.int64)
    return int(row_matching.match_rows(np.ascontiguousarray(stretches), boxes, points, pool, chain, path))


def _join_entries(sides: Sequence[BlockEntries], first: np.ndarray) -> BlockEntries:
    """Join the entries of several parts; the blocks of a part are numbered from its `first` on."""
    return BlockEntries(
        block=np.concatenate([side.block + start for side, start in zip(sides, first.tolist(), strict=False)]),
        value=np.concatenate([side.value for side in sides]),
        count=np.concatenate([side.count for side in sides]),
    )


def _count_entries(block: np.ndarray, value: np.ndarray, size: int, times: np.ndarray) -> BlockEntries:
    """Count the rows of each block and value; rows in no block (-1) are left out."""
    is_linked = block >= 0
    pair, code = np.unique(block[is_linked].astype(np.int64) * size + value[is_linked], return_inverse=True)
    count = np.bincount(code, weights=times[is_linked], minlength=len(pair)).astype(np.int64)
    return BlockEntries(pair // size, pair % size, count)


def _format_values(series: pl.Series) -> pl.Series:
    if series.dtype.is_float():
        series = series.fill_nan(None)
        series = series.set(series.eq_missing(0.0), 0.0)  # the negative zero is zero
    return series.cast(pl.String)


def _format_source_values(series: pl.Series, entry: ColumnEntry) -> pl.Series:
    return _format_values(convert_source(series.rename(entry.name).to_frame(), [entry]).frame[entry.name])


def _number_rows(rows: np.ndarray, columns: Sequence[NumberedColumn]) -> tuple[int, np.ndarray, np.ndarray]:
    """Return how many combinations of all columns but the last occur, the number of each row's, and the combinations."""
    coded = [NumberedColumn(rows[:, index], column.distinct) for index, column in enumerate(columns)]
    combinations, number = combine_columns(coded, len(rows))
    row = np.empty(combinations, np.int64)
    row[number] = np.arange(len(rows))
    return combinations, number, rows[row, :-1]
