"""The scorer of all attacks: how often the guess is right, with an interval, beside always guessing the most frequent value.

`TrueValues` holds the true values of people: how many people of each point have each value.  Most points have few
people, and a sensitive column may have a thousand values: only the pairs that occur are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from reticent import html_repr
from reticent.attacks.beliefs import Beliefs

CONTROL_KEYS = ("control", "control_low", "control_high")
"""What the same adversary reaches of a release that says nothing, with its interval; null where nobody is guessed."""
NORMAL_QUANTILE_95 = 1.959963984540054  # 95 %


@dataclass(frozen=True, eq=False)
class TrueValues:
    """True values of people: `people` of a `point` have a `value`; sorted by point, then by value, each pair once."""

    point: np.ndarray
    value: np.ndarray
    people: np.ndarray
    points: int
    values: int

    @classmethod
    def count(cls, point: np.ndarray, value: np.ndarray, people: np.ndarray, *, points: int, values: int) -> TrueValues:
        """Add up the people of equal pairs, which may come in any order."""
        pair = point.astype(np.int64) * values + value
        order = np.argsort(pair, kind="stable")
        starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
        summed = np.add.reduceat(people[order], starts) if len(starts) else people[:0]
        distinct = pair[order][starts]
        is_present = summed > 0
        distinct = distinct[is_present]
        return cls(distinct // values, distinct % values, summed[is_present].astype(np.int64), points, values)

    @classmethod
    def of_table(cls, table: np.ndarray) -> TrueValues:
        """Take a dense table of (points, values)."""
        point, value = np.nonzero(table)
        people = table[point, value].astype(np.int64)
        return cls(point, value, people, table.shape[0], table.shape[1])

    @cached_property
    def by_point(self) -> np.ndarray:
        """People of each point."""
        counts = np.zeros(self.points, np.int64)
        np.add.at(counts, self.point, self.people)
        return counts

    @cached_property
    def by_value(self) -> np.ndarray:
        """People with each value."""
        counts = np.zeros(self.values, np.int64)
        np.add.at(counts, self.value, self.people)
        return counts

    @property
    def total(self) -> int:
        return int(self.people.sum())

    def count_hits(self, guess: np.ndarray) -> int:
        """Count the people whose point's guess is their value."""
        return int(self.people[self.value == guess[self.point]].sum())

    def take(self, positions: np.ndarray) -> TrueValues:
        """Return these points alone, in this order; each is named once."""
        new_number = np.full(self.points, -1, np.int64)
        new_number[positions] = np.arange(len(positions))
        is_taken = new_number[self.point] >= 0
        return TrueValues.count(
            new_number[self.point[is_taken]],
            self.value[is_taken],
            self.people[is_taken],
            points=len(positions),
            values=self.values,
        )

    def to_dense(self) -> np.ndarray:
        """Return the table of (points, values)."""
        table = np.zeros((self.points, self.values), np.int64)
        table[self.point, self.value] = self.people
        return table


@dataclass(frozen=True, eq=False)
class AttackOutcome:
    """Outcome of an attack.

    `guess` and `posterior` are those for each point of the targets; the rest counts people, or rows where people have
    several.
    """

    attack: str
    targets: int
    success: float
    low: float
    high: float
    baseline: float
    worst_posterior: float
    promised: float | None
    guess: np.ndarray = field(repr=False)
    posterior: np.ndarray = field(repr=False)
    control: tuple[float, float, float] | None = field(default=None, kw_only=True)  # with its interval
    rows_per_person: int = field(
        default=1, kw_only=True
    )  # where it is more than 1, targets are rows, several of one person
    persons: int | None = field(
        default=None, kw_only=True
    )  # whose rows they are, where a column of the source names them

    def _repr_html_(self) -> str:
        return html_repr.render_attack(self)

    def to_dict(self) -> dict[str, Any]:
        names = ("attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised")
        control = self.control or (None, None, None)
        fields = {**{name: getattr(self, name) for name in names}, **dict(zip(CONTROL_KEYS, control, strict=True))}
        if self.rows_per_person > 1:
            fields |= {"rows_per_person": self.rows_per_person, "persons": self.persons}
        return fields


@dataclass(frozen=True, eq=False)
class Guesses:
    """Guess of each point: the value, the belief in it, and the greatest belief in any value."""

    guess: np.ndarray
    posterior: np.ndarray
    greatest: np.ndarray

    @classmethod
    def of_table(cls, belief: np.ndarray, guess: np.ndarray | None = None) -> Guesses:
        """Guess from a dense table of (points, values): the greatest belief, unless the attack has its own guess."""
        guess = belief.argmax(axis=1) if guess is None else guess
        return cls(guess, belief[np.arange(len(belief)), guess], belief.max(axis=1, initial=0.0))

    @classmethod
    def of_beliefs(cls, beliefs: Beliefs) -> Guesses:
        """Guess the value of each row's greatest belief."""
        return cls(beliefs.guess, beliefs.greatest, beliefs.greatest)

    @classmethod
    def join(cls, parts: Sequence[Guesses]) -> Guesses:
        """Join guesses of points that follow each other."""
        if not parts:
            return cls(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
        names = ("guess", "posterior", "greatest")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def take(self, indices: np.ndarray) -> Guesses:
        return Guesses(self.guess[indices], self.posterior[indices], self.greatest[indices])


def score_guesses(
    attack: str,
    belief: np.ndarray | Beliefs | Guesses,
    truth: TrueValues | np.ndarray,
    promised: float | None,
    guess: np.ndarray | None = None,
) -> AttackOutcome:
    """Count how often the guess is right; it is the greatest belief unless the attack has its own.

    `belief` is a table of (points, values), the same without zeros, or guesses already made; `truth` may be a table
    too.
    """
    truth = truth if isinstance(truth, TrueValues) else TrueValues.of_table(truth)
    if isinstance(belief, Guesses):
        guesses = belief
    elif isinstance(belief, Beliefs):
        guesses = Guesses.of_beliefs(belief)
    else:
        guesses = Guesses.of_table(belief, guess)
    hits = truth.count_hits(guesses.guess)
    baseline = float(truth.by_value.max(initial=0) / truth.total)
    return make_outcome(attack, guesses, promised, hits=hits, targets=truth.total, baseline=baseline)


def make_outcome(
    attack: str, guesses: Guesses, promised: float | None, *, hits: int, targets: int, baseline: float
) -> AttackOutcome:
    """Build the outcome of guesses whose hits are counted."""
    low, high = compute_wilson_interval(hits, targets)
    worst = min(float(guesses.greatest.max(initial=0.0)), 1.0)  # a sum of beliefs may round above 1
    return AttackOutcome(
        attack, targets, hits / targets, low, high, baseline, worst, promised, guesses.guess, guesses.posterior
    )


def compute_wilson_interval(hits: int, targets: int, z: float = NORMAL_QUANTILE_95) -> tuple[float, float]:
    """Compute Wilson's score interval for a proportion."""
    if not targets:
        return 0.0, 1.0
    share = hits / targets
    spread = z * z / targets
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / targets + spread / (4 * targets))
    return middle - half if hits else 0.0, middle + half if hits < targets else 1.0


def compute_excess_risk(success: float, control: float) -> float:
    """Compute what an attack reaches beyond its control, as a share of what the control leaves; 0 if it reaches no more."""
    return max(success - control, 0.0) / (1 - control) if control < 1 else 0.0
