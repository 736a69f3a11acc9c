"""The options that methods filling classes have in common, and the column none of them can protect."""

from __future__ import annotations

import numpy as np

from reticent.errors import ColumnError


def refuse_single_value(method: str, name: str, totals: np.ndarray) -> None:
    if (totals > 0).sum() < 2:
        raise ColumnError(
            f"The sensitive column {name!r} holds a single value.",
            why=f"Everyone has it, so there is nothing that {method} could keep from being learned.",
            attempt="another sensitive column, or not publishing this one.",
        )
