"""Distinct l-diversity (Machanavajjhala et al., ICDE 2006): every group holds `>= l` different sensitive values.

A null is never one of them.  Closed under union: a union holds the values of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.models.caps import Caps
from reticent.models.shapes import Promise


@dataclass(frozen=True, slots=True)
class DistinctLDiversity(Promise):
    """The number of values that occur is >= l."""

    l: int  # noqa: E741  the field's own name
    column: str | None = None
    name: ClassVar[str] = "distinct-l-diversity"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self)

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]:
        return [Caps(len(totals), least_size=self.l, least_distinct=self.l, null=null)]
