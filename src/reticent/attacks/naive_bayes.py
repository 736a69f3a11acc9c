"""The naive Bayes attack (Cormode, KDD 2011; Cao & Karras, VLDB 2012, section 7, equations 15-17).

    guess(t) = argmax_v Pr[v] * prod_j Pr[t_j | v],    Pr[t_j | v] from the classes whose label covers t_j

Equation 17 counts a class for every value that its label covers, so its conditionals do not sum to 1 (errata 1.7): they are
normalised over the values of the attribute.  In an anatomized release each person counts with the shares of their group.
"""

from __future__ import annotations

import numpy as np

from reticent.attacks.score import Outcome, score
from reticent.attacks.seen import Seen


def naive_bayes(seen: Seen) -> Outcome:
    return score("naive-bayes", beliefs(seen), seen.truth, seen.promised)


def beliefs(seen: Seen) -> np.ndarray:
    """(points, values) posteriors of equation 15; the prior of a point that no published value is compatible with."""
    with np.errstate(divide="ignore"):
        total = np.repeat(np.log(seen.prior)[None, :], len(seen.points), axis=0)
        for axis, domain in enumerate(seen.quasi):
            total += np.log(conditionals(seen, axis, domain.size))[seen.points[:, axis]]
    most = total.max(axis=1, keepdims=True)
    likely = np.where(np.isfinite(most), np.exp(total - np.where(np.isfinite(most), most, 0)), seen.prior)
    return likely / likely.sum(axis=1, keepdims=True)


def conditionals(seen: Seen, axis: int, size: int) -> np.ndarray:
    """(codes, values): Pr[t_j | v], normalised; uniform where a value of the table is never published."""
    covered = seen.sight.spread(axis, size)
    whole = covered.sum(axis=0)
    return np.where(whole > 0, covered / np.where(whole > 0, whole, 1), 1 / size)
