"""Does each group's published value look like one drawn from it and perturbed?  An honest release fails with a bounded probability.

Of group g, with n_v of its G people at v, the published value is v with probability t_v = p n_v / G + (1 - p) / m, independently
of other groups.  So each of these is a sum of independent variables between 0 and 1 whose mean and variance are known:

    margins     how many groups show v, for each v
    likeness    the sum of c(g, y), the share of the group that holds the value it shows: too high where p is not as small as said

and a bound on its tail (`tails`) is a p-value.  All of them share one significance (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np

from reticent.audit.measure.tails import log_two_sided

SIGNIFICANCE = 2e-9  # six standard deviations, on both sides


@dataclass(frozen=True, slots=True)
class Drawn:
    """`worst` is the least p-value times the number of tests; `telling`: values left as they were would have been found."""

    groups: int
    tests: int
    worst: float
    telling: bool

    @property
    def passed(self) -> bool:
        return self.worst > SIGNIFICANCE


def drawn(group: np.ndarray, value: np.ndarray, count: np.ndarray, shown: np.ndarray, p: float, m: int) -> Drawn:
    """`count` people of `group` hold `value` (each pair once); `shown` is the published value of each group."""
    groups = len(shown)
    size = np.bincount(group, weights=count, minlength=groups)
    share = count / size[group]
    noise = (1 - p) / m
    chance = p * share + noise  # of showing this value
    own = np.zeros(groups)
    here = value == shown[group]
    own[group[here]] = share[here]
    margins = _margins(value, shown, share, p, m, groups)
    mean_of = np.bincount(group, weights=chance * share, minlength=groups)
    square = np.bincount(group, weights=chance * share**2, minlength=groups)
    mean, variance = float(mean_of.sum()), float(np.maximum(square - mean_of**2, 0).sum())

    def likeness(x: float) -> float:
        return float(log_two_sided(x, mean, groups - mean, variance, groups))

    tests = m + 1
    worst = min(float(margins.min()), likeness(float(own.sum()))) + log(tests)
    kept = float(np.bincount(group, weights=share**2, minlength=groups).sum())  # if no value were perturbed
    return Drawn(groups, tests, exp(min(worst, 0.0)), likeness(kept) + log(tests) <= log(SIGNIFICANCE))


def _margins(value: np.ndarray, shown: np.ndarray, share: np.ndarray, p: float, m: int, groups: int) -> np.ndarray:
    noise = (1 - p) / m
    held = np.bincount(value, weights=share, minlength=m)
    squares = np.bincount(value, weights=(p * share + noise) ** 2 - noise**2, minlength=m) + groups * noise**2
    mean = p * held + groups * noise
    variance = np.maximum(mean - squares, 0)
    seen = np.bincount(shown, minlength=m).astype(np.float64)
    return log_two_sided(seen, mean, groups - mean, variance, np.full(m, groups))
