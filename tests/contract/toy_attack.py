"""An attack that knows nothing, in one file: it guesses the most frequent value."""

from __future__ import annotations

import numpy as np

from reticent.attacks.scoring import AttackOutcome, score_guesses
from reticent.attacks.target import AttackTarget
from reticent.catalogue import AttackRow

ROW = AttackRow("tests.contract.toy_attack:shrug")


def shrug(seen: AttackTarget) -> AttackOutcome:
    belief = np.repeat(seen.prior[None, :], len(seen.points), axis=0)
    return score_guesses("shrug", belief, seen.truth, seen.promised)
