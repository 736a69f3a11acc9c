"""l-dichotomy (Xu, Wang, Fu & Wong, definition 1), judged from a release and what its manifest says of how rows were withheld.

    P-eligibility   l max count <= rows of the published table: recounted
    S-ambiguity     of how rows were withheld.  None were: nothing to infer.  By `safe`: at least l values share the highest count,
                    recounted.  By `calibrated`: from parameters, since no file can show a draw.  By anything else: not given.

Rows without a value are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.audit.judge import RECOUNTED, Recount, Verdict, judge
from reticent.audit.measure.comparison import exact
from reticent.errors import BundleDamaged

FROM_PARAMETERS = "from parameters"


def judged(
    promises: Iterable[Mapping[str, Any]], table: Recount, withheld: int, stages: Sequence[Any]
) -> tuple[Verdict, ...]:
    """Every promise, by the groups or by the whole table."""
    return tuple(
        dichotomy(promise, table, withheld, stages) if promise["model"] == "l-dichotomy" else judge(promise, table)
        for promise in promises
    )


def dichotomy(promise: Mapping[str, Any], table: Recount, withheld: int, stages: Sequence[Any]) -> Verdict:
    column = table.column(promise.get("column"))
    totals = column.views[-1].totals
    try:
        asked = exact(promise["l"])
        stage = next((one for one in stages if one["name"] == "suppression" and exact(one["l"]) >= asked), None)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise BundleDamaged("The promise l-dichotomy has parameters that cannot be read.") from None
    most = int(totals.max(initial=0))
    reached = Fraction(int(totals.sum()), most) if most else Fraction(0)
    leading = int(np.count_nonzero(totals == most))
    kept, evidence = _ambiguous(stage, withheld, leading >= asked)
    if reached < asked:
        kept, evidence = False, RECOUNTED
    return Verdict("l-dichotomy", column.name, {"l": promise["l"]}, {"l": reached}, kept, evidence)


def _ambiguous(stage: Mapping[str, Any] | None, withheld: int, shared: bool) -> tuple[bool | None, str]:
    if not withheld or (stage is not None and stage.get("kind") == "safe"):
        return not withheld or shared, RECOUNTED
    calibrated = stage is not None and stage.get("kind", "calibrated") == "calibrated"
    return (None if calibrated else False), FROM_PARAMETERS
