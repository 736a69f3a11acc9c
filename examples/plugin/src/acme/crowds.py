"""The promise acme:crowds: every group has at least `least` rows. Its class is for planning, its judge for the audit.

The judge uses nothing of the class: a mistake in one must not pass the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from reticent.audit.groups import Evidence, Judgement
from reticent.catalogue import Field, PromiseRow
from reticent.data.cells import Cells
from reticent.models.promise import CandidateGroups, GroupCheck, Totals
from reticent.validation import check_parameters

ROW = PromiseRow(
    "acme.crowds:Crowds",
    "acme.crowds:judge",
    {"least": Field("whole", "rows of a crowd", required=True, least=1)},
    "Every row is one of at least {least} in a crowd.",
    "a person stands in a crowd of each release, and few stand in both",
    doc="Every group has at least so many rows.",
)


@dataclass(frozen=True, slots=True)
class Crowds:
    least: int
    name: ClassVar[str] = "acme:crowds"
    needs_sensitive: ClassVar[bool] = False
    union_closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self)

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        def keeps(groups: CandidateGroups) -> Any:
            return groups.sizes >= self.least

        return keeps


def judge(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    smallest = int(evidence.class_sizes.min())
    return Judgement({"least": smallest}, smallest >= int(asked["least"]))
