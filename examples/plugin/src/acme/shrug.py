"""The attack acme:shrug: it knows nothing, and guesses the most frequent value, or the one of another rank."""

import numpy as np

from reticent.attacks.scoring import AttackOutcome, score_guesses
from reticent.attacks.target import AttackTarget
from reticent.catalogue import AttackOption, AttackRow

ROW = AttackRow(
    "acme.shrug:attack_by_shrugging",
    "knows nothing, and guesses",
    lowers="nothing: it is nobody's release that helps it",
    options={"rank": AttackOption("whole", "the rank of the value that is guessed.")},
)


def attack_by_shrugging(seen: AttackTarget, *, rank: int = 0) -> AttackOutcome:
    belief = seen.prior
    if rank:
        belief = np.zeros(len(seen.prior))
        belief[np.argsort(-seen.prior)[rank]] = 1.0
    return score_guesses("acme:shrug", np.repeat(belief[None, :], len(seen.points), axis=0), seen.truth, seen.promised)
