"""Who is in which published group, and who holds what: the source's people as points under the published labels.

The adversary of Li, Li & Zhang (ICDE 2009, section III-A) knows who is in the table and in which group.  That is so where no label
covers a person of another group and every group has as many people under its label as it publishes rows.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.covering import label_cover, texts_of
from reticent.audit.evidence import Evidence
from reticent.audit.grouping import Numbered, number, pack
from reticent.exact import common_denominator
from reticent.release.manifest import ColumnEntry
from reticent.release.reading.cover import join
from reticent.release.reading.line import Line
from reticent.release.reading.places import places_of, rebuilt
from reticent.release.reading.scale import scale
from reticent.table.roles import Role


@dataclass(frozen=True, eq=False)
class Axis:
    """A column's values that occur, by number, and the distance of every two, exactly: `levels[which[i, j]]`."""

    name: str
    which: np.ndarray
    levels: list[Fraction]

    def apart(self, i: int, j: int) -> Fraction:
        return self.levels[self.which[i, j]]


@dataclass(frozen=True, eq=False)
class People:
    """`held[point, value]` people stand at `codes[point]` and are in `group[point]`; `shown[group, value]` is what is published."""

    axes: list[Axis]
    codes: np.ndarray
    held: np.ndarray
    group: np.ndarray
    shown: np.ndarray
    values: Sequence[str | None]
    entry: ColumnEntry | None  # of the sensitive column; None: several together

    @property
    def null(self) -> int:
        return self.values.index(None) if None in self.values else -1


def people_of(
    evidence: Evidence, column: str | None, matrices: Mapping[str, Any], compared: Container[str]
) -> People | None:
    """None where labels do not say who is in which group; distances for the columns `compared` alone."""
    published, source = evidence.published, evidence.source
    assert published is not None and source is not None
    quasi = [entry for entry in evidence.columns if entry.role == Role.QUASI]
    covers, places, axes = [], [], []
    for entry in quasi:
        values = number(source.frame[entry.name])
        whole = rebuilt(entry, values.distinct)
        labels = published.labels[entry.name].distinct
        covered, coded = label_cover(whole, labels, values, foreign=published.foreign)
        covers.append(covered)
        used, code = np.unique(coded.codes, return_inverse=True)
        places.append((coded.codes, Numbered(code.reshape(-1), pl.Series(used))))
        one = np.empty(len(used), np.int64)
        one[code.reshape(-1)[np.unique(values.codes, return_index=True)[1]]] = np.arange(len(values))
        one_each = values.distinct.gather(one)
        alone = Axis(entry.name, np.zeros((0, 0), np.int64), [])
        asked = entry.name in compared
        axes.append(distances(whole, one_each, labels.to_list(), matrices, published.foreign) if asked else alone)
    word = pack([place for _, place in places], len(source.frame))
    points, row, at = np.unique(word, return_index=True, return_inverse=True)
    regions = join(covers, published.groups.labels, np.column_stack([codes[row] for codes, _ in places]))
    value, shown, names, sensitive = _sensitive(evidence, column)
    times = np.ones(len(at), np.int64) if source.times is None else source.times
    held = np.zeros((len(points), len(names)), np.int64)
    np.add.at(held, (at.reshape(-1), value), times)
    if (regions.covering() != 1).any():
        return None
    group = np.empty(len(points), np.int64)
    sizes = regions.stop - regions.start
    order = np.repeat(regions.start - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
    group[regions.order[order]] = np.repeat(regions.box, sizes)
    if (np.bincount(group, weights=held.sum(axis=1), minlength=len(shown)) != shown.sum(axis=1)).any():
        return None
    return People(
        axes, np.column_stack([place.codes[row] for _, place in places]), held, group, shown, names, sensitive
    )


def _sensitive(
    evidence: Evidence, column: str | None
) -> tuple[np.ndarray, np.ndarray, list[str | None], ColumnEntry | None]:
    """(value of each source row, published counts, names of the values): several columns together are numbered combinations."""
    found = evidence.column(column)
    entries = [
        entry
        for entry in evidence.columns
        if entry.role == Role.SENSITIVE and (found.joint or entry.name == found.name)
    ]
    published, source = evidence.published, evidence.source
    assert published is not None and source is not None
    ours, theirs = [], []
    for entry in entries:
        one, other = number(published.frame[entry.name]), number(source.frame[entry.name])
        both = number(texts_of(one.distinct, entry).append(texts_of(other.distinct, entry)))
        ours.append(Numbered(both.codes[: len(one)][one.codes], both.distinct))
        theirs.append(Numbered(both.codes[len(one) :][other.codes], both.distinct))
    word = np.concatenate([pack(ours, len(published.frame)), pack(theirs, len(source.frame))])
    names, code = np.unique(word, return_inverse=True)
    rows = len(published.frame)
    groups = np.unique(published.groups.word, return_inverse=True)[1].reshape(-1)
    times = np.ones(rows, np.int64) if published.times is None else published.times
    shown = np.zeros((len(published.groups), len(names)), np.int64)
    np.add.at(shown, (groups, code.reshape(-1)[:rows]), times)
    alone = len(entries) == 1
    texts = ours[0].distinct.gather(names).to_list() if alone else [str(name) for name in names]
    return code.reshape(-1)[rows:], shown, texts, entries[0] if alone else None


def distances(
    entry: ColumnEntry,
    values: pl.Series,
    labels: Sequence[str | None],
    matrices: Mapping[str, Any],
    foreign: bool = False,
) -> Axis:
    """Section II-C: by position over the range, by the level of the lowest common ancestor over the height, or as listed.

    A null is at distance 1 from all else.
    """
    texts = values.cast(pl.String).to_list()
    if entry.name in matrices:
        listed = matrices[entry.name]
        place: list[Any] = [None if text is None else listed["values"].index(text) for text in texts]
        rows = np.array([[Fraction(str(d)) for d in row] for row in listed["rows"]], object)
        at = [0 if one is None else one for one in place]
        return _axis(entry.name, place, rows[np.ix_(at, at)], Fraction(1))
    column = scale(entry, labels, foreign=foreign)
    place = places_of(column, entry, values)
    if isinstance(column, Line):
        exact = [None if at is None else Fraction(str(at)) for at in place]
        known = [at for at in exact if at is not None] or [Fraction(0)]
        low, high = (Fraction(str(end)) for end in column.span or (min(known), max(known)))
        whole = common_denominator(known)
        scaled = [0 if at is None else int(at * whole) for at in exact]
        line = np.array(scaled, np.int64 if max(map(abs, scaled)) < 1 << 61 else object)
        reach = high - low if high > low else Fraction(1)
        return _axis(entry.name, place, np.abs(line[:, None] - line[None, :]), reach * whole)
    paths = column.hierarchy.paths[[0 if leaf is None else leaf for leaf in place]]
    levels = (paths[:, None, :] != paths[None, :, :]).sum(axis=2)
    return _axis(entry.name, place, levels, Fraction(column.hierarchy.height))


def _axis(name: str, places: list[Any], parts: np.ndarray, unit: Fraction) -> Axis:
    """Distances as few different fractions; a column of one value has none."""
    null = np.array([place is None for place in places])
    distinct, which = np.unique(parts, return_inverse=True)
    levels = [Fraction(part) / unit for part in distinct.tolist()]
    which = np.where(null[:, None] | null[None, :], len(levels), which.reshape(parts.shape))
    where = np.arange(len(places))
    which[where, where] = len(levels) + 1
    return Axis(name, which, [*levels, Fraction(1), Fraction(0)])
