"""Rows of a release and of its source that agree in every exactly published column, as blocks.

A block is all rows with one combination of the columns that are published as they were.  Where release and source have
a block equally often, its published sensitive values are those of its source rows, in an unknown order: known row by
row where the source's are all the same, which those of a block of one row always are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from reticent.audit.grouping import Numbered, number, pack


@dataclass(frozen=True, eq=False)
class Entries:
    """So many (`count`) rows of a block hold a value, sorted by block and value."""

    block: np.ndarray
    value: np.ndarray
    count: np.ndarray

    def __len__(self) -> int:
        return len(self.block)


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks that both tables have equally often.  `places[column]` ranks each block's value in their order.

    `unmatched` rows are published and not in the source; `absent` ones are in the source and not published.  Of
    other blocks that both have equally often, `unknown` rows hold a value that the manifest does not list.
    """

    sizes: np.ndarray
    held: Entries
    shown: Entries
    places: dict[str, np.ndarray]
    unmatched: int
    absent: int
    unknown: int

    @property
    def single(self) -> np.ndarray:
        """Blocks whose source rows hold one value: what became of each row is known."""
        return np.bincount(self.held.block, minlength=len(self.sizes)) == 1


def link(
    shown: pl.DataFrame, held: pl.DataFrame, keys: Sequence[str], values: tuple[np.ndarray, np.ndarray], size: int
) -> Blocks:
    """Blocks of equal `keys`.  `values` are the codes, below `size`, of both tables' sensitive values; -1 is none."""
    columns = {name: number(pl.concat([shown[name], held[name]])) for name in keys}
    rows = len(shown)
    word = pack(list(columns.values()), rows + len(held))
    distinct, first, of_row = np.unique(word, return_index=True, return_inverse=True)
    counts = [np.bincount(side, minlength=len(distinct)) for side in (of_row[:rows], of_row[rows:])]
    difference = counts[0] - counts[1]
    none = np.concatenate(values) < 0
    bad = np.bincount(of_row, weights=none, minlength=len(distinct)) > 0
    kept = (difference == 0) & ~bad
    rank = np.where(kept, np.cumsum(kept) - 1, -1)
    sides = [
        _entries(rank[side], codes, size) for side, codes in zip((of_row[:rows], of_row[rows:]), values, strict=True)
    ]
    places = {name: _ranks(column)[column.codes[first[kept]]] for name, column in columns.items()}
    beyond = int(np.maximum(difference, 0).sum()), int(np.maximum(-difference, 0).sum())
    unknown = int((none & (difference == 0)[of_row]).sum())
    return Blocks(counts[0][kept], sides[1], sides[0], places, *beyond, unknown)


def _entries(block: np.ndarray, value: np.ndarray, size: int) -> Entries:
    kept = block >= 0
    pair, count = np.unique(block[kept].astype(np.int64) * size + value[kept], return_counts=True)
    return Entries(pair // size, pair % size, count)


def _ranks(column: Numbered) -> np.ndarray:
    """The rank of each distinct value of a column in the order of its values, null last."""
    order = column.distinct.arg_sort(nulls_last=True).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank
