"""Rows whose quasi-identifiers are published as they are: a published row stands for source rows with the same values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import polars as pl

from reticent.audit.as_published import Brought, as_published
from reticent.audit.compared import Keys, Rows
from reticent.audit.grouping import number, pack
from reticent.release.manifest import ColumnEntry


@dataclass(frozen=True, eq=False)
class Linked:
    """`ours` and `theirs` number the combination of each published and of each readable source row, in one numbering.

    A source row with a value that its published type cannot hold stands for nothing: `whole` marks the others.  `rows` are those
    of both tables.
    """

    ours: np.ndarray
    theirs: np.ndarray
    size: int
    whole: np.ndarray
    rows: tuple[Rows, Rows]

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """How many published and how many source rows have each combination."""
        return self.rows[0].tally(self.ours, self.size), self.rows[1].tally(self.theirs, self.size, self.whole)

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
        return self._mean(self.rows[1].positions)

    def mean(self, score: np.ndarray) -> np.ndarray:
        """For each published row the mean score of the source rows it may stand for."""
        return self._mean(score * self.rows[1].each)

    def _mean(self, sums: np.ndarray) -> np.ndarray:
        total = np.bincount(self.theirs, weights=sums[self.whole], minlength=self.size)
        return (total / np.maximum(self.counts[1], 1))[self.ours]


def linked(published: Rows, source: Brought, theirs: Rows, names: Sequence[str]) -> Linked:
    """Rows of both tables by their combination of these columns, which have one type in both; `source` are `theirs` as published."""
    whole, rows = source.whole.to_numpy(), len(published)
    columns = [number(published.frame[name].append(source.frame[name].filter(source.whole))) for name in names]
    word = pack(columns, rows + int(whole.sum()))
    distinct, code = np.unique(word, return_inverse=True)
    return Linked(code[:rows], code[rows:], len(distinct), whole, (published, theirs))


def keys_of(columns: Sequence[ColumnEntry], names: Sequence[str]) -> Keys:
    """The columns that are published as they were, as texts."""
    return {entry.name: (_text, partial(_published, entry=entry)) for entry in columns if entry.name in names}


def _published(series: pl.Series, entry: ColumnEntry) -> pl.Series:
    return _text(as_published(series.rename(entry.name).to_frame(), [entry]).frame[entry.name])


def _text(series: pl.Series) -> pl.Series:
    if series.dtype.is_float():
        series = series.fill_nan(None)
        series = series.set(series.eq_missing(0.0), 0.0)  # the negative zero is zero
    return series.cast(pl.String)
