"""Who is in which published group, and who holds what: the source's people as points under the published labels.

The adversary of Li, Li & Zhang (ICDE 2009, section III-A) knows who is in the table and in which group.  That is so where no label
covers a person of another group and every group has as many people under its label as it publishes rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.covering import label_cover, texts_of
from reticent.audit.evidence import Evidence
from reticent.audit.grouping import Numbered, number, pack
from reticent.release.manifest import ColumnEntry
from reticent.release.reading.cover import join
from reticent.release.reading.line import Line
from reticent.release.reading.places import places_of, rebuilt
from reticent.release.reading.scale import scale
from reticent.table.roles import Role


@dataclass(frozen=True, eq=False)
class Axis:
    """A quasi-identifier of the points: the values that occur by number, and the distance of every two, exactly."""

    name: str
    apart: list[list[Fraction]]


@dataclass(frozen=True, eq=False)
class People:
    """`held[point, value]` people stand at `codes[point]` and are in `group[point]`; `shown[group, value]` is what is published."""

    axes: list[Axis]
    codes: np.ndarray
    held: np.ndarray
    group: np.ndarray
    shown: np.ndarray
    values: list[str | None]
    entry: ColumnEntry | None  # of the sensitive column; None: several together

    @property
    def null(self) -> int:
        return self.values.index(None) if None in self.values else -1


def people_of(evidence: Evidence, column: str | None, matrices: Mapping[str, Any]) -> People | None:
    """None where labels do not say who is in which group."""
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
        axes.append(
            Axis(
                entry.name, distances(whole, values.distinct.gather(one), labels.to_list(), matrices, published.foreign)
            )
        )
    word = pack([place for _, place in places], len(source.frame))
    points, row, at = np.unique(word, return_index=True, return_inverse=True)
    regions = join(covers, published.groups.labels, np.column_stack([codes[row] for codes, _ in places]))
    value, shown, names, entry = _sensitive(evidence, column)
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
    return People(axes, np.column_stack([place.codes[row] for _, place in places]), held, group, shown, names, entry)


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
    entry: ColumnEntry, values: pl.Series, labels: list[str | None], matrices: Mapping[str, Any], foreign: bool = False
) -> list[list[Fraction]]:
    """Section II-C: by position over the range, by the level of the lowest common ancestor over the height, or as listed."""
    texts = values.cast(pl.String).to_list()
    if entry.name in matrices:
        listed = matrices[entry.name]
        place: list[Any] = [None if text is None else listed["values"].index(text) for text in texts]
        rows = [[Fraction(str(d)) for d in row] for row in listed["rows"]]
        return _table(place, lambda a, b: rows[a][b])
    column = scale(entry, labels, foreign=foreign)
    place = places_of(column, entry, values)
    if isinstance(column, Line):
        exact = [None if at is None else Fraction(str(at)) for at in place]
        known = [at for at in exact if at is not None]
        low, high = (Fraction(str(end)) for end in column.span or (min(known), max(known)))
        return _table(exact, lambda a, b: abs(a - b) / (high - low) if high > low else Fraction(0))
    paths = [None if leaf is None else column.hierarchy.paths[leaf].tolist() for leaf in place]
    height = column.hierarchy.height
    return _table(paths, lambda a, b: Fraction(sum(x != y for x, y in zip(a, b, strict=True)), height))


def _table(places: list[Any], apart: Any) -> list[list[Fraction]]:
    """A null is at distance 1 from all else."""
    return [
        [
            Fraction(0) if i == j else Fraction(1) if a is None or b is None else apart(a, b)
            for j, b in enumerate(places)
        ]
        for i, a in enumerate(places)
    ]
