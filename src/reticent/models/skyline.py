"""Skyline (B,t)-privacy (Li, Li & Zhang, ICDE 2009, definition 2): (B,t)-privacy for several adversaries at once.

Who knows more may learn less, or more, as the steward says: a t for each bandwidth.  The risk changes continuously with the
bandwidth (section V-C), so a few points stand for all; `reticent check` proposes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
class Skyline(Promise):
    """Each point { bandwidth, t } is a promise of (B,t)-privacy."""

    points: Sequence[Mapping[str, Any]]
    smoothing: Fraction = Fraction(0)
    posterior: str = "omega"
    kernel: str = "epanechnikov"
    base: str | int = 2
    distances: Mapping[str, Any] | None = None
    column: str | None = None
    name: ClassVar[str] = "skyline"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = False
    paths: ClassVar[tuple[str, ...]] = ("distances.*",)
    labels: ClassVar[str] = "sets"
    whole_table: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            points: Sequence[Mapping[str, Any]],
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
        return [(point["bandwidth"], point["t"]) for point in self.points]

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
