"""Prior and posterior beliefs and how far they are apart, recomputed from people and groups (Li, Li & Zhang, ICDE 2009, II to IV).

    prior       equation 2, on a grid of the values that occur: one matrix product for each axis; or from point to point
    posterior   equation 5 (Omega), or so many rounds of it (balanced)
    risk        equation 6 in bits, on smoothed and renormalised beliefs

Sums of numbers >= 0 throughout: a risk in doubles is within `error` of the true one.  What that does not decide is recomputed with
more digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import exp, prod
from typing import Any

import numpy as np

from reticent.audit.measure.background_people import Axis

ROOM = 1 << 23  # doubles held at once
BLOCK = 1 << 16  # pairs of points looked at together: memory is used again and not asked for anew
PAIR = 16  # products of a grid that cost as much as a pair of points
ROUNDS = {"omega": 1, "balanced": 24}


def kernel_weight(distance: Fraction, bandwidth: Any, kernel: str, same: bool) -> Any:
    """The kernel at a distance, up to a constant: exact but for the Gaussian."""
    if same or bandwidth == "whole":
        return Fraction(1)
    if bandwidth == 0 or distance >= bandwidth:
        return Fraction(0)
    share = distance / bandwidth
    if kernel == "gaussian":
        return exp(-4.5 * float(share) ** 2)
    return {"uniform": Fraction(1), "triangular": 1 - share, "epanechnikov": 1 - share * share}[kernel]


def weights(axis: Axis, bandwidth: Any, kernel: str) -> np.ndarray | None:
    """(values, values): every value has weight 1 for itself; None where only equal values have any."""
    if bandwidth == "whole":
        return np.ones((1, 1))
    if bandwidth == 0:
        return None
    each = np.array([float(kernel_weight(d, bandwidth, kernel, False)) for d in axis.levels])
    found = each[axis.which]
    np.fill_diagonal(found, 1.0)
    return found


@dataclass(frozen=True, eq=False)
class Table:
    """Points sorted by group: who stands there (`held`), and the group's published counts (`shown`)."""

    codes: np.ndarray
    held: np.ndarray
    starts: np.ndarray
    shown: np.ndarray

    @cached_property
    def people(self) -> np.ndarray:
        return self.held.sum(axis=1)

    @cached_property
    def group(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.shown)), np.diff(np.append(self.starts, len(self.codes))))

    def pieces(self) -> Iterator[tuple[slice, slice]]:
        """Groups a few at a time, and their points."""
        width = max(ROOM // 8 // self.held.shape[1], 1)
        cut = np.unique(np.searchsorted(self.starts, np.arange(0, len(self.codes), width)))
        ends = np.append(self.starts, len(self.codes))
        for first, last in pairwise(np.unique(np.append(cut, len(self.shown)))):
            yield slice(first, last), slice(ends[first], ends[last])


def priors(table: Table, each: list[np.ndarray | None]) -> tuple[np.ndarray, int]:
    """Equation 2 at every point, apart for every combination of the axes without neighbours; and how many terms a sum has.

    On a grid over the other axes; from point to point where that is less work, or where the grid is too large.
    """
    whole = [w is not None and bool((w == 1).all()) for w in each]
    alone = [w is None or (not flat and np.count_nonzero(w) == len(w)) for w, flat in zip(each, whole, strict=True)]
    live = [a for a in range(len(each)) if not whole[a] and not alone[a]]
    near = [w for a in live if (w := each[a]) is not None]
    places = prod(len(w) for w in near)
    key = _numbered(table.codes[:, alone])
    held, values = np.bincount(key), table.held.shape[1]
    entries = np.bincount(key, weights=np.count_nonzero(table.held, axis=1))
    if PAIR * (held @ entries) <= len(held) * places * values * sum(map(len, near)):
        return _divided(_from_point_to_point(table, near, table.codes[:, live], key)), int(held.max())
    if places > ROOM:
        return _divided(_by_pairs(table, near, table.codes[:, live], key)), int(held.max())
    return _divided(_by_grid(table, near, table.codes[:, live], key)), sum(len(w) + 4 for w in near)


def _numbered(codes: np.ndarray) -> np.ndarray:
    """A number for each combination of codes, in their order."""
    key, room = np.zeros(len(codes), np.int64), 1
    for column in codes.T:
        size = int(column.max(initial=0)) + 1
        if room * size > 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            room = len(distinct)
        key, room = key * size + column, room * size
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def _divided(found: np.ndarray) -> np.ndarray:
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _from_point_to_point(table: Table, each: list[np.ndarray], codes: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Every point beside what each point of its key holds, a few points at a time."""
    values, found = table.held.shape[1], np.empty(table.held.shape)
    order = np.argsort(key, kind="stable")
    codes, held, key = codes[order], table.held[order], key[order]
    holder, value = np.nonzero(held)
    first = np.searchsorted(key[holder], np.arange(int(key[-1]) + 2))  # the entries of each key
    times, length = held[holder, value].astype(float), np.diff(first)[key]
    until = np.cumsum(length)
    cuts = np.unique(np.searchsorted(until, np.arange(0, int(until[-1]), BLOCK)))
    for begin, end in pairwise(np.unique(np.append(cuts, len(key)))):
        many = length[begin:end]
        point = np.repeat(np.arange(begin, end), many)
        entry = np.arange(int(many.sum())) + np.repeat(first[key[begin:end]] - np.cumsum(many) + many, many)
        weight = times[entry]
        for a, w in enumerate(each):
            weight *= w.reshape(-1)[codes[point, a] * len(w) + codes[holder[entry], a]]
        at = (point - begin) * values + value[entry]
        found[order[begin:end]] = np.bincount(at, weight, (end - begin) * values).reshape(-1, values)
    return found


def _by_grid(table: Table, near: list[np.ndarray], codes: np.ndarray, key: np.ndarray) -> np.ndarray:
    """One product of matrices for each axis, as many keys at once as there is room for."""
    grid = tuple(len(w) for w in near)
    places, values = prod(grid), table.held.shape[1]
    place = np.zeros(len(key), np.int64)
    for a, w in enumerate(near):
        place = place * len(w) + codes[:, a]
    found = np.zeros(table.held.shape)
    order = np.argsort(key, kind="stable")
    many = int(key.max()) + 1
    step = max(ROOM // (places * values), 1)
    wide = values if places * values <= ROOM else max(ROOM // places, 1)
    for begin in range(0, many, step):
        rows = order[np.searchsorted(key[order], begin) : np.searchsorted(key[order], begin + step)]
        for low in range(0, values, wide):
            found[rows, low : low + wide] = _on_grid(
                (key[rows] - begin) * places + place[rows], table.held[rows, low : low + wide], near,
                (min(step, many - begin), *grid),
            )  # fmt: skip
    return found


def _on_grid(place: np.ndarray, held: np.ndarray, each: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    many = prod(shape)
    columns = [np.bincount(place, weights=column, minlength=many) for column in held.T]
    cells = np.column_stack(columns).reshape(*shape, -1)
    for axis, w in enumerate(each, 1):
        cells = np.moveaxis(np.tensordot(w, cells, axes=(1, axis)), 0, axis)
    return cells.reshape(-1, held.shape[1])[place]


def _by_pairs(table: Table, each: list[np.ndarray], codes: np.ndarray, key: np.ndarray) -> np.ndarray:
    """The same, a block of points against all others."""
    found = np.empty(table.held.shape)
    block = max(ROOM // len(codes), 1)
    for begin in range(0, len(codes), block):
        here = slice(begin, begin + block)
        weight = (key[here, None] == key[None, :]).astype(float)
        for a, w in enumerate(each):
            weight *= w[codes[here, a]][:, codes[:, a]]
        found[here] = weight @ table.held
    return found


def posteriors(table: Table, prior: np.ndarray, groups: slice, points: slice, rounds: int) -> np.ndarray:
    """What is believed of each point of some groups after seeing their values; their histogram of who could have none."""
    p, people, shown = prior[points], table.people[points], table.shown[groups]
    begin = table.starts[groups] - points.start
    group = table.group[points] - groups.start
    share = people.astype(float)
    for _ in range(rounds):
        column = np.add.reduceat(p * share[:, None], begin, axis=0)
        ratio = np.divide(shown, column, out=np.zeros(column.shape), where=column > 0)
        scaled = p * ratio[group]
        row = scaled.sum(axis=1)
        share = np.divide(people, row, out=np.zeros(len(p)), where=row > 0)
    alone = shown / np.maximum(shown.sum(axis=1, keepdims=True), 1)
    return np.where(row[:, None] > 0, scaled / np.where(row > 0, row, 1)[:, None], alone[group])


def smoothed(belief: np.ndarray, matrix: np.ndarray | None) -> np.ndarray:
    if matrix is None:
        return belief
    found = belief @ matrix.T
    return found / found.sum(axis=1, keepdims=True)


def bits(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Jensen-Shannon, row by row."""
    total = np.zeros(len(p))
    for one in (p, q):
        share = np.divide(2 * one, p + q, out=np.ones_like(one), where=one > 0)
        total += (one * np.log2(share)).sum(axis=1)
    return total / 2


def roundings(terms: int, points: Any, values: int, rounds: int) -> Any:
    """A bound on the error of a group's risk in units of rounding, by its points; smoothed or not.

    Nothing subtracts on the way to a belief: its relative error is the number of roundings, to first order.  The
    divergence moves by no more than the beliefs do.  Four times that: numerator and denominator of a smoothed belief,
    and all that is not of first order.
    """
    prior = 2 * terms + 3 * values + 80
    factor = rounds * (2 * prior + points + 2 * values + 16)
    return 4 * (2 * (prior + factor) + 16 * values + 256)


def error(terms: int, points: np.ndarray, values: int, rounds: int) -> np.ndarray:
    """The same in doubles; see the test of it."""
    return np.asarray(roundings(terms, points, values, rounds) * 2.0**-53)
