"""The deFinetti attack (Kifer, SIGMOD 2009): learn from all groups at once which value goes with whom, and use it inside each group.

Start from a random assignment within each group, train a naive Bayes classifier on it, reassign by the classifier within each group,
and repeat.  Assignments are kept as probabilities: for every person and group, a distribution over values whose sum over the group's
people is the group's published histogram (one step of Sinkhorn scaling a round).  Where boxes overlap, a person belongs to
the densest boxes that cover them, in proportion to their density; in an anatomized release the group is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reticent.attacks.score import Outcome, score
from reticent.attacks.seen import Seen

NEAREST = 16  # boxes a person may belong to
SMOOTHING = 0.5
MOST = 30_000


def definetti(seen: Seen, *, rounds: int = 30) -> Outcome:
    """Of more than MOST combinations of quasi-identifiers those of random groups are learned from and guessed, each group whole:
    `targets` says how many people they are."""
    point, group, weight = seen.sight.memberships(seen.points, seen.people, NEAREST)
    if len(seen.points) > MOST:
        kept = _of_some_groups(point, group, len(seen.counts))
        at, point = np.unique(point[kept], return_inverse=True)
        group, weight = group[kept], weight[kept]
        seen = replace(seen, points=seen.points[at], people=seen.people[at], truth=seen.truth[at])
    belief = assign(seen.points, [domain.size for domain in seen.quasi], seen.counts, point, group, weight, rounds)
    return score("definetti", belief, seen.truth, seen.promised)


def _of_some_groups(point: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Which entries are of so many random groups that about MOST points are in them."""
    turn = np.random.default_rng(0).permutation(groups)
    order = np.argsort(turn[group], kind="stable")
    first = np.zeros(len(point), bool)
    first[np.unique(point[order], return_index=True)[1]] = True
    last = turn[group[order]][min(int(np.searchsorted(np.cumsum(first), MOST)), len(order) - 1)]
    return turn[group] <= last


def assign(
    points: np.ndarray,
    sizes: list[int],
    counts: np.ndarray,
    point: np.ndarray,
    group: np.ndarray,
    weight: np.ndarray,
    rounds: int = 30,
) -> np.ndarray:
    """(points, values) beliefs after so many rounds; `weight` people of a `point` are in a `group`."""
    published = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    present = np.bincount(group, weights=weight, minlength=len(counts))
    people, of_group, of_point = weight[:, None], Sums.by(group, len(counts)), Sums.by(point, len(points))
    columns = [Sums.by(points[:, axis], size) for axis, size in enumerate(sizes)]
    belief, wanted = published[group], published * present[:, None]
    for _ in range(rounds):
        learned = classify(points, columns, of_point.add(belief * people))
        belief = published[group] * learned[point]
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
        held = of_group.add(belief * people)
        belief *= np.divide(wanted, held, out=np.zeros_like(held), where=held > 0)[group]
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
    total = of_point.add(belief * people)
    whole = total.sum(axis=1, keepdims=True)
    overall = counts.sum(axis=0) / counts.sum()
    return np.where(whole > 0, total / np.where(whole > 0, whole, 1), overall)


@dataclass(frozen=True, eq=False)
class Sums:
    """Rows added up by a number that each has: sorted once, added up every round."""

    order: np.ndarray
    starts: np.ndarray
    numbers: np.ndarray
    size: int

    @classmethod
    def by(cls, number: np.ndarray, size: int) -> Sums:
        order = np.argsort(number, kind="stable")
        starts = np.flatnonzero(np.diff(number[order], prepend=-1))
        return cls(order, starts, number[order][starts], size)

    def add(self, values: np.ndarray) -> np.ndarray:
        """(size, ...)."""
        found = np.zeros((self.size, *values.shape[1:]))
        if len(self.starts):
            found[self.numbers] = np.add.reduceat(values[self.order], self.starts, axis=0)
        return found


def classify(points: np.ndarray, columns: list[Sums], held: np.ndarray) -> np.ndarray:
    """(points, values): prod_j Pr(t_j | v) from the people of each point assigned to each value, up to a factor for each point."""
    totals = held.sum(axis=0)
    likely = np.zeros_like(held)
    for axis, column in enumerate(columns):
        likely += np.log((column.add(held) + SMOOTHING) / (totals + SMOOTHING * column.size))[points[:, axis]]
    return np.exp(likely - likely.max(axis=1, keepdims=True))
