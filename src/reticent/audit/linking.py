"""Rows of a release and of its source that agree in every exactly published column, as blocks.

A block is all rows with one combination of the columns that are published as they were.  Where release and source have
a block equally often, its published sensitive values are those of its source rows, in an unknown order: known row by
row where the source's are all the same, which those of a block of one row always are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from reticent.audit.compared import Rows
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
    """The blocks that both tables have equally often.  `values[column]` are theirs; `places` ranks them in their order.

    `unmatched` rows are published and not in the source; `absent` ones are in the source and not published.  Of
    other blocks that both have equally often, `unknown` rows hold a value that the manifest does not list.
    """

    sizes: np.ndarray
    held: Entries
    shown: Entries
    values: dict[str, pl.Series]
    unmatched: int
    absent: int
    unknown: int

    @property
    def single(self) -> np.ndarray:
        """Blocks whose source rows hold one value: what became of each row is known."""
        return np.bincount(self.held.block, minlength=len(self.sizes)) == 1

    @cached_property
    def places(self) -> dict[str, np.ndarray]:
        found = {}
        for name, values in self.values.items():
            column = number(values)
            found[name] = _ranks(column)[column.codes]
        return found


def joined(parts: Sequence[Blocks]) -> Blocks:
    """The blocks of several parts, no block in two of them."""
    if len(parts) == 1:
        return parts[0]
    first = np.cumsum([0, *(len(part.sizes) for part in parts)])
    sides = [_together([getattr(part, side) for part in parts], first) for side in ("held", "shown")]
    values = {name: pl.concat([part.values[name] for part in parts]) for name in parts[0].values}
    sizes = np.concatenate([part.sizes for part in parts])
    beyond = (sum(getattr(part, name) for part in parts) for name in ("unmatched", "absent", "unknown"))
    return Blocks(sizes, sides[0], sides[1], values, *beyond)


def _together(entries: Sequence[Entries], first: np.ndarray) -> Entries:
    block = [each.block + start for each, start in zip(entries, first.tolist(), strict=False)]
    value, count = ([getattr(each, name) for each in entries] for name in ("value", "count"))
    return Entries(np.concatenate(block), np.concatenate(value), np.concatenate(count))


def link(ours: Rows, theirs: Rows, keys: Sequence[str], values: tuple[np.ndarray, np.ndarray], size: int) -> Blocks:
    """Blocks of equal `keys`.  `values` are the codes, below `size`, of both tables' sensitive values; -1 is none."""
    columns = {name: number(pl.concat([ours.frame[name], theirs.frame[name]])) for name in keys}
    rows = len(ours)
    word = pack(list(columns.values()), rows + len(theirs))
    distinct, first, of_row = np.unique(word, return_index=True, return_inverse=True)
    shown, held = of_row[:rows], of_row[rows:]
    counts = [ours.tally(shown, len(distinct)), theirs.tally(held, len(distinct))]
    difference = counts[0] - counts[1]
    none = np.concatenate(values) < 0
    bad = np.bincount(of_row, weights=none, minlength=len(distinct)) > 0
    kept = (difference == 0) & ~bad
    rank = np.where(kept, np.cumsum(kept) - 1, -1)
    sides = [_entries(rank[shown], values[0], size, ours.each), _entries(rank[held], values[1], size, theirs.each)]
    named = {name: column.distinct.gather(column.codes[first[kept]]) for name, column in columns.items()}
    beyond = int(np.maximum(difference, 0).sum()), int(np.maximum(-difference, 0).sum())
    unknown = int(np.concatenate([ours.each, theirs.each])[none & (difference == 0)[of_row]].sum())
    return Blocks(counts[0][kept], sides[1], sides[0], named, *beyond, unknown)


def _entries(block: np.ndarray, value: np.ndarray, size: int, times: np.ndarray) -> Entries:
    kept = block >= 0
    pair, at = np.unique(block[kept].astype(np.int64) * size + value[kept], return_inverse=True)
    count = np.bincount(at, weights=times[kept], minlength=len(pair)).astype(np.int64)
    return Entries(pair // size, pair % size, count)


def _ranks(column: Numbered) -> np.ndarray:
    """The rank of each distinct value of a column in the order of its values, null last."""
    order = column.distinct.arg_sort(nulls_last=True).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank
