"""The deFinetti attack (Kifer, SIGMOD 2009): learn from all groups at once which value goes with whom, and use it inside each group.

Start from a random assignment within each group, train a naive Bayes classifier on it, reassign by the classifier within each group,
and repeat.  Assignments are kept as probabilities: for every person and group, a distribution over values whose sum over the group's
people is the group's published histogram (one step of Sinkhorn scaling a round).  Where boxes overlap, a person belongs to
the densest boxes that cover them, in proportion to their density; in an anatomized release the group is known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reticent.attacks.score import Outcome, score
from reticent.attacks.seen import Seen

NEAREST = 16  # boxes a person may belong to
SMOOTHING = 0.5
MOST = 50_000


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
    belief = published[group]
    for _ in range(rounds):
        learned = classify(points, sizes, point, belief * weight[:, None])
        belief = published[group] * learned[point]
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
        held = np.zeros_like(published)
        np.add.at(held, group, belief * weight[:, None])
        wanted = published * present[:, None]
        belief *= np.divide(wanted, held, out=np.zeros_like(held), where=held > 0)[group]
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
    total = np.zeros((len(points), counts.shape[1]))
    np.add.at(total, point, belief * weight[:, None])
    whole = total.sum(axis=1, keepdims=True)
    overall = counts.sum(axis=0) / counts.sum()
    return np.where(whole > 0, total / np.where(whole > 0, whole, 1), overall)


def classify(points: np.ndarray, sizes: list[int], point: np.ndarray, assigned: np.ndarray) -> np.ndarray:
    """(points, values): prod_j Pr(t_j | v) from the people assigned to each value, up to a factor for each point."""
    held = np.zeros((len(points), assigned.shape[1]))
    np.add.at(held, point, assigned)
    totals = held.sum(axis=0)
    likely = np.zeros_like(held)
    for axis, size in enumerate(sizes):
        table = np.zeros((size, held.shape[1]))
        np.add.at(table, points[:, axis], held)
        likely += np.log((table + SMOOTHING) / (totals + SMOOTHING * size))[points[:, axis]]
    return np.exp(likely - likely.max(axis=1, keepdims=True))
