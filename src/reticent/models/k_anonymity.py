"""k-anonymity (Samarati & Sweeney 1998): every group has at least k rows, `size >= k`.

Where a person may have several rows, so many as is declared, a group has at least k times as many: k persons at least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.models.caps import Caps
from reticent.models.shapes import Promise


@dataclass(frozen=True, slots=True)
class KAnonymity(Promise):
    """size >= k."""

    k: int
    name: ClassVar[str] = "k-anonymity"
    needs_sensitive: ClassVar[bool] = False
    union_closed: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        return [Caps(len(totals), least_size=self.k)]
