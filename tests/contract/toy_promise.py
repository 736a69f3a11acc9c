"""A promise that nobody needs, in one file: its model and its judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from reticent.audit.evidence import FROM_PARAMETERS, Evidence, Judgement
from reticent.catalogue import Field, PromiseRow
from reticent.data.cells import Cells
from reticent.models.promise import CandidateGroups, GroupCheck, Totals

HERE = "tests.contract.toy_promise"


@dataclass(frozen=True, slots=True)
class Crowds:
    """Every group has at least `least` rows: k-anonymity by another name, and a check instead of a cap."""

    least: int
    name: ClassVar[str] = "crowds"
    needs_sensitive: ClassVar[bool] = False
    union_closed: ClassVar[bool] = True

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        def keeps(groups: CandidateGroups) -> Any:
            return groups.sizes >= self.least

        return keeps


def judge(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    smallest = int(evidence.class_sizes.min())
    return Judgement({"least": smallest}, smallest >= asked["least"])


def silent(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Sees nothing, and does not say why."""
    return Judgement({}, None, FROM_PARAMETERS)


def candid(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Sees nothing, and says why nobody could."""
    return Judgement({}, None, FROM_PARAMETERS, "no file can show it; the parameters were checked")


def row(judged_by: str) -> PromiseRow:
    return PromiseRow(
        f"{HERE}:Crowds",
        f"{HERE}:{judged_by}",
        {"least": Field("whole", "rows of a crowd", required=True, least=1)},
        "Every row is one of at least {least} in a crowd (crowds).",
        "a person stands in a crowd of each release, and few stand in both",
    )
