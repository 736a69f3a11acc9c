"""Does each published row stand for a source row of its own?

A published row may stand for a source row that its labels cover and whose sensitive and carried values it bears.  Rows with
equal labels and values are one box, source rows with equal values one point.  Where no point lies under two boxes,
counting decides; otherwise it is a matching, and a maximum flow finds whether it is perfect.  Rows that bear different values
never meet: a part of all rows with certain values is matched by itself, with what labels cover known from the whole tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from reticent.audit.compared import Compared, Rows, looked_up
from reticent.audit.grouping import Numbered, combined, enumerated, number, pack
from reticent.audit.subject import Subject
from reticent.kernels import row_matching
from reticent.release.manifest import ColumnEntry
from reticent.release.reading.cover import Cover, Regions, join
from reticent.release.reading.places import placed, rebuilt
from reticent.table.roles import Role
from reticent.table.types import dtype_named, typed


@dataclass(frozen=True, eq=False)
class Axis:
    """A quasi-identifier: what each of its labels covers, and the codes of all source values, each with its rows."""

    name: str
    labels: pl.Series
    cover: Cover
    codes: np.ndarray
    held: np.ndarray  # rows of the source by code


@dataclass(frozen=True, eq=False)
class Covering:
    """`unmatched` published rows stand for no source row; `stray` marks source rows that no published row could stand for."""

    regions: Regions
    box_rows: np.ndarray  # how many published rows each box has
    point_rows: np.ndarray  # how many source rows each point has
    box_of_row: np.ndarray  # of each published row
    point_of_row: np.ndarray  # of each source row
    overlapping: bool
    unmatched: int
    borne: tuple[np.ndarray, np.ndarray]  # the values of each published and of each source row, numbered alike
    positions: np.ndarray  # of each source row

    @property
    def stray(self) -> np.ndarray:
        return (self.regions.covering() == 0)[self.point_of_row]

    def mean_places(self) -> np.ndarray:
        """For each published row the mean position of the source rows that its box covers."""
        positions = np.bincount(self.point_of_row, weights=self.positions, minlength=len(self.point_rows))
        boxes = len(self.box_rows)
        held = self.regions.total(self.point_rows, boxes)
        return (self.regions.total(positions, boxes) / np.maximum(held, 1))[self.box_of_row]


def axes_of(subject: Subject, labels: Mapping[str, Numbered], source: Compared) -> list[Axis]:
    """What labels cover of all values of the source."""
    found = []
    for entry in subject.quasi:
        distinct, times = source.values(entry.name)
        whole, named = rebuilt(entry, distinct, times.tolist()), labels[entry.name].distinct
        spots = placed(whole, named.to_list(), distinct, foreign=subject.foreign)
        held = np.bincount(spots.codes, weights=times, minlength=spots.size).astype(np.int64)
        found.append(Axis(entry.name, named, spots.cover, spots.codes, held))
    return found


def match_rows(
    subject: Subject, axes: Sequence[Axis], labels: Mapping[str, Numbered], ours: Rows, theirs: Rows, source: Compared
) -> Covering:
    """Boxes from the published rows, points from the source rows, joined and matched."""
    covers = [axis.cover for axis in axes]
    boxes = [labels[axis.name] for axis in axes]
    points = [_placed(axis, source.numbered(axis.name, theirs)) for axis in axes]
    shown, held, size = _values(subject, ours.frame, theirs.frame, source)
    covers.append(Cover(np.arange(size), np.arange(size), np.full(size, -1), np.zeros((0, size + 1), np.int32)))
    box, box_rows, box_of_row = _distinct([*boxes, shown], ours)
    point, point_rows, point_of_row = _distinct([*points, held], theirs)
    regions = _join_apart(covers, box, point, [*boxes], [*points])
    overlapping = regions is None
    if regions is None:
        regions = join(covers, box, point)
        overlapping = bool((regions.covering() > 1).any())
    if overlapping:
        unmatched = _flow(regions, box_rows, point_rows)
    else:
        covered = regions.total(point_rows, len(box_rows))
        unmatched = int(np.maximum(box_rows - covered, 0).sum())
    return Covering(regions, box_rows, point_rows, box_of_row, point_of_row, overlapping, unmatched,
                    (shown.codes, held.codes), theirs.positions)  # fmt: skip


def _join_apart(
    covers: Sequence[Cover],
    box: np.ndarray,
    point: np.ndarray,
    labels: Sequence[Numbered],
    places: Sequence[Numbered],
) -> Regions | None:
    """Join boxes and points whose last column must be equal, where no place lies under the labels of two groups; else None.

    Labels are joined with places once, whatever values rows bear: then a box covers the points of its group that bear its value.
    """
    groups, group_of_box, label = _number_rows(box, labels)
    _, place_of_point, place = _number_rows(point, places)
    regions = join(covers[:-1], label, place)
    if (regions.covering() > 1).any():
        return None
    group_of_place = np.full(len(place), groups, np.int64)  # one more than there are: under no label
    under, group = regions.pairs()
    group_of_place[under] = group
    values = int(max(box[:, -1].max(initial=0), point[:, -1].max(initial=0))) + 1
    key = group_of_place[place_of_point] * values + point[:, -1]
    order = np.argsort(key, kind="stable")
    wanted = group_of_box * values + box[:, -1]
    start = np.searchsorted(key[order], wanted)
    stop = np.searchsorted(key[order], wanted, side="right")
    return Regions(order, np.arange(len(box)), start, stop)


def _number_rows(rows: np.ndarray, columns: Sequence[Numbered]) -> tuple[int, np.ndarray, np.ndarray]:
    """How many combinations of all columns but the last occur, the number of each row's, and the combinations."""
    coded = [Numbered(rows[:, at], column.distinct) for at, column in enumerate(columns)]
    many, number = combined(coded, len(rows))
    row = np.empty(many, np.int64)
    row[number] = np.arange(len(rows))
    return many, number, rows[row, :-1]


def _placed(axis: Axis, values: Numbered) -> Numbered:
    return Numbered(axis.codes[values.codes], pl.Series(np.arange(len(axis.held))))


def labels_of(rows: Rows, known: Mapping[str, Numbered]) -> dict[str, Numbered]:
    """The labels of some rows, numbered as those of all rows are."""
    return {
        name: Numbered(looked_up(rows.frame[name], column.distinct), column.distinct) for name, column in known.items()
    }


def _distinct(columns: Sequence[Numbered], rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct combinations of codes, how many rows have each, and the one of each row."""
    many, of_row = combined(columns, len(rows))
    row = np.empty(many, np.int64)
    row[of_row] = np.arange(len(rows))
    count = rows.tally(of_row, many)
    return np.column_stack([column.codes[row] for column in columns]), count.astype(np.int64), of_row


def label_cover(
    entry: ColumnEntry, labels: pl.Series, source: Numbered, *, foreign: bool = False
) -> tuple[Cover, Numbered]:
    """The codes under each label, and the source column in these codes."""
    found = placed(entry, labels.to_list(), source.distinct, foreign=foreign)
    return found.cover, Numbered(found.codes[source.codes], pl.Series(np.arange(found.size)))


def _values(
    subject: Subject, frame: pl.DataFrame, source: pl.DataFrame, known: Compared
) -> tuple[Numbered, Numbered, int]:
    """Sensitive and carried values of published and of source rows in one numbering: what must be equal."""
    ours, theirs = [], []
    for entry in subject.columns:
        if entry.role == Role.QUASI:
            continue
        one, other = number(frame[entry.name]), number(source[entry.name])
        held = borne(other.distinct, entry, read=borne_reads(entry, known))
        both = number(texts_of(one.distinct, entry).append(held))
        ours.append(Numbered(both.codes[: len(one)][one.codes], both.distinct))
        theirs.append(Numbered(both.codes[len(one) :][other.codes], both.distinct))
    rows = len(frame)
    word = np.concatenate([pack(ours, rows), pack(theirs, len(source))]) if _fits(ours) else _word(ours, theirs, rows)
    distinct, codes = enumerated(word, int(word.max(initial=0)) + 1)
    names = pl.Series(distinct)
    return Numbered(codes[:rows], names), Numbered(codes[rows:], names), len(distinct)


def borne(values: pl.Series, entry: ColumnEntry, *, read: bool = True) -> pl.Series:
    """Source values as the texts that a row of a labelled release bears; as they are, where the column does not `read` so."""
    return texts_of(rounded(values, entry), entry) if read else rounded(values, entry).cast(pl.String)


def borne_reads(entry: ColumnEntry, source: Compared) -> bool:
    """Whether all of a source column reads as the type that is published."""
    return entry.round_to is not None or source.reads(entry.name, partial(strictly, entry=entry))


def rounded(values: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Source values as a column that says `round_to` publishes them: the nearest multiple, ties to the even one."""
    if entry.round_to is None:
        return values
    texts = values.cast(pl.String).str.strip_chars() if values.dtype == pl.String else values
    given = texts.cast(pl.Float64, strict=False).fill_nan(None)
    step = entry.round_to
    multiples = [None if x is None else round(x / step) * step for x in given.to_list()]
    return pl.Series(multiples, dtype=dtype_named(entry.dtype), strict=False)


def _fits(columns: Sequence[Numbered]) -> bool:
    room = 1
    for column in columns:
        room *= len(column)
    return room < 1 << 62


def _word(ours: Sequence[Numbered], theirs: Sequence[Numbered], rows: int) -> np.ndarray:
    both = [Numbered(np.concatenate([a.codes, b.codes]), a.distinct) for a, b in zip(ours, theirs, strict=True)]
    return pack(both, len(both[0].codes))


def texts_of(values: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Values as the texts of the type that is published, so that 1, 1.0 and "1" agree where the column is numeric."""
    wanted = dtype_named(entry.dtype)
    if values.dtype.is_float():
        values = values.set(values.eq_missing(0.0), 0.0)  # the negative zero is zero
    if values.dtype == wanted or wanted == pl.String:
        return values.cast(pl.String)
    try:
        return strictly(values, entry).cast(pl.String)
    except Exception:
        return values.cast(pl.String)


def strictly(values: pl.Series, entry: ColumnEntry) -> pl.Series:
    """Values in the type that is published; raises where one has none."""
    wanted = dtype_named(entry.dtype)
    if values.dtype == wanted or wanted == pl.String:
        return values
    return typed(values.str.strip_chars(), entry.dtype) if values.dtype == pl.String else values.cast(wanted)


def _flow(regions: Regions, box_rows: np.ndarray, point_rows: np.ndarray) -> int:
    """Rows of boxes that no flow can serve; boxes with little under them choose first."""
    held = regions.total(point_rows, len(box_rows))
    turn = np.argsort(held, kind="stable")
    place = np.empty(len(turn), np.int64)
    place[turn] = np.arange(len(turn))
    by_box = np.argsort(place[regions.box], kind="stable")
    stretches = np.column_stack([regions.start, regions.stop])[by_box].astype(np.int64)
    first = np.searchsorted(place[regions.box][by_box], np.arange(len(turn) + 1))
    boxes = np.zeros((len(turn), 5), np.int64)
    boxes[:, 0], boxes[:, 1], boxes[:, 3] = first[:-1], first[1:], box_rows[turn]
    points = np.zeros((len(point_rows), 2), np.int64)
    points[:, 0] = point_rows[regions.order]
    pool = np.zeros((int(box_rows.sum()) + 2, 3), np.int64)
    pool[0, 2] = 1
    chain = np.arange(len(points) + 1, dtype=np.int64)
    path = np.zeros((len(turn) + 1, 3), np.int64)
    return int(row_matching.match(np.ascontiguousarray(stretches), boxes, points, pool, chain, path))
