"""Prior beliefs at every combination of quasi-identifiers (Li, Li & Zhang, ICDE 2009, equations 1 and 2), by two routes.

    contraction   axis by axis: equation 2 is a product of kernels, so the sum over all rows is one sum after the other.  What
                  is stored is dense in the axes already summed over and holds the observed combinations of the others, so
                  columns whose kernel is equality never become dense; the longest axis comes last, at observed points alone
    pairs         all pairs of points that agree where the kernel is equality and lie in its support on the longest axis

A zero denominator cannot arise: every point is in the table and has weight 1 for itself (errata 3.9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.data.cells import pack_codes
from reticent.errors import JobError
from reticent.kernels.background_priors import contract_last_axis, sum_all_pairs
from reticent.models.background_knowledge.distances import KernelWeights, are_equality_weights, are_whole_weights

MAX_CONTRACTION_CELLS = 1 << 25  # doubles that a contraction may hold: 256 MB, and as much again for a copy
CHUNK_PAIRS = 1 << 25  # pairs looked at in one call of compiled code: between calls a time limit can end it
MAX_PAIRS = 1 << 39  # pairs of points, times axes, that are looked at at most


@dataclass(frozen=True, eq=False)
class PointCounts:
    """Counts of values at points: `codes` (points, axes) number the values of each axis, `value` and `count` each entry of a point."""

    codes: np.ndarray
    point: np.ndarray
    value: np.ndarray
    count: np.ndarray
    values: int


@dataclass(frozen=True, eq=False)
class PriorRoute:
    """A way to compute equation 2, chosen by cost; `terms` bounds the relative error in units of rounding."""

    name: str
    work: float
    terms: int


class KernelPriors:
    """Priors by equation 2 for one bandwidth: `weights` are (codes, codes) for each axis of `counts`."""

    def __init__(
        self,
        counts: PointCounts,
        weights: Sequence[KernelWeights],
        max_cells: int = MAX_CONTRACTION_CELLS,
        max_pairs: int = MAX_PAIRS,
    ):
        self.max_cells = max_cells
        self.max_pairs = max_pairs
        self.counts = counts
        self.weights = weights
        is_whole = [are_whole_weights(table) for table in weights]
        self.keys = [a for a, table in enumerate(weights) if not is_whole[a] and are_equality_weights(table)]
        self.live = [a for a, table in enumerate(weights) if not is_whole[a] and a not in self.keys]

    @cached_property
    def route(self) -> PriorRoute:
        """The cheaper of the two routes; refuses with advice where both are beyond reach."""
        counts = self.counts
        axes = max(len(self.live), 1)
        points = len(counts.codes)
        pairs = float(self.windows[:, 1].sum() - self.windows[:, 0].sum()) * (axes + 4)
        work = (
            sum(rows * width * size * size for rows, width, size in self.sizes) * counts.values / 8
            + points * counts.values
        )
        largest_table = max([rows * width * size for rows, width, size in self.sizes], default=0)
        if largest_table <= self.max_cells and work <= pairs:
            terms = sum(len(self.weights[a]) + 2 for a in self.live)
            return PriorRoute("contraction", work, terms + len(self.weights))
        if pairs <= self.max_pairs:
            return PriorRoute("pairs", pairs, len(counts.value) + 2 * len(self.weights))
        raise JobError(
            f"Prior beliefs at {points:,} combinations of quasi-identifiers are out of reach at this bandwidth.",
            why=f"All pairs are {pairs / (axes + 4):,.0f}; summed axis by axis, the table grows to {largest_table:,} places.",
            attempt='a bandwidth of 0 or "whole" for the columns with most values, or coarser values in them.',
        )

    @cached_property
    def order(self) -> list[int]:
        """Axes to contract, first the one that leaves the smallest table; the longest axis comes last and is not among them."""
        remaining = sorted(self.live, key=lambda a: len(self.weights[a]))[:-1]
        axes: list[int] = []
        while remaining:
            rest = [a for a in (*self.keys, *self.live) if a not in axes]
            best = min(
                remaining, key=lambda a: self._count_table_rows([b for b in rest if b != a]) * len(self.weights[a])
            )
            axes.append(best)
            remaining.remove(best)
        return axes

    def _count_table_rows(self, axes: list[int]) -> int:
        return len(find_combinations(self.counts.codes[:, axes], self._axis_lengths(axes))[0])

    def _axis_lengths(self, axes: list[int]) -> np.ndarray:
        return np.array([len(self.weights[a]) for a in axes], np.int64)

    @cached_property
    def sizes(self) -> list[tuple[int, int, int]]:
        """(rows, width, codes of the axis) of every contraction; the last axis counts with its length once."""
        rest = [*self.keys, *self.live]
        width = 1
        contractions = []
        for axis in self.order:
            rest.remove(axis)
            size = len(self.weights[axis])
            contractions.append((self._count_table_rows(rest), width, size))
            width *= size
        return [*contractions, (self._count_table_rows(rest), width, 1)]

    def contract_axes(self) -> np.ndarray:
        """Compute (points, values), the numerators of equation 2, axis by axis."""
        largest_table = max(rows * width * size for rows, width, size in self.sizes)
        step = max(min(self.max_cells // max(largest_table, 1), self.counts.values), 1)
        sums = np.empty((len(self.counts.codes), self.counts.values))
        for begin in range(0, self.counts.values, step):
            end = min(begin + step, self.counts.values)
            sums[:, begin:end] = self._contract_values(begin, end)
        return sums

    def _contract_values(self, begin: int, end: int) -> np.ndarray:
        counts = self.counts
        wide = end - begin
        in_range = (counts.value >= begin) & (counts.value < end)
        flat = counts.point[in_range] * wide + counts.value[in_range] - begin
        table = np.bincount(flat, weights=counts.count[in_range], minlength=len(counts.codes) * wide)
        rest = [*self.keys, *self.live]
        rows, row_of_point = find_combinations(counts.codes[:, rest], self._axis_lengths(rest))
        table = _sum_equal_rows(table.reshape(-1, wide), row_of_point, len(rows))
        place = np.zeros(len(counts.codes), np.int64)
        stride = 1
        for axis in self.order:
            column = rest.index(axis)
            size = len(self.weights[axis])
            rest.pop(column)
            code = rows[:, column]
            rows, row_of_point = find_combinations(np.delete(rows, column, axis=1), self._axis_lengths(rest))
            dense = np.zeros((len(rows) * size, table.shape[1]))
            dense[row_of_point * size + code] = table
            table = _apply_weights(self._near_weights(axis), dense.reshape(len(rows), size, -1)).reshape(len(rows), -1)
            place += counts.codes[:, axis] * stride
            stride *= size
        return self._contract_last_axis(table.reshape(len(rows), stride, wide), rest, rows, place)

    def _contract_last_axis(
        self, table: np.ndarray, rest: list[int], rows: np.ndarray, place: np.ndarray
    ) -> np.ndarray:
        """Contract the last axis, at the observed points."""
        counts = self.counts
        axis = rest[-1] if self.live else None
        weight = np.ones((1, 1)) if axis is None else np.ascontiguousarray(self.weights[axis])
        keys = rows if axis is None else rows[:, :-1]
        lengths = self._axis_lengths(self.keys)
        key_combinations, of_row = find_combinations(keys, lengths)
        row_of = np.full((len(key_combinations), len(weight)), -1, np.int64)
        row_of[of_row, 0 if axis is None else rows[:, -1]] = np.arange(len(rows))
        number = _number_combinations(key_combinations, counts.codes[:, self.keys], lengths)
        code = np.zeros(len(number), np.int64) if axis is None else counts.codes[:, axis].astype(np.int64)
        sums = np.empty((len(number), table.shape[2]))
        places = np.ascontiguousarray(np.column_stack([number, code, place]).astype(np.int64))
        table = np.ascontiguousarray(table)
        for chunk in _slice_rows(np.full(len(places), weight.shape[1] * table.shape[2]), CHUNK_PAIRS):
            contract_last_axis(places[chunk], row_of, weight, table, sums[chunk])
        return sums

    @cached_property
    def _sorted_points(self) -> np.ndarray:
        """Points in the order of their keys, then of the longest axis."""
        by = [*self.keys, *([self._longest] if self.live else [])]
        words = pack_codes(self.counts.codes[:, by], self._axis_lengths(by))
        return np.lexsort(words[::-1]) if words else np.arange(len(self.counts.codes))

    @property
    def _longest(self) -> int:
        return max(self.live, key=lambda a: len(self.weights[a]))

    def _near_weights(self, axis: int) -> np.ndarray:
        """Return the weights of an axis on which values other than one's own count."""
        return np.asarray(self.weights[axis])

    @cached_property
    def windows(self) -> np.ndarray:
        """For each point in sorted order, the stretch of sorted points that equation 2 can give weight to."""
        codes = self.counts.codes[self._sorted_points]
        _, number = find_combinations(codes[:, self.keys], self._axis_lengths(self.keys))
        number = number if len(self.keys) else np.zeros(len(codes), np.int64)
        if not self.live:
            return np.column_stack([np.searchsorted(number, number), np.searchsorted(number, number, "right")])
        table = self._near_weights(self._longest) > 0
        size = len(table)
        first = table.argmax(axis=1)
        last = size - 1 - table[:, ::-1].argmax(axis=1)
        code = codes[:, self._longest]
        word = number * size + code
        low = np.searchsorted(word, number * size + first[code])
        return np.column_stack([low, np.searchsorted(word, number * size + last[code], "right")]).astype(np.int64)

    def sum_over_pairs(self) -> np.ndarray:
        """Compute (points, values), the numerators of equation 2, over pairs of points."""
        counts = self.counts
        order = self._sorted_points
        live = self.live
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        turn = np.argsort(rank[counts.point], kind="stable")
        entries = np.column_stack([counts.value[turn], counts.count[turn]]).astype(np.int64)
        first = np.searchsorted(rank[counts.point][turn], np.arange(len(order) + 1)).astype(np.int64)
        lengths = self._axis_lengths(live)
        begin = np.cumsum(np.append(0, lengths**2))[:-1]
        base = np.column_stack([begin, lengths]).astype(np.int64).reshape(-1, 2)
        flat = np.concatenate([self._near_weights(a).reshape(-1) for a in live] or [np.ones(1)])
        sums = np.zeros((len(order), counts.values))
        codes = np.ascontiguousarray(counts.codes[order][:, live], np.int32)
        windows = np.ascontiguousarray(self.windows, np.int64)
        base = np.ascontiguousarray(base)
        entries = np.ascontiguousarray(entries)
        for chunk in _slice_rows(windows[:, 1] - windows[:, 0], CHUNK_PAIRS):
            sum_all_pairs(codes, base, flat, windows[chunk], first, entries, chunk.start, sums[chunk])
        return sums[rank]

    def sum_weights(self) -> np.ndarray:
        """Compute (points, values), the numerators of equation 2, by the route chosen."""
        return self.contract_axes() if self.route.name == "contraction" else self.sum_over_pairs()

    def table(self) -> np.ndarray:
        """Compute (points, values), the prior beliefs, by the route chosen."""
        sums = self.sum_weights()
        return sums / sums.sum(axis=1, keepdims=True)


def find_combinations(codes: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows, and which of them each row is."""
    if not codes.shape[1]:
        return codes[:1], np.zeros(len(codes), np.int64)
    words = pack_codes(codes, lengths)
    if len(words) == 1:
        _, first, number = np.unique(words[0], return_index=True, return_inverse=True)
        return codes[first], number.reshape(-1)
    distinct, number = np.unique(codes, axis=0, return_inverse=True)
    return distinct, number.reshape(-1)


def _sum_equal_rows(table: np.ndarray, number: np.ndarray, rows: int) -> np.ndarray:
    """Add up rows of equal number: points that differ only in columns without weight."""
    if rows == len(table) and (number == np.arange(rows)).all():
        return table
    summed = np.zeros((rows, table.shape[1]))
    np.add.at(summed, number, table)
    return summed


def _apply_weights(weight: np.ndarray, dense: np.ndarray) -> np.ndarray:
    """Compute weight @ dense for every row; short axes by hand, because a matrix product of two by two is all overhead."""
    if len(weight) > 4:
        return np.matmul(weight, dense)
    product = np.empty_like(dense)
    for i, row in enumerate(weight):
        product[:, i] = row[0] * dense[:, 0]
        for j in range(1, len(row)):
            product[:, i] += row[j] * dense[:, j]
    return product


def _number_combinations(combinations: np.ndarray, codes: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Find which of the known combinations each row is."""
    if not codes.shape[1]:
        return np.zeros(len(codes), np.int64)
    return find_combinations(np.concatenate([combinations, codes]), lengths)[1][len(combinations) :]


def _slice_rows(lengths: np.ndarray, max_length: int) -> Iterator[slice]:
    """Cut rows into slices whose lengths add up to no more than `max_length`, or that have one row."""
    until = np.append(0, np.cumsum(lengths))
    start = 0
    while start < len(lengths):
        stop = max(int(np.searchsorted(until, until[start] + max_length, side="right")) - 1, start + 1)
        yield slice(start, stop)
        start = stop
