"""Which columns, and which pairs of them, identify best (Motwani & Xu 2007).

    distinction   distinct combinations / rows
    separation    pairs of rows that differ / all pairs of rows

1 means that the columns are a key.  Computed from the distinct combinations of all columns, so that no pair looks at rows again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True, slots=True)
class Identifying:
    columns: tuple[str, ...]
    distinction: float
    separation: float


def identifying(names: Sequence[str], codes: np.ndarray, sizes: np.ndarray, *, pairs: bool = True) -> list[Identifying]:
    """Every column and every pair, best first; `codes[combination, column]`, `sizes` rows of each combination."""
    sets = [(i,) for i in range(len(names))] + (list(combinations(range(len(names)), 2)) if pairs else [])
    found = [Identifying(tuple(names[i] for i in chosen), *_measures(codes[:, chosen], sizes)) for chosen in sets]
    return sorted(found, key=lambda one: (-one.separation, -one.distinction, len(one.columns)))


def _measures(codes: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    rows = int(sizes.sum())
    word = np.zeros(len(codes), np.int64)
    for column in codes.T:  # at most two columns, each numbered below the number of rows
        word = word * (int(column.max(initial=0)) + 1) + column
    room = int(word.max(initial=0)) + 1
    if room <= 4 * len(word):  # sums below 2^53 are exact in a float
        held = np.bincount(word, weights=sizes).astype(np.int64)
        held = held[held > 0]
    else:
        order = np.argsort(word, kind="stable")
        held = np.add.reduceat(sizes[order], np.flatnonzero(np.diff(word[order], prepend=-1)))
    together = _pairs(held, rows)
    return len(held) / rows, 1 - together / (rows * (rows - 1)) if rows > 1 else 1.0


def _pairs(held: np.ndarray, rows: int) -> int:
    """Ordered pairs of rows that stand together; in Python's numbers where NumPy's could overflow."""
    if rows < 1 << 31:
        held = held.astype(np.int64, copy=False)
        return int((held * (held - 1)).sum())
    return sum(size * (size - 1) for size in held.tolist())
