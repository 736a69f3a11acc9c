"""Membership of people in groups: the people of each point, spread over the groups whose labels cover them.

Where a release reveals the group of everybody (labels of which no two cover one person, or exact quasi-identifiers)
there is nothing to spread.  Where boxes overlap, every assignment of people to published rows that the labels allow is
taken as equally likely, and the membership is the expected number of a point's people in each group.  The exact number
is a ratio of permanents; the *balanced* one (Sinkhorn & Knopp 1967) is the matrix a_p b_g on the covered pairs whose
rows add up to people and whose columns add up to published rows.  `attacks.overlap` has the exact one for small
components (`count_memberships`), and docs/what-else-it-says.md how far the two are apart.

People whom no label covers, and as many as there are people beyond the published rows, are in no group: `groups` is its
number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reticent.attacks.beliefs import Atoms, find_atoms
from reticent.attacks.target import AttackTarget
from reticent.errors import RequestError
from reticent.labels.adversary_view import Boxes
from reticent.labels.cover import join_boxes

MAX_BALANCING_ROUNDS = 500
SETTLED_LACKING_SHARE = 1e-9
"""The balancing ends when no group lacks a greater share of its rows."""
MAX_FACTOR = 1e100
MAX_PAIRS = 40_000_000
"""So many (point, group) pairs are held at once; a release with more is refused with their number."""


@dataclass(frozen=True, eq=False)
class GroupMembership:
    """Expected people by point and group: `people` of a `point` are in a `group`, sorted by group.

    Group number `groups` is none.
    """

    point: np.ndarray
    group: np.ndarray
    people: np.ndarray
    groups: int
    points: int
    known: bool  # whether each point's people are in one group, or in groups that the release says
    gap: float = 0.0  # of a balanced one, the greatest share of a group's rows that is still lacking

    @cached_property
    def single(self) -> bool:
        """Whether all people of each point are in one group, and the release reveals which."""
        return self.known and len(self.point) == self.points

    @cached_property
    def held(self) -> np.ndarray:
        """People expected in each group, the last being none."""
        return np.bincount(self.group, weights=self.people, minlength=self.groups + 1)

    @cached_property
    def shares(self) -> np.ndarray:
        """The share of its point's people that each entry is."""
        point_people = np.bincount(self.point, weights=self.people, minlength=self.points)[self.point]
        return np.divide(self.people, point_people, out=np.zeros(len(point_people)), where=point_people > 0)

    def by_group(self, values: np.ndarray) -> np.ndarray:
        """Add up what the entries hold by group: (groups + 1, ...)."""
        if values.ndim == 1:
            return np.bincount(self.group, weights=values, minlength=self.groups + 1)
        sums = np.zeros((self.groups + 1, *values.shape[1:]))
        starts = np.flatnonzero(np.diff(self.group, prepend=-1))
        if len(starts):
            sums[self.group[starts]] = np.add.reduceat(values, starts, axis=0)
        return sums

    @cached_property
    def atoms(self) -> Atoms:
        """Points that are in the same groups to the same shares."""
        return find_atoms(self.point, self.group, self.shares, self.points)


def find_linked_points(point: np.ndarray, group: np.ndarray, points: int) -> np.ndarray:
    """Number the component of each point, equal where points are linked by the groups that they share, be it through others."""
    label = np.arange(points)
    while True:
        least_label = np.full(int(group.max(initial=0)) + 1, points)
        np.minimum.at(least_label, group, label[point])
        next_label = label.copy()
        np.minimum.at(next_label, point, least_label[group])
        next_label = next_label[next_label]
        if np.array_equal(next_label, label):
            return label
        label = next_label


def find_covering_boxes(target: AttackTarget) -> tuple[np.ndarray, np.ndarray]:
    """Find (point, group) of each box that covers a point, sorted by group."""
    sight = target.sight
    assert isinstance(sight, Boxes)
    regions = join_boxes(sight.covers, sight.label.T.astype(np.int64), target.points)
    if regions.many > MAX_PAIRS:
        raise RequestError(
            f"The labels of this release cover {regions.many:,} pairs of a combination and a group.",
            why=f"This attack holds {MAX_PAIRS:,} of them at once.",
            attempt="a sample of the data and its release, or fewer quasi-identifiers.",
        )
    point, group = regions.pairs()
    order = np.lexsort((point, group))
    return point[order], group[order]


def find_membership(target: AttackTarget, departed: float = 0.0) -> GroupMembership:
    """Find the membership: known where the release reveals it, balanced where labels overlap; cached for each target.

    Of the rows of overlapping groups, `departed` are of nobody in the target: people who have left the table since.
    """
    if departed:
        return _compute_membership(target, departed)
    if "membership" not in target.cache:
        target.cache["membership"] = _compute_membership(target, departed)
    membership: GroupMembership = target.cache["membership"]
    return membership


def _compute_membership(target: AttackTarget, departed: float) -> GroupMembership:
    groups = len(target.counts)
    points = len(target.points)
    if not isinstance(target.sight, Boxes):
        point, group, people = target.sight.memberships(target.points, target.people, 1)
        published = np.bincount(point, weights=people, minlength=points)
        present = np.minimum(target.people, published)[
            point
        ]  # of those with these quasi-identifiers, some may have left since
        published_here = published[point]
        people = np.divide(people * present, published_here, out=np.zeros(len(point)), where=published_here > 0)
        point = point[people > 0]
        group = group[people > 0]
        people = people[people > 0]
        return _add_people_in_no_group(
            GroupMembership(point, group, np.asarray(people, np.float64), groups, points, True), target
        )
    point, group = find_covering_boxes(target)
    is_known = bool(np.bincount(point, minlength=points).max(initial=0) <= 1)
    if is_known:
        return _add_people_in_no_group(
            GroupMembership(point, group, target.people[point].astype(np.float64), groups, points, True), target
        )
    return _balance_membership(point, group, target, departed)


def _add_people_in_no_group(membership: GroupMembership, target: AttackTarget) -> GroupMembership:
    """Add an entry for the people of each point who are in no group."""
    people_left = target.people - np.bincount(membership.point, weights=membership.people, minlength=membership.points)
    points_left = np.flatnonzero(people_left > 0)
    order = np.argsort(membership.group, kind="stable")
    columns = [
        np.concatenate([existing[order], added])
        for existing, added in (
            (membership.point, points_left),
            (membership.group, np.full(len(points_left), membership.groups)),
            (membership.people, people_left[points_left]),
        )
    ]
    return replace(membership, point=columns[0], group=columns[1], people=columns[2])


def _balance_membership(point: np.ndarray, group: np.ndarray, target: AttackTarget, departed: float) -> GroupMembership:
    groups = len(target.counts)
    points = len(target.points)
    sizes = target.counts.sum(axis=1).astype(np.float64)
    if departed > 0:
        sizes *= (sizes.sum() - departed) / sizes.sum()
    people_in_no_group = float(target.people.sum() - sizes.sum())
    uncovered = np.setdiff1d(np.arange(points), point)
    points_in_no_group = np.arange(points) if people_in_no_group > 0 else uncovered
    point = np.append(point, points_in_no_group)
    group = np.append(group, np.full(len(points_in_no_group), groups))
    group_sizes = np.append(sizes, max(people_in_no_group, float(target.people[uncovered].sum())))
    pairs = GroupMembership(point, group, np.ones(len(point)), groups, points, False)
    of_group = np.where(group_sizes > 0, group_sizes, 0.0)
    gap = np.inf
    for _ in range(MAX_BALANCING_ROUNDS):
        factor_sums = np.bincount(point, weights=of_group[group], minlength=points)
        of_point = target.people / np.where(factor_sums > 0, factor_sums, 1)
        expected = pairs.by_group(of_point[point]) * of_group
        gap = float(np.max(np.abs(expected - group_sizes)[group_sizes > 0] / group_sizes[group_sizes > 0], initial=0.0))
        if gap < SETTLED_LACKING_SHARE:
            break
        of_group *= np.divide(group_sizes, expected, out=np.ones_like(expected), where=expected > 0)
        np.clip(
            of_group, 0.0, MAX_FACTOR, out=of_group
        )  # where no assignment fits, as of other people, factors run away
    factor_sums = np.bincount(point, weights=of_group[group], minlength=points)
    people = of_group[group] * (target.people / np.where(factor_sums > 0, factor_sums, 1))[point]
    return replace(pairs, people=people, gap=gap)
