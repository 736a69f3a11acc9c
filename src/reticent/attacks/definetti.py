"""deFinetti attack (Kifer, SIGMOD 2009): learn from all groups at once which value goes with whom, and use it in each group.

Start from a random assignment within each group, train a naive Bayes classifier on it, reassign by the classifier
within each group, and repeat.  Assignments are kept as probabilities: for every person and group, a distribution over
values whose sum over the group's people is the group's published histogram (one step of Sinkhorn scaling a round).
Where boxes overlap, a person belongs to the densest boxes that cover them, in proportion to their density; in an
anatomized release the group is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reticent.attacks.beliefs import Beliefs, list_stretches
from reticent.attacks.scoring import AttackOutcome, Guesses, score_guesses
from reticent.attacks.target import AttackTarget
from reticent.kernels import belief_rounds as kernel

MAX_BOXES_PER_PERSON = 16  # boxes a person may belong to
SMOOTHING = 0.5
MAX_POINTS = 30_000
MAX_PAIRS = 1_500_000
"""So many pairs of a person's group and a value that it publishes are learned from: about 100 bytes each."""


@dataclass(frozen=True, slots=True)
class LearningLimits:
    """How many combinations of quasi-identifiers, and pairs of them and a value, are learned from."""

    points: int = MAX_POINTS
    pairs: int = MAX_PAIRS


DEFAULT_LIMITS = LearningLimits()


def attack_by_definetti(target: AttackTarget, *, rounds: int = 30) -> AttackOutcome:
    """Learn from all groups and guess every person.

    Of more than MAX_POINTS combinations of quasi-identifiers, or MAX_PAIRS, those of random groups are learned from and
    guessed, each group whole, or some at random of a group that has more of them alone: `targets` is how many people
    they are.
    """
    return learn_and_guess(target, rounds)


def learn_and_guess(target: AttackTarget, rounds: int = 30, limits: LearningLimits = DEFAULT_LIMITS) -> AttackOutcome:
    """Run the attack with limits on what is learned from."""
    point, group, weight = target.sight.memberships(target.points, target.people, MAX_BOXES_PER_PERSON)
    pairs = (target.counts > 0).sum(axis=1)[group]
    if len(target.points) > limits.points or int(pairs.sum()) > limits.pairs:
        is_selected = _select_random_groups(point, group, pairs, len(target.counts), limits)
        selected_points, point = np.unique(point[is_selected], return_inverse=True)
        group = group[is_selected]
        weight = weight[is_selected]
        target = replace(
            target,
            points=target.points[selected_points],
            people=target.people[selected_points],
            truth=target.truth.take(selected_points),
        )
    belief = learn_beliefs(
        target.points, [domain.size for domain in target.quasi], target.counts, point, group, weight, rounds
    )
    return score_guesses(
        "definetti",
        _add_overall_guesses(Guesses.of_beliefs(belief), belief, target.counts),
        target.truth,
        target.promised,
    )


def assign_values(
    points: np.ndarray,
    sizes: list[int],
    counts: np.ndarray,
    point: np.ndarray,
    group: np.ndarray,
    weight: np.ndarray,
    rounds: int = 30,
) -> np.ndarray:
    """Compute (points, values) beliefs after so many rounds; `weight` people of a `point` are in a `group`."""
    beliefs = learn_beliefs(points, sizes, counts, point, group, weight, rounds)
    overall = counts.sum(axis=0) / counts.sum()
    return np.where(np.diff(beliefs.starts)[:, None] > 0, beliefs.to_dense(), overall)


def learn_beliefs(
    points: np.ndarray,
    sizes: list[int],
    counts: np.ndarray,
    point: np.ndarray,
    group: np.ndarray,
    weight: np.ndarray,
    rounds: int,
) -> Beliefs:
    """Compute beliefs in the values that a point's groups publish; none of a point that is in no group."""
    values = counts.shape[1]
    order = np.lexsort((group, point))
    point = point[order]
    group = group[order]
    weight = np.ascontiguousarray(weight[order], np.float64)
    published = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    present = np.bincount(group, weights=weight, minlength=len(counts))
    published_beliefs = Beliefs.of_table(published)
    lengths = np.diff(published_beliefs.starts)[group]
    entries = np.append(0, np.cumsum(lengths))
    in_group = list_stretches(published_beliefs.starts[:-1][group], lengths)
    share = published_beliefs.belief[in_group]
    published_people = published_beliefs.belief * present[published_beliefs.row]
    pair, in_pair = _number_pairs(np.repeat(point, lengths) * values + published_beliefs.value[in_group])
    classifier = PairClassifier.from_pairs(points, sizes, pair // values, pair % values, values)
    belief = share.copy()
    for _ in range(rounds):
        people = _gather_people(entries, weight, belief, in_pair, len(pair))
        kernel.believe(entries, share, classifier.classify(people), in_pair, belief)
        expected = _gather_people(entries, weight, belief, in_group, len(published_people))
        lacking = np.divide(published_people, expected, out=np.zeros_like(expected), where=expected > 0)
        kernel.believe(entries, belief, lacking, in_group, belief)
    total = _gather_people(entries, weight, belief, in_pair, len(pair))
    return Beliefs.of_pairs(pair // values, pair % values, total, len(points), values).scale_to_one()


@dataclass(frozen=True, eq=False)
class PairClassifier:
    """Naive Bayes over pairs of a point and a value: prod_j Pr(t_j | v) from the people assigned to each pair.

    `numbers` are (pairs, quasi): the place of a pair's code with its value among those of all quasi-identifiers; each place has a
    value and belongs to a column of `codes` codes.  The pairs of a point stand from one of `starts` to the next.
    """

    numbers: np.ndarray
    starts: np.ndarray
    value: np.ndarray
    values: int
    value_of_number: np.ndarray
    codes_of_number: np.ndarray

    @classmethod
    def from_pairs(
        cls, points: np.ndarray, sizes: list[int], point: np.ndarray, value: np.ndarray, values: int
    ) -> PairClassifier:
        numbers = np.empty((len(point), len(sizes)), np.int64)
        of_number = []
        codes = []
        first = 0
        for axis, size in enumerate(sizes):
            number = points[point, axis].astype(np.int64) * values + value
            if size * values > len(point):  # only those that occur have a place
                occurring, number = np.unique(number, return_inverse=True)
                of_number.append(occurring % values)
            else:
                of_number.append(np.tile(np.arange(values), size))
            numbers[:, axis] = number + first
            codes.append(np.full(len(of_number[-1]), size))
            first += len(of_number[-1])
        starts = np.append(np.flatnonzero(np.diff(point, prepend=-1)), len(point))
        value_of_number = np.concatenate(of_number) if of_number else np.zeros(0, np.int64)
        codes_of_number = np.concatenate(codes) if codes else np.zeros(0, np.int64)
        return cls(numbers, starts, value, values, value_of_number, codes_of_number)

    def classify(self, people: np.ndarray) -> np.ndarray:
        """Compute the likelihood of each pair, up to a factor for each point."""
        totals = np.bincount(self.value, weights=people, minlength=self.values)
        table = np.zeros(len(self.value_of_number))
        kernel.tally(self.numbers, people, table)
        table = np.log((table + SMOOTHING) / (totals[self.value_of_number] + SMOOTHING * self.codes_of_number))
        learned = np.empty(len(people))
        kernel.weigh(self.numbers, table, self.starts, learned)
        return learned


def _select_random_groups(
    point: np.ndarray, group: np.ndarray, pairs: np.ndarray, groups: int, limits: LearningLimits
) -> np.ndarray:
    """Select the entries of so many random groups that about the limit's points are in them, or its pairs."""
    turn = np.random.default_rng(0).permutation(groups)
    order = np.argsort(turn[group], kind="stable")
    first = np.zeros(len(point), bool)
    first[np.unique(point[order], return_index=True)[1]] = True
    last_entry = min(
        int(np.searchsorted(np.cumsum(first), limits.points)),
        int(np.searchsorted(np.cumsum(pairs[order]), limits.pairs)),
    )
    last = turn[group[order]][min(last_entry, len(order) - 1)]
    is_selected: np.ndarray = turn[group] <= last
    if int(pairs[is_selected].sum()) > 2 * limits.pairs:  # the last group alone has that many
        is_selected &= _of_some_points(point, np.where(is_selected, pairs, 0), limits.pairs)
    return is_selected


def _add_overall_guesses(guesses: Guesses, belief: Beliefs, counts: np.ndarray) -> Guesses:
    """Guess by the overall distribution for people who are in no group."""
    are_empty = np.diff(belief.starts) == 0
    overall = counts.sum(axis=0) / counts.sum()
    guess = np.where(are_empty, overall.argmax(), guesses.guess)
    greatest = np.where(are_empty, overall.max(), guesses.greatest)
    return Guesses(guess, greatest, greatest)


def _number_pairs(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct pairs, sorted, and the place of each; they come sorted but for points of several groups."""
    order = np.argsort(pairs, kind="stable")
    ordered = pairs[order]
    new = np.diff(ordered, prepend=-1) != 0
    number = np.empty(len(pairs), np.int64)
    number[order] = np.cumsum(new) - 1
    return ordered[new], number


def _gather_people(
    entries: np.ndarray, weight: np.ndarray, belief: np.ndarray, place: np.ndarray, places: int
) -> np.ndarray:
    """Add up people by place, by what they are believed to have."""
    sums = np.zeros(places)
    kernel.gather(entries, weight, belief, place, sums)
    return sums


def _of_some_points(point: np.ndarray, pairs: np.ndarray, max_pairs: int) -> np.ndarray:
    """Select the entries of so many random points that about `max_pairs` pairs are theirs.

    A group then has as many people as these points have in it.
    """
    of_point = np.bincount(point, weights=pairs)
    order = np.random.default_rng(1).permutation(len(of_point))
    is_chosen = np.zeros(len(of_point), bool)
    is_chosen[order[: int(np.searchsorted(np.cumsum(of_point[order]), max_pairs)) + 1]] = True
    is_selected: np.ndarray = is_chosen[point]
    return is_selected
