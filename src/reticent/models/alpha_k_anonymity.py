"""(alpha,k)-anonymity (Wong, Li, Fu & Wang, KDD 2006): `size >= k`, and `count <= alpha * size` for every sensitive value.

The paper's general form: alpha bounds every value, not a chosen one.  A null counts as a row toward k; the frequencies
hold with and without the null rows.  Closed under union, as k-anonymity and a bound on frequencies each are.
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
class AlphaKAnonymity(Promise):
    """size >= k and count <= alpha * size for every value."""

    alpha: Fraction
    k: int
    column: str | None = None
    name: ClassVar[str] = "alpha-k-anonymity"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, alpha: Number, k: int, column: str | None = None) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        upper = [below(self.alpha, int(totals.sum()))] * len(totals)
        return [
            Caps(
                len(totals), least_size=self.k if without < 0 else 0, upper=upper_caps(upper, without), without=without
            )
            for without in ways(totals, null)
        ]
