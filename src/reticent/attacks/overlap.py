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
from reticent.attacks.step_limit import StepLimit
from reticent.attacks.target import AttackTarget, shuffle_counts
from reticent.errors import RequestError
from reticent.labels.adversary_view import Boxes

CountVector = tuple[int, ...]
MAX_COMPONENT_PEOPLE = 60
"""Components of more people are not counted."""
MAX_COMPONENT_STEPS = 30_000
"""A component is given up after so many steps; ALL limits them all together."""
MAX_TOTAL_STEPS = 600_000


class TooManyAssignments(Exception):
    """Raised when a component has more states than are counted."""


def count_memberships(
    people: Sequence[int], sizes: Sequence[int], covering: Sequence[Sequence[int]], steps: StepLimit
) -> list[list[Fraction]]:
    """Compute (points, groups): the expected share of each point's people in each group, every assignment being equally likely.

    `covering` lists the groups over each point.
    """
    layers: list[dict[CountVector, int]] = [{tuple(sizes): 1}]
    for point_people, groups_over_point in zip(people, covering, strict=True):
        next_layer: dict[CountVector, int] = {}
        for state, ways in layers[-1].items():
            for split, weight in _split_people(point_people, [state[group] for group in groups_over_point], steps):
                remaining = _subtract_counts(state, groups_over_point, split)
                next_layer[remaining] = next_layer.get(remaining, 0) + ways * weight
        layers.append(next_layer)
    ways_behind: dict[CountVector, int] = {tuple(0 for _ in sizes): 1}
    sums_by_point: list[list[int]] = []
    for point in reversed(range(len(people))):
        ways_before: dict[CountVector, int] = {}
        sums = [0] * len(sizes)
        for state, ways in layers[point].items():
            for split, weight in _split_people(people[point], [state[group] for group in covering[point]], steps):
                rest = weight * ways_behind.get(_subtract_counts(state, covering[point], split), 0)
                if rest:
                    ways_before[state] = ways_before.get(state, 0) + rest
                    for group, count in zip(covering[point], split, strict=True):
                        sums[group] += ways * rest * count
        ways_behind = ways_before
        sums_by_point.append(sums)
    assignment_count = ways_behind.get(tuple(sizes), 0)
    if not assignment_count:
        raise TooManyAssignments
    return [
        [Fraction(s, assignment_count * point_people) for s in sums]
        for sums, point_people in zip(reversed(sums_by_point), people, strict=True)
    ]


def count_tables(
    people: Sequence[int], counts: Sequence[Sequence[int]], covering: Sequence[Sequence[int]], steps: StepLimit
) -> list[list[Fraction]]:
    """Compute (points, values): the posterior of a person of each point, every table that the release fits being equally likely.

    `counts` are (groups, values).
    """
    points_under_group = [
        [point for point, groups_over_point in enumerate(covering) if group in groups_over_point]
        for group in range(len(counts))
    ]
    fits = [
        _list_fitting_vectors(people, [row[value] for row in counts], points_under_group, steps)
        for value in range(len(counts[0]))
    ]
    layers: list[dict[CountVector, int]] = [{tuple(people): 1}]
    for vectors in fits:
        next_layer: dict[CountVector, int] = {}
        for state, ways in layers[-1].items():
            for _, remaining, weight in _take_vectors(state, vectors, steps):
                next_layer[remaining] = next_layer.get(remaining, 0) + ways * weight
        layers.append(next_layer)
    ways_behind: dict[CountVector, int] = {tuple(0 for _ in people): 1}
    sums_by_value: list[list[int]] = []
    for value_index in reversed(range(len(fits))):
        ways_before: dict[CountVector, int] = {}
        sums = [0] * len(people)
        for state, ways in layers[value_index].items():
            for vector, remaining, weight in _take_vectors(state, fits[value_index], steps):
                rest = weight * ways_behind.get(remaining, 0)
                if rest:
                    ways_before[state] = ways_before.get(state, 0) + rest
                    sums = [total + ways * rest * count for total, count in zip(sums, vector, strict=True)]
        ways_behind = ways_before
        sums_by_value.append(sums)
    table_count = ways_behind.get(tuple(people), 0)
    if not table_count:
        raise TooManyAssignments
    by_value = list(reversed(sums_by_value))
    return [
        [Fraction(sums[point], table_count * point_people) for sums in by_value]
        for point, point_people in enumerate(people)
    ]


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
        beliefs = self.part.own(self.prior)
        for point, row in self.counted.items():
            beliefs[point] = row
        return beliefs


@dataclass(eq=False)
class CountedComponents:
    """Counts by point: the expected shares of the groups, and the second reading's beliefs."""

    shares: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    tables: dict[int, list[Fraction]] = field(default_factory=dict)


def attack_by_overlap(target: AttackTarget, *, seed: int = 0) -> OverlapOutcome:
    """Attack overlapping boxes; `seed` shuffles the control's values."""
    if not isinstance(target.sight, Boxes):
        raise RequestError(
            "This attack asks who is in which group; this release says it: its quasi-identifiers are as they were.",
            attempt="another attack.",
        )
    membership = find_membership(target)
    if membership.known:
        raise RequestError(
            "This attack asks who is in which group; no two labels of this release cover the same person.",
            attempt="another attack: everybody is in the group whose label covers them.",
        )
    counted = _count_components(target, membership)
    return _make_outcome(target, membership, counted, seed)


def is_convex(name: str, parameters: Mapping[str, Any]) -> bool:
    """Tell whether a mixture of distributions that keep a promise keeps it: all but delta-disclosure that ignores absent values."""
    return name != "delta-disclosure" or parameters.get("absent") != "ignore"


def _split_people(people: int, capacity: Sequence[int], steps: StepLimit) -> Iterator[tuple[CountVector, int]]:
    """Yield every way to write `many` as a sum of at most room[0], room[1], ..., with its multinomial coefficient."""
    if not capacity:
        if not people:
            yield (), 1
        return
    capacity_of_others = sum(capacity[1:])
    for count in range(max(0, people - capacity_of_others), min(people, capacity[0]) + 1):
        for rest, weight in _split_people(people - count, capacity[1:], steps):
            steps.step()
            yield (count, *rest), weight * comb(people, count)


def _subtract_counts(state: CountVector, places: Sequence[int], counts: CountVector) -> CountVector:
    remaining = list(state)
    for place, count in zip(places, counts, strict=True):
        remaining[place] -= count
    return tuple(remaining)


def _list_fitting_vectors(
    people: Sequence[int], rows: Sequence[int], points_under_group: Sequence[Sequence[int]], steps: StepLimit
) -> list[CountVector]:
    """List how many people of each point may have a value, as vectors: the rows that groups hold of it, dealt to people they cover."""
    vectors = {tuple(0 for _ in people)}
    for row_count, points in zip(rows, points_under_group, strict=True):
        next_vectors = set()
        for vector in vectors:
            capacity = [people[point] - vector[point] for point in points]
            for split, _ in _split_people(row_count, capacity, steps):
                longer = list(vector)
                for point, count in zip(points, split, strict=True):
                    longer[point] += count
                next_vectors.add(tuple(longer))
        vectors = next_vectors
    return sorted(vectors)


def _take_vectors(
    state: CountVector, vectors: Sequence[CountVector], steps: StepLimit
) -> Iterator[tuple[CountVector, CountVector, int]]:
    """Yield the vectors for which people are left, who is left then, and in how many ways they are chosen."""
    for vector in vectors:
        steps.step()
        if all(count <= remaining for count, remaining in zip(vector, state, strict=True)):
            weight = 1
            for count, remaining in zip(vector, state, strict=True):
                weight *= comb(remaining, count)
            yield vector, tuple(remaining - count for count, remaining in zip(vector, state, strict=True)), weight


def _count_components(target: AttackTarget, membership: GroupMembership) -> CountedComponents:
    """Count both readings of the components that are small enough and whose rows are all of their people."""
    component = find_linked_points(membership.point, membership.group, membership.points)
    people = np.bincount(component, weights=target.people, minlength=membership.points)
    order = np.argsort(component[membership.point], kind="stable")
    of_entry = component[membership.point][order]
    counted = CountedComponents()
    steps_left = MAX_TOTAL_STEPS
    small_components = np.flatnonzero((people > 0) & (people <= MAX_COMPONENT_PEOPLE))
    for number in small_components[np.argsort(people[small_components], kind="stable")].tolist():
        entries = order[np.searchsorted(of_entry, number) : np.searchsorted(of_entry, number, side="right")]
        steps_left -= _count_component(target, membership, entries, counted, min(steps_left, MAX_COMPONENT_STEPS))
        if steps_left <= 0:
            break
    return counted


def _make_outcome(
    target: AttackTarget, membership: GroupMembership, counted: CountedComponents, seed: int
) -> OverlapOutcome:
    part = ReleasePart(membership, target.counts)
    guesses = part.guess(target.prior)
    shares = part.shares(target.prior)
    exact = _believe_exactly(counted, shares)
    error = _largest_error(part, exact, shares)
    for point, row in exact.items():
        guesses.guess[point] = row.argmax()
        guesses.greatest[point] = row.max()
    guesses = Guesses(guesses.guess, guesses.greatest, guesses.greatest)
    scored = score_guesses("overlap", guesses, target.truth, target.promised)
    control = _compute_control(target, membership, seed)
    low, high = compute_wilson_interval(round(control * scored.targets), scored.targets)
    covering = np.bincount(membership.point[membership.group < membership.groups], minlength=membership.points)
    details = {
        "shared": float(target.people[covering > 1].sum() / scored.targets),
        "worst_group": float(shares[:-1].max(initial=0.0)),
        "exact": int(target.people[list(counted.shares)].sum()),
        "error": error if counted.shares else None,
        "gap": membership.gap,
        "control": control,
        "control_low": low,
        "control_high": high,
        **_assess_second_reading(target, membership, shares, counted),
        "survives": [promise.name for promise in target.promises if is_convex(promise.name, promise.parameters)],
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    return OverlapOutcome(
        **fields, details=details, part=part, prior=target.prior, counted=exact, tables=counted.tables
    )


def _count_component(
    target: AttackTarget, membership: GroupMembership, entries: np.ndarray, counted: CountedComponents, max_steps: int
) -> int:
    """Count one component; return the steps that it took."""
    points = np.unique(membership.point[entries])
    groups = np.unique(membership.group[entries])
    if groups[-1] == membership.groups:  # people of whom nobody knows whether they are published
        return 0
    counts = target.counts[groups]
    people = [int(people_here) for people_here in target.people[points]]
    if int(counts.sum()) != sum(people):
        return 0
    groups_over_point: list[list[int]] = [[] for _ in points]
    for point, group in zip(
        np.searchsorted(points, membership.point[entries]),
        np.searchsorted(groups, membership.group[entries]),
        strict=True,
    ):
        groups_over_point[int(point)].append(int(group))
    steps = StepLimit(max_steps, TooManyAssignments)
    rows = [[int(count) for count in row] for row in counts]
    try:
        shares = count_memberships(people, [sum(row) for row in rows], groups_over_point, steps)
        counted.shares |= {
            int(point): {int(group): share for group, share in zip(groups, row, strict=True) if share}
            for point, row in zip(points, shares, strict=True)
        }
        beliefs = count_tables(people, rows, groups_over_point, steps)
        counted.tables |= {int(point): row for point, row in zip(points, beliefs, strict=True)}
    except TooManyAssignments:
        pass
    return steps.taken


def _believe_exactly(counted: CountedComponents, shares: np.ndarray) -> dict[int, np.ndarray]:
    """Compute beliefs in all values of the points whose component was counted; a mixture, never above what it mixes."""
    max_shares = shares.max(axis=0)
    return {
        point: np.minimum(sum(float(share) * shares[group] for group, share in row.items()), max_shares)
        for point, row in counted.shares.items()
    }


def _largest_error(part: ReleasePart, exact: Mapping[int, np.ndarray], shares: np.ndarray) -> float:
    """Compute how far exact beliefs are from balanced ones."""
    atoms = part.membership.atoms
    error = 0.0
    max_shares = shares.max(axis=0)
    for point, row in exact.items():
        entries = slice(*np.searchsorted(atoms.atom, [atoms.of_point[point], atoms.of_point[point] + 1]))
        balanced = np.minimum(atoms.weight[entries] @ shares[atoms.group[entries]], max_shares)
        error = max(error, float(np.abs(row - balanced).max()))
    return error


def _compute_control(target: AttackTarget, membership: GroupMembership, seed: int) -> float:
    """Compute how often the guess is right where the same boxes hold shuffled values."""
    part = ReleasePart(membership, shuffle_counts(target.counts, np.random.default_rng(seed)))
    return score_guesses("control", part.guess(target.prior), target.truth, None).success


def _assess_second_reading(
    target: AttackTarget, membership: GroupMembership, shares: np.ndarray, counted: CountedComponents
) -> dict[str, Any]:
    """Assess the second reading: its worst belief, and how many people it takes above the worst group that covers them."""
    points = list(counted.tables)
    worst = max((max(row) for row in counted.tables.values()), default=None)
    greatest = np.zeros(membership.points)
    np.maximum.at(greatest, membership.point, shares.max(axis=1)[membership.group])
    above = [point for point in points if float(max(counted.tables[point])) > greatest[point]]
    right, believed, low, high = _check_second_reading(target, counted, above)
    promised = target.promised
    exceeding = (
        []
        if promised is None
        else [counted_point for counted_point in points if float(max(counted.tables[counted_point])) > promised]
    )
    return {
        "tables_people": int(target.people[points].sum()),
        "tables_worst": None if worst is None else float(worst),
        "tables_above_groups": int(target.people[above].sum()),
        "tables_believed": believed,
        "tables_right": right,
        "tables_right_low": low,
        "tables_right_high": high,
        "tables_exceeds": None if promised is None else int(target.people[exceeding].sum()),
    }


def _check_second_reading(
    target: AttackTarget, counted: CountedComponents, points: list[int]
) -> tuple[float | None, float | None, float, float]:
    """Check, for people whom the second reading takes above their groups, how often its guess is right and expected to be."""
    if not points:
        return None, None, 0.0, 1.0
    guess = [max(range(len(counted.tables[point])), key=counted.tables[point].__getitem__) for point in points]
    people = target.people[points]
    guesses = np.full(len(target.people), -1)
    guesses[points] = guess
    hits = target.truth.count_hits(guesses)
    believed = (
        sum(float(counted.tables[point][value]) * n for point, value, n in zip(points, guess, people, strict=True))
        / people.sum()
    )
    return hits / int(people.sum()), float(believed), *compute_wilson_interval(hits, int(people.sum()))
