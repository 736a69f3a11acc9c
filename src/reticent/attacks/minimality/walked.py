"""A Metropolis walk over the tables that publish this release, where they are too many to list.

A step deals the values of some blocks anew: a step back is as likely as a step forth, and it is taken only where the method publishes
the same release again.  So in the long run every table that can be reached is met equally often.  The walk begins at the true
table, the only one that is known to publish the release.  In its first third, which is left out, it finds how many blocks can be
dealt at once.

An honest interval: who has the greatest belief is chosen by the first half of what is left, and the belief is that of the second
half, which did not choose, with the interval of ten batch means.  Of people whose value changed less than ten times in either half
nothing is concluded: a walk that begins at the truth would only say the truth again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from reticent.attacks.beliefs import Beliefs
from reticent.attacks.minimality.behind import Tables
from reticent.attacks.minimality.beliefs import Concluded
from reticent.attacks.minimality.run_again import Publisher, Shown

BATCHES = 10
STUDENT = 2.2621571628540993  # 95 %, nine degrees of freedom
CHANGES = 10
GROW, SHRINK = 1.5, 1.2  # about three steps in ten are taken


@dataclass(eq=False)
class Walk:
    """Where it stands, and what it met: (batches, people, values), and how often each half changed a person's value."""

    table: np.ndarray
    met: np.ndarray
    changed: np.ndarray
    taken: int = 0
    at_once: float = 1.0

    @classmethod
    def of(cls, tables: Tables) -> Walk:
        people = len(tables.true)
        return cls(
            tables.true.copy(), np.zeros((2 * BATCHES, people, tables.values), np.int32), np.zeros((2, people), int)
        )


def walked(
    publisher: Publisher, tables: Tables, shown: Shown, key: int, steps: int, rng: np.random.Generator
) -> Concluded | None:
    """None where nobody's value changed often enough."""
    walk, people, burn = Walk.of(tables), np.arange(len(tables.true)), steps // 3
    able = [block for block in tables.blocks if len(np.unique(tables.true[block])) > 1]
    for step in range(steps if able else 0):
        asked = _dealt(walk.table, able, min(round(walk.at_once), len(able)), rng)
        taken = publisher.shown(asked, key) == shown
        if step < burn:
            walk.at_once = min(walk.at_once * GROW, len(able)) if taken else max(walk.at_once / SHRINK, 1.0)
        batch = (step - burn) * 2 * BATCHES // (steps - burn)
        if taken and step >= burn:
            walk.changed[batch // BATCHES] += asked != walk.table
        walk.taken += taken
        walk.table = asked if taken else walk.table
        if step >= burn:
            walk.met[batch, people, walk.table] += 1
    return _concluded(walk, steps)


def _dealt(table: np.ndarray, able: list[np.ndarray], many: int, rng: np.random.Generator) -> np.ndarray:
    asked = table.copy()
    for at in rng.choice(len(able), many, replace=False):
        asked[able[at]] = rng.permutation(asked[able[at]])
    return asked


def _concluded(walk: Walk, steps: int) -> Concluded | None:
    looked: np.ndarray = walk.changed.min(axis=0) >= CHANGES
    if not looked.any():
        return None
    first = walk.met[:BATCHES].sum(axis=0)
    person, value = np.unravel_index(int(np.where(looked[:, None], first, -1).argmax()), first.shape)
    means = walk.met[BATCHES:, person, value] / np.maximum(walk.met[BATCHES:, person].sum(axis=1), 1)
    worst, half = float(means.mean()), STUDENT * float(means.std(ddof=1)) / sqrt(BATCHES)
    whole = walk.met.sum(axis=0)
    belief = whole / whole.sum(axis=1, keepdims=True)
    return Concluded(
        Beliefs.of_table(belief),
        looked,
        worst,
        max(worst - half, 0.0),
        min(worst + half, 1.0),
        "walked",
        steps,
        walk.taken,
        whose=(int(person), int(value)),
        moved=float((walk.changed.sum(axis=0) > 0).mean()),
    )
