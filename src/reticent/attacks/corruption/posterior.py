"""The posterior of a corruption-aided linking attack, exactly (Tao, Xiao, Li & Zhang, ICDE 2008, equations 4 to 19).

A victim's crucial tuple shows y and stands for G people.  Beside the victim e people on the external list lie under its labels; of
them alpha are corrupted, beta with a value and the others known to be extraneous.  Each of the rest is in the group with probability
g = (G - 1 - beta) / (e - alpha); where everyone is corrupted there is no rest and g = 0 (ERRATA 5.4).  All in fractions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from reticent.errors import RequestError

Prior = Sequence[Fraction]


@dataclass(frozen=True, slots=True)
class Situation:
    """What step A3 stands on: `corrupted` are the values of the beta people, `others` the priors of the e - alpha uncorrupted."""

    p: Fraction
    domain: int
    y: int
    size: int
    corrupted: tuple[int, ...] = ()
    others: tuple[Prior, ...] = ()

    def __post_init__(self) -> None:
        left = self.size - 1 - len(self.corrupted)
        if not 0 <= left <= len(self.others):
            raise RequestError(
                "What is known of a group contradicts its size.",
                why=f"It has {self.size} people: the victim, {len(self.corrupted)} corrupted, and {len(self.others)} candidates "
                "for the rest.",
                attempt="an external list that holds everybody in the release, and corrupted people as they are.",
            )

    @property
    def redrawn(self) -> Fraction:
        return (1 - self.p) / self.domain

    def chance(self, x: int) -> Fraction:
        """P[x -> y], equation 11."""
        return self.redrawn + (self.p if x == self.y else 0)

    @property
    def g(self) -> Fraction:
        """Equation 13."""
        left = self.size - 1 - len(self.corrupted)
        return Fraction(left, len(self.others)) if self.others else Fraction(0)

    def shown_by(self, prior: Prior) -> Fraction:
        """The chance that a person with this prior shows y: the bracket of equations 15 and 19."""
        return self.p * prior[self.y] + self.redrawn

    def owned(self, prior: Prior) -> Fraction:
        """h, equations 14 to 19: the tuple is the victim's."""
        own = self.shown_by(prior)
        rest = sum((self.chance(x) for x in self.corrupted), Fraction(0))
        rest += self.g * sum((self.shown_by(other) for other in self.others), Fraction(0))
        return own / (own + rest)

    def posterior(self, prior: Prior) -> list[Fraction]:
        """P[X = x | y] for every x, equations 9 and 12."""
        h, own = self.owned(prior), self.shown_by(prior)
        return [h * w * self.chance(x) / own + (1 - h) * w for x, w in enumerate(prior)]

    def confidence(self, prior: Prior, predicate: Collection[int]) -> tuple[Fraction, Fraction]:
        """P_prior(Q) and P_post(Q), equations 5 and 10."""
        found = self.posterior(prior)
        return sum((prior[x] for x in predicate), Fraction(0)), sum((found[x] for x in predicate), Fraction(0))
