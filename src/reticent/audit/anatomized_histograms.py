"""Each group's sensitive values with their counts, as an anatomized release lists them, each histogram once.

Nothing is taken on trust: a file whose rows are not in the order of group and value, or that lists a value twice for a group, is
damage.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from reticent.audit.grouping import looked_up, number
from reticent.audit.measure.counts import Counts
from reticent.audit.sensitive import ranks
from reticent.errors import BundleDamaged
from reticent.release.anatomized import COUNT, GROUP
from reticent.release.manifest import ColumnEntry


@dataclass(frozen=True, eq=False)
class Histograms:
    """Every group's values in the order of their domain, a null last; groups in the order of their numbers."""

    groups: np.ndarray  # the number of each
    starts: np.ndarray  # first entry of each group
    value: np.ndarray
    count: np.ndarray
    totals: np.ndarray
    null: np.ndarray
    ordered: pl.Series  # the values themselves

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.diff(np.append(self.starts, len(self.value)))

    @cached_property
    def alone(self) -> bool:
        """Whether every value is listed with a count of one, as Anatomy does."""
        return int(self.count.max()) == 1

    @cached_property
    def sizes(self) -> np.ndarray:
        return self.lengths if self.alone else np.add.reduceat(self.count, self.starts, dtype=np.int64)

    def reconstruction_error(self) -> float:
        """RCE (Xiao & Tao 2006, section 4), over the rows: the squared distance between a row's value and its group's histogram.

        Of a group of s rows with counts c: sum c ((1 - c/s)^2 + sum of the other (c'/s)^2) = s - sum c^2 / s.
        """
        squares = self.sizes if self.alone else np.add.reduceat(self.count.astype(np.float64) ** 2, self.starts)
        return float((self.sizes - squares / self.sizes).sum() / self.sizes.sum())

    def distinct(self) -> Counts:
        """The groups, each histogram once: measures are extremes over groups, and equal ones say the same."""
        return self._without(self._repeating())._once()

    def _repeating(self) -> np.ndarray:
        """Groups whose histogram is that of the group before, looked for among those of the most frequent length."""
        length = int(np.bincount(self.lengths).argmax())
        usual = self.lengths == length
        usual[1:] &= usual[:-1]
        usual[0] = False
        other = np.ones(len(self.value), bool)
        np.not_equal(self.value[length:], self.value[:-length], out=other[length:])
        if not self.alone:
            other[length:] |= self.count[length:] != self.count[:-length]
        return usual & ~np.logical_or.reduceat(other, self.starts)

    def _without(self, gone: np.ndarray) -> Histograms:
        entry = np.repeat(~gone, self.lengths)
        starts = np.cumsum(self.lengths[~gone]) - self.lengths[~gone]
        return Histograms(
            self.groups[~gone], starts, self.value[entry], self.count[entry], self.totals, self.null, self.ordered
        )

    def _once(self) -> Counts:
        """A random sum over a histogram proposes which groups are equal; whether they are is then compared entry by entry."""
        mix = np.random.default_rng().integers(0, 1 << 64, len(self.totals), np.uint64)
        key = np.add.reduceat(mix[self.value] * self.count.astype(np.uint64), self.starts)
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        alike = first[number.reshape(-1)]
        same = self.lengths[alike] == self.lengths
        offset = np.arange(len(self.value)) - np.repeat(self.starts, self.lengths)
        other = np.minimum(np.repeat(self.starts[alike], self.lengths) + offset, len(self.value) - 1)
        equal = (self.value[other] == self.value) & (self.count[other] == self.count)
        same &= np.logical_and.reduceat(equal, self.starts)
        keep = np.zeros(len(self.starts), bool)
        keep[first] = True
        keep |= ~same
        entry = np.repeat(keep, self.lengths)
        group = np.repeat(np.arange(int(keep.sum())), self.lengths[keep])
        return Counts(group, self.value[entry].astype(np.int64), self.count[entry].astype(np.int64), self.totals)


def histograms(column: ColumnEntry, held: pl.DataFrame) -> Histograms:
    """The sensitive file, its values numbered; a value listed twice for a group is damage."""
    numbered = number(held[column.name])
    rank, _ = ranks(column, numbered.distinct)
    size = int(rank.max()) + 1
    group, count = held[GROUP].to_numpy(), held[COUNT].to_numpy()
    value = looked_up(rank.astype(np.int32), numbered.codes)
    same = group[1:] == group[:-1]
    if not ((group[1:] > group[:-1]) | (same & (value[1:] > value[:-1]))).all():
        raise BundleDamaged(
            "The groups' values are not listed once each, sorted by group and value.",
            why="Another order can say which row of a group has which value.",
            attempt="the publisher: somebody changed the release after it was published.",
        )
    null = np.zeros(size, bool)
    null[rank] = numbered.distinct.is_null().to_numpy()
    starts = np.flatnonzero(np.append(True, ~same))
    totals = np.bincount(value, weights=None if int(count.max()) == 1 else count, minlength=size).astype(np.int64)
    one = np.zeros(size, np.int64)  # a value of each rank
    one[rank] = np.arange(len(rank))
    return Histograms(group[starts], starts, value, count, totals, null, numbered.distinct.gather(one))
