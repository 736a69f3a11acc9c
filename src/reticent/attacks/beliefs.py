"""Sparse beliefs in values: only values with a belief above 0 are stored.

Of a release whose groups publish forty of nine hundred values, a table of (points, values) is nearly all zeros.  And
beliefs are the same for people who may be in the same groups to the same shares: they are one *atom*, computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

CHUNK_DENSE_BELIEFS = 60_000
"""So many entries of a dense table of beliefs are held at a time, where an attack believes in every value: they stay in a cache."""
CHUNK_MIXED_PAIRS = 2_000_000
"""So many pairs of a group's value and an atom are mixed at a time."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Beliefs by row: `belief` in a `value`; those of row r are from starts[r] to starts[r + 1], sorted by value."""

    starts: np.ndarray
    value: np.ndarray
    belief: np.ndarray
    values: int

    @classmethod
    def of_pairs(cls, row: np.ndarray, value: np.ndarray, belief: np.ndarray, rows: int, values: int) -> Beliefs:
        """Add up the beliefs of equal pairs, in the order in which they come."""
        pair = row.astype(np.int64) * values + value
        if len(pair) and not (np.diff(pair) > 0).all():
            order = np.argsort(pair, kind="stable")
            pair = pair[order]
            first = np.flatnonzero(np.diff(pair, prepend=-1))
            belief = np.add.reduceat(belief[order], first)
            pair = pair[first]
        counts = np.bincount(pair // values, minlength=rows)
        return cls(np.append(0, np.cumsum(counts)), pair % values, belief, values)

    @classmethod
    def of_table(cls, table: np.ndarray) -> Beliefs:
        row, value = np.nonzero(table)
        return cls.of_pairs(row, value, table[row, value], *table.shape)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def row(self) -> np.ndarray:
        """The row of each belief."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def greatest(self) -> np.ndarray:
        """The greatest belief of each row; 0 where nothing is believed."""
        return self._reduce(np.maximum, self.belief)

    @cached_property
    def guess(self) -> np.ndarray:
        """The value of each row's greatest belief, the first of equal ones; 0 where nothing is believed."""
        return self.find_first_with(self.belief, self.greatest)

    def find_first_with(self, measure: np.ndarray, greatest: np.ndarray) -> np.ndarray:
        """Return the first value of each row whose measure is the row's greatest; 0 for a row without values."""
        candidates = np.where(measure == greatest[self.row], self.value, self.values)
        first_values = np.zeros(len(self), np.int64)
        filled_rows = np.flatnonzero(np.diff(self.starts))
        if len(filled_rows):
            first_values[filled_rows] = np.minimum.reduceat(candidates, self.starts[filled_rows])
        return first_values

    def find_greatest_by(self, measure: np.ndarray) -> np.ndarray:
        """Return the value of each row whose measure (one number for each belief) is greatest."""
        return self.find_first_with(measure, self._reduce(np.maximum, measure))

    def look_up_belief(self, value: np.ndarray) -> np.ndarray:
        """Return the belief of each row in one value, which is passed for each row."""
        beliefs = np.zeros(len(self))
        hit = np.flatnonzero(self.value == value[self.row])
        beliefs[self.row[hit]] = self.belief[hit]
        return beliefs

    def sums(self) -> np.ndarray:
        return self._reduce(np.add, self.belief)

    def scale_to_one(self) -> Beliefs:
        """Divide each row by its sum; a row without beliefs stays."""
        row_sums = self.sums()
        divisor = np.where(row_sums > 0, row_sums, 1.0)
        return Beliefs(self.starts, self.value, self.belief / divisor[self.row], self.values)

    def to_dense(self) -> np.ndarray:
        table = np.zeros((len(self), self.values))
        table[self.row, self.value] = self.belief
        return table

    def take(self, rows: np.ndarray) -> Beliefs:
        """Return the rows of these numbers, in this order; a number may occur several times."""
        lengths = np.diff(self.starts)[rows]
        index = list_stretches(self.starts[:-1][rows], lengths)
        return Beliefs(np.append(0, np.cumsum(lengths)), self.value[index], self.belief[index], self.values)

    def replace_rows(self, other: dict[int, tuple[np.ndarray, np.ndarray]]) -> Beliefs:
        """Return these beliefs with (values, beliefs) of some rows in place of their own."""
        if not other:
            return self
        is_own_row = np.ones(len(self), bool)
        is_own_row[list(other)] = False
        is_own = is_own_row[self.row]
        rows = [self.row[is_own], *(np.full(len(value), row) for row, (value, _) in other.items())]
        values = [self.value[is_own], *(value for value, _ in other.values())]
        beliefs = [self.belief[is_own], *(belief for _, belief in other.values())]
        joined = (np.concatenate(rows), np.concatenate(values), np.concatenate(beliefs))
        return Beliefs.of_pairs(*joined, len(self), self.values)

    def _reduce(self, ufunc: np.ufunc, measure: np.ndarray) -> np.ndarray:
        reduced = np.zeros(len(self))
        filled_rows = np.flatnonzero(np.diff(self.starts))
        if len(filled_rows):
            reduced[filled_rows] = ufunc.reduceat(measure, self.starts[filled_rows])
        return reduced


@dataclass(frozen=True, eq=False)
class Atoms:
    """People who may be in the same groups to the same shares; `of_point` is the atom of each point."""

    of_point: np.ndarray
    atom: np.ndarray  # of each entry, sorted
    group: np.ndarray
    weight: np.ndarray

    def __len__(self) -> int:
        return int(self.of_point.max(initial=-1)) + 1

    def mix(self, of_groups: np.ndarray, chunk_pairs: int = CHUNK_MIXED_PAIRS) -> Beliefs:
        """Mix the groups' rows of (groups, values) by the weights of each atom."""
        parts = [part for _, part in self.mix_in_parts(of_groups, chunk_pairs)]
        if not parts:
            return Beliefs(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0), of_groups.shape[1])
        starts = np.append(0, np.cumsum(np.concatenate([np.diff(part.starts) for part in parts])))
        value = np.concatenate([part.value for part in parts])
        return Beliefs(starts, value, np.concatenate([part.belief for part in parts]), of_groups.shape[1])

    def mix_in_parts(
        self, of_groups: np.ndarray, chunk_pairs: int = CHUNK_MIXED_PAIRS
    ) -> Iterator[tuple[slice, Beliefs]]:
        """Yield the same for some atoms after the other, so that no more than these are in memory."""
        rows = Beliefs.of_table(of_groups)
        lengths = np.diff(rows.starts)[self.group]
        first = np.searchsorted(self.atom, np.arange(len(self) + 1))
        until = np.append(0, np.cumsum(lengths))[first]
        start = 0
        while start < len(self):
            stop = max(int(np.searchsorted(until, until[start] + chunk_pairs, side="right")) - 1, start + 1)
            block = slice(first[start], first[stop])
            index = list_stretches(rows.starts[:-1][self.group[block]], lengths[block])
            mixed = rows.belief[index] * np.repeat(self.weight[block], lengths[block])
            atom = np.repeat(self.atom[block] - start, lengths[block])
            yield slice(start, stop), Beliefs.of_pairs(atom, rows.value[index], mixed, stop - start, rows.values)
            start = stop


def find_atoms(point: np.ndarray, group: np.ndarray, weight: np.ndarray, points: int) -> Atoms:
    """Find points whose entries (a group with a weight) are the same; a point without entries is like others without."""
    order = np.lexsort((group, point))
    point = point[order]
    group = group[order]
    weight = weight[order]
    keys = np.random.default_rng(0).integers(1, 2**63, (2, int(group.max(initial=0)) + 1), np.uint64)
    bits = np.ascontiguousarray(weight, np.float64).view(np.uint64)
    prints = np.zeros((points, 2), np.uint64)
    for column in range(2):
        mixed = (keys[column][group] ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        np.add.at(prints[:, column], point, mixed ^ (mixed >> np.uint64(29)))
    _, first, of_point = np.unique(
        prints.view([("a", np.uint64), ("b", np.uint64)]).reshape(-1), return_index=True, return_inverse=True
    )
    of_point = of_point.reshape(-1)
    is_first = np.zeros(points, bool)
    is_first[first] = True
    is_listed = is_first[point]
    atom = of_point[point[is_listed]]
    by_atom = np.argsort(atom, kind="stable")
    return Atoms(of_point, atom[by_atom], group[is_listed][by_atom], weight[is_listed][by_atom])


def list_stretches(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """List starts[i], starts[i] + 1, ... up to lengths[i] numbers, one stretch after the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)


def cut_points(points: int, values: int) -> Iterator[slice]:
    """Cut points into slices of which a dense table of beliefs is small."""
    step = max(CHUNK_DENSE_BELIEFS // max(values, 1), 1)
    for start in range(0, points, step):
        yield slice(start, min(start + step, points))
