"""Joint beliefs: what several releases imply for each person together, by the product rule, balanced, or exactly.

    product    Pr(v | t)  ~  p_1(v | t) p_2(v | t) ... / p(v)^(R - 1)       p_r(. | t) mixes release r's groups over t
    balanced   x(t, v) = c(t) A_1(t, v) A_2(t, v) ...,   A_r(t, v) = sum over g of share(t, g) a_r(g, v)

The product takes the groups of a person in different releases as independent, given the value.  The balanced one starts
there and scales the factors a_r until every group of every release holds what it publishes and every point its people
(iterative proportional fitting): among all tables of expected counts that fit, the one of greatest entropy.  For one
release both are that release's own posterior.  Neither is exact but for one release.

People who are in the same groups to the same shares in every release are one atom, and of an atom only the values that
its groups in the first release publish are stored: what the others imply for another value adds nothing to it.

Exact beliefs (`compute_exact_beliefs`) count all tables that fit the releases.  People with the same group in every
release are interchangeable: an *atom*.  A table gives each of them a value, and every table in which each group of each
release holds what it publishes is equally likely.  Tables are counted by how many people of each atom have each value,
atom after atom, with the groups' remaining counts as the state; numbers are integers, beliefs fractions.  Atoms that
share no group, not even through others, are components of their own.  A component is counted while its states are few;
the rest is left to the balanced rule.  Tables are counted only where everybody's groups are known and hold all of their
rows.  People who are in no group of a release, as those who came or departed between two, are bound by the groups of
the others alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np

from reticent.attacks.beliefs import Beliefs, list_stretches
from reticent.attacks.group_membership import GroupMembership, find_linked_points
from reticent.attacks.scoring import Guesses
from reticent.attacks.step_limit import StepLimit
from reticent.data.cells import find_distinct_rows

MAX_BALANCING_ROUNDS = 200
MAX_COMPUTED_BELIEFS = 55_000_000
"""So many beliefs are computed at most, in ten rounds or more: large tables end earlier, and say how far beliefs still moved."""
SETTLED_BELIEF_MOVE = 1e-6
"""The balancing ends when no belief moves further in a round."""
MAX_COMPONENT_PEOPLE = 60
"""Components of more people are not tried."""
MAX_COMPONENT_STEPS = 20_000
"""A component is given up after so many steps; ALL limits them all together."""
MAX_TOTAL_STEPS = 400_000
GroupState = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class ReleasePart:
    """One release of several: who is in which of its groups, and how many rows its groups publish of each value."""

    membership: GroupMembership
    counts: np.ndarray  # (groups, values)

    def shares(self, prior: np.ndarray) -> np.ndarray:
        """Compute (groups + 1, values): each group's distribution; the table's for people who are in none."""
        sizes = self.counts.sum(axis=1, keepdims=True)
        return np.vstack([np.divide(self.counts, sizes, out=np.zeros(self.counts.shape), where=sizes > 0), prior])

    def guess(self, prior: np.ndarray) -> Guesses:
        """Guess each point from the release alone, some atoms at a time."""
        shares = self.shares(prior)
        atoms = self.membership.atoms
        max_shares = shares.max(axis=0)
        parts = [Guesses.of_beliefs(_cap_beliefs(part, max_shares)) for _, part in atoms.mix_in_parts(shares)]
        return Guesses.join(parts).take(atoms.of_point)

    def believe(self, prior: np.ndarray) -> Beliefs:
        """Compute the release's own posterior of each atom; a mixture, which no rounding takes above what it mixes."""
        shares = self.shares(prior)
        return _cap_beliefs(self.membership.atoms.mix(shares), shares.max(axis=0))

    def own(self, prior: np.ndarray) -> np.ndarray:
        """Compute the same as a table, (points, values)."""
        return self.believe(prior).to_dense()[self.membership.atoms.of_point]


@dataclass(frozen=True, eq=False)
class BeliefTerms:
    """One release's terms of A_r(t, v).

    Each has the `key` (an atom with a value) that it counts for, its place among (groups, values) and the atom's share
    of the group.
    """

    key: np.ndarray
    place: np.ndarray
    share: np.ndarray

    def mix(self, factor: np.ndarray, keys: int) -> np.ndarray:
        return np.bincount(self.key, weights=factor.reshape(-1)[self.place] * self.share, minlength=keys)

    def add_up(self, rest: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Compute (groups + 1, values): what the keys hold, in every group by its share."""
        added = np.bincount(self.place, weights=rest[self.key] * self.share, minlength=int(np.prod(shape)))
        return added.reshape(shape)


@dataclass(frozen=True, eq=False)
class JointBeliefs:
    """Several releases over the atoms of all of them; `of_point` is the atom of each point, `chosen` a point of each atom."""

    parts: tuple[ReleasePart, ...]
    prior: np.ndarray
    of_point: np.ndarray
    chosen: np.ndarray

    @classmethod
    def from_parts(cls, parts: Sequence[ReleasePart], prior: np.ndarray) -> JointBeliefs:
        atoms = np.column_stack([part.membership.atoms.of_point for part in parts])
        distinct, of_point = find_distinct_rows(atoms)
        chosen = np.empty(len(distinct), np.int64)
        chosen[of_point] = np.arange(len(of_point))
        return cls(tuple(parts), prior, of_point, chosen)

    @cached_property
    def own(self) -> Beliefs:
        """What the first release alone implies: its values are the keys of all that is computed."""
        part = self.parts[0]
        return part.believe(self.prior).take(part.membership.atoms.of_point[self.chosen])

    @cached_property
    def terms(self) -> tuple[BeliefTerms, ...]:
        keys = self.own.row * self.own.values + self.own.value
        return tuple(self._make_terms(part, keys) for part in self.parts)

    def _make_terms(self, part: ReleasePart, keys: np.ndarray) -> BeliefTerms:
        """Make the terms: every group of every atom with each value that the group publishes and that is a key."""
        atoms = part.membership.atoms
        values = self.own.values
        of_atom = atoms.of_point[self.chosen]
        first = np.searchsorted(atoms.atom, of_atom)
        entries = np.searchsorted(atoms.atom, of_atom, side="right") - first
        entry = list_stretches(first, entries)
        atom = np.repeat(np.arange(len(of_atom)), entries)
        published = Beliefs.of_table(np.vstack([part.counts, self.prior]))
        lengths = np.diff(published.starts)[atoms.group[entry]]
        index = list_stretches(published.starts[:-1][atoms.group[entry]], lengths)
        pair = np.repeat(atom, lengths) * values + published.value[index]
        key = np.searchsorted(keys, pair)
        matching = np.flatnonzero(keys[np.minimum(key, len(keys) - 1)] == pair) if len(keys) else key[:0]
        place = np.repeat(atoms.group[entry] * values, lengths)[matching] + published.value[index[matching]]
        return BeliefTerms(key[matching], place, np.repeat(atoms.weight[entry], lengths)[matching])

    def multiply(self) -> Beliefs:
        """Compute beliefs by the product rule."""
        belief = self.own.belief
        prior = self.prior[self.own.value]
        for part, terms in zip(self.parts[1:], self.terms[1:], strict=True):
            shares = part.shares(self.prior)
            mixed = np.minimum(terms.mix(shares, len(belief)), shares.max(axis=0)[self.own.value])
            belief = belief * np.divide(mixed, prior, out=np.zeros_like(belief), where=prior > 0)
        return self._scale_beliefs(belief)

    def balance(self, people: np.ndarray) -> tuple[Beliefs, float]:
        """Compute beliefs by the balanced rule, and how far a belief moved in the last round; `people` are those of each point."""
        if len(self.parts) == 1:
            return self.own, 0.0
        of_atom = np.bincount(self.of_point, weights=people, minlength=len(self.chosen))
        factors = [part.shares(self.prior) for part in self.parts]
        for factor in factors[1:]:
            np.divide(factor, self.prior, out=factor, where=self.prior > 0)
        keys = len(self.own.belief)
        row = self.own.row
        mixed = [terms.mix(factor, keys) for terms, factor in zip(self.terms, factors, strict=True)]
        belief = self._scale_beliefs(_multiply_all(mixed))
        moved = 1.0
        for _ in range(min(MAX_BALANCING_ROUNDS, max(10, MAX_COMPUTED_BELIEFS // (max(keys, 1) * len(self.parts))))):
            with np.errstate(over="ignore", invalid="ignore"):
                for index, (part, terms) in enumerate(zip(self.parts, self.terms, strict=True)):
                    scale = of_atom / self._sum_by_atom(_multiply_all(mixed))
                    rest = scale[row] * _multiply_all(
                        [other_mixed for other, other_mixed in enumerate(mixed) if other != index]
                    )
                    _fit_factors(part, factors[index], terms.add_up(rest, factors[index].shape))
                    mixed[index] = terms.mix(factors[index], keys)
                after = self._scale_beliefs(_multiply_all(mixed))
            if not np.isfinite(after.belief).all():  # releases contradict each other: factors grow without end
                break
            moved = float(np.abs(after.belief - belief.belief).max(initial=0.0))
            belief = after
            if moved < SETTLED_BELIEF_MOVE:
                break
        return belief, moved

    def to_dense(self, belief: Beliefs) -> np.ndarray:
        """Return the beliefs as a table, (points, values)."""
        return belief.to_dense()[self.of_point]

    def _sum_by_atom(self, belief: np.ndarray) -> np.ndarray:
        totals = np.bincount(self.own.row, weights=belief, minlength=len(self.chosen))
        return np.where(totals > 0, totals, 1.0)

    def _scale_beliefs(self, belief: np.ndarray) -> Beliefs:
        """Scale beliefs to add up to 1; the first release's where releases contradict each other: they are not of the same people."""
        totals = np.bincount(self.own.row, weights=belief, minlength=len(self.chosen))[self.own.row]
        scaled = np.where(totals > 0, belief / np.where(totals > 0, totals, 1), self.own.belief)
        return Beliefs(self.own.starts, self.own.value, scaled, self.own.values)


def compute_product_beliefs(parts: Sequence[ReleasePart], prior: np.ndarray) -> np.ndarray:
    """Compute (points, values) by the product rule."""
    joint = JointBeliefs.from_parts(parts, prior)
    return joint.to_dense(joint.multiply())


def compute_balanced_beliefs(
    parts: Sequence[ReleasePart], people: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, float]:
    """Compute (points, values) by the balanced rule, and how far a belief moved in the last round."""
    joint = JointBeliefs.from_parts(parts, prior)
    belief, moved = joint.balance(people)
    return joint.to_dense(belief), moved


class TooManyJointStates(Exception):
    """Raised when a component has more states than are counted."""


def compute_exact_beliefs(parts: Sequence[ReleasePart], people: np.ndarray) -> dict[int, list[Fraction]]:
    """Map each point whose component is small enough to its belief in each value."""
    if len(parts) < 2 or not all(part.membership.known for part in parts):
        return {}
    of_point = np.stack([_list_point_groups(part) for part in parts], axis=1)
    single = np.stack([_are_in_one_group(part) for part in parts], axis=1)
    full = np.stack([_are_full(part)[groups] for part, groups in zip(parts, of_point.T, strict=True)], axis=1)
    nowhere = (of_point == [part.membership.groups for part in parts]).all(axis=1)
    component = find_joint_components(parts)
    sizes = np.bincount(component, weights=people)
    uncountable = ~(full & single).all(axis=1) | nowhere
    are_countable = np.bincount(component, weights=uncountable) == 0
    small_components = np.flatnonzero(are_countable & (sizes <= MAX_COMPONENT_PEOPLE) & (sizes > 0))
    order = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[order], small_components)
    ends = np.searchsorted(component[order], small_components, side="right")
    beliefs: dict[int, list[Fraction]] = {}
    steps_left = MAX_TOTAL_STEPS
    for start, end in sorted(zip(starts.tolist(), ends.tolist(), strict=True), key=lambda span: span[1] - span[0]):
        counted = _count_joint_component(
            parts, of_point, people, order[start:end], min(steps_left, MAX_COMPONENT_STEPS)
        )
        steps_left -= counted[1]
        beliefs |= counted[0]
        if steps_left <= 0:
            break
    return beliefs


def find_joint_components(parts: Sequence[ReleasePart]) -> np.ndarray:
    """Number the component of each point, equal where points are linked by groups of any release."""
    first = np.append(0, np.cumsum([part.membership.groups for part in parts]))
    inside = [part.membership.group < part.membership.groups for part in parts]
    point = np.concatenate([part.membership.point[is_inside] for part, is_inside in zip(parts, inside, strict=True)])
    group = np.concatenate(
        [part.membership.group[is_inside] + start for part, is_inside, start in zip(parts, inside, first, strict=False)]
    )
    return find_linked_points(point, group, parts[0].membership.points)


def _cap_beliefs(beliefs: Beliefs, caps: np.ndarray) -> Beliefs:
    return Beliefs(beliefs.starts, beliefs.value, np.minimum(beliefs.belief, caps[beliefs.value]), beliefs.values)


def _multiply_all(mixed: Sequence[np.ndarray]) -> np.ndarray:
    product = mixed[0]
    for factor in mixed[1:]:
        product = product * factor
    return product


def _fit_factors(part: ReleasePart, factor: np.ndarray, inside: np.ndarray) -> None:
    """Scale one release's factors until its groups hold what they publish, `inside` being what the others' factors put there."""
    groups = part.membership.groups
    current = inside[:groups] * factor[:groups]
    sizes = part.counts.sum(axis=1)
    expected = (
        part.counts * np.divide(part.membership.held[:groups], sizes, out=np.zeros(groups), where=sizes > 0)[:, None]
    )
    factor[:groups] *= np.divide(expected, current, out=np.ones(expected.shape), where=current > 0)


def _list_point_groups(part: ReleasePart) -> np.ndarray:
    group_of_point = np.empty(part.membership.points, np.int64)
    group_of_point[part.membership.point] = part.membership.group
    return group_of_point


def _are_in_one_group(part: ReleasePart) -> np.ndarray:
    """Tell which points have all of their people in one group, or all in none."""
    return np.bincount(part.membership.point, minlength=part.membership.points) == 1


def _are_full(part: ReleasePart) -> np.ndarray:
    """Tell which groups hold as many people as they publish rows; people in no group are bound by nothing."""
    are_integers = part.counts == np.round(part.counts)
    group_people = part.membership.held[: part.membership.groups]
    return np.append(are_integers.all(axis=1) & (part.counts.sum(axis=1) == np.round(group_people)), True)


def _count_joint_component(
    parts: Sequence[ReleasePart], of_point: np.ndarray, people: np.ndarray, points: np.ndarray, steps: int
) -> tuple[dict[int, list[Fraction]], int]:
    """Compute beliefs about the points of one component, and the steps it took; no beliefs if they were too many."""
    atoms, of_atom = np.unique(of_point[points], axis=0, return_inverse=True)
    of_atom = of_atom.reshape(-1)
    sizes = np.bincount(of_atom, weights=people[points]).astype(int).tolist()
    used = []
    for release, part in enumerate(parts):
        groups = np.unique(atoms[:, release])
        used.append(groups[groups < part.membership.groups])
    occurring = np.any([part.counts[groups].any(axis=0) for part, groups in zip(parts, used, strict=True)], axis=0)
    values = np.flatnonzero(occurring)
    group_counts: list[tuple[int, ...]] = []
    place: dict[tuple[int, int], int] = {}
    for release, part in enumerate(parts):
        for group in used[release].tolist():
            place[release, group] = len(group_counts)
            group_counts.append(tuple(int(count) for count in part.counts[group, values]))
    links = [
        [place[release, group] for release, group in enumerate(row) if (release, group) in place]
        for row in atoms.tolist()
    ]
    counter = StepLimit(steps, TooManyJointStates)
    try:
        beliefs = _count_joint_tables(sizes, links, tuple(group_counts), counter)
    except TooManyJointStates:
        return {}, counter.taken
    rows = [_expand_to_all_values(row, values, parts[0].counts.shape[1]) for row in beliefs]
    return {int(point): rows[atom] for point, atom in zip(points, of_atom, strict=True)}, counter.taken


def _count_joint_tables(
    sizes: list[int], links: list[list[int]], group_counts: GroupState, counter: StepLimit
) -> list[list[Fraction]]:
    """Compute (atoms, values): forward over the atoms, then backward; a state is what is left in each group."""
    layers: list[dict[GroupState, int]] = [{group_counts: 1}]
    for size, groups in zip(sizes, links, strict=True):
        after: dict[GroupState, int] = {}
        for state, ways in layers[-1].items():
            for _, weight, remaining in _split_atom(state, groups, size, counter):
                after[remaining] = after.get(remaining, 0) + ways * weight
        layers.append(after)
    empty = tuple(tuple(0 for _ in group) for group in group_counts)
    behind = {empty: 1}
    sums_by_atom = []
    for atom in reversed(range(len(sizes))):
        before: dict[GroupState, int] = {}
        sums = [0] * len(group_counts[0])
        for state, ways in layers[atom].items():
            for split, weight, remaining in _split_atom(state, links[atom], sizes[atom], counter):
                rest = weight * behind.get(remaining, 0)
                if rest:
                    before[state] = before.get(state, 0) + rest
                    sums = [total + ways * rest * count for total, count in zip(sums, split, strict=True)]
        behind = before
        sums_by_atom.append(sums)
    tables = behind.get(group_counts, 0)
    if not tables:  # no table fits them all: they are not of the same people
        raise TooManyJointStates
    return [
        [Fraction(s, tables * size) for s in sums] for sums, size in zip(reversed(sums_by_atom), sizes, strict=True)
    ]


def _expand_to_all_values(row: list[Fraction], occurring: np.ndarray, values: int) -> list[Fraction]:
    """Expand beliefs to every value of the table; no group of a component holds the others."""
    expanded = [Fraction(0)] * values
    for value, belief in zip(occurring.tolist(), row, strict=True):
        expanded[value] = belief
    return expanded


def _split_atom(
    state: GroupState, groups: list[int], size: int, counter: StepLimit
) -> Iterator[tuple[tuple[int, ...], int, GroupState]]:
    """List how many of an atom's people may have each value, in how many ways, and what is then left in the groups."""
    capacities = [min(state[group][value] for group in groups) for value in range(len(state[0]))]
    for split in _partition_size(size, capacities):
        counter.step()
        ways = 1
        unassigned = size
        for count in split:
            ways *= comb(unassigned, count)
            unassigned -= count
        after = list(state)
        for group in groups:
            after[group] = tuple(group_count - count for group_count, count in zip(after[group], split, strict=True))
        yield split, ways, tuple(after)


def _partition_size(size: int, capacities: list[int]) -> Iterator[tuple[int, ...]]:
    """List every way to write `size` as a sum of at most capacities[0], capacities[1], ..."""
    if len(capacities) == 1:
        if size <= capacities[0]:
            yield (size,)
        return
    later_capacity = sum(capacities[1:])
    for count in range(max(0, size - later_capacity), min(size, capacities[0]) + 1):
        for rest in _partition_size(size - count, capacities[1:]):
            yield (count, *rest)
