"""Naive Bayes attack (Cormode, KDD 2011; Cao & Karras, VLDB 2012, section 7, equations 15-17).

    guess(t) = argmax_v Pr[v] * prod_j Pr[t_j | v],    Pr[t_j | v] from the classes whose label covers t_j

Equation 17 counts a class for every value that its label covers, so its conditionals do not sum to 1 (errata 1.7): they
are normalised over the values of the attribute.  In an anatomized release each person counts with the shares of their
group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.attacks.beliefs import cut_points
from reticent.attacks.scoring import AttackOutcome, Guesses, score_guesses
from reticent.attacks.target import AttackTarget


def attack_by_naive_bayes(target: AttackTarget) -> AttackOutcome:
    model = learn_model(target)
    parts = [
        Guesses.of_table(model.believe(target.points[chunk]))
        for chunk in cut_points(len(target.points), len(target.prior))
    ]
    return score_guesses("naive-bayes", Guesses.join(parts), target.truth, target.promised)


def compute_beliefs(target: AttackTarget) -> np.ndarray:
    """Compute (points, values) posteriors of equation 15; the prior of a point that no published value is compatible with."""
    return learn_model(target).believe(target.points)


@dataclass(frozen=True, eq=False)
class NaiveBayesModel:
    """Logarithms of each quasi-identifier's conditionals, (codes, values) each; the first ones with those of the prior."""

    prior: np.ndarray
    logarithms: tuple[np.ndarray, ...]

    def believe(self, points: np.ndarray) -> np.ndarray:
        """Compute (points, values) posteriors; the prior of a point that no published value is compatible with."""
        if not self.logarithms:
            return np.repeat(self.prior[None, :], len(points), axis=0)
        total = self.logarithms[0][points[:, 0]]
        for axis, logarithm in enumerate(self.logarithms[1:], 1):
            total += logarithm[points[:, axis]]
        greatest = total.max(axis=1, keepdims=True)
        possible = np.isfinite(greatest)
        total -= np.where(possible, greatest, 0)
        likely = np.exp(total, out=total)
        if not possible.all():
            likely = np.where(possible, likely, self.prior)
        likely /= likely.sum(axis=1, keepdims=True)
        return likely


def learn_model(target: AttackTarget) -> NaiveBayesModel:
    with np.errstate(divide="ignore"):
        logarithms = [
            np.log(estimate_conditionals(target, axis, domain.size)) for axis, domain in enumerate(target.quasi)
        ]
        if logarithms:
            logarithms[0] = logarithms[0] + np.log(target.prior)
    return NaiveBayesModel(target.prior, tuple(logarithms))


def estimate_conditionals(target: AttackTarget, axis: int, size: int) -> np.ndarray:
    """Estimate (codes, values): Pr[t_j | v], normalised; uniform where a value of the table is never published."""
    covered = target.sight.spread(axis, size)
    totals = covered.sum(axis=0)
    return np.where(totals > 0, covered / np.where(totals > 0, totals, 1), 1 / size)
