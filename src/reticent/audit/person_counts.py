"""Counts of people under the published labels: a population's for k-map, the source's for non-uniform entropy.

`count_population` counts the rows of a population table under each group's labels; where the table names persons, who
may have several rows, the persons (`count_persons_under`). `GroupPersons` tells who is in which group of a plain table
that names persons. `compute_source_entropy` weighs the source's rows under each label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import NumberedColumn, number_values, pack_columns
from reticent.audit.kind import RecomputedRelease
from reticent.audit.row_matching import LabelAxis, cover_labels
from reticent.audit.source_comparison import read_as_stated, read_source
from reticent.audit.subject import Subject
from reticent.data.label_grammar import format_value_label
from reticent.errors import ColumnError, pluralize, quote_list
from reticent.labels.cover import CoveredRegions, LabelCover, join_boxes
from reticent.utility.loss import compute_entropy_bits

MAX_PAIRS = 20_000_000
"""The most pairs of a box and a row under it that are in memory at once."""


def count_population(
    recount: RecomputedRelease, population: Any, missing: Sequence[str] = (), persons: Sequence[str] = ()
) -> np.ndarray:
    """Count the people of a population table whom each published combination fits (Sweeney 2002's k-map).

    The table's rows are people; where it has one of the columns that name `persons`, persons are counted instead.
    """
    people = read_source(population, missing)
    naming = [number_values(people[name]).codes for name in persons if name in people.columns]
    people = read_quasi_columns(recount, people, "The population table")
    people, is_complete = _drop_incomplete_people(people, recount.subject)
    naming = [person[is_complete] for person in naming]
    covers, codes = cover_rows(recount, people)
    if naming:
        rows = np.column_stack([column.codes for column in codes])
        regions = join_boxes(covers, recount.groups.labels, rows)
        return np.minimum.reduce([count_persons_under(regions, person, len(recount.groups)) for person in naming])
    word = pack_columns(codes, len(people))
    distinct, of_row, count = np.unique(word, return_inverse=True, return_counts=True)
    row = np.empty(len(distinct), np.int64)
    row[of_row] = np.arange(len(people))
    points = np.column_stack([column.codes[row] for column in codes])
    return join_boxes(covers, recount.groups.labels, points).total(count.astype(np.int64), len(recount.groups))


def read_quasi_columns(recount: RecomputedRelease, table: pl.DataFrame, subject_of_error: str) -> pl.DataFrame:
    """Read a table as the manifest states; refuse one that lacks a quasi-identifying column."""
    subject = recount.subject
    rows = read_as_stated(table, subject.columns)
    absent = [entry.name for entry in subject.quasi if entry.name not in rows.columns]
    if absent:
        raise ColumnError(
            f"{subject_of_error} lacks {pluralize(len(absent), 'quasi-identifying column')}: {quote_list(absent)}.",
            attempt="a table with the same columns.",
        )
    return rows


def cover_rows(recount: RecomputedRelease, rows: pl.DataFrame) -> tuple[list[LabelCover], list[NumberedColumn]]:
    """Return, for each quasi-identifier, what its labels cover and the codes of rows that were read as the manifest states."""
    covers = []
    codes = []
    for entry in recount.subject.quasi:
        covered, values = cover_labels(
            entry, _list_labels(recount, entry.name), number_values(rows[entry.name]), foreign=recount.subject.foreign
        )
        covers.append(covered)
        codes.append(values)
    return covers, codes


def iterate_pairs(regions: CoveredRegions) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (point, box) of every point under every box, some boxes at a time and each box whole."""
    for chosen in _split_regions(regions):
        yield CoveredRegions(regions.order, regions.box[chosen], regions.start[chosen], regions.stop[chosen]).pairs()


def join_labels(recount: RecomputedRelease, rows: pl.DataFrame) -> CoveredRegions:
    """Join the labels of the published groups with rows of a table that was read as the manifest states."""
    covers, codes = cover_rows(recount, rows)
    return join_boxes(covers, recount.groups.labels, np.column_stack([column.codes for column in codes]))


def count_surplus_under(regions: CoveredRegions, person: np.ndarray, boxes: int, limit: int) -> np.ndarray:
    """Count, under each box, the rows beyond `limit` of each person, where every point is a row of one `person`.

    A person with `limit` rows or fewer has none beyond them anywhere, and is not looked at.
    """
    surplus_under = np.zeros(boxes, np.int64)
    is_crowded = np.bincount(person)[person] > limit
    persons = int(person.max(initial=0)) + 1
    for chosen in _split_regions(regions):
        point, box = CoveredRegions(
            regions.order, regions.box[chosen], regions.start[chosen], regions.stop[chosen]
        ).pairs()
        looked_at = is_crowded[point]
        pairs, rows = np.unique(
            box[looked_at].astype(np.int64) * persons + person[point[looked_at]], return_counts=True
        )
        surplus = np.maximum(rows - limit, 0)
        surplus_under += np.bincount(pairs // persons, weights=surplus, minlength=boxes).astype(np.int64)
    return surplus_under


def compute_source_entropy(recount: RecomputedRelease, axes: Sequence[LabelAxis], rows: int) -> float:
    """Compute non-uniform entropy in bits, over all cells of a source with `rows` rows."""
    bits = 0.0
    for axis in axes:
        labels = recount.labels[axis.name]
        covered_rows = join_boxes(
            [axis.cover], np.arange(len(labels)).reshape(-1, 1), np.arange(len(axis.row_counts)).reshape(-1, 1)
        ).total(axis.row_counts, len(labels))
        bits += compute_entropy_bits(labels.times(recount.times), covered_rows, axis.row_counts, rows - recount.rows)
    return bits


@dataclass(frozen=True, eq=False)
class GroupPersons:
    """Which persons are in which groups: `person` is in `group`, each pair once.

    `max_rows_per_person` is the greatest number of rows of one person.
    """

    group: np.ndarray
    person: np.ndarray
    groups: int
    max_rows_per_person: int

    @classmethod
    def from_rows(cls, person: np.ndarray, group: np.ndarray, groups: int) -> GroupPersons:
        """Build from the number of the person and of the group of every row.

        Rows without a person count as those of one person.
        """
        persons = int(person.max(initial=0)) + 1
        distinct = np.unique(group.astype(np.int64) * persons + person)
        return cls(distinct // persons, distinct % persons, groups, int(np.bincount(person).max(initial=1)))

    @property
    def count(self) -> int:
        return len(np.unique(self.person))

    @property
    def persons_per_group(self) -> np.ndarray:
        """Number of persons in each group."""
        return np.bincount(self.group, minlength=self.groups)

    def count_persons_in(self, groups: np.ndarray) -> int:
        """Count the persons who have a row in one of the groups that the mask `groups` chooses."""
        return len(np.unique(self.person[groups[self.group]]))


def count_persons_under(regions: CoveredRegions, person: np.ndarray, boxes: int) -> np.ndarray:
    """Count the persons under each box, where every point is a row of one `person`."""
    persons_under = np.zeros(boxes, np.int64)
    persons = int(person.max(initial=0)) + 1
    for point, box in iterate_pairs(regions):
        distinct = np.unique(box.astype(np.int64) * persons + person[point])
        persons_under += np.bincount(distinct // persons, minlength=boxes)
    return persons_under


def _drop_incomplete_people(people: pl.DataFrame, subject: Subject) -> tuple[pl.DataFrame, np.ndarray]:
    """Drop people without a value where the release withholds such rows: nobody in it can be one of them."""
    is_complete = np.ones(len(people), bool)
    for name in [entry.name for entry in subject.quasi if entry.name in subject.complete]:
        values = people[name]
        is_missing = values.is_null() | values.is_nan() if values.dtype.is_float() else values.is_null()
        is_complete &= ~is_missing.fill_null(True).to_numpy()
    return people.filter(pl.Series(is_complete)), is_complete


def _list_labels(recount: RecomputedRelease, name: str) -> pl.Series:
    """List a quasi-identifier's distinct labels; an exact value is its own label."""
    distinct = recount.labels[name].distinct
    if recount.labelled or recount.sampling is not None:
        return distinct
    texts = distinct.cast(pl.String).to_list()
    return pl.Series([None if text is None else format_value_label(text) for text in texts], dtype=pl.String)


def _split_regions(regions: CoveredRegions) -> Iterator[np.ndarray]:
    """Yield stretches of whole boxes, with at most MAX_PAIRS pairs unless one box has more."""
    order = np.argsort(regions.box, kind="stable")
    boxes, starts = np.unique(regions.box[order], return_index=True)
    if not len(boxes):
        return
    pairs = np.add.reduceat((regions.stop - regions.start)[order], starts)
    chunk = np.cumsum(pairs) // MAX_PAIRS
    ends = np.append(starts[1:], len(order))
    for first in np.flatnonzero(np.diff(chunk, prepend=-1)).tolist():
        last = int(np.searchsorted(chunk, chunk[first], side="right")) - 1
        yield order[starts[first] : ends[last]]
