"""Predicate singling out by the ends of ranges (Cohen & Nissim, PNAS 2020; Cohen, USENIX Security 2022).

A predicate is "the published labels of this group, and in one column the value at an end of its range".  It isolates if
it is true of exactly one person of the source: somebody is then known by labels alone, whatever k the groups have.  A
tight range ends at values that people have, and at its ends there are few of them.  People who have several rows are
counted by the column that names them; where nothing names them, rows are counted, and the outcome records it.

    success      the share of these predicates that isolate somebody, with Wilson's interval
    control      the same with a random value inside the label instead of its end: what any value isolates
    others       the same predicates on people who are not in the release, where a table of them is passed
    certain      the share of the hidden values that the release reveals for sure, up to their order in the group

The baseline is `others` where they are known, else the control.  `worst_posterior` is the greatest share of one group's
hidden values in one column that are certain.  No promise of this library is about this adversary: k-anonymity and its
kin bound what a group reveals, not what the way it is printed does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.attacks.scoring import AttackOutcome, compute_excess_risk, compute_wilson_interval
from reticent.attacks.target import AttackTarget, PointPersons
from reticent.errors import RequestError
from reticent.labels.adversary_view import Boxes
from reticent.labels.cover import CoveredRegions, LabelCover, join_boxes

MAX_EXACT_PAIRS = 400_000
"""So many (group, value) pairs are all tried for the control; of more, two random values of each label are."""
MAX_PREDICATES = 200_000
"""At most so many predicates are tried in a column: of more groups a random part."""


@dataclass(frozen=True, slots=True)
class PredicateLimits:
    """How many predicates of a column are tried, and how many pairs for the control."""

    exact_pairs: int = MAX_EXACT_PAIRS
    predicates: int = MAX_PREDICATES


DEFAULT_LIMITS = PredicateLimits()


@dataclass(frozen=True, eq=False)
class SinglingOutOutcome(AttackOutcome):
    """Outcome of an attack with the control, what is certain, and each column's share."""

    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), **self.details}


@dataclass(frozen=True, eq=False)
class TriedPredicates:
    """Predicates of one column: how many people each is true of; of the control `weight` is how much each counts."""

    name: str
    people: np.ndarray
    control: np.ndarray
    weight: np.ndarray
    certain: int
    hidden: int
    worst: float
    others: np.ndarray | None

    @property
    def share(self) -> float:
        return float((self.people == 1).mean())

    @property
    def controlled(self) -> float:
        return float(((self.control == 1) * self.weight).sum() / self.weight.sum())


def attack_by_singling_out(
    target: AttackTarget, *, others: AttackTarget | None = None, seed: int = 0
) -> SinglingOutOutcome:
    """Try the predicates of every range end.

    `others` are people who are not in the release; `seed` chooses the control's values where they are too many to try
    all.
    """
    return single_out(target, others, seed)


def single_out(
    target: AttackTarget, others: AttackTarget | None = None, seed: int = 0, limits: PredicateLimits = DEFAULT_LIMITS
) -> SinglingOutOutcome:
    """Run the attack with limits on what is tried."""
    sight = target.sight
    lines = [] if not isinstance(sight, Boxes) else [axis for axis, ends in enumerate(sight.ends) if ends is not None]
    if not isinstance(sight, Boxes):
        raise RequestError(
            "This attack reads the ends of published ranges; this release publishes quasi-identifiers as they are.",
            attempt="another attack: whoever knows somebody's quasi-identifiers finds the row.",
        )
    rng = np.random.default_rng(seed)
    tried_columns = [
        tried_column
        for axis in lines
        if (tried_column := _try_predicates(target, sight, axis, others, rng, limits)) is not None
    ]
    if not tried_columns:
        raise RequestError(
            "This attack reads the ends of published ranges; this release has none.",
            attempt="another attack: every label is a category, a single value or `*`.",
        )
    return _make_outcome(tried_columns)


def _try_predicates(
    target: AttackTarget,
    sight: Boxes,
    axis: int,
    others: AttackTarget | None,
    rng: np.random.Generator,
    limits: PredicateLimits,
) -> TriedPredicates | None:
    ends = sight.ends[axis]
    assert ends is not None
    sizes = sight.counts.sum(axis=1)
    group = np.flatnonzero(ends.ranged[sight.label[axis]])
    if not len(group):
        return None
    label = sight.label[axis][group]
    certain = np.minimum(ends.known[label].sum(axis=1), sizes[group])
    sampled_groups = (
        group
        if 2 * len(group) <= limits.predicates
        else np.sort(rng.choice(group, limits.predicates // 2, replace=False))
    )
    people = _count_people(
        target, sight, axis, sampled_groups.repeat(2), ends.value[sight.label[axis][sampled_groups]].reshape(-1)
    )
    control_groups, value, weight = _list_control_values(sight, axis, sampled_groups, rng, limits.exact_pairs)
    control = _count_people(target, sight, axis, control_groups, value)
    outside = None
    if others is not None:
        assert isinstance(others.sight, Boxes)
        other_ends = others.sight.ends[axis]
        assert other_ends is not None
        other_values = other_ends.value[others.sight.label[axis][sampled_groups]].reshape(-1)
        outside = _count_people(others, others.sight, axis, sampled_groups.repeat(2), other_values)
    worst = float((certain / sizes[group]).max())
    return TriedPredicates(
        target.quasi[axis].name, people, control, weight, int(certain.sum()), int(sizes[group].sum()), worst, outside
    )


def _make_outcome(tried_columns: list[TriedPredicates]) -> SinglingOutOutcome:
    people = np.concatenate([column.people for column in tried_columns])
    isolated = int((people == 1).sum())
    low, high = compute_wilson_interval(isolated, len(people))
    control = sum(column.controlled * len(column.people) for column in tried_columns) / len(people)
    control_interval = compute_wilson_interval(round(control * len(people)), len(people))
    others = None
    if all(column.others is not None for column in tried_columns):
        others = float(np.concatenate([column.others == 1 for column in tried_columns]).mean())
    details = {
        "control": control,
        "control_low": control_interval[0],
        "control_high": control_interval[1],
        "others": others,
        "risk": compute_excess_risk(isolated / len(people), control if others is None else others),
        "certain": sum(column.certain for column in tried_columns) / sum(column.hidden for column in tried_columns),
        "columns": {
            column.name: {
                "ends": len(column.people),
                "isolated": column.share,
                "control": column.controlled,
                "certain": column.certain / column.hidden,
            }
            for column in tried_columns
        },
    }
    worst = max(column.worst for column in tried_columns)
    baseline = control if others is None else others
    return SinglingOutOutcome(
        "singling-out",
        len(people),
        isolated / len(people),
        low,
        high,
        baseline,
        worst,
        None,
        people == 1,
        people.astype(np.float64),
        details,
    )


def _count_people(target: AttackTarget, sight: Boxes, axis: int, group: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Count the people who have the labels of a group and, in one column, a value; -1 is a value that nobody has."""
    column = sight.covers[axis]
    size = target.quasi[axis].size
    single = np.arange(size)
    no_holes = np.full(size, -1, np.int64)
    single_codes = LabelCover(
        np.append(column.lower, single),
        np.append(column.upper, single),
        np.append(column.holes, no_holes),
        column.prefix,
    )
    covers = [single_codes if position == axis else cover for position, cover in enumerate(sight.covers)]
    occurring = np.flatnonzero(value >= 0)
    labels = sight.label[:, group[occurring]].T.astype(np.int64).copy()
    labels[:, axis] = len(column.lower) + value[occurring]
    counts = np.zeros(len(value), np.int64)
    regions = join_boxes(covers, labels, target.points)
    counts[occurring] = regions.total(target.people, len(occurring))
    if target.persons is not None:
        single = _are_of_one_person(regions, target.persons, len(occurring))
        counts[occurring] = np.where(single, 1, np.where(counts[occurring] == 1, 2, counts[occurring]))
    return counts


def _list_control_values(
    sight: Boxes, axis: int, group: np.ndarray, rng: np.random.Generator, max_exact_pairs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List (group, value, weight): all values of the source under each group's label, or two random ones; each label counts alike."""
    column = sight.covers[axis]
    label = sight.label[axis][group]
    first = column.lower[label]
    width = np.maximum(column.upper[label] - column.lower[label] + 1, 0)
    if int(width.sum()) > max_exact_pairs:
        widths = width.repeat(2)
        drawn_values = first.repeat(2) + np.floor(rng.random(len(widths)) * widths).astype(np.int64)
        return group.repeat(2)[widths > 0], drawn_values[widths > 0], np.ones(int((widths > 0).sum()))
    start = np.cumsum(width) - width
    value = np.arange(int(width.sum())) - (start - first).repeat(width)
    return group.repeat(width), value, (1 / np.maximum(width, 1)).repeat(width)


def _are_of_one_person(regions: CoveredRegions, persons: PointPersons, boxes: int) -> np.ndarray:
    """Tell under which boxes all rows, and there are some, are those of one person."""
    first = np.full(boxes, np.iinfo(np.int64).max)
    last = np.full(boxes, -1)
    if len(regions.box):
        ends = np.column_stack([regions.start, regions.stop]).reshape(-1)
        low = np.append(persons.first[regions.order], np.iinfo(np.int64).max)
        high = np.append(persons.last[regions.order], -1)
        np.minimum.at(first, regions.box, np.minimum.reduceat(low, ends)[::2])
        np.maximum.at(last, regions.box, np.maximum.reduceat(high, ends)[::2])
    return first == last
