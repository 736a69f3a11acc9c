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
    """Priors by equation 2 for one bandwidth: `weights` are (codes, codes) for each axis of `held`."""

    def __init__(
        self,
        held: PointCounts,
        weights: Sequence[KernelWeights],
        max_cells: int = MAX_CONTRACTION_CELLS,
        max_pairs: int = MAX_PAIRS,
    ):
        self.max_cells = max_cells
        self.max_pairs = max_pairs
        self.held = held
        self.weights = weights
        whole = [are_whole_weights(table) for table in weights]
        self.keys = [a for a, table in enumerate(weights) if not whole[a] and are_equality_weights(table)]
        self.live = [a for a, table in enumerate(weights) if not whole[a] and a not in self.keys]

    @cached_property
    def route(self) -> PriorRoute:
        """The cheaper of the two routes; refuses with advice where both are beyond reach."""
        held = self.held
        axes = max(len(self.live), 1)
        points = len(held.codes)
        pairs = float(self.windows[:, 1].sum() - self.windows[:, 0].sum()) * (axes + 4)
        work = (
            sum(rows * width * size * size for rows, width, size in self.sizes) * held.values / 8 + points * held.values
        )
        room = max([rows * width * size for rows, width, size in self.sizes], default=0)
        if room <= self.max_cells and work <= pairs:
            terms = sum(len(self.weights[a]) + 2 for a in self.live)
            return PriorRoute("contraction", work, terms + len(self.weights))
        if pairs <= self.max_pairs:
            return PriorRoute("pairs", pairs, len(held.value) + 2 * len(self.weights))
        raise JobError(
            f"Prior beliefs at {points:,} combinations of quasi-identifiers are out of reach at this bandwidth.",
            why=f"All pairs are {pairs / (axes + 4):,.0f}; summed axis by axis, the table grows to {room:,} places.",
            attempt='a bandwidth of 0 or "whole" for the columns with most values, or coarser values in them.',
        )

    @cached_property
    def order(self) -> list[int]:
        """Axes to contract, first the one that leaves the smallest table; the longest axis comes last and is not among them."""
        left = sorted(self.live, key=lambda a: len(self.weights[a]))[:-1]
        found: list[int] = []
        while left:
            rest = [a for a in (*self.keys, *self.live) if a not in found]
            best = min(left, key=lambda a: self._count_table_rows([b for b in rest if b != a]) * len(self.weights[a]))
            found.append(best)
            left.remove(best)
        return found

    def _count_table_rows(self, axes: list[int]) -> int:
        return len(_find_combinations(self.held.codes[:, axes], self._axis_lengths(axes))[0])

    def _axis_lengths(self, axes: list[int]) -> np.ndarray:
        return np.array([len(self.weights[a]) for a in axes], np.int64)

    @cached_property
    def sizes(self) -> list[tuple[int, int, int]]:
        """(rows, width, codes of the axis) of every contraction; the last axis counts with its length once."""
        rest = [*self.keys, *self.live]
        width = 1
        found = []
        for axis in self.order:
            rest.remove(axis)
            size = len(self.weights[axis])
            found.append((self._count_table_rows(rest), width, size))
            width *= size
        return [*found, (self._count_table_rows(rest), width, 1)]

    def contract_axes(self) -> np.ndarray:
        """Compute (points, values), the numerators of equation 2, axis by axis."""
        room = max(rows * width * size for rows, width, size in self.sizes)
        step = max(min(self.max_cells // max(room, 1), self.held.values), 1)
        found = np.empty((len(self.held.codes), self.held.values))
        for begin in range(0, self.held.values, step):
            end = min(begin + step, self.held.values)
            found[:, begin:end] = self._contract_values(begin, end)
        return found

    def _contract_values(self, begin: int, end: int) -> np.ndarray:
        held = self.held
        wide = end - begin
        here = (held.value >= begin) & (held.value < end)
        flat = held.point[here] * wide + held.value[here] - begin
        table = np.bincount(flat, weights=held.count[here], minlength=len(held.codes) * wide)
        rest = [*self.keys, *self.live]
        rows, at = _find_combinations(held.codes[:, rest], self._axis_lengths(rest))
        table = _sum_equal_rows(table.reshape(-1, wide), at, len(rows))
        place = np.zeros(len(held.codes), np.int64)
        stride = 1
        for axis in self.order:
            column = rest.index(axis)
            size = len(self.weights[axis])
            rest.pop(column)
            code = rows[:, column]
            rows, at = _find_combinations(np.delete(rows, column, axis=1), self._axis_lengths(rest))
            dense = np.zeros((len(rows) * size, table.shape[1]))
            dense[at * size + code] = table
            table = _apply_weights(self._near_weights(axis), dense.reshape(len(rows), size, -1)).reshape(len(rows), -1)
            place += held.codes[:, axis] * stride
            stride *= size
        return self._contract_last_axis(table.reshape(len(rows), stride, wide), rest, rows, place)

    def _contract_last_axis(
        self, table: np.ndarray, rest: list[int], rows: np.ndarray, place: np.ndarray
    ) -> np.ndarray:
        """Contract the last axis, at the observed points."""
        held = self.held
        axis = rest[-1] if self.live else None
        weight = np.ones((1, 1)) if axis is None else np.ascontiguousarray(self.weights[axis])
        keys = rows if axis is None else rows[:, :-1]
        lengths = self._axis_lengths(self.keys)
        known, of_row = _find_combinations(keys, lengths)
        row_of = np.full((len(known), len(weight)), -1, np.int64)
        row_of[of_row, 0 if axis is None else rows[:, -1]] = np.arange(len(rows))
        number = _number_combinations(known, held.codes[:, self.keys], lengths)
        code = np.zeros(len(number), np.int64) if axis is None else held.codes[:, axis].astype(np.int64)
        found = np.empty((len(number), table.shape[2]))
        places = np.ascontiguousarray(np.column_stack([number, code, place]).astype(np.int64))
        table = np.ascontiguousarray(table)
        for here in _slice_rows(np.full(len(places), weight.shape[1] * table.shape[2]), CHUNK_PAIRS):
            contract_last_axis(places[here], row_of, weight, table, found[here])
        return found

    @cached_property
    def _sorted_points(self) -> np.ndarray:
        """Points in the order of their keys, then of the longest axis."""
        by = [*self.keys, *([self._longest] if self.live else [])]
        words = pack_codes(self.held.codes[:, by], self._axis_lengths(by))
        return np.lexsort(words[::-1]) if words else np.arange(len(self.held.codes))

    @property
    def _longest(self) -> int:
        return max(self.live, key=lambda a: len(self.weights[a]))

    def _near_weights(self, axis: int) -> np.ndarray:
        """Return the weights of an axis on which values other than one's own count."""
        return np.asarray(self.weights[axis])

    @cached_property
    def windows(self) -> np.ndarray:
        """For each point in sorted order, the stretch of sorted points that equation 2 can give weight to."""
        codes = self.held.codes[self._sorted_points]
        _, number = _find_combinations(codes[:, self.keys], self._axis_lengths(self.keys))
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
        held = self.held
        order = self._sorted_points
        live = self.live
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        turn = np.argsort(rank[held.point], kind="stable")
        entries = np.column_stack([held.value[turn], held.count[turn]]).astype(np.int64)
        first = np.searchsorted(rank[held.point][turn], np.arange(len(order) + 1)).astype(np.int64)
        lengths = self._axis_lengths(live)
        begin = np.cumsum(np.append(0, lengths**2))[:-1]
        base = np.column_stack([begin, lengths]).astype(np.int64).reshape(-1, 2)
        flat = np.concatenate([self._near_weights(a).reshape(-1) for a in live] or [np.ones(1)])
        found = np.zeros((len(order), held.values))
        codes = np.ascontiguousarray(held.codes[order][:, live], np.int32)
        windows = np.ascontiguousarray(self.windows, np.int64)
        base = np.ascontiguousarray(base)
        entries = np.ascontiguousarray(entries)
        for here in _slice_rows(windows[:, 1] - windows[:, 0], CHUNK_PAIRS):
            sum_all_pairs(codes, base, flat, windows[here], first, entries, here.start, found[here])
        return found[rank]

    def table(self) -> np.ndarray:
        """Compute (points, values), the prior beliefs, by the route chosen."""
        found = self.contract_axes() if self.route.name == "contraction" else self.sum_over_pairs()
        return found / found.sum(axis=1, keepdims=True)


def _slice_rows(lengths: np.ndarray, most: int) -> Iterator[slice]:
    """Cut rows into slices whose lengths add up to no more than `most`, or that have one row."""
    until = np.append(0, np.cumsum(lengths))
    start = 0
    while start < len(lengths):
        stop = max(int(np.searchsorted(until, until[start] + most, side="right")) - 1, start + 1)
        yield slice(start, stop)
        start = stop


def _apply_weights(weight: np.ndarray, dense: np.ndarray) -> np.ndarray:
    """Compute weight @ dense for every row; short axes by hand, because a matrix product of two by two is all overhead."""
    if len(weight) > 4:
        return np.matmul(weight, dense)
    found = np.empty_like(dense)
    for i, row in enumerate(weight):
        found[:, i] = row[0] * dense[:, 0]
        for j in range(1, len(row)):
            found[:, i] += row[j] * dense[:, j]
    return found


def _find_combinations(codes: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows, and which of them each row is."""
    if not codes.shape[1]:
        return codes[:1], np.zeros(len(codes), np.int64)
    words = pack_codes(codes, lengths)
    if len(words) == 1:
        _, first, at = np.unique(words[0], return_index=True, return_inverse=True)
        return codes[first], at.reshape(-1)
    found, at = np.unique(codes, axis=0, return_inverse=True)
    return found, at.reshape(-1)


def _number_combinations(known: np.ndarray, codes: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Find which of the known combinations each row is."""
    if not codes.shape[1]:
        return np.zeros(len(codes), np.int64)
    return _find_combinations(np.concatenate([known, codes]), lengths)[1][len(known) :]


def _sum_equal_rows(table: np.ndarray, at: np.ndarray, rows: int) -> np.ndarray:
    """Add up rows of equal number: points that differ only in columns without weight."""
    if rows == len(table) and (at == np.arange(rows)).all():
        return table
    found = np.zeros((rows, table.shape[1]))
    np.add.at(found, at, table)
    return found
