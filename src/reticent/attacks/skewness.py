"""The skewness attack (Li, Li & Venkatasubramanian, ICDE 2007): guess the value that the group makes most likely beyond its share.

A point's belief is that of the boxes covering it, each with the density of its rows: Pr(v | t) ~ sum over covering G of
n_G,v / room(G).  The guess is the value whose belief is lifted most over the overall distribution.
"""

from __future__ import annotations

import numpy as np

from reticent.attacks.score import Outcome, score
from reticent.attacks.seen import Seen


def skewness(seen: Seen) -> Outcome:
    belief = group_beliefs(seen)
    lift = belief / np.where(seen.prior > 0, seen.prior, np.inf)
    return score("skewness", belief, seen.truth, seen.promised, lift.argmax(axis=1))


def group_beliefs(seen: Seen) -> np.ndarray:
    """(points, values): what the groups alone say of each point; the overall distribution where none covers it."""
    belief = seen.sight.belief(seen.points)
    whole = belief.sum(axis=1, keepdims=True)
    return np.where(whole > 0, belief / np.where(whole > 0, whole, 1), seen.prior)
