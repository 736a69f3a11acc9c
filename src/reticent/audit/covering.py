"""Does each published row stand for a source row of its own?

A published row may stand for a source row that its labels cover and whose sensitive and carried values it bears.  Rows with
equal labels and values are one box, source rows with equal values one point.  Where no point lies under two boxes,
counting decides; otherwise it is a matching, and a maximum flow finds whether it is perfect.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.grouping import Numbered, number, pack
from reticent.audit.published import Published
from reticent.audit.regions import Cover, Regions, cover, join
from reticent.kernels import row_matching
from reticent.release.reading.scale import Extent, Line, Scale, Unreadable, scale
from reticent.table.builders import rebuilt
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

    @property
    def stray(self) -> np.ndarray:
        return (self.regions.covering() == 0)[self.point_of_row]


def match_rows(published: Published, numbered: Mapping[str, Numbered], source: pl.DataFrame) -> Covering:
    """Boxes from the published rows, points from the source rows, joined and matched."""
    covers, boxes, points = [], [], []
    for entry in published.named(Role.QUASI):
        entry = rebuilt(entry, source[entry["name"]])
        labels = numbered[entry["name"]]
        covered, values = label_cover(entry, labels.distinct, number(source[entry["name"]]), foreign=published.foreign)
        covers.append(covered)
        boxes.append(labels)
        points.append(values)
    ours, theirs, size = _values(published, source)
    covers.append(Cover(np.arange(size), np.arange(size), np.full(size, -1), np.zeros((0, size + 1), np.int32)))
    box, box_rows, box_of_row = _distinct([*boxes, ours], len(published.frame))
    point, point_rows, point_of_row = _distinct([*points, theirs], len(source))
    regions = join(covers, box, point)
    overlapping = bool((regions.covering() > 1).any())
    if overlapping:
        unmatched = _flow(regions, box_rows, point_rows)
    else:
        held = regions.total(point_rows, len(box_rows))
        unmatched = int(np.maximum(box_rows - held, 0).sum())
    return Covering(regions, box_rows, point_rows, box_of_row, point_of_row, overlapping, unmatched)


def _distinct(columns: Sequence[Numbered], rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct combinations of codes, how many rows have each, and the one of each row."""
    word = pack(columns, rows)
    distinct, of_row, count = np.unique(word, return_inverse=True, return_counts=True)
    row = np.empty(len(distinct), np.int64)
    row[of_row] = np.arange(rows)
    return np.column_stack([column.codes[row] for column in columns]), count.astype(np.int64), of_row


def label_cover(
    entry: Mapping[str, Any], labels: pl.Series, source: Numbered, *, foreign: bool = False
) -> tuple[Cover, Numbered]:
    """The codes under each label, and the source column in these codes: in the column's order, then the null, then one for each
    value that the schema does not explain, which lies under `*` alone."""
    texts, values = labels.to_list(), source.distinct
    if (
        "built" in entry
    ):  # the manifest holds as much of it as is published: the whole is built again from the source's values
        from reticent.table.builders import rebuilt

        entry = rebuilt(entry, values)
    column = scale(entry, texts, foreign=foreign)
    extents = column.read(texts)
    places = _places(column, entry, values)
    known = sorted({place for place in places if place is not None})
    code = {place: i for i, place in enumerate(known)}
    size = len(known) + 1
    codes = np.empty(len(values), np.int64)
    for i, (place, value) in enumerate(zip(places, values.to_list(), strict=True)):
        if place is not None:
            codes[i] = code[place]
        elif value is None:
            codes[i] = len(known)
        else:
            codes[i], size = size, size + 1
    covered = [_codes(extent, known, code, size) for extent in extents]
    return cover(covered, size), Numbered(codes[source.codes], pl.Series(np.arange(size)))


def _places(column: Scale, entry: Mapping[str, Any], values: pl.Series) -> list[Any]:
    """Where each value stands: a position on a line, a leaf's number in a tree; None for null and for values unknown to the schema."""
    texts = values.cast(pl.String).to_list()
    if not isinstance(column, Line):
        return [None if text is None else column.leaf.get(text) for text in texts]
    if values.dtype.is_temporal():
        texts = (values if values.dtype == pl.Date else values.dt.to_string("iso")).cast(pl.String).to_list()
    if column.kind != "ordinal":
        texts = [None if text is None else text.strip() for text in texts]
    present = [text for text in texts if text is not None]
    try:
        found = dict(zip(present, column.positions(present), strict=True))
    except Unreadable:
        found = {text: _place(column, text) for text in present}
    ends = [column.positions([str(entry[side])])[0] if side in entry else None for side in ("bottom", "top")]
    return [None if text is None or found[text] is None else _within(found[text], *ends) for text in texts]


def _within(place: Any, bottom: Any, top: Any) -> Any:
    """Where a value is published that lies beyond a declared top or bottom: at the bound."""
    place = place if top is None else min(place, top)
    return place if bottom is None else max(place, bottom)


def beyond(entry: Mapping[str, Any], values: pl.Series) -> pl.Series:
    """Which values lie beyond a declared top or bottom, and so must not be published."""
    column = scale(entry, [])
    if not isinstance(column, Line) or not {"top", "bottom"} & set(entry):
        return pl.Series([False] * len(values), dtype=pl.Boolean)
    free = {name: value for name, value in entry.items() if name not in ("top", "bottom")}
    places = zip(_places(column, free, values), _places(column, entry, values), strict=True)
    return pl.Series([was != now for was, now in places], dtype=pl.Boolean)


def _place(column: Line, text: str) -> Any:
    try:
        return column.positions([text])[0]
    except Unreadable:
        return None


def _codes(extent: Extent, known: list[Any], code: Mapping[Any, int], size: int) -> np.ndarray:
    if extent.form == "any":
        return np.arange(size)
    if extent.form == "null":
        return np.array([len(known)])
    if extent.form == "range":
        first = (
            (bisect_right if extent.open_lower else bisect_left)(known, extent.lower)
            if extent.endless != "lower"
            else 0
        )
        last = (
            (bisect_left if extent.open_upper else bisect_right)(known, extent.upper)
            if extent.endless != "upper"
            else len(known)
        )
        return np.arange(first, last)
    if isinstance(extent.leaves, range):
        return np.arange(bisect_left(known, extent.leaves[0]), bisect_right(known, extent.leaves[-1]))
    return np.array(sorted(code[leaf] for leaf in extent.leaves if leaf in code), np.int64)


def _values(published: Published, source: pl.DataFrame) -> tuple[Numbered, Numbered, int]:
    """Sensitive and carried values of published and of source rows in one numbering: what must be equal."""
    ours, theirs = [], []
    for entry in published.columns:
        if entry["role"] == Role.QUASI:
            continue
        one, other = number(published.frame[entry["name"]]), number(source[entry["name"]])
        both = number(_texts(one.distinct, entry).append(_texts(rounded(other.distinct, entry), entry)))
        ours.append(Numbered(both.codes[: len(one)][one.codes], both.distinct))
        theirs.append(Numbered(both.codes[len(one) :][other.codes], both.distinct))
    rows = len(published.frame)
    word = np.concatenate([pack(ours, rows), pack(theirs, len(source))]) if _fits(ours) else _word(ours, theirs, rows)
    distinct, codes = np.unique(word, return_inverse=True)
    names = pl.Series(distinct)
    return Numbered(codes[:rows], names), Numbered(codes[rows:], names), len(distinct)


def rounded(values: pl.Series, entry: Mapping[str, Any]) -> pl.Series:
    """Source values as a column that says `round_to` publishes them: the nearest multiple, ties to the even one."""
    if "round_to" not in entry:
        return values
    texts = values.cast(pl.String).str.strip_chars() if values.dtype == pl.String else values
    given = texts.cast(pl.Float64, strict=False).fill_nan(None)
    step = entry["round_to"]
    multiples = [None if x is None else round(x / step) * step for x in given.to_list()]
    return pl.Series(multiples, dtype=dtype_named(entry["dtype"]), strict=False)


def _fits(columns: Sequence[Numbered]) -> bool:
    room = 1
    for column in columns:
        room *= len(column)
    return room < 1 << 62


def _word(ours: Sequence[Numbered], theirs: Sequence[Numbered], rows: int) -> np.ndarray:
    both = [Numbered(np.concatenate([a.codes, b.codes]), a.distinct) for a, b in zip(ours, theirs, strict=True)]
    return pack(both, len(both[0].codes))


def _texts(values: pl.Series, entry: Mapping[str, Any]) -> pl.Series:
    """Values as the texts of the type that is published, so that 1, 1.0 and "1" agree where the column is numeric."""
    wanted = dtype_named(entry["dtype"])
    if values.dtype == wanted or wanted == pl.String:
        return values.cast(pl.String)
    try:
        found = typed(values.str.strip_chars(), entry["dtype"]) if values.dtype == pl.String else values.cast(wanted)
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
