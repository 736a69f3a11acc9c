"""Overlapping boxes: which people stand in which group, where several labels cover a person?

The adversary knows everyone's quasi-identifiers and not the method.  Two readings, kept apart:

    assignments    every assignment of people to published rows that the labels allow is equally likely.  Rows of a group are
                   exchangeable, so the belief is a mixture of the distributions of the groups that cover a person, weighted by
                   expected membership: no belief exceeds the greatest of a group's, and every promise that is convex in a group's
                   distribution survives (docs/what-else-it-says.md proves it; delta-disclosure with absent values ignored is not).
    tables         every table that the release fits is equally likely, however many assignments explain it.  This can exceed.

Assignments are counted exactly on small components and balanced beyond (`membership`); `error` is how far the two are apart where both
are known.  Tables are counted on small components only, and nothing is claimed of the others: `tables_people` says of how many.

    success      of the first reading, with Wilson's interval; the control has the same boxes and shuffled values
    worst_group  the greatest share of a value in a group: what a release with the same groups and disjoint labels would say
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from reticent.attacks.decoy import shuffled
from reticent.attacks.joined import Part
from reticent.attacks.membership import Membership, linked, membership
from reticent.attacks.overlap_exactly import Steps, TooMany, memberships, tables
from reticent.attacks.score import Guesses, Outcome, score, wilson
from reticent.attacks.seen import Seen
from reticent.errors import RequestError
from reticent.release.reading.boxes import Boxes

PEOPLE = 60
"""Components of more people are not counted."""
STEPS = 30_000
"""A component is given up after so many steps; ALL limits them all together."""
ALL = 600_000


@dataclass(frozen=True, eq=False)
class Overlapping(Outcome):
    """What an attack answers, and beside it what the second reading says and how beliefs were had."""

    beside: Mapping[str, Any] = field(default_factory=dict)
    part: Part | None = field(default=None, repr=False)
    prior: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    counted: Mapping[int, np.ndarray] = field(default_factory=dict, repr=False)  # exact beliefs, by point
    tables: Mapping[int, list[Fraction]] = field(default_factory=dict, repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {**Outcome.to_dict(self), **self.beside}

    @cached_property
    def belief(self) -> np.ndarray:
        """(points, values): for small tables."""
        assert self.part is not None
        found = self.part.own(self.prior)
        for point, row in self.counted.items():
            found[point] = row
        return found


@dataclass(eq=False)
class Counted:
    """What was counted, by point: the expected shares of the groups, and the second reading's beliefs."""

    shares: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    tables: dict[int, list[Fraction]] = field(default_factory=dict)


def overlap(seen: Seen, *, seed: int = 0) -> Overlapping:
    """`seed` shuffles the control's values."""
    if not isinstance(seen.sight, Boxes):
        raise RequestError(
            "This attack asks who is in which group; this release says it: its quasi-identifiers are as they were.",
            attempt="another attack.",
        )
    who = membership(seen)
    if who.known:
        raise RequestError(
            "This attack asks who is in which group; no two labels of this release cover the same person.",
            attempt="another attack: everybody is in the group whose label covers them.",
        )
    counted = _counted(seen, who)
    return _outcome(seen, who, counted, seed)


def _counted(seen: Seen, who: Membership) -> Counted:
    """Both readings, of the components that are small enough and whose rows are all of their people."""
    component = linked(who.point, who.group, who.points)
    people = np.bincount(component, weights=seen.people, minlength=who.points)
    order = np.argsort(component[who.point], kind="stable")
    of_entry = component[who.point][order]
    found, left = Counted(), ALL
    small = np.flatnonzero((people > 0) & (people <= PEOPLE))
    for number in small[np.argsort(people[small], kind="stable")].tolist():
        entries = order[np.searchsorted(of_entry, number) : np.searchsorted(of_entry, number, side="right")]
        left -= _one(seen, who, entries, found, min(left, STEPS))
        if left <= 0:
            break
    return found


def _one(seen: Seen, who: Membership, entries: np.ndarray, found: Counted, most: int) -> int:
    """Count one component; the steps that it took."""
    points, groups = np.unique(who.point[entries]), np.unique(who.group[entries])
    if groups[-1] == who.groups:  # people of whom nobody knows whether they are published
        return 0
    counts = seen.counts[groups]
    people = [int(many) for many in seen.people[points]]
    if int(counts.sum()) != sum(people):
        return 0
    over: list[list[int]] = [[] for _ in points]
    for point, group in zip(np.searchsorted(points, who.point[entries]),
                            np.searchsorted(groups, who.group[entries]), strict=True):  # fmt: skip
        over[int(point)].append(int(group))
    steps, rows = Steps(most), [[int(count) for count in row] for row in counts]
    try:
        shares = memberships(people, [sum(row) for row in rows], over, steps)
        found.shares |= {
            int(point): {int(group): share for group, share in zip(groups, row, strict=True) if share}
            for point, row in zip(points, shares, strict=True)
        }
        beliefs = tables(people, rows, over, steps)
        found.tables |= {int(point): row for point, row in zip(points, beliefs, strict=True)}
    except TooMany:
        pass
    return steps.taken


def _outcome(seen: Seen, who: Membership, counted: Counted, seed: int) -> Overlapping:
    part = Part(who, seen.counts)
    guesses, shares = part.guess(seen.prior), part.shares(seen.prior)
    exact = _believe_exactly(counted, shares)
    error = _largest_error(part, exact, shares)
    for point, row in exact.items():
        guesses.guess[point] = row.argmax()
        guesses.greatest[point] = row.max()
    guesses = Guesses(guesses.guess, guesses.greatest, guesses.greatest)
    scored = score("overlap", guesses, seen.truth, seen.promised)
    control = _control(seen, who, seed)
    low, high = wilson(round(control * scored.targets), scored.targets)
    covering = np.bincount(who.point[who.group < who.groups], minlength=who.points)
    beside = {
        "shared": float(seen.people[covering > 1].sum() / scored.targets),
        "worst_group": float(shares[:-1].max(initial=0.0)),
        "exact": int(seen.people[list(counted.shares)].sum()),
        "error": error if counted.shares else None,
        "gap": who.gap,
        "control": control,
        "control_low": low,
        "control_high": high,
        **_tables(seen, who, shares, counted),
        "survives": [promise.name for promise in seen.promises if convex(promise.name, promise.parameters)],
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    return Overlapping(**fields, beside=beside, part=part, prior=seen.prior, counted=exact, tables=counted.tables)


def _believe_exactly(counted: Counted, shares: np.ndarray) -> dict[int, np.ndarray]:
    """Beliefs in all values of the points whose component was counted; a mixture, never above what it mixes."""
    most = shares.max(axis=0)
    return {
        point: np.minimum(sum(float(share) * shares[group] for group, share in row.items()), most)
        for point, row in counted.shares.items()
    }


def _largest_error(part: Part, exact: Mapping[int, np.ndarray], shares: np.ndarray) -> float:
    """How far exact beliefs are from balanced ones."""
    atoms, error = part.membership.atoms, 0.0
    most = shares.max(axis=0)
    for point, row in exact.items():
        entries = slice(*np.searchsorted(atoms.atom, [atoms.of_point[point], atoms.of_point[point] + 1]))
        balanced = np.minimum(atoms.weight[entries] @ shares[atoms.group[entries]], most)
        error = max(error, float(np.abs(row - balanced).max()))
    return error


def _control(seen: Seen, who: Membership, seed: int) -> float:
    """How often the guess is right where the same boxes hold shuffled values."""
    part = Part(who, shuffled(seen.counts, np.random.default_rng(seed)))
    return score("control", part.guess(seen.prior), seen.truth, None).success


def _tables(seen: Seen, who: Membership, shares: np.ndarray, counted: Counted) -> dict[str, Any]:
    """The second reading: its worst belief, and how many people it takes above the worst group that covers them."""
    points = list(counted.tables)
    worst = max((max(row) for row in counted.tables.values()), default=None)
    greatest = np.zeros(who.points)
    np.maximum.at(greatest, who.point, shares.max(axis=1)[who.group])
    above = [point for point in points if float(max(counted.tables[point])) > greatest[point]]
    right, believed, low, high = _come_true(seen, counted, above)
    promised = seen.promised
    beyond = [] if promised is None else [one for one in points if float(max(counted.tables[one])) > promised]
    return {
        "tables_people": int(seen.people[points].sum()),
        "tables_worst": None if worst is None else float(worst),
        "tables_above_groups": int(seen.people[above].sum()),
        "tables_believed": believed,
        "tables_right": right,
        "tables_right_low": low,
        "tables_right_high": high,
        "tables_exceeds": None if promised is None else int(seen.people[beyond].sum()),
    }


def _come_true(seen: Seen, counted: Counted, points: list[int]) -> tuple[float | None, float | None, float, float]:
    """Of people whom the second reading takes above their groups: how often its guess is right, how often it expects to be."""
    if not points:
        return None, None, 0.0, 1.0
    guess = [max(range(len(counted.tables[one])), key=counted.tables[one].__getitem__) for one in points]
    many = seen.people[points]
    guesses = np.full(len(seen.people), -1)
    guesses[points] = guess
    hits = seen.truth.count_hits(guesses)
    believed = (
        sum(float(counted.tables[one][at]) * n for one, at, n in zip(points, guess, many, strict=True)) / many.sum()
    )
    return hits / int(many.sum()), float(believed), *wilson(hits, int(many.sum()))


def convex(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a mixture of distributions that keep a promise keeps it: all but delta-disclosure that ignores absent values."""
    return name != "delta-disclosure" or parameters.get("absent") != "ignore"
