"""Semantic beta-likeness (Cao & Karras, VLDB 2012, section 7): the values under one node of the sensitive hierarchy count as one.

No disease *family* gains more than beta.  `level` 1 is the node just above a value; the null is a family of its own.  It says nothing of
the single values: promise beta-likeness as well where they matter.  Closed under union, as beta-likeness is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.errors import JobError
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.exact import Number
from reticent.models.families import Sets, family_check
from reticent.models.shapes import Check, Promise, Totals, totals_of
from reticent.table.cells import Cells
from reticent.table.domain import Domain, TreeDomain


@dataclass(frozen=True, slots=True)
class SemanticLikeness(Promise):
    """beta-likeness of the nodes at one level of the sensitive column's hierarchy."""

    beta: Fraction
    level: int = 1
    enhanced: bool = True
    two_sided: bool = False
    column: str | None = None
    name: ClassVar[str] = "semantic-beta-likeness"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            beta: Number,
            level: int = 1,
            enhanced: bool = True,
            two_sided: bool = False,
            column: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def likeness(self) -> BetaLikeness:
        return BetaLikeness(self.beta, self.enhanced, self.two_sided)

    def bind(self, cells: Cells, totals: Totals | None = None) -> Check:
        at = cells.sensitive_at(self.column)
        domain = cells.sensitive[at]
        family = self.families(domain)
        member = (family[:, None] == np.arange(family.max(initial=-1) + 1)).astype(np.int64)
        return family_check(self.likeness, at, Sets(member), totals_of(cells, totals)[at], domain.null_code)

    def families(self, domain: Domain) -> np.ndarray:
        """The family of each value, numbered from 0; the null's is the last."""
        if not isinstance(domain, TreeDomain) or self.level >= domain.hierarchy.height:
            raise JobError(
                f"{self.name} needs a hierarchy over {domain.name!r} with a level {self.level} below its root.",
                attempt='hierarchy = "file.csv" on that column, or a lower level.',
            )
        nodes = np.unique(domain.hierarchy.paths[:, self.level], return_inverse=True)[1].reshape(-1)
        return np.append(nodes, [nodes.max() + 1] * domain.null).astype(np.int64)
