"""The worst attack on every group: worst prior within lambda, worst predicate, for what is known of the others.

By equations 9 to 19, with w the prior of y, q that of Q (y in it; theorem 1), and S what the others contribute,

    P_post(Q) - q = p w (1 - q) / (p w + u + S)

so the worst posterior at prior rho1 has w = min(lambda, rho1), and the worst growth has q = w at sqrt(a^2 + a) - a, a = (u + S) / p, moved
into what a lambda-skewed prior allows.  One array operation for all victims; the worst of each is worked out again in fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True, slots=True)
class Adversary:
    """The adversary's prior: `lambda_`-skewed, and of at most `rho1` in the predicate."""

    lambda_: Fraction
    rho1: Fraction


@dataclass(frozen=True, slots=True)
class Worst:
    """The highest posterior from rho1, the highest growth, and how surely the tuple is the victim's there."""

    posterior: float
    growth: float
    h: float


@dataclass(frozen=True, eq=False)
class Victims:
    """For each victim the group's size, and of the others in it: corrupted, those of them at y, uncorrupted candidates."""

    size: np.ndarray
    corrupted: np.ndarray
    at_y: np.ndarray
    candidates: np.ndarray


def worst(victims: Victims, p: Fraction, domain: int, adversary: Adversary) -> Worst:
    """The uncorrupted are taken to have any value equally likely."""
    u = (1 - p) / domain
    left = victims.size - 1 - victims.corrupted
    rest = float(u) * victims.corrupted + float(p) * victims.at_y + left / domain
    at = int(rest.argmin())
    others = u * int(victims.corrupted[at]) + p * int(victims.at_y[at]) + Fraction(int(left[at]), domain)
    w = min(adversary.lambda_, adversary.rho1)
    pull = p * w
    posterior = adversary.rho1 + pull * (1 - adversary.rho1) / (pull + u + others)
    return Worst(
        float(posterior), _growth(p, u + others, domain, adversary.lambda_), float((pull + u) / (pull + u + others))
    )


def _growth(p: Fraction, room: Fraction, domain: int, skew: Fraction) -> float:
    a = float(room / p)
    least = max(0.0, 1 - (domain - 1) * float(skew))
    w = min(max((a * a + a) ** 0.5 - a, least), float(skew))
    return w * (1 - w) / (w + a)
