"""Overlapping boxes, exactly: dynamic programming over the cells of a small component.

Points that lie under linked boxes are a component.  Of its people and rows two things are counted, with integers:

    assignments    ways to give every person a published row whose label covers them.  y(p, g) people of point p in group g can be
                   chosen in prod c_p! / prod y(p, g)! ways, and the rows of a group in n_g! ways whoever they are: point after
                   point, the state being the rows left in each group.
    tables         ways to give every person a value such that some assignment explains it.  x(p, v) people of point p with value v
                   fit where, value by value, they can be sent to groups that cover them and hold just so many rows of v.  The vectors
                   x(., v) that can be are found group after group; then value after value, the state being the people left at each
                   point.  A table counts once, however many assignments explain it.

A component is counted while its states are few, else given up: None.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb

Vector = tuple[int, ...]


class TooMany(Exception):
    """More states than are counted."""


class Steps:
    """Steps taken, until they are too many."""

    def __init__(self, most: int):
        self.most, self.taken = most, 0

    def step(self) -> None:
        self.taken += 1
        if self.taken > self.most:
            raise TooMany


def memberships(
    people: Sequence[int], sizes: Sequence[int], covering: Sequence[Sequence[int]], steps: Steps
) -> list[list[Fraction]]:
    """(points, groups): the expected share of each point's people in each group, every assignment being equally likely.

    `covering` lists the groups over each point.
    """
    layers: list[dict[Vector, int]] = [{tuple(sizes): 1}]
    for many, over in zip(people, covering, strict=True):
        after: dict[Vector, int] = {}
        for state, ways in layers[-1].items():
            for split, weight in _splits(many, [state[group] for group in over], steps):
                left = _less(state, over, split)
                after[left] = after.get(left, 0) + ways * weight
        layers.append(after)
    behind: dict[Vector, int] = {tuple(0 for _ in sizes): 1}
    found: list[list[int]] = []
    for at in reversed(range(len(people))):
        before: dict[Vector, int] = {}
        sums = [0] * len(sizes)
        for state, ways in layers[at].items():
            for split, weight in _splits(people[at], [state[group] for group in covering[at]], steps):
                rest = weight * behind.get(_less(state, covering[at], split), 0)
                if rest:
                    before[state] = before.get(state, 0) + rest
                    for group, count in zip(covering[at], split, strict=True):
                        sums[group] += ways * rest * count
        behind = before
        found.append(sums)
    whole = behind.get(tuple(sizes), 0)
    if not whole:
        raise TooMany
    return [[Fraction(s, whole * many) for s in sums] for sums, many in zip(reversed(found), people, strict=True)]


def tables(
    people: Sequence[int], counts: Sequence[Sequence[int]], covering: Sequence[Sequence[int]], steps: Steps
) -> list[list[Fraction]]:
    """(points, values): the posterior of a person of each point, every table that the release fits being equally likely.

    `counts` are (groups, values).
    """
    under = [[point for point, over in enumerate(covering) if group in over] for group in range(len(counts))]
    fits = [_fitting(people, [row[value] for row in counts], under, steps) for value in range(len(counts[0]))]
    layers: list[dict[Vector, int]] = [{tuple(people): 1}]
    for vectors in fits:
        after: dict[Vector, int] = {}
        for state, ways in layers[-1].items():
            for _, left, weight in _taken(state, vectors, steps):
                after[left] = after.get(left, 0) + ways * weight
        layers.append(after)
    behind: dict[Vector, int] = {tuple(0 for _ in people): 1}
    found: list[list[int]] = []
    for at in reversed(range(len(fits))):
        before: dict[Vector, int] = {}
        sums = [0] * len(people)
        for state, ways in layers[at].items():
            for vector, left, weight in _taken(state, fits[at], steps):
                rest = weight * behind.get(left, 0)
                if rest:
                    before[state] = before.get(state, 0) + rest
                    sums = [total + ways * rest * count for total, count in zip(sums, vector, strict=True)]
        behind = before
        found.append(sums)
    whole = behind.get(tuple(people), 0)
    if not whole:
        raise TooMany
    by_value = list(reversed(found))
    return [[Fraction(sums[point], whole * many) for sums in by_value] for point, many in enumerate(people)]


def _fitting(people: Sequence[int], rows: Sequence[int], under: Sequence[Sequence[int]], steps: Steps) -> list[Vector]:
    """How many people of each point may have a value, as vectors: the rows that groups hold of it, dealt to people they cover."""
    found = {tuple(0 for _ in people)}
    for many, points in zip(rows, under, strict=True):
        after = set()
        for vector in found:
            room = [people[point] - vector[point] for point in points]
            for split, _ in _splits(many, room, steps):
                longer = list(vector)
                for point, count in zip(points, split, strict=True):
                    longer[point] += count
                after.add(tuple(longer))
        found = after
    return sorted(found)


def _taken(state: Vector, vectors: Sequence[Vector], steps: Steps) -> Iterator[tuple[Vector, Vector, int]]:
    """Those of the vectors for whom people are left, who is left then, and in how many ways they are chosen."""
    for vector in vectors:
        steps.step()
        if all(count <= left for count, left in zip(vector, state, strict=True)):
            weight = 1
            for count, left in zip(vector, state, strict=True):
                weight *= comb(left, count)
            yield vector, tuple(left - count for count, left in zip(vector, state, strict=True)), weight


def _splits(many: int, room: Sequence[int], steps: Steps) -> Iterator[tuple[Vector, int]]:
    """Every way to write `many` as a sum of at most room[0], room[1], ..., with the multinomial coefficient of it."""
    if not room:
        if not many:
            yield (), 1
        return
    beyond = sum(room[1:])
    for count in range(max(0, many - beyond), min(many, room[0]) + 1):
        for rest, weight in _splits(many - count, room[1:], steps):
            steps.step()
            yield (count, *rest), weight * comb(many, count)


def _less(state: Vector, places: Sequence[int], counts: Vector) -> Vector:
    left = list(state)
    for place, count in zip(places, counts, strict=True):
        left[place] -= count
    return tuple(left)
