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


def attack_by_linking(seen: AttackTarget, *, first: Iterable[str] | None = None, seed: int = 0) -> LinkabilityOutcome:
    """Link the entries of two lists.

    `first` are the columns of the first list, by default the first half of the quasi-identifiers; `seed` draws people.
    """
    sight = seen.sight
    if not isinstance(sight, Boxes):
        raise RequestError(
            "This attack asks what labels link; this release publishes quasi-identifiers as they are.",
            attempt="another attack: whoever knows somebody's quasi-identifiers finds the row.",
        )
    one, other = _split_columns(seen, first)
    rng = np.random.default_rng(seed)
    everybody = np.repeat(np.arange(len(seen.people)), seen.people)
    people = rng.permutation(everybody)[:MAX_PEOPLE]
    strangers = rng.permutation(people)
    found = [_find_narrowest_group(seen, sight, axes, people, rng) for axes in (one, other)]
    same = (found[0] == found[1]) & (found[0] >= 0)
    apart = (found[0] == _find_narrowest_group(seen, sight, other, strangers, rng)) & (found[0] >= 0)
    return _make_outcome(seen, same, apart, (one, other), sight)


def _split_columns(seen: AttackTarget, first: Iterable[str] | None) -> tuple[list[int], list[int]]:
    names = [domain.name for domain in seen.quasi]
    if len(names) < 2:
        raise RequestError("This attack needs two quasi-identifiers or more: one for each list.")
    if first is None:
        asked = names[: (len(names) + 1) // 2]
    else:
        asked = [first] if isinstance(first, str) else list(first)
    for name in asked:
        if name not in names:
            raise RequestError(f"There is no quasi-identifier {name!r}.", attempt=suggest(str(name), names))
    one = [at for at, name in enumerate(names) if name in asked]
    if not one or len(one) == len(names):
        raise RequestError("Each list has at least one of the quasi-identifiers.", attempt=f"first = [{names[0]!r}].")
    return one, [at for at in range(len(names)) if at not in one]


def _find_narrowest_group(
    seen: AttackTarget, sight: Boxes, axes: list[int], people: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Find the group with the fewest combinations of these columns' values among those that cover an entry; -1 if none does."""
    room = np.prod(sight.widths[axes].astype(np.float64), axis=0)
    order = np.lexsort((rng.random(len(room)), room))  # the narrowest first, equal ones at random
    points, number = np.unique(seen.points[people][:, axes], axis=0, return_inverse=True)
    found = np.full(len(points), -1, np.int64)
    for start in range(0, len(points), POINTS_PER_CHUNK):
        inside = np.ones((len(points[start : start + POINTS_PER_CHUNK]), len(order)), bool)
        for at, axis in enumerate(axes):
            table = sight.covers[axis].table(points[start : start + POINTS_PER_CHUNK, at])
            inside &= table[:, sight.label[axis][order]]
        found[start : start + POINTS_PER_CHUNK] = np.where(inside.any(axis=1), order[inside.argmax(axis=1)], -1)
    return found[number.reshape(-1)]


def _make_outcome(
    seen: AttackTarget, same: np.ndarray, apart: np.ndarray, lists: tuple[list[int], list[int]], sight: Boxes
) -> LinkabilityOutcome:
    hits = int(same.sum())
    by_chance = int(apart.sum())
    tried = len(same)
    control = compute_wilson_interval(by_chance, tried)
    names = [[seen.quasi[axis].name for axis in axes] for axes in lists]
    beside = {
        "control": by_chance / tried,
        "control_low": control[0],
        "control_high": control[1],
        "risk": compute_excess_risk(hits / tried, by_chance / tried),
        "lists": names,
        "rows": int(seen.people.sum()),
        "people": _count_people(seen),
    }
    low, high = compute_wilson_interval(hits, tried)
    smallest = int(sight.counts.sum(axis=1).min()) if len(sight.counts) else 1
    worst = 1 / max(smallest // seen.rows_per_person, 1)  # of the people of a group that was found, which is it?
    return LinkabilityOutcome(
        "linkability",
        tried,
        hits / tried,
        low,
        high,
        by_chance / tried,
        worst,
        None,
        same,
        same.astype(np.float64),
        beside,
    )


def _count_people(seen: AttackTarget) -> int | None:
    """Count the people of the rows; None where they may have several, and nothing tells whose each is."""
    if seen.persons is not None:
        return seen.persons.count
    return int(seen.people.sum()) if seen.rows_per_person == 1 else None
