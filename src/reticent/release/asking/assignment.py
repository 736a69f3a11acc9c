"""The most that matching the rows of each group with its values can be worth.

Row types i and value types t; every row of a group takes one of its values, some values may be left over.  A pair is worth
worth[i, t].  Where all rows are of two types, or all values, the best is found by sorting what the one type gains over the other,
for all groups at once; otherwise by augmenting paths, group by group, groups alike once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import frexp
from typing import Any

import numpy as np

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]  # group, type, number
DENSE = 1 << 23  # numbers in a table of groups by value types
NEVER = -(1 << 62)  # less than any path is worth


@dataclass(frozen=True, eq=False)
class Groups:
    """How many rows of which type and values of which type each group has; values left over are taken by rows of type -1."""

    rows: Triple
    values: Triple
    many: int
    left: np.ndarray | None = None  # `spare`, where it is known already

    def size(self, side: Triple) -> np.ndarray:
        return np.bincount(side[0], weights=side[2], minlength=self.many).astype(np.int64)

    @cached_property
    def spare(self) -> np.ndarray:
        """The values of each group that no row takes."""
        return self.size(self.values) - self.size(self.rows) if self.left is None else self.left

    @cached_property
    def two(self) -> Two | None:
        """The groups as rows of two types, or of one, see them; None where there are more, or too much to be held."""
        kinds = int(self.values[1].max(initial=-1)) + 1
        types = np.flatnonzero(np.bincount(self.rows[1]))
        if self.spare.any() or not 1 <= len(types) <= 2 or not 0 < self.many * kinds <= DENSE:
            return None
        mine = np.bincount(self.rows[0], weights=self.rows[2] * (self.rows[1] == types[0]), minlength=self.many)
        return Two(int(types[0]), int(types[-1]), mine, _has(self.values, self.many, kinds))

    def only(self, group: int) -> Groups:
        rows, values = ((np.zeros((side[0] == group).sum(), np.int64), side[1][side[0] == group], side[2][side[0] == group])
                        for side in (self.rows, self.values))  # fmt: skip
        return Groups(rows, values, 1)


@dataclass(frozen=True, eq=False)
class Two:
    """Rows of a first type, so many in each group, take what gains most over the other; what is taken depends on the order alone."""

    first: int
    other: int
    room: np.ndarray
    has: np.ndarray  # (value types, groups)
    taken: dict[bytes, np.ndarray] = field(default_factory=dict)

    def summed(self, layers: tuple[np.ndarray, ...]) -> np.ndarray:
        """What the best matching by the first layer amounts to in each of them, over all groups."""
        wide = len(self.has)
        gain = np.array([layer[self.first, :wide] - layer[self.other, :wide] for layer in layers])
        order = np.argsort(-gain[0], kind="stable")
        if (key := order.tobytes()) not in self.taken:
            self.taken[key] = self._taken(order)
        otherwise = np.array([layer[self.other, :wide] for layer in layers], float) @ self.has.sum(axis=1)
        return otherwise + gain @ self.taken[key]

    def _taken(self, order: np.ndarray) -> np.ndarray:
        """How many values of each type rows of the first type take, the best first."""
        left, found = self.room.copy(), np.zeros(len(order))
        for at in order:
            taken = np.minimum(left, self.has[at])
            found[at] = taken.sum()
            left -= taken
        return found


def summed_best(groups: Groups, worth: np.ndarray, *besides: np.ndarray) -> np.ndarray:
    """`best`, added up over all groups."""
    return best(groups, worth, *besides).sum(axis=1) if groups.two is None else groups.two.summed((worth, *besides))


def best(groups: Groups, worth: np.ndarray, *besides: np.ndarray) -> np.ndarray:
    """(1 + besides, groups): the greatest worth of each group, and what else the pairs of that matching amount to."""
    if not len(groups.values[0]):
        return np.zeros((1 + len(besides), groups.many))
    layers, rows, values = _sides(groups, (worth, *besides))
    if layers.shape[1] <= 2:
        return _two(layers, rows, values, groups.many)
    if layers.shape[2] <= 2:
        return _two(layers.transpose(0, 2, 1), values, rows, groups.many)
    return _by_paths(layers, rows, values, groups.many)


def _sides(groups: Groups, worths: tuple[np.ndarray, ...]) -> tuple[np.ndarray, Triple, Triple]:
    """Worths by types of rows and values that differ in some of them, and both sides by these types."""
    layers = np.array([np.vstack([layer, np.zeros(layer.shape[1])]) for layer in worths])  # the last row type is no row
    short = np.flatnonzero(groups.spare)
    rows, values = groups.rows, groups.values
    if len(short):
        none = np.full(len(short), layers.shape[1] - 1)
        rows = (
            np.concatenate([rows[0], short]),
            np.concatenate([rows[1], none]),
            np.concatenate([rows[2], groups.spare[short]]),
        )
    used = [np.bincount(side[1]) > 0 for side in (rows, values)]
    layers = layers[:, np.flatnonzero(used[0])][:, :, np.flatnonzero(used[1])]
    layers, kind = _alike(layers)
    rows = (rows[0], kind[np.cumsum(used[0]) - 1][rows[1]], rows[2])
    across, sort = _alike(layers.transpose(0, 2, 1))
    values = (values[0], sort[np.cumsum(used[1]) - 1][values[1]], values[2])
    return across.transpose(0, 2, 1), rows, values


def _alike(layers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    flat = np.concatenate(list(layers), axis=1)
    _, first, kind = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    return layers[:, first], kind.reshape(-1)


def _room(rows: Triple, many: int) -> np.ndarray:
    """How many rows of the first type each group has."""
    return np.bincount(rows[0], weights=rows[2] * (rows[1] == 0), minlength=many)


def _has(values: Triple, many: int, kinds: int) -> np.ndarray:
    """(value types, groups): how many values of each type each group has."""
    return np.bincount(values[1] * many + values[0], weights=values[2], minlength=many * kinds).reshape(kinds, many)


def _two(layers: np.ndarray, rows: Triple, values: Triple, many: int) -> np.ndarray:
    """Of two types of rows, those of the first take the values that gain most."""
    group, kind, number = values
    room = _room(rows, many)
    if many * layers.shape[2] <= DENSE:
        return _taken_first(layers, room, _has(values, many, layers.shape[2]))
    second = layers[:, -1]
    found = np.array([np.bincount(group, weights=number * layer[kind], minlength=many) for layer in second])
    if layers.shape[1] == 1:
        return found
    gain = layers[:, 0] - layers[:, 1]
    order = np.lexsort((-gain[0][kind], group))
    group, kind, number = group[order], kind[order], number[order]
    until = np.cumsum(number)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    before = until - number - np.repeat((until - number)[starts], np.diff(np.append(starts, len(group))))
    taken = np.clip(room[group].astype(np.int64) - before, 0, number)
    return found + np.array([np.bincount(group, weights=taken * layer[kind], minlength=many) for layer in gain])


def _taken_first(layers: np.ndarray, room: np.ndarray, has: np.ndarray) -> Any:
    """The same without sorting rows: the types of values by what they gain."""
    gain = layers[:, 0] - layers[:, -1]
    left, found = room, np.zeros((len(layers), len(room)))
    for at in np.argsort(-gain[0], kind="stable"):
        taken = np.minimum(left, has[at])
        left = left - taken
        for total, more, otherwise in zip(found, gain[:, at], layers[:, -1, at], strict=True):
            if more:
                total += more * taken
            if otherwise:
                total += otherwise * has[at]
    return found


def _by_paths(layers: np.ndarray, rows: Triple, values: Triple, many: int) -> np.ndarray:
    need = np.zeros((many, layers.shape[1]), np.int64)
    have = np.zeros((many, layers.shape[2]), np.int64)
    np.add.at(need, (rows[0], rows[1]), rows[2])
    np.add.at(have, (values[0], values[1]), values[2])
    both, which = np.unique(np.concatenate([need, have], axis=1), axis=0, return_inverse=True)
    found = np.array([_one(layers, line[: need.shape[1]], line[need.shape[1] :]) for line in both])
    return found[which.reshape(-1)].T


def _one(layers: np.ndarray, need: np.ndarray, have: np.ndarray) -> np.ndarray:
    """Successive best paths: a row type that still needs values, value types that have some, and back along what is taken."""
    worth = _whole(layers[0])
    need, have = need.copy(), have.copy()
    taken = np.zeros(worth.shape, np.int64)
    while need.any():
        gain = np.where(need > 0, 0, NEVER)  # of reaching each row type
        reach = np.full(len(have), NEVER)
        from_row, from_value = np.full(len(have), -1), np.full(len(need), -1)
        for _ in range(len(need) + 1):
            step = np.where(gain[:, None] > NEVER, gain[:, None] + worth, NEVER)
            better = step.max(axis=0)
            moved = better > reach
            from_row[moved] = step.argmax(axis=0)[moved]
            reach = np.where(moved, better, reach)
            back = np.where(taken > 0, reach[None, :] - worth, NEVER)
            better = back.max(axis=1)
            moved = better > gain
            if not moved.any():
                break
            from_value[moved] = back.argmax(axis=1)[moved]
            gain = np.where(moved, better, gain)
        at = int(np.argmax(np.where(have > 0, reach, NEVER)))
        path, end = [], at
        while True:
            row = int(from_row[at])
            path.append((row, at, 1))
            if from_value[row] < 0:
                break
            at = int(from_value[row])
            path.append((row, at, -1))
        amount = min([int(need[row]), int(have[end]), *(int(taken[r, t]) for r, t, sign in path if sign < 0)])
        for r, t, sign in path:
            taken[r, t] += sign * amount
        need[row] -= amount
        have[end] -= amount
    return np.array([(layer * taken).sum() for layer in layers])


def _whole(worth: np.ndarray) -> np.ndarray:
    """Worths as multiples of a small power of two, so small that a sum along a path just fits 64 bits.

    Comparing doubles, two ways of equal worth may each seem better than the other by a rounding, and a path would go round in
    circles.  What is lost is less than 2^-50 of the greatest worth for each row where there are fewer than 500 types.
    """
    most = float(np.abs(worth).max(initial=0.0))
    steps = 2 * min(worth.shape) + 3
    return (
        np.rint(np.ldexp(worth, 61 - steps.bit_length() - frexp(most)[1])).astype(np.int64)
        if most
        else np.zeros(worth.shape, np.int64)
    )
