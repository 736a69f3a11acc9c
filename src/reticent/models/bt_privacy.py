"""(B,t)-privacy (Li, Li & Zhang, ICDE 2009, definition 1): nobody's belief about anybody moves by more than t.

    max over people of  D[P_pri(B, q), P_pos(B, q, T*)] <= t

The adversary Adv(B) has prior beliefs by kernel estimation from the table itself, knows who is in which group, and infers by `posterior`.
D is the Jensen-Shannon divergence in bits (`base` 2) of beliefs smoothed over the sensitive values.  Not closed under union (errata
3.7): every cut and every merge is judged again.  Membership must be known, so labels are exact sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.door import check_parameters
from reticent.models.background import parameters
from reticent.models.background.bound import bind, count_certain_priors, reason, refuse_part, warnings
from reticent.models.background.proposal import propose
from reticent.models.exact import Number
from reticent.models.shapes import Check, Groups, Promise, Totals
from reticent.table.cells import Cells


@dataclass(frozen=True, slots=True)
class BTPrivacy(Promise):
    """An adversary of this bandwidth moves no belief by more than t."""

    bandwidth: Any
    t: Fraction
    smoothing: Fraction = Fraction(0)
    posterior: str = "omega"
    kernel: str = "epanechnikov"
    base: str | int = 2
    distances: Mapping[str, Any] | None = None
    column: str | None = None
    name: ClassVar[str] = "bt-privacy"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = False
    paths: ClassVar[tuple[str, ...]] = ("distances.*",)
    labels: ClassVar[str] = "sets"
    whole_table: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            bandwidth: Any,
            t: Number,
            smoothing: Number = 0,
            posterior: str = "omega",
            kernel: str = "epanechnikov",
            base: str | int = 2,
            distances: Mapping[str, Any] | None = None,
            column: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("distances",))
        object.__setattr__(self, "distances", parameters.matrices(self.distances))

    @property
    def skyline(self) -> list[tuple[Any, Fraction]]:
        """(bandwidth, t): the one adversary it is about."""
        return [(self.bandwidth, self.t)]

    def bind(self, cells: Cells, totals: Totals | None = None) -> Check:
        refuse_part(self.name, totals)
        return bind(self, cells)

    def reason(self, cells: Cells) -> tuple[str, str]:
        return reason(self, cells)

    def count_certain_priors(self, cells: Cells) -> list[int]:
        """Of how many people each adversary of the promise is certain before anything is published."""
        return count_certain_priors(self, cells)

    def warnings(self, cells: Cells) -> list[str]:
        return warnings(self, cells)

    def advice(self, groups: Groups, planned: bool) -> list[dict[str, Any]]:
        """A skyline for this table."""
        return [propose(self, groups, planned)]
