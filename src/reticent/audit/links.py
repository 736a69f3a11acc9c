"""Rows whose quasi-identifiers are published as they are: a published row stands for source rows with the same values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from reticent.audit.as_published import Brought
from reticent.audit.grouping import number, pack


@dataclass(frozen=True, eq=False)
class Linked:
    """`ours` and `theirs` number the combination of each published and of each readable source row, in one numbering.

    A source row with a value that its published type cannot hold stands for nothing: `whole` marks the others.
    """

    ours: np.ndarray
    theirs: np.ndarray
    size: int
    whole: np.ndarray

    @cached_property
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
        found = np.ones(len(self.whole), bool)
        found[self.whole] = (self.counts[0] == 0)[self.theirs]
        return found

    @property
    def mean_place(self) -> np.ndarray:
        """For each published row the mean position of the source rows it may stand for."""
        return self.mean(np.arange(len(self.whole), dtype=np.float64))

    def mean(self, score: np.ndarray) -> np.ndarray:
        """For each published row the mean score of the source rows it may stand for."""
        total = np.bincount(self.theirs, weights=score[self.whole], minlength=self.size)
        return (total / np.maximum(self.counts[1], 1))[self.ours]


def linked(published: pl.DataFrame, source: Brought, names: Sequence[str]) -> Linked:
    """Rows of both tables by their combination of these columns, which have one type in both."""
    whole, rows = source.whole.to_numpy(), len(published)
    columns = [number(published[name].append(source.frame[name].filter(source.whole))) for name in names]
    word = pack(columns, rows + int(whole.sum()))
    distinct, code = np.unique(word, return_inverse=True)
    return Linked(code[:rows], code[rows:], len(distinct), whole)
