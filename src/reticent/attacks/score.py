"""One scorer for every attack: how often the guess is right, with an interval, beside always guessing the most frequent value."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from reticent import notebook

CONTROL = ("control", "control_low", "control_high")
"""What the same adversary reaches of a release that says nothing, with its interval; null where nobody is guessed."""
Z = 1.959963984540054  # 95 %


@dataclass(frozen=True, eq=False)
class Outcome:
    """`guess` and `posterior` are those for each point of the targets; the rest counts people."""

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

    def _repr_html_(self) -> str:
        return notebook.attack(self)

    def to_dict(self) -> dict[str, Any]:
        names = ("attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised")
        control = self.control or (None, None, None)
        return {**{name: getattr(self, name) for name in names}, **dict(zip(CONTROL, control, strict=True))}


def score(
    attack: str, belief: np.ndarray, truth: np.ndarray, promised: float | None, guess: np.ndarray | None = None
) -> Outcome:
    """`belief` and `truth` are (points, values or families); the guess is the greatest belief unless the attack has its own."""
    guess = belief.argmax(axis=1) if guess is None else guess
    rows = np.arange(len(truth))
    targets, hits = int(truth.sum()), int(truth[rows, guess].sum())
    low, high = wilson(hits, targets)
    posterior = belief[rows, guess]
    baseline = float(truth.sum(axis=0).max() / targets)
    worst = min(float(belief.max(initial=0.0)), 1.0)  # a sum of beliefs may round above 1
    return Outcome(attack, targets, hits / targets, low, high, baseline, worst, promised, guess, posterior)


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
