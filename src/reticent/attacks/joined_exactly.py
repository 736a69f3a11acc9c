"""What several releases say together, exactly: all tables that fit them, counted.

People with the same group in every release are interchangeable: an *atom*.  A table gives each of them a value, and every table in
which each group of each release holds what it publishes is equally likely.  Tables are counted by how many people of each atom have
each value, atom after atom, with the groups' remaining counts as the state; numbers are integers, beliefs fractions.  Atoms that share
no group, not even through others, are components of their own.  A component is counted while its states are few; the rest is left
to `joined.balanced`.  Only where everybody's groups are known and hold all of their rows: elsewhere nothing is counted.  People
who are in no group of a release, as those who came or departed between two, are bound by the groups of the others alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb

import numpy as np

from reticent.attacks.joined import Part
from reticent.attacks.membership import linked

PEOPLE = 60
"""Components of more people are not tried."""
STEPS = 20_000
"""A component is given up after so many steps; ALL limits them all together."""
ALL = 400_000

State = tuple[tuple[int, ...], ...]


class TooMany(Exception):
    """More states than are counted."""


def exactly(parts: Sequence[Part], people: np.ndarray) -> dict[int, list[Fraction]]:
    """point -> belief in each value, for the points whose component is small enough."""
    if len(parts) < 2 or not all(part.membership.known for part in parts):
        return {}
    of_point = np.stack([_groups(part) for part in parts], axis=1)
    single = np.stack([_singly(part) for part in parts], axis=1)
    full = np.stack([_full(part)[groups] for part, groups in zip(parts, of_point.T, strict=True)], axis=1)
    nowhere = (of_point == [part.membership.groups for part in parts]).all(axis=1)
    component = components(parts)
    sizes = np.bincount(component, weights=people)
    bad = ~(full & single).all(axis=1) | nowhere
    good = np.bincount(component, weights=bad) == 0
    small = np.flatnonzero(good & (sizes <= PEOPLE) & (sizes > 0))
    order = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[order], small)
    ends = np.searchsorted(component[order], small, side="right")
    found: dict[int, list[Fraction]] = {}
    left = ALL
    for start, end in sorted(zip(starts.tolist(), ends.tolist(), strict=True), key=lambda span: span[1] - span[0]):
        counted = _component(parts, of_point, people, order[start:end], min(left, STEPS))
        left -= counted[1]
        found |= counted[0]
        if left <= 0:
            break
    return found


def components(parts: Sequence[Part]) -> np.ndarray:
    """A number for each point, equal where points are linked by groups of any release."""
    first = np.append(0, np.cumsum([part.membership.groups for part in parts]))
    inside = [part.membership.group < part.membership.groups for part in parts]
    point = np.concatenate([part.membership.point[here] for part, here in zip(parts, inside, strict=True)])
    group = np.concatenate(
        [part.membership.group[here] + start for part, here, start in zip(parts, inside, first, strict=False)]
    )
    return linked(point, group, parts[0].membership.points)


def _groups(part: Part) -> np.ndarray:
    found = np.empty(part.membership.points, np.int64)
    found[part.membership.point] = part.membership.group
    return found


def _singly(part: Part) -> np.ndarray:
    """Which points have all of their people in one group, or all in none."""
    return np.bincount(part.membership.point, minlength=part.membership.points) == 1


def _full(part: Part) -> np.ndarray:
    """Which groups hold as many people as they publish rows; who is in none is bound by nothing."""
    whole = part.counts == np.round(part.counts)
    held = part.membership.held[: part.membership.groups]
    return np.append(whole.all(axis=1) & (part.counts.sum(axis=1) == np.round(held)), True)


def _component(
    parts: Sequence[Part], of_point: np.ndarray, people: np.ndarray, points: np.ndarray, steps: int
) -> tuple[dict[int, list[Fraction]], int]:
    """Beliefs about the points of one component, and the steps it took; no beliefs where they were too many."""
    atoms, of_atom = np.unique(of_point[points], axis=0, return_inverse=True)
    of_atom = of_atom.reshape(-1)
    sizes = np.bincount(of_atom, weights=people[points]).astype(int).tolist()
    used = []
    for release, part in enumerate(parts):
        groups = np.unique(atoms[:, release])
        used.append(groups[groups < part.membership.groups])
    occurring = np.any([part.counts[groups].any(axis=0) for part, groups in zip(parts, used, strict=True)], axis=0)
    values = np.flatnonzero(occurring)
    held: list[tuple[int, ...]] = []
    place: dict[tuple[int, int], int] = {}
    for release, part in enumerate(parts):
        for group in used[release].tolist():
            place[release, group] = len(held)
            held.append(tuple(int(count) for count in part.counts[group, values]))
    links = [
        [place[release, group] for release, group in enumerate(row) if (release, group) in place]
        for row in atoms.tolist()
    ]
    counter = Counter(steps)
    try:
        beliefs = _counted(sizes, links, tuple(held), counter)
    except TooMany:
        return {}, counter.steps
    rows = [_in_all_values(row, values, parts[0].counts.shape[1]) for row in beliefs]
    return {int(point): rows[atom] for point, atom in zip(points, of_atom, strict=True)}, counter.steps


def _in_all_values(row: list[Fraction], occurring: np.ndarray, values: int) -> list[Fraction]:
    """Beliefs in every value of the table; no group of a component holds the others."""
    found = [Fraction(0)] * values
    for value, belief in zip(occurring.tolist(), row, strict=True):
        found[value] = belief
    return found


class Counter:
    """Steps taken, until they are too many."""

    def __init__(self, most: int):
        self.most, self.steps = most, 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise TooMany


def _counted(sizes: list[int], links: list[list[int]], held: State, counter: Counter) -> list[list[Fraction]]:
    """(atoms, values): forward over the atoms, then backward; a state is what is left in each group."""
    layers: list[dict[State, int]] = [{held: 1}]
    for size, groups in zip(sizes, links, strict=True):
        after: dict[State, int] = {}
        for state, ways in layers[-1].items():
            for _, weight, left in _splits(state, groups, size, counter):
                after[left] = after.get(left, 0) + ways * weight
        layers.append(after)
    empty = tuple(tuple(0 for _ in group) for group in held)
    behind, found = {empty: 1}, []
    for at in reversed(range(len(sizes))):
        before: dict[State, int] = {}
        sums = [0] * len(held[0])
        for state, ways in layers[at].items():
            for split, weight, left in _splits(state, links[at], sizes[at], counter):
                rest = weight * behind.get(left, 0)
                if rest:
                    before[state] = before.get(state, 0) + rest
                    sums = [total + ways * rest * count for total, count in zip(sums, split, strict=True)]
        behind = before
        found.append(sums)
    tables = behind.get(held, 0)
    if not tables:  # no table fits them all: they are not of the same people
        raise TooMany
    return [[Fraction(s, tables * size) for s in sums] for sums, size in zip(reversed(found), sizes, strict=True)]


def _splits(
    state: State, groups: list[int], size: int, counter: Counter
) -> Iterator[tuple[tuple[int, ...], int, State]]:
    """How many of an atom's people may have each value, in how many ways, and what is left in the groups then."""
    room = [min(state[group][value] for group in groups) for value in range(len(state[0]))]
    for split in _parts_of(size, room):
        counter.step()
        ways, left = 1, size
        for count in split:
            ways *= comb(left, count)
            left -= count
        after = list(state)
        for group in groups:
            after[group] = tuple(had - count for had, count in zip(after[group], split, strict=True))
        yield split, ways, tuple(after)


def _parts_of(size: int, room: list[int]) -> Iterator[tuple[int, ...]]:
    """Every way to write `size` as a sum of at most room[0], room[1], ..."""
    if len(room) == 1:
        if size <= room[0]:
            yield (size,)
        return
    beyond = sum(room[1:])
    for count in range(max(0, size - beyond), min(size, room[0]) + 1):
        for rest in _parts_of(size - count, room[1:]):
            yield (count, *rest)
