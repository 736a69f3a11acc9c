"""Records of a table under the published labels: a population's for k-map, the source's for non-uniform entropy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.covering import label_cover
from reticent.audit.grouping import Numbered, number, pack
from reticent.audit.kind import Recounted
from reticent.audit.reading import read_alike, read_source
from reticent.errors import ColumnError, listed
from reticent.release.reading.cover import Cover, join
from reticent.table.grammar import value_label
from reticent.utility.loss import entropy_bits


def population_sizes(found: Recounted, population: Any, missing: Sequence[str] = ()) -> np.ndarray:
    """How many people of a population table each published combination fits (Sweeney 2002's k-map)."""
    subject = found.subject
    names = [entry.name for entry in subject.quasi]
    people = read_alike(read_source(population, missing), subject.columns)
    absent = [name for name in names if name not in people.columns]
    if absent:
        raise ColumnError(f"The population table lacks {len(absent)} quasi-identifying column(s): {listed(absent)}.",
                          attempt="a table with the same columns.")  # fmt: skip
    covers, codes = [], []
    for entry in subject.quasi:
        covered, values = label_cover(
            entry, _labels(found, entry.name), number(people[entry.name]), foreign=subject.foreign
        )
        covers.append(covered)
        codes.append(values)
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


def source_entropy(
    found: Recounted, source: pl.DataFrame, covers: Mapping[str, tuple[Cover, Numbered]] | None = None
) -> float:
    """Non-uniform entropy in bits, over all cells of the source; `covers` where they are known already."""
    bits, subject = 0.0, found.subject
    for entry in subject.quasi:
        labels = found.labels[entry.name]
        covered, values = (covers or {}).get(entry.name) or label_cover(
            entry, labels.distinct, number(source[entry.name]), foreign=subject.foreign
        )
        held = np.bincount(values.codes)
        under = join([covered], np.arange(len(labels)).reshape(-1, 1), np.arange(len(held)).reshape(-1, 1)).total(
            held, len(labels)
        )
        bits += entropy_bits(np.bincount(labels.codes, minlength=len(labels)), under, held, len(source) - found.rows)
    return bits
