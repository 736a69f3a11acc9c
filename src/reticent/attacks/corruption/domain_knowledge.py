"""What a published domain tells who knows other people's values, where it is the values that occur.

Every value of such a domain has a holder.  If no corrupted person has a value, one of the n people who are not corrupted has it: a
prior w of it becomes w / (1 - (1 - w)^n), certainty where the victim alone is left.  A declared domain tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reticent.attacks.corruption.search import Adversary

MAX_PEOPLE = 10_000  # more people than that tell the adversary next to nothing


@dataclass(frozen=True, slots=True)
class DomainBelief:
    """The highest posterior from rho1 and the highest growth that the domain alone gives."""

    posterior: Fraction
    growth: Fraction


@dataclass(frozen=True, eq=False)
class DomainKnowledge:
    """`single_holders` people have a value that nobody else has; `alone[i]` says whether victim i is one of them.

    `unknown` people, the victim among them, share the values that no corrupted person has; None where there is no such value.
    """

    single_holders: int
    alone: np.ndarray
    unknown: int | None

    @classmethod
    def of_everyone_else(cls, holders: np.ndarray, true: np.ndarray) -> DomainKnowledge:
        """Everybody but the victim is corrupted, whoever the victim is."""
        alone = holders[true] == 1
        return cls(int(alone.sum()), alone, 1 if alone.any() else None)

    @classmethod
    def of_some(cls, holders: np.ndarray, unknown: int | None) -> DomainKnowledge:
        """`holders[v]` corrupted people have value v, and so many people of the table are not corrupted (None: not known)."""
        unheld = int((holders == 0).sum())
        told = unknown if unheld else None
        return cls(unheld if told == 1 else 0, np.zeros(0, bool), told)

    def posteriors(self, adversary: Adversary) -> DomainBelief:
        if self.unknown is None or self.unknown > MAX_PEOPLE:
            return DomainBelief(adversary.rho1, Fraction(0))
        w = min(adversary.lambda_, adversary.rho1)
        nobody_else = (1 - w) ** (self.unknown - 1)
        somebody = 1 - nobody_else * (1 - w)
        rest = (adversary.rho1 - w) * (1 - nobody_else)
        posterior = (w + rest) / somebody if w else adversary.rho1
        return DomainBelief(posterior, posterior - adversary.rho1)
