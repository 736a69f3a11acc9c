"""The skewness attack (Li, Li & Venkatasubramanian, ICDE 2007): guess the value that the group makes most likely beyond its share.

A point's belief is that of the boxes covering it, each with the density of its rows: Pr(v | t) ~ sum over covering G of
n_G,v / room(G).  The guess is the value whose belief is lifted most over the overall distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from reticent.attacks.beliefs import Beliefs, find_atoms
from reticent.attacks.score import Guesses, Outcome, score
from reticent.attacks.seen import Seen
from reticent.release.reading.boxes import Boxes


def skewness(seen: Seen) -> Outcome:
    prior = np.where(seen.prior > 0, seen.prior, np.inf)

    def guess_lifted(beliefs: Beliefs) -> Guesses:
        guess = beliefs.most_of(beliefs.belief / prior[beliefs.value])
        return Guesses(guess, beliefs.at(guess), beliefs.greatest)

    return score("skewness", guess_by_groups(seen, guess_lifted), seen.truth, seen.promised)


def guess_by_groups(seen: Seen, guess: Callable[[Beliefs], Guesses] = Guesses.of_beliefs) -> Guesses:
    """Guess for every point from what its groups say, some points at a time."""
    return Guesses.join([guess(beliefs).take(of_point) for of_point, beliefs in believe_groups(seen)])


def group_beliefs(seen: Seen) -> np.ndarray:
    """(points, values): what the groups alone say of each point; the overall distribution where none covers it."""
    parts = [beliefs.to_dense()[of_point] for of_point, beliefs in believe_groups(seen)]
    return np.concatenate(parts) if parts else np.zeros((0, len(seen.prior)))


def believe_groups(seen: Seen) -> Iterator[tuple[np.ndarray, Beliefs]]:
    """Yield beliefs about some points after the other: the row of each point, and the rows.

    Those of a table whose points are all looked at together are kept for the next attack that asks.
    """
    if "groups" in seen.cache:
        yield seen.cache["groups"]
        return
    prior = np.flatnonzero(seen.prior)
    for points, point, group, weight, of_groups in _list_entries(seen):
        atoms = find_atoms(point, group, weight, points)
        beliefs = atoms.mix(of_groups).scale_to_one()
        bare = np.flatnonzero(beliefs.sums() == 0)
        found = atoms.of_point, beliefs.replace_rows({int(row): (prior, seen.prior[prior]) for row in bare})
        if points == len(seen.points):
            seen.cache["groups"] = found
        yield found


def _list_entries(seen: Seen) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield how many points, which of them may be in which group with which weight, and what the groups say."""
    sight = seen.sight
    if isinstance(sight, Boxes):
        for here, point, group in sight.list_pairs(seen.points):
            yield here.stop - here.start, point, group, np.ones(len(point)), sight.density
        return
    point, group, people = sight.memberships(seen.points, seen.people, 1)
    sizes = np.maximum(sight.counts.sum(axis=1, keepdims=True), 1)
    yield len(seen.points), point, group, np.asarray(people, np.float64), sight.counts / sizes
