"""An attack that knows nothing, in one file: it guesses the most frequent value, or one of its own."""

from __future__ import annotations

import numpy as np

from reticent.attacks.scoring import AttackOutcome, score_guesses
from reticent.attacks.target import AttackTarget
from reticent.catalogue import AttackOption, AttackRow

ROW = AttackRow(
    "tests.contract.toy_attack:shrug",
    options={"guess": AttackOption("whole", "the rank of the value that is guessed.", "--guess", "RANK")},
)


def shrug(seen: AttackTarget, *, guess: int | None = None) -> AttackOutcome:
    prior = seen.prior if guess is None else np.eye(len(seen.prior))[guess]
    belief = np.repeat(prior[None, :], len(seen.points), axis=0)
    return score_guesses("shrug", belief, seen.truth, seen.promised)
