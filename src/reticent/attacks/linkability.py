"""Linkability, as `anonymeter` asks it: do two lists, each with some of the columns, belong to one person? (Giomi et al., PoPETs 2023.)

The adversary has two lists of people, one with the first columns and one with the others, and links an entry of each where both point
to one group of the release: the narrowest whose labels cover the entry.  There the nearest synthetic rows are asked; labels are
nearer than those.

    success    how often the two entries of one person point to one group, with Wilson's interval
    control    the same for the entries of two people who were drawn apart: how often strangers are linked; it is the baseline too
    risk       (success - control) / (1 - control)

Of more people than MOST a random part is tried.  No promise of this library speaks of this adversary: groups may be found by some of
their columns, and are as large as was promised when they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.attacks.score import Outcome, risk, wilson
from reticent.attacks.seen import Seen
from reticent.errors import RequestError, suggest
from reticent.release.reading.boxes import CHUNK, Boxes

MOST = 2_000
"""So many people are tried."""


@dataclass(frozen=True, eq=False)
class Linked(Outcome):
    """What an attack answers, and beside it the control and which columns each list has."""

    beside: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**Outcome.to_dict(self), **self.beside}


def linkability(seen: Seen, *, first: Iterable[str] | None = None, seed: int = 0) -> Linked:
    """`first` are the columns of the first list, by default the first half of the quasi-identifiers; `seed` draws people."""
    sight = seen.sight
    if not isinstance(sight, Boxes):
        raise RequestError(
            "This attack asks what labels link; this release publishes quasi-identifiers as they are.",
            attempt="another attack: whoever knows somebody's quasi-identifiers finds the row.",
        )
    one, other = _lists(seen, first)
    rng = np.random.default_rng(seed)
    everybody = np.repeat(np.arange(len(seen.people)), seen.people)
    people = rng.permutation(everybody)[:MOST]
    strangers = rng.permutation(people)
    found = [_narrowest(seen, sight, axes, people, rng) for axes in (one, other)]
    same = (found[0] == found[1]) & (found[0] >= 0)
    apart = (found[0] == _narrowest(seen, sight, other, strangers, rng)) & (found[0] >= 0)
    return _outcome(seen, same, apart, (one, other), sight)


def _lists(seen: Seen, first: Iterable[str] | None) -> tuple[list[int], list[int]]:
    names = [domain.name for domain in seen.quasi]
    if len(names) < 2:
        raise RequestError("This attack needs two quasi-identifiers or more: one for each list.")
    asked = names[: (len(names) + 1) // 2] if first is None else [first] if isinstance(first, str) else list(first)
    for name in asked:
        if name not in names:
            raise RequestError(f"There is no quasi-identifier {name!r}.", attempt=suggest(str(name), names))
    one = [at for at, name in enumerate(names) if name in asked]
    if not one or len(one) == len(names):
        raise RequestError("Each list has at least one of the quasi-identifiers.", attempt=f"first = [{names[0]!r}].")
    return one, [at for at in range(len(names)) if at not in one]


def _narrowest(seen: Seen, sight: Boxes, axes: list[int], people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The group with the fewest combinations of these columns' values among those that cover an entry; -1 where none does."""
    room = np.prod(sight.widths[axes].astype(np.float64), axis=0)
    order = np.lexsort((rng.random(len(room)), room))  # the narrowest first, equal ones at random
    points, number = np.unique(seen.points[people][:, axes], axis=0, return_inverse=True)
    found = np.full(len(points), -1, np.int64)
    for start in range(0, len(points), CHUNK):
        inside = np.ones((len(points[start : start + CHUNK]), len(order)), bool)
        for at, axis in enumerate(axes):
            table = sight.covers[axis].table(points[start : start + CHUNK, at])
            inside &= table[:, sight.label[axis][order]]
        found[start : start + CHUNK] = np.where(inside.any(axis=1), order[inside.argmax(axis=1)], -1)
    return found[number.reshape(-1)]


def _outcome(
    seen: Seen, same: np.ndarray, apart: np.ndarray, lists: tuple[list[int], list[int]], sight: Boxes
) -> Linked:
    hits, by_chance, tried = int(same.sum()), int(apart.sum()), len(same)
    control = wilson(by_chance, tried)
    names = [[seen.quasi[axis].name for axis in axes] for axes in lists]
    beside = {
        "control": by_chance / tried,
        "control_low": control[0],
        "control_high": control[1],
        "risk": risk(hits / tried, by_chance / tried),
        "lists": names,
        "rows": int(seen.people.sum()),
        "people": _people(seen),
    }
    low, high = wilson(hits, tried)
    smallest = int(sight.counts.sum(axis=1).min()) if len(sight.counts) else 1
    worst = 1 / max(smallest // seen.rows_per_person, 1)  # of the people of a group that was found, which is it?
    return Linked("linkability", tried, hits / tried, low, high, by_chance / tried, worst, None, same,
                  same.astype(np.float64), beside)  # fmt: skip


def _people(seen: Seen) -> int | None:
    """Of how many people the rows are; None where they may have several, and nothing says whose each is."""
    if seen.persons is not None:
        return seen.persons.count
    return int(seen.people.sum()) if seen.rows_per_person == 1 else None
