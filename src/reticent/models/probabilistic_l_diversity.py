"""Probabilistic (frequency) l-diversity: no value exceeds 1/l of a group, `count * l <= size`.

The reading of l-diversity that papers 2 and 4 use.  A null in the sensitive column never counts toward diversity: the cap
holds with and without the null rows.  Closed under union: the greatest frequency of a union is at most that of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.models.caps import Caps, upper_caps, ways
from reticent.models.exact import Number, below
from reticent.models.shapes import Promise


@dataclass(frozen=True, slots=True)
class ProbabilisticLDiversity(Promise):
    """count <= size / l for every value."""

    l: Fraction  # noqa: E741  the field's own name
    column: str | None = None
    name: ClassVar[str] = "probabilistic-l-diversity"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, l: Number, column: str | None = None) -> None: ...  # noqa: E741

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        cap = below(1 / self.l, int(totals.sum()))
        return [
            Caps(len(totals), upper=upper_caps([cap] * len(totals), without), without=without)
            for without in ways(totals, null)
        ]
