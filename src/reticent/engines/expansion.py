"""Expands published rows from cells, batch by batch: without passthrough columns, rows are not read again.

The result is a shuffled sequence of entries, each as often as its quota, in bounded memory.  Each row falls into one of
2^d parts by itself, so the number of an entry's rows in the first half is binomial; halves are halved until a part is
small, and each is shuffled.  Rows that choose their part independently, and parts in uniform order within, are in
uniform order altogether (ADR 8).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reticent.format.data_writer import BATCH_ROWS, RowBatch
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe

MAX_SHUFFLED_ROWS = 1 << 26  # rows that are shuffled at once, 4 bytes each


def expand_rows(
    recipe: Recipe, rng: Random, batch_rows: int = BATCH_ROWS, max_shuffled_rows: int = MAX_SHUFFLED_ROWS
) -> Iterator[RowBatch]:
    """Yield the entries of published rows: shuffled, or in the recipe's own order if it is arranged."""
    if recipe.arranged:
        yield from _expand_in_order(recipe, batch_rows)
        return
    entries = recipe.published_entries.astype(np.int32)
    quota = recipe.quota[entries].astype(np.int64)
    rows = int(quota.sum())
    draw = rng.stream("shuffle")
    halvings = max(-(-rows // max_shuffled_rows) - 1, 0).bit_length()
    for part_entries, part_quota in _split_in_halves(entries, quota, halvings, draw):
        entry = np.repeat(part_entries, part_quota)
        draw.shuffle(entry)
        for start in range(0, max(len(entry), 1), batch_rows):
            yield RowBatch(entry[start : start + batch_rows])


def _expand_in_order(recipe: Recipe, batch_rows: int) -> Iterator[RowBatch]:
    if recipe.has_single_rows and recipe.is_complete:
        for start in range(0, max(len(recipe.group), 1), batch_rows):
            yield RowBatch(slice(start, min(start + batch_rows, len(recipe.group))))
        return
    entries = recipe.published_entries
    quota_ends = np.cumsum(recipe.quota[entries])
    rows = int(quota_ends[-1]) if len(quota_ends) else 0
    for start in range(0, max(rows, 1), batch_rows):
        stop = min(start + batch_rows, rows)
        yield RowBatch(entries[np.searchsorted(quota_ends, np.arange(start, stop), side="right")])


def _split_in_halves(
    entry: np.ndarray, count: np.ndarray, times: int, draw: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split the rows of each entry at random into halves, `times` times over."""
    if not times:
        yield entry, count
        return
    first_half = draw.binomial(count, 0.5)
    for half in (first_half, count - first_half):
        entries = np.flatnonzero(half)
        yield from _split_in_halves(entry[entries], half[entries], times - 1, draw)
