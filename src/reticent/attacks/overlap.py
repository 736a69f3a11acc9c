"""Attack on overlapping boxes: which people are in which group, where several labels cover a person?

The adversary knows everyone's quasi-identifiers and not the method.  Two readings, kept apart:

    assignments    every assignment of people to published rows that the labels allow is equally likely.  Rows of a group are
                   exchangeable, so the belief is a mixture of the distributions of the groups that cover a person, weighted by
                   expected membership: no belief exceeds the greatest of a group's, and every promise that is convex in a group's
                   distribution survives (docs/what-else-it-says.md proves it; delta-disclosure with absent values ignored is not).
    tables         every table that the release fits is equally likely, however many assignments explain it.  This can exceed.

Assignments are counted exactly on small components and balanced beyond (`attacks.group_membership`); `error` is how far
the two are apart where both are known.  Tables are counted on small components only, and nothing is claimed of the
others: `tables_people` is how many people they are.

    success      of the first reading, with Wilson's interval; the control has the same boxes and shuffled values
    worst_group  the greatest share of a value in a group: what a release with the same groups and disjoint labels would reveal

Exact counting is dynamic programming over the cells of a small component, with integers.  Points that lie under linked
boxes are a component.

    assignments    ways to give every person a published row whose label covers them (`count_memberships`).  y(p, g) people of
                   point p in group g can be chosen in prod c_p! / prod y(p, g)! ways, and the rows of a group in n_g! ways
                   whoever they are: point after point, the state being the rows left in each group.
    tables         ways to give every person a value such that some assignment explains it (`count_tables`).  x(p, v) people of
                   point p with value v fit where, value by value, they can be sent to groups that cover them and hold just so
                   many rows of v.  The vectors x(., v) that can be are found group after group; then value after value, the
                   state being the people left at each point.  A table counts once, however many assignments explain it.

A component is counted while its states are few, else given up: None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from reticent.attacks.composition.joint_beliefs import ReleasePart
from reticent.attacks.group_membership import GroupMembership, find_linked_points, find_membership
from reticent.attacks.scoring import AttackOutcome, Guesses, compute_wilson_interval, score_guesses
from reticent.attacks.target import AttackTarget, shuffle_counts
from reticent.errors import RequestError
from reticent.labels.adversary_view import Boxes

CountVector = tuple[int, ...]


class TooManyAssignments(Exception):
    """Raised when a component has more states than are counted."""


class StepLimit:
    """Counts steps, until they are too many."""

    def __init__(self, most: int):
        self.most = most
        self.taken = 0

    def step(self) -> None:
        self.taken += 1
        if self.taken > self.most:
            raise TooManyAssignments


def count_memberships(
    people: Sequence[int], sizes: Sequence[int], covering: Sequence[Sequence[int]], steps: StepLimit
) -> list[list[Fraction]]:
    """Compute (points, groups): the expected share of each point's people in each group, every assignment being equally likely.

    `covering` lists the groups over each point.
    """
    layers: list[dict[CountVector, int]] = [{tuple(sizes): 1}]
    for many, over in zip(people, covering, strict=True):
        after: dict[CountVector, int] = {}
        for state, ways in layers[-1].items():
            for split, weight in _split_people(many, [state[group] for group in over], steps):
                left = _subtract_counts(state, over, split)
                after[left] = after.get(left, 0) + ways * weight
        layers.append(after)
    behind: dict[CountVector, int] = {tuple(0 for _ in sizes): 1}
    found: list[list[int]] = []
    for at in reversed(range(len(people))):
        before: dict[CountVector, int] = {}
        sums = [0] * len(sizes)
        for state, ways in layers[at].items():
            for split, weight in _split_people(people[at], [state[group] for group in covering[at]], steps):
                rest = weight * behind.get(_subtract_counts(state, covering[at], split), 0)
                if rest:
                    before[state] = before.get(state, 0) + rest
                    for group, count in zip(covering[at], split, strict=True):
                        sums[group] += ways * rest * count
        behind = before
        found.append(sums)
    whole = behind.get(tuple(sizes), 0)
    if not whole:
        raise TooManyAssignments
    return [[Fraction(s, whole * many) for s in sums] for sums, many in zip(reversed(found), people, strict=True)]


def count_tables(
    people: Sequence[int], counts: Sequence[Sequence[int]], covering: Sequence[Sequence[int]], steps: StepLimit
) -> list[list[Fraction]]:
    """Compute (points, values): the posterior of a person of each point, every table that the release fits being equally likely.

    `counts` are (groups, values).
    """
    under = [[point for point, over in enumerate(covering) if group in over] for group in range(len(counts))]
    fits = [
        _list_fitting_vectors(people, [row[value] for row in counts], under, steps) for value in range(len(counts[0]))
    ]
    layers: list[dict[CountVector, int]] = [{tuple(people): 1}]
    for vectors in fits:
        after: dict[CountVector, int] = {}
        for state, ways in layers[-1].items():
            for _, left, weight in _take_vectors(state, vectors, steps):
                after[left] = after.get(left, 0) + ways * weight
        layers.append(after)
    behind: dict[CountVector, int] = {tuple(0 for _ in people): 1}
    found: list[list[int]] = []
    for at in reversed(range(len(fits))):
        before: dict[CountVector, int] = {}
        sums = [0] * len(people)
        for state, ways in layers[at].items():
            for vector, left, weight in _take_vectors(state, fits[at], steps):
                rest = weight * behind.get(left, 0)
                if rest:
                    before[state] = before.get(state, 0) + rest
                    sums = [total + ways * rest * count for total, count in zip(sums, vector, strict=True)]
        behind = before
        found.append(sums)
    whole = behind.get(tuple(people), 0)
    if not whole:
        raise TooManyAssignments
    by_value = list(reversed(found))
    return [[Fraction(sums[point], whole * many) for sums in by_value] for point, many in enumerate(people)]


def _list_fitting_vectors(
    people: Sequence[int], rows: Sequence[int], under: Sequence[Sequence[int]], steps: StepLimit
) -> list[CountVector]:
    """List how many people of each point may have a value, as vectors: the rows that groups hold of it, dealt to people they cover."""
    found = {tuple(0 for _ in people)}
    for many, points in zip(rows, under, strict=True):
        after = set()
        for vector in found:
            room = [people[point] - vector[point] for point in points]
            for split, _ in _split_people(many, room, steps):
                longer = list(vector)
                for point, count in zip(points, split, strict=True):
                    longer[point] += count
                after.add(tuple(longer))
        found = after
    return sorted(found)


def _take_vectors(
    state: CountVector, vectors: Sequence[CountVector], steps: StepLimit
) -> Iterator[tuple[CountVector, CountVector, int]]:
    """Yield the vectors for which people are left, who is left then, and in how many ways they are chosen."""
    for vector in vectors:
        steps.step()
        if all(count <= left for count, left in zip(vector, state, strict=True)):
            weight = 1
            for count, left in zip(vector, state, strict=True):
                weight *= comb(left, count)
            yield vector, tuple(left - count for count, left in zip(vector, state, strict=True)), weight


def _split_people(many: int, room: Sequence[int], steps: StepLimit) -> Iterator[tuple[CountVector, int]]:
    """Yield every way to write `many` as a sum of at most room[0], room[1], ..., with its multinomial coefficient."""
    if not room:
        if not many:
            yield (), 1
        return
    beyond = sum(room[1:])
    for count in range(max(0, many - beyond), min(many, room[0]) + 1):
        for rest, weight in _split_people(many - count, room[1:], steps):
            steps.step()
            yield (count, *rest), weight * comb(many, count)


def _subtract_counts(state: CountVector, places: Sequence[int], counts: CountVector) -> CountVector:
    left = list(state)
    for place, count in zip(places, counts, strict=True):
        left[place] -= count
    return tuple(left)


MAX_COMPONENT_PEOPLE = 60
"""Components of more people are not counted."""
MAX_COMPONENT_STEPS = 30_000
"""A component is given up after so many steps; ALL limits them all together."""
MAX_TOTAL_STEPS = 600_000


@dataclass(frozen=True, eq=False)
class OverlapOutcome(AttackOutcome):
    """Outcome of an attack with the result of the second reading and how beliefs were computed."""

    details: Mapping[str, Any] = field(default_factory=dict)
    part: ReleasePart | None = field(default=None, repr=False)
    prior: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    counted: Mapping[int, np.ndarray] = field(default_factory=dict, repr=False)  # exact beliefs, by point
    tables: Mapping[int, list[Fraction]] = field(default_factory=dict, repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), **self.details}

    @cached_property
    def belief(self) -> np.ndarray:
        """(points, values): for small tables."""
        assert self.part is not None
        found = self.part.own(self.prior)
        for point, row in self.counted.items():
            found[point] = row
        return found


@dataclass(eq=False)
class CountedComponents:
    """Counts by point: the expected shares of the groups, and the second reading's beliefs."""

    shares: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    tables: dict[int, list[Fraction]] = field(default_factory=dict)


def attack_by_overlap(seen: AttackTarget, *, seed: int = 0) -> OverlapOutcome:
    """Attack overlapping boxes; `seed` shuffles the control's values."""
    if not isinstance(seen.sight, Boxes):
        raise RequestError(
            "This attack asks who is in which group; this release says it: its quasi-identifiers are as they were.",
            attempt="another attack.",
        )
    who = find_membership(seen)
    if who.known:
        raise RequestError(
            "This attack asks who is in which group; no two labels of this release cover the same person.",
            attempt="another attack: everybody is in the group whose label covers them.",
        )
    counted = _count_components(seen, who)
    return _make_outcome(seen, who, counted, seed)


def _count_components(seen: AttackTarget, who: GroupMembership) -> CountedComponents:
    """Count both readings of the components that are small enough and whose rows are all of their people."""
    component = find_linked_points(who.point, who.group, who.points)
    people = np.bincount(component, weights=seen.people, minlength=who.points)
    order = np.argsort(component[who.point], kind="stable")
    of_entry = component[who.point][order]
    found = CountedComponents()
    left = MAX_TOTAL_STEPS
    small = np.flatnonzero((people > 0) & (people <= MAX_COMPONENT_PEOPLE))
    for number in small[np.argsort(people[small], kind="stable")].tolist():
        entries = order[np.searchsorted(of_entry, number) : np.searchsorted(of_entry, number, side="right")]
        left -= _count_component(seen, who, entries, found, min(left, MAX_COMPONENT_STEPS))
        if left <= 0:
            break
    return found


def _count_component(
    seen: AttackTarget, who: GroupMembership, entries: np.ndarray, found: CountedComponents, most: int
) -> int:
    """Count one component; return the steps that it took."""
    points = np.unique(who.point[entries])
    groups = np.unique(who.group[entries])
    if groups[-1] == who.groups:  # people of whom nobody knows whether they are published
        return 0
    counts = seen.counts[groups]
    people = [int(many) for many in seen.people[points]]
    if int(counts.sum()) != sum(people):
        return 0
    over: list[list[int]] = [[] for _ in points]
    for point, group in zip(
        np.searchsorted(points, who.point[entries]), np.searchsorted(groups, who.group[entries]), strict=True
    ):
        over[int(point)].append(int(group))
    steps = StepLimit(most)
    rows = [[int(count) for count in row] for row in counts]
    try:
        shares = count_memberships(people, [sum(row) for row in rows], over, steps)
        found.shares |= {
            int(point): {int(group): share for group, share in zip(groups, row, strict=True) if share}
            for point, row in zip(points, shares, strict=True)
        }
        beliefs = count_tables(people, rows, over, steps)
        found.tables |= {int(point): row for point, row in zip(points, beliefs, strict=True)}
    except TooManyAssignments:
        pass
    return steps.taken


def _make_outcome(seen: AttackTarget, who: GroupMembership, counted: CountedComponents, seed: int) -> OverlapOutcome:
    part = ReleasePart(who, seen.counts)
    guesses = part.guess(seen.prior)
    shares = part.shares(seen.prior)
    exact = _believe_exactly(counted, shares)
    error = _largest_error(part, exact, shares)
    for point, row in exact.items():
        guesses.guess[point] = row.argmax()
        guesses.greatest[point] = row.max()
    guesses = Guesses(guesses.guess, guesses.greatest, guesses.greatest)
    scored = score_guesses("overlap", guesses, seen.truth, seen.promised)
    control = _compute_control(seen, who, seed)
    low, high = compute_wilson_interval(round(control * scored.targets), scored.targets)
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
        **_assess_second_reading(seen, who, shares, counted),
        "survives": [promise.name for promise in seen.promises if is_convex(promise.name, promise.parameters)],
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    return OverlapOutcome(**fields, details=beside, part=part, prior=seen.prior, counted=exact, tables=counted.tables)


def _believe_exactly(counted: CountedComponents, shares: np.ndarray) -> dict[int, np.ndarray]:
    """Compute beliefs in all values of the points whose component was counted; a mixture, never above what it mixes."""
    most = shares.max(axis=0)
    return {
        point: np.minimum(sum(float(share) * shares[group] for group, share in row.items()), most)
        for point, row in counted.shares.items()
    }


def _largest_error(part: ReleasePart, exact: Mapping[int, np.ndarray], shares: np.ndarray) -> float:
    """Compute how far exact beliefs are from balanced ones."""
    atoms = part.membership.atoms
    error = 0.0
    most = shares.max(axis=0)
    for point, row in exact.items():
        entries = slice(*np.searchsorted(atoms.atom, [atoms.of_point[point], atoms.of_point[point] + 1]))
        balanced = np.minimum(atoms.weight[entries] @ shares[atoms.group[entries]], most)
        error = max(error, float(np.abs(row - balanced).max()))
    return error


def _compute_control(seen: AttackTarget, who: GroupMembership, seed: int) -> float:
    """Compute how often the guess is right where the same boxes hold shuffled values."""
    part = ReleasePart(who, shuffle_counts(seen.counts, np.random.default_rng(seed)))
    return score_guesses("control", part.guess(seen.prior), seen.truth, None).success


def _assess_second_reading(
    seen: AttackTarget, who: GroupMembership, shares: np.ndarray, counted: CountedComponents
) -> dict[str, Any]:
    """Assess the second reading: its worst belief, and how many people it takes above the worst group that covers them."""
    points = list(counted.tables)
    worst = max((max(row) for row in counted.tables.values()), default=None)
    greatest = np.zeros(who.points)
    np.maximum.at(greatest, who.point, shares.max(axis=1)[who.group])
    above = [point for point in points if float(max(counted.tables[point])) > greatest[point]]
    right, believed, low, high = _check_second_reading(seen, counted, above)
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


def _check_second_reading(
    seen: AttackTarget, counted: CountedComponents, points: list[int]
) -> tuple[float | None, float | None, float, float]:
    """Check, for people whom the second reading takes above their groups, how often its guess is right and expected to be."""
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
    return hits / int(many.sum()), float(believed), *compute_wilson_interval(hits, int(many.sum()))


def is_convex(name: str, parameters: Mapping[str, Any]) -> bool:
    """Tell whether a mixture of distributions that keep a promise keeps it: all but delta-disclosure that ignores absent values."""
    return name != "delta-disclosure" or parameters.get("absent") != "ignore"
