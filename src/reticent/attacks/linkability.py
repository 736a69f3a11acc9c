"""Linkability, as `anonymeter` defines it (Giomi et al., PoPETs 2023): do entries of two lists belong to one person?

The adversary has two lists of people, one with the first columns and one with the others, and links an entry of each
where both point to one group of the release: the narrowest whose labels cover the entry.  In `anonymeter` the nearest
synthetic rows decide; labels are nearer than those.

    success    how often the two entries of one person point to one group, with Wilson's interval
    control    the same for the entries of two people who were drawn apart: how often strangers are linked; also the baseline
    risk       (success - control) / (1 - control)

Of more people than MAX_PEOPLE a random part is tried.  No promise of this library is about this adversary: groups may
be found by some of their columns, and are as large as was promised when they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.attacks.scoring import AttackOutcome, compute_excess_risk, compute_wilson_interval
from reticent.attacks.target import AttackTarget
from reticent.errors import RequestError, suggest
from reticent.labels.adversary_view import POINTS_PER_CHUNK, Boxes

MAX_PEOPLE = 2_000
"""So many people are tried."""


@dataclass(frozen=True, eq=False)
class LinkabilityOutcome(AttackOutcome):
    """Outcome of an attack with the control and the columns of each list."""

    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), **self.details}


def attack_by_linking(target: AttackTarget, *, first: Iterable[str] | None = None, seed: int = 0) -> LinkabilityOutcome:
    """Link the entries of two lists.

    `first` are the columns of the first list, by default the first half of the quasi-identifiers; `seed` draws people.
    """
    sight = target.sight
    if not isinstance(sight, Boxes):
        raise RequestError(
            "This attack asks what labels link; this release publishes quasi-identifiers as they are.",
            attempt="another attack: whoever knows somebody's quasi-identifiers finds the row.",
        )
    first_axes, second_axes = _split_columns(target, first)
    rng = np.random.default_rng(seed)
    everybody = np.repeat(np.arange(len(target.people)), target.people)
    people = rng.permutation(everybody)[:MAX_PEOPLE]
    strangers = rng.permutation(people)
    groups_by_list = [_find_narrowest_group(target, sight, axes, people, rng) for axes in (first_axes, second_axes)]
    is_linked = (groups_by_list[0] == groups_by_list[1]) & (groups_by_list[0] >= 0)
    is_linked_to_stranger = (groups_by_list[0] == _find_narrowest_group(target, sight, second_axes, strangers, rng)) & (
        groups_by_list[0] >= 0
    )
    return _make_outcome(target, is_linked, is_linked_to_stranger, (first_axes, second_axes), sight)


def _split_columns(target: AttackTarget, first: Iterable[str] | None) -> tuple[list[int], list[int]]:
    names = [domain.name for domain in target.quasi]
    if len(names) < 2:
        raise RequestError("This attack needs two quasi-identifiers or more: one for each list.")
    if first is None:
        first_names = names[: (len(names) + 1) // 2]
    else:
        first_names = [first] if isinstance(first, str) else list(first)
    for name in first_names:
        if name not in names:
            raise RequestError(f"There is no quasi-identifier {name!r}.", attempt=suggest(str(name), names))
    first_axes = [position for position, name in enumerate(names) if name in first_names]
    if not first_axes or len(first_axes) == len(names):
        raise RequestError("Each list has at least one of the quasi-identifiers.", attempt=f"first = [{names[0]!r}].")
    return first_axes, [position for position in range(len(names)) if position not in first_axes]


def _find_narrowest_group(
    target: AttackTarget, sight: Boxes, axes: list[int], people: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Find the group with the fewest combinations of these columns' values among those that cover an entry; -1 if none does."""
    combination_count = np.prod(sight.widths[axes].astype(np.float64), axis=0)
    order = np.lexsort(
        (rng.random(len(combination_count)), combination_count)
    )  # the narrowest first, equal ones at random
    points, number = np.unique(target.points[people][:, axes], axis=0, return_inverse=True)
    narrowest = np.full(len(points), -1, np.int64)
    for start in range(0, len(points), POINTS_PER_CHUNK):
        inside = np.ones((len(points[start : start + POINTS_PER_CHUNK]), len(order)), bool)
        for position, axis in enumerate(axes):
            table = sight.covers[axis].table(points[start : start + POINTS_PER_CHUNK, position])
            inside &= table[:, sight.label[axis][order]]
        narrowest[start : start + POINTS_PER_CHUNK] = np.where(inside.any(axis=1), order[inside.argmax(axis=1)], -1)
    return narrowest[number.reshape(-1)]


def _make_outcome(
    target: AttackTarget,
    is_linked: np.ndarray,
    is_linked_to_stranger: np.ndarray,
    lists: tuple[list[int], list[int]],
    sight: Boxes,
) -> LinkabilityOutcome:
    hits = int(is_linked.sum())
    by_chance = int(is_linked_to_stranger.sum())
    tried = len(is_linked)
    control = compute_wilson_interval(by_chance, tried)
    names = [[target.quasi[axis].name for axis in axes] for axes in lists]
    details = {
        "control": by_chance / tried,
        "control_low": control[0],
        "control_high": control[1],
        "risk": compute_excess_risk(hits / tried, by_chance / tried),
        "lists": names,
        "rows": int(target.people.sum()),
        "people": _count_people(target),
    }
    low, high = compute_wilson_interval(hits, tried)
    smallest = int(sight.counts.sum(axis=1).min()) if len(sight.counts) else 1
    worst = 1 / max(smallest // target.rows_per_person, 1)  # of the people of a group that was found, which is it?
    return LinkabilityOutcome(
        "linkability",
        tried,
        hits / tried,
        low,
        high,
        by_chance / tried,
        worst,
        None,
        is_linked,
        is_linked.astype(np.float64),
        details,
    )


def _count_people(target: AttackTarget) -> int | None:
    """Count the people of the rows; None where they may have several, and nothing tells whose each is."""
    if target.persons is not None:
        return target.persons.count
    return int(target.people.sum()) if target.rows_per_person == 1 else None
