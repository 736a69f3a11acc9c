"""Records of a table under the published labels: a population's for k-map, the source's for non-uniform entropy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.covering import label_cover
from reticent.audit.grouping import Groups, Numbered, number, pack
from reticent.audit.provenance import read_source
from reticent.audit.published import Published
from reticent.audit.regions import join
from reticent.errors import ColumnError
from reticent.table.roles import Role
from reticent.utility.loss import entropy_bits


def population_sizes(published: Published, numbered: Mapping[str, Numbered], groups: Groups, population: Any,
                     missing: Sequence[str] = ()) -> np.ndarray:  # fmt: skip
    """How many people of a population table each published combination fits (Sweeney 2002's k-map)."""
    names = [entry["name"] for entry in published.named(Role.QUASI)]
    people = read_source(population, missing)
    absent = [name for name in names if name not in people.columns]
    if absent:
        raise ColumnError(f"The population table lacks {len(absent)} quasi-identifying column(s): {', '.join(map(repr, absent))}.",
                          attempt="a table with the same columns.")  # fmt: skip
    covers, codes = [], []
    for entry in published.named(Role.QUASI):
        labels = numbered[entry["name"]].distinct
        covered, values = label_cover(entry, labels, number(people[entry["name"]]), foreign=published.foreign)
        covers.append(covered)
        codes.append(values)
    word = pack(codes, len(people))
    distinct, of_row, count = np.unique(word, return_inverse=True, return_counts=True)
    row = np.empty(len(distinct), np.int64)
    row[of_row] = np.arange(len(people))
    points = np.column_stack([column.codes[row] for column in codes])
    return join(covers, groups.labels, points).total(count.astype(np.int64), len(groups))


def source_entropy(published: Published, numbered: Mapping[str, Numbered], source: pl.DataFrame) -> float:
    """Non-uniform entropy in bits, over all cells of the source."""
    bits = 0.0
    for entry in published.named(Role.QUASI):
        labels = numbered[entry["name"]]
        covered, values = label_cover(entry, labels.distinct, number(source[entry["name"]]), foreign=published.foreign)
        rows = np.bincount(values.codes)
        found = join([covered], np.arange(len(labels)).reshape(-1, 1), np.arange(len(rows)).reshape(-1, 1)).total(
            rows, len(labels)
        )
        bits += entropy_bits(
            np.bincount(labels.codes, minlength=len(labels)), found, rows, len(source) - len(published.frame)
        )
    return bits
