"""An adversary who knows the method: every table that could lie behind a release is published again, posteriors are exact.

The adversary knows everyone's quasi-identifiers, how many people hold each sensitive value (the release shows it), the promise
and the method with its options.  The key is one of `keys`, each as likely as another: with one key the adversary knows it.
Every assignment of the values to the people is as likely as another beforehand; those that this release cannot come from are
ruled out.  An adversary who does not know the method rules out only what the labels contradict.

A belief is a person's distribution over the values, in fractions.  It exceeds a promise if it breaks the promise's inequality
with the belief in place of a group's frequencies: that is what the promise is understood to say about a person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
import polars as pl

import reticent as rt

AXIS = tuple("0123456789")
NAMES = "abcdef"
Points = tuple[tuple[int, ...], ...]  # each person's quasi-identifiers
Table = tuple[int, ...]  # each person's sensitive value
Covers = tuple[
    Any, ...
]  # (least, greatest) of each quasi-identifier, or the people themselves where a release shows them
Release = tuple[tuple[Covers, tuple[int, ...]], ...]  # (what covers its people, counts) of each group
Belief = tuple[Fraction, ...]


def people(number: int, size: int, columns: int = 1) -> Points:
    """The `number`-th set of people: whole numbers from 0 to 9, drawn alike."""
    draw = np.random.default_rng(number)
    return tuple(sorted(map(tuple, draw.integers(0, 10, (size, columns)).tolist())))


def tables(counts: Sequence[int]) -> list[Table]:
    """Every assignment of values, held so often, to people."""
    return sorted(set(permutations([value for value, count in enumerate(counts) for _ in range(count)])))


def published(method: Any, promise: Any, points: Points, table: Table, key: int) -> Release:
    """What the recipient sees: each group's label and how often it holds each value."""
    job = rt.Job(columns=columns(len(points[0]), max(table) + 1), promises=[promise], method=method)
    if method.kind == "anatomized":
        return shown(rt.publish(job, frame=framed(points, table), seed=key), max(table) + 1)
    planned = rt.plan(job, cells=counted(points, table), seed=key)
    counts = [tuple(row) for row in planned.histogram().tolist()]
    ends = (map(tuple, part.T.tolist()) for part in (planned.boxes.first, planned.boxes.last))
    return tuple(sorted(zip(zip(*ends, strict=True), counts, strict=True)))


def shown(release: Any, values: int) -> Release:
    """An anatomized release: the people of each group by their quasi-identifiers, and its counts."""
    held: dict[int, list[tuple[int, ...]]] = {}
    for *point, group in release.tables["quasi"].iter_rows():
        held.setdefault(group, []).append(tuple(map(int, point)))
    counts = {group: [0] * values for group in held}
    for group, value, count in release.tables["sensitive"].iter_rows():
        counts[group][NAMES.index(value)] += count
    return tuple(sorted((("people", tuple(sorted(held[group]))), tuple(counts[group])) for group in held))


@cache
def columns(quasi: int, values: int) -> dict[str, rt.Column]:
    """Every number from 0 to 9 is a value that people could have, whether or not somebody has it."""
    tree = rt.Hierarchy.flat(list(NAMES[:values]))
    return {**{f"q{at}": rt.quasi(order=AXIS) for at in range(quasi)}, "s": rt.sensitive(hierarchy=tree)}


def framed(points: Points, table: Table) -> pl.DataFrame:
    axes = {f"q{at}": [AXIS[place] for place in axis] for at, axis in enumerate(zip(*points, strict=True))}
    return pl.DataFrame({**axes, "s": [NAMES[value] for value in table]})


@lru_cache(maxsize=1_000)
def counted(points: Points, table: Table) -> Any:
    """The cells of these people: every method and key plans on the same."""
    job = rt.Job(columns=columns(len(points[0]), max(table) + 1), promises=[rt.KAnonymity(2)])
    return rt.count(job, frame=framed(points, table))


def consistent(points: Points, table: Table, release: Release) -> bool:
    """Whether people with these values could stand behind these labels, whatever the method."""
    if not release:
        return not points
    (covers, counts), rest = release[0], release[1:]
    covered = [at for at, point in enumerate(points) if covering(covers, point)]
    wanted = Counter({value: count for value, count in enumerate(counts) if count})
    for chosen in combinations(covered, sum(counts)):
        if Counter(table[at] for at in chosen) == wanted and may_be(covers, [points[at] for at in chosen]):
            left = [at for at in range(len(points)) if at not in chosen]
            if consistent(tuple(points[at] for at in left), tuple(table[at] for at in left), rest):
                return True
    return False


def covering(covers: Covers, point: tuple[int, ...]) -> bool:
    first, last = covers
    return point in last if first == "people" else all(a <= p <= b for a, p, b in zip(first, point, last, strict=True))


def may_be(covers: Covers, held: list[tuple[int, ...]]) -> bool:
    """Whether these are the people of the group, where the release shows them."""
    return covers[0] != "people" or covers[1] == tuple(sorted(held))


def beliefs(weights: Counter[Table], values: int) -> list[Belief]:
    """Each person's distribution over the values, given how likely each table is."""
    total = sum(weights.values())
    found = [[0] * values for _ in next(iter(weights))]
    for table, weight in weights.items():
        for person, value in enumerate(table):
            found[person][value] += weight
    return [tuple(Fraction(count, total) for count in person) for person in found]


def exceeds(promise: Any, belief: Belief, overall: Belief) -> bool:
    """Whether a belief breaks the promise's inequality, by formulas of its own."""
    if isinstance(promise, rt.ProbabilisticLDiversity):
        return max(belief) > 1 / promise.l
    if isinstance(promise, rt.BetaLikeness) and not promise.enhanced:
        return any(q > p * (1 + promise.beta) for q, p in zip(belief, overall, strict=True))
    if isinstance(promise, rt.TCloseness) and promise.distance == "equal":
        return sum(abs(q - p) for q, p in zip(belief, overall, strict=True)) / 2 > promise.t
    raise NotImplementedError(f"no inequality for {promise}")


@dataclass(frozen=True)
class Attacked:
    """One release: how many (table, key) pairs lead to it, and what two adversaries believe."""

    release: Release
    weight: int
    knowing: list[Belief]
    unknowing: list[Belief]


def attacked(
    method: Any, promise: Any, points: Points, counts: Sequence[int], keys: Sequence[int]
) -> Iterator[Attacked]:
    """Every release of one set of people, as both adversaries see it."""
    possible = tables(counts)
    behind: dict[Release, Counter[Table]] = defaultdict(Counter)
    for table in possible:
        for key in keys:
            behind[published(method, promise, points, table, key)][table] += 1
    for release, weights in behind.items():
        unknowing = Counter({table: 1 for table in possible if consistent(points, table, release)})
        yield Attacked(
            release,
            weights.total(),
            beliefs(weights, len(counts)),
            beliefs(unknowing, len(counts)),
        )
