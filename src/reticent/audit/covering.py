"""Does each published row stand for a source row of its own?

A published row may stand for a source row that its labels cover and whose sensitive and carried values it bears.  Rows with
equal labels and values are one box, source rows with equal values one point.  Where no point lies under two boxes,
counting decides; otherwise it is a matching, and a maximum flow finds whether it is perfect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from reticent.audit.grouping import Numbered, combined, enumerated, number, pack
from reticent.audit.subject import Subject
from reticent.kernels import row_matching
from reticent.release.manifest import ColumnEntry
from reticent.release.reading.cover import Cover, Regions, join
from reticent.release.reading.places import placed, rebuilt
from reticent.table.roles import Role
from reticent.table.types import dtype_named, typed


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
    covers: Mapping[
        str, tuple[Cover, Numbered]
    ]  # of each quasi-identifier: what its labels cover, and its source values

    @property
    def stray(self) -> np.ndarray:
        return (self.regions.covering() == 0)[self.point_of_row]

    def mean_places(self) -> np.ndarray:
        """For each published row the mean position of the source rows that its box covers."""
        rows = np.arange(len(self.point_of_row))
        positions = np.bincount(self.point_of_row, weights=rows, minlength=len(self.point_rows))
        boxes = len(self.box_rows)
        held = self.regions.total(self.point_rows, boxes)
        return (self.regions.total(positions, boxes) / np.maximum(held, 1))[self.box_of_row]


def match_rows(subject: Subject, frame: pl.DataFrame, labels: Mapping[str, Numbered], source: pl.DataFrame) -> Covering:
    """Boxes from the published rows, points from the source rows, joined and matched."""
    found = {}
    for entry in subject.quasi:
        whole, values = rebuilt(entry, source[entry.name]), number(source[entry.name])
        found[entry.name] = label_cover(whole, labels[entry.name].distinct, values, foreign=subject.foreign)
    covers, points = [covered for covered, _ in found.values()], [values for _, values in found.values()]
    boxes = [labels[name] for name in found]
    ours, theirs, size = _values(subject, frame, source)
    covers.append(Cover(np.arange(size), np.arange(size), np.full(size, -1), np.zeros((0, size + 1), np.int32)))
    box, box_rows, box_of_row = _distinct([*boxes, ours], len(frame))
    point, point_rows, point_of_row = _distinct([*points, theirs], len(source))
    regions = join(covers, box, point)
    overlapping = bool((regions.covering() > 1).any())
    if overlapping:
        unmatched = _flow(regions, box_rows, point_rows)
    else:
        covered = regions.total(point_rows, len(box_rows))
        unmatched = int(np.maximum(box_rows - covered, 0).sum())
    return Covering(regions, box_rows, point_rows, box_of_row, point_of_row, overlapping, unmatched,
                    (ours.codes, theirs.codes), found)  # fmt: skip


def _distinct(columns: Sequence[Numbered], rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct combinations of codes, how many rows have each, and the one of each row."""
    many, of_row = combined(columns, rows)
    row = np.empty(many, np.int64)
    row[of_row] = np.arange(rows)
    count = np.bincount(of_row, minlength=many)
    return np.column_stack([column.codes[row] for column in columns]), count.astype(np.int64), of_row


def label_cover(
    entry: ColumnEntry, labels: pl.Series, source: Numbered, *, foreign: bool = False
) -> tuple[Cover, Numbered]:
    """The codes under each label, and the source column in these codes."""
    found = placed(entry, labels.to_list(), source.distinct, foreign=foreign)
    return found.cover, Numbered(found.codes[source.codes], pl.Series(np.arange(found.size)))


def _values(subject: Subject, frame: pl.DataFrame, source: pl.DataFrame) -> tuple[Numbered, Numbered, int]:
    """Sensitive and carried values of published and of source rows in one numbering: what must be equal."""
    ours, theirs = [], []
    for entry in subject.columns:
        if entry.role == Role.QUASI:
            continue
        one, other = number(frame[entry.name]), number(source[entry.name])
        both = number(texts_of(one.distinct, entry).append(texts_of(rounded(other.distinct, entry), entry)))
        ours.append(Numbered(both.codes[: len(one)][one.codes], both.distinct))
        theirs.append(Numbered(both.codes[len(one) :][other.codes], both.distinct))
    rows = len(frame)
    word = np.concatenate([pack(ours, rows), pack(theirs, len(source))]) if _fits(ours) else _word(ours, theirs, rows)
    distinct, codes = enumerated(word, int(word.max(initial=0)) + 1)
    names = pl.Series(distinct)
    return Numbered(codes[:rows], names), Numbered(codes[rows:], names), len(distinct)


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
        found = typed(values.str.strip_chars(), entry.dtype) if values.dtype == pl.String else values.cast(wanted)
    except Exception:
        return values.cast(pl.String)
    return found.cast(pl.String)


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
    pool[:-1, 2] = np.arange(1, len(pool))
    chain = np.arange(len(points) + 1, dtype=np.int64)
    path = np.zeros((len(turn) + 1, 3), np.int64)
    return int(row_matching.match(np.ascontiguousarray(stretches), boxes, points, pool, chain, path))
