"""One scorer for every attack: how often the guess is right, with an interval, beside always guessing the most frequent value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from reticent import notebook
from reticent.attacks.beliefs import Beliefs
from reticent.attacks.true_values import TrueValues

CONTROL = ("control", "control_low", "control_high")
"""What the same adversary reaches of a release that says nothing, with its interval; null where nobody is guessed."""
Z = 1.959963984540054  # 95 %


@dataclass(frozen=True, eq=False)
class Outcome:
    """`guess` and `posterior` are those for each point of the targets; the rest counts people, or rows where people have several."""

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
        return notebook.attack(self)

    def to_dict(self) -> dict[str, Any]:
        names = ("attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised")
        control = self.control or (None, None, None)
        found = {**{name: getattr(self, name) for name in names}, **dict(zip(CONTROL, control, strict=True))}
        if self.rows_per_person > 1:
            found |= {"rows_per_person": self.rows_per_person, "persons": self.persons}
        return found


@dataclass(frozen=True, eq=False)
class Guesses:
    """What is guessed of each point: the value, the belief in it, and the greatest belief in any value."""

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

    def take(self, at: np.ndarray) -> Guesses:
        return Guesses(self.guess[at], self.posterior[at], self.greatest[at])


def score(
    attack: str,
    belief: np.ndarray | Beliefs | Guesses,
    truth: TrueValues | np.ndarray,
    promised: float | None,
    guess: np.ndarray | None = None,
) -> Outcome:
    """Count how often the guess is right; it is the greatest belief unless the attack has its own.

    `belief` is a table of (points, values), the same without zeros, or what is guessed already; `truth` may be a table too.
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
    return conclude(attack, guesses, promised, hits=hits, targets=truth.total, baseline=baseline)


def conclude(
    attack: str, guesses: Guesses, promised: float | None, *, hits: int, targets: int, baseline: float
) -> Outcome:
    """Build the outcome of guesses whose hits are counted."""
    low, high = wilson(hits, targets)
    worst = min(float(guesses.greatest.max(initial=0.0)), 1.0)  # a sum of beliefs may round above 1
    return Outcome(
        attack, targets, hits / targets, low, high, baseline, worst, promised, guesses.guess, guesses.posterior
    )


def wilson(hits: int, targets: int, z: float = Z) -> tuple[float, float]:
    """Wilson's score interval for a proportion."""
    if not targets:
        return 0.0, 1.0
    share, spread = hits / targets, z * z / targets
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / targets + spread / (4 * targets))
    return middle - half if hits else 0.0, middle + half if hits < targets else 1.0


def risk(success: float, control: float) -> float:
    """What an attack reaches beyond its control, as a share of what the control leaves; 0 where it reaches no more."""
    return max(success - control, 0.0) / (1 - control) if control < 1 else 0.0
