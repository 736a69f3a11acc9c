"""Inference, as `anonymeter` asks it: is a person's sensitive value told by the release to who knows everything else of the person?

(Giomi, Boenisch, Wehmeyer & Tasnadi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.)  There the
nearest synthetic rows are asked; here the groups that may hold the person, which are nearer than any.  The guess is the value that they
make likeliest.

    success    how often it is right, with Wilson's interval; the baseline is the most frequent value
    control    the same groups with shuffled values: what guessing by groups that say nothing reaches
    others     the same for people who are not in the release, where a table of them is given: what the release teaches of anybody
    risk       (success - c) / (1 - c), where c is `others` if known, else the control: what being in the release adds
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.attacks.decoy import silent
from reticent.attacks.score import Outcome, risk, score, wilson
from reticent.attacks.seen import Seen, part_of
from reticent.attacks.skewness import guess_by_groups

MOST = 50_000
"""The control is that of so many combinations of quasi-identifiers, drawn at random where there are more."""


@dataclass(frozen=True, eq=False)
class Inferred(Outcome):
    """What an attack answers, and beside it the control and what being in the release adds."""

    beside: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**Outcome.to_dict(self), **self.beside}


def inference(seen: Seen, *, others: Seen | None = None, seed: int = 0) -> Inferred:
    """`others` are people who are not in the release; `seed` shuffles the control's values."""
    scored = score("inference", guess_by_groups(seen), seen.truth, seen.promised)
    noise = silent(part_of(seen, MOST), np.random.default_rng(seed))
    control = score("control", guess_by_groups(noise), noise.truth, None)
    outside = None if others is None else score("others", guess_by_groups(others), others.truth, None)
    low, high = wilson(round(control.success * control.targets), control.targets)
    beside = {
        "control": control.success,
        "control_low": low,
        "control_high": high,
        "others": None if outside is None else outside.success,
        "others_low": None if outside is None else outside.low,
        "others_high": None if outside is None else outside.high,
        "risk": risk(scored.success, control.success if outside is None else outside.success),
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    return Inferred(**fields, beside=beside)
