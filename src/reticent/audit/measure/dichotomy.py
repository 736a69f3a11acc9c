"""l-dichotomy (Xu, Wang, Fu & Wong, definition 1), judged from a release and what its manifest says of how rows were withheld.

    P-eligibility   l max count <= rows of the published table: recounted
    S-ambiguity     of how rows were withheld.  None were: nothing to infer.  By `safe`: at least l values share the highest count,
                    recounted.  By `calibrated`: from parameters, since no file can show a draw.  By anything else: not given.

Rows without a value are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.audit.evidence import FROM_PARAMETERS, RECOUNTED, Evidence, Judgement
from reticent.audit.measure.comparison import exact
from reticent.release.manifest import Described

WHY = (
    "no file can show a draw; that the stage is `calibrated` for this l was checked, and that no value is too frequent in what is "
    "published"
)


def judge(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    totals = evidence.column(column).views[-1].totals
    l = exact(asked["l"])  # noqa: E741  the field's own letter
    stage = next((s for s in evidence.stages if s.name == "suppression" and exact(s.parameters["l"]) >= l), None)
    most = int(totals.max(initial=0))
    reached = Fraction(int(totals.sum()), most) if most else Fraction(0)
    leading = int(np.count_nonzero(totals == most))
    found = _ambiguous(stage, evidence.withheld, leading >= l)
    if reached < l:
        found = Judgement({}, False, RECOUNTED)
    return Judgement({"l": reached}, found.kept, found.evidence, found.why)


def _ambiguous(stage: Described | None, withheld: int, shared: bool) -> Judgement:
    kind = None if stage is None else stage.parameters.get("kind", "calibrated")
    if not withheld or kind == "safe":
        return Judgement({}, not withheld or shared, RECOUNTED)
    if kind == "calibrated":
        return Judgement({}, None, FROM_PARAMETERS, WHY)
    return Judgement({}, False, FROM_PARAMETERS)
