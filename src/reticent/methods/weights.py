"""How much each quasi-identifier's loss counts, as a method is told: one reading for all methods that weigh columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reticent.errors import JobError, listed, suggest
from reticent.models.exact import exact

MOST = 10**9  # how much more one column may weigh than another


def check_weights(weights: Mapping[str, Any] | None) -> None:
    """Refuse weights that are no numbers, or are negative or immoderate."""
    if weights is not None and not isinstance(weights, Mapping):
        raise JobError("weights must be a table of numbers by column.", attempt='{"age": 2}.')
    for column, weight in (weights or {}).items():
        name = f"The weight of {listed([column])}"
        if isinstance(weight, str) or not 0 <= exact(weight, name) <= MOST:
            raise JobError(f"{name} must be a number from 0 to {MOST:,}.", attempt="1 for an ordinary column.")


def weights_of(names: Sequence[str], weights: Mapping[str, Any] | None) -> np.ndarray:
    """The weight of each quasi-identifier, 1 where nothing is said; one of them is above 0."""
    check_weights(weights)
    given = dict(weights or {})
    for column in given:
        if column not in names:
            raise JobError(
                f"A weight is given for {listed([column])}, which is not a quasi-identifier.",
                attempt=suggest(column, names),
            )
    found = np.array([float(exact(given.get(name, 1))) for name in names])
    if len(found) and not found.sum() > 0:
        raise JobError("All weights are 0: no column's loss would count.", attempt="a weight above 0 for one column.")
    return found
