"""An attack that knows nothing, in one file: it guesses the most frequent value."""

from __future__ import annotations

import numpy as np

from reticent.attacks.score import Outcome, score
from reticent.attacks.seen import Seen
from reticent.catalogue import AttackRow

ROW = AttackRow("tests.contract.toy_attack:shrug")


def shrug(seen: Seen) -> Outcome:
    belief = np.repeat(seen.prior[None, :], len(seen.points), axis=0)
    return score("shrug", belief, seen.truth, seen.promised)
