"""The most that matching the rows of each group with its values can be worth.

Row types i and value types t; every row of a group takes one of its values, some values may be left over.  A pair is worth
worth[i, t].  Where all rows are of two types, or all values, the best is found by sorting what the one type gains over the other,
for all groups at once; otherwise by augmenting paths, group by group, groups alike once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import frexp

import numpy as np

from reticent.kernels.matching_taken import taken_first

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]  # group, type, number; sorted by group
WIDE = 256  # entries of a group that are sorted by putting each where it belongs
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
        """The groups as rows of two types, or of one, see them, or as values of so few do; None where there are more on both sides."""
        if self.spare.any():
            return None
        for few, side, turned in ((self.rows, self.values, False), (self.values, self.rows, True)):
            types = np.flatnonzero(np.bincount(few[1]))
            if 1 <= len(types) <= 2:
                room = np.bincount(few[0], weights=few[2] * (few[1] == types[0]), minlength=self.many).astype(np.int64)
                return Two(int(types[0]), int(types[-1]), room, side, turned)
        return None

    @cached_property
    def together(self) -> tuple[np.ndarray, np.ndarray]:
        """(row type, value type) of all pairs that some group has, each once."""
        turned = self.rows[1].max(initial=0) > self.values[1].max(initial=0)
        few, side = (self.values, self.rows) if turned else (self.rows, self.values)
        found = [np.empty((0, 2), np.int64)]
        for kind in np.flatnonzero(np.bincount(few[1])):
            here = np.zeros(self.many, bool)
            here[few[0][few[1] == kind]] = True
            others = np.flatnonzero(np.bincount(side[1][here[side[0]]]))
            found.append(np.column_stack([np.full(len(others), kind), others]))
        pairs = np.concatenate(found)
        return (pairs[:, 1], pairs[:, 0]) if turned else (pairs[:, 0], pairs[:, 1])

    def only(self, group: int) -> Groups:
        rows, values = ((np.zeros((side[0] == group).sum(), np.int64), side[1][side[0] == group], side[2][side[0] == group])
                        for side in (self.rows, self.values))  # fmt: skip
        return Groups(rows, values, 1)


@dataclass(frozen=True, eq=False)
class Two:
    """Rows of a first type, so many in each group, take what gains most over the other; what is taken depends on the order alone.

    `turned`: values of a first type, so many in each group, are taken by the rows that gain most.
    """

    first: int
    other: int
    room: np.ndarray
    side: Triple
    turned: bool
    taken: dict[bytes, np.ndarray] = field(default_factory=dict)

    def summed(self, layers: tuple[np.ndarray, ...]) -> np.ndarray:
        """What the best matching by the first layer amounts to in each of them, over all groups."""
        pair = np.array([(layer.T if self.turned else layer)[[self.first, self.other]] for layer in layers], float)
        gain, wide = pair[:, 0] - pair[:, 1], pair.shape[2]
        place = _places(gain[0])
        if (key := place.tobytes()) not in self.taken:
            taken = taken_of(self.side, self.room, place)
            self.taken[key] = np.bincount(self.side[1], weights=taken, minlength=wide)
        return pair[:, 1] @ np.bincount(self.side[1], weights=self.side[2], minlength=wide) + gain @ self.taken[key]


def _places(gain: np.ndarray) -> np.ndarray:
    """The place of each type, that which gains most first."""
    place = np.empty(len(gain), np.int64)
    place[np.argsort(-gain, kind="stable")] = np.arange(len(gain))
    return place


def taken_of(side: Triple, room: np.ndarray, place: np.ndarray) -> np.ndarray:
    """How many of each entry of a side are taken, where `room` of each group are, those of the least place first."""
    group, kind, number = side
    size = np.bincount(group, minlength=len(room))
    until = np.append(0, np.cumsum(size))
    widest = int(size.max(initial=0))
    if widest <= WIDE:
        taken = np.empty(len(group), np.int64)
        taken_first(
            until, place[kind], np.require(number, np.int64, ["C", "W"]), room, np.empty(widest, np.int64), taken
        )
        return taken
    order = np.lexsort((place[kind], group))
    amount = number[order]
    total = np.cumsum(amount)
    before = total - amount - np.append(0, total)[until[group]]
    taken = np.empty(len(group), np.int64)
    taken[order] = np.clip(room[group] - before, 0, amount)
    return taken


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
        by_group = np.argsort(rows[0], kind="stable")
        rows = (rows[0][by_group], rows[1][by_group], rows[2][by_group])
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


def _two(layers: np.ndarray, rows: Triple, values: Triple, many: int) -> np.ndarray:
    """Of two types of rows, those of the first take the values that gain most."""
    group, kind, number = values
    found = np.array([np.bincount(group, weights=number * layer[kind], minlength=many) for layer in layers[:, -1]])
    if layers.shape[1] == 1:
        return found
    gain = layers[:, 0] - layers[:, 1]
    room = np.bincount(rows[0], weights=rows[2] * (rows[1] == 0), minlength=many).astype(np.int64)
    taken = taken_of(values, room, _places(gain[0]))
    return found + np.array([np.bincount(group, weights=taken * layer[kind], minlength=many) for layer in gain])


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
    most, steps = float(np.abs(worth).max(initial=0.0)), 2 * min(worth.shape) + 3
    if not most:
        return np.zeros(worth.shape, np.int64)
    return np.rint(np.ldexp(worth, 61 - steps.bit_length() - frexp(most)[1])).astype(np.int64)
