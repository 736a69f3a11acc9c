"""Records of a table under the published labels: a population's for k-map, the source's for non-uniform entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.covering import Axis, label_cover
from reticent.audit.group_persons import count_persons_under
from reticent.audit.grouping import number, pack
from reticent.audit.kind import Recounted
from reticent.audit.reading import read_alike, read_source
from reticent.errors import ColumnError, listed, some
from reticent.release.reading.cover import join
from reticent.table.grammar import value_label
from reticent.utility.loss import entropy_bits


def population_sizes(
    found: Recounted, population: Any, missing: Sequence[str] = (), persons: Sequence[str] = ()
) -> np.ndarray:
    """How many people of a population table each published combination fits (Sweeney 2002's k-map).

    Its rows are people; where it has one of the columns that name `persons`, those are counted.
    """
    subject = found.subject
    names = [entry.name for entry in subject.quasi]
    population = read_source(population, missing)
    naming = [number(population[name]).codes for name in persons if name in population.columns]
    people = read_alike(population, subject.columns)
    absent = [name for name in names if name not in people.columns]
    if absent:
        raise ColumnError(f"The population table lacks {some(len(absent), 'quasi-identifying column')}: {listed(absent)}.",
                          attempt="a table with the same columns.")  # fmt: skip
    covers, codes = [], []
    for entry in subject.quasi:
        covered, values = label_cover(
            entry, _labels(found, entry.name), number(people[entry.name]), foreign=subject.foreign
        )
        covers.append(covered)
        codes.append(values)
    if naming:
        rows = np.column_stack([column.codes for column in codes])
        regions = join(covers, found.groups.labels, rows)
        return np.minimum.reduce([count_persons_under(regions, person, len(found.groups)) for person in naming])
    word = pack(codes, len(people))
    distinct, of_row, count = np.unique(word, return_inverse=True, return_counts=True)
    row = np.empty(len(distinct), np.int64)
    row[of_row] = np.arange(len(people))
    points = np.column_stack([column.codes[row] for column in codes])
    return join(covers, found.groups.labels, points).total(count.astype(np.int64), len(found.groups))


def _labels(found: Recounted, name: str) -> pl.Series:
    """A quasi-identifier's distinct labels; an exact value is its own label."""
    distinct = found.labels[name].distinct
    if found.labelled or found.sampling is not None:
        return distinct
    texts = distinct.cast(pl.String).to_list()
    return pl.Series([None if text is None else value_label(text) for text in texts], dtype=pl.String)


def source_entropy(found: Recounted, axes: Sequence[Axis], rows: int) -> float:
    """Non-uniform entropy in bits, over all cells of a source with so many rows."""
    bits = 0.0
    for axis in axes:
        labels = found.labels[axis.name]
        under = join(
            [axis.cover], np.arange(len(labels)).reshape(-1, 1), np.arange(len(axis.held)).reshape(-1, 1)
        ).total(axis.held, len(labels))
        bits += entropy_bits(labels.times(found.times), under, axis.held, rows - found.rows)
    return bits
