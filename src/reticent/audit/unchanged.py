"""Rows whose quasi-identifiers are published as they are: a published row stands for source rows with the same values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from reticent.audit.grouping import Numbered, number, pack


@dataclass(frozen=True, eq=False)
class Linked:
    """`ours` and `theirs` number the combination of each published and of each source row, in one numbering."""

    ours: np.ndarray
    theirs: np.ndarray
    size: int

    @property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """How many published and how many source rows have each combination."""
        return np.bincount(self.ours, minlength=self.size), np.bincount(self.theirs, minlength=self.size)

    @property
    def unmatched(self) -> int:
        published, held = self.counts
        return int(np.maximum(published - held, 0).sum())

    @property
    def stray(self) -> np.ndarray:
        """Source rows whose combination is not published."""
        return (self.counts[0] == 0)[self.theirs]

    def mean(self, score: np.ndarray) -> np.ndarray:
        """For each published row the mean score of the source rows it may stand for."""
        total = np.bincount(self.theirs, weights=score, minlength=self.size)
        return (total / np.maximum(self.counts[1], 1))[self.ours]


def linked(published: pl.DataFrame, source: pl.DataFrame, names: Sequence[str]) -> Linked:
    """Rows of both tables by their combination of these columns, which have one type in both."""
    rows, columns = len(published), []
    for name in names:
        both = number(published[name].append(source[name]))
        columns.append(Numbered(both.codes, both.distinct))
    word = pack(columns, rows + len(source))
    distinct, code = np.unique(word, return_inverse=True)
    return Linked(code[:rows], code[rows:], len(distinct))
