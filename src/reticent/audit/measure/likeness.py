"""beta-likeness (Cao & Karras, VLDB 2012, section 3): how far a group lifts a value of the published table, relatively.

    basic       q <= p (1 + beta)                                  beta achieved = max q / p - 1
    enhanced    q <= p (1 + min(beta, -ln p))                      the same where every gain is within -ln p, else none
    two-sided   and q >= p / (1 + the same bound) (ERRATA 1.12)    also p / q - 1, and none where a value is absent

All `<=`.  Whether a gain is within -ln p is decided for each value apart: capping the measured gain would hide a violation.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from reticent.audit.evidence import FROM_PARAMETERS, NEEDS_SOURCE, Evidence, Judgement, Redrawing
from reticent.audit.measure import posterior
from reticent.audit.measure.comparison import compare_ln, exact, extremes_by_value
from reticent.audit.measure.counts import Counts


def beta(views: list[Counts], *, enhanced: bool, two_sided: bool) -> Fraction | None:
    """The least beta that holds, at least 0; None where none does."""
    found = Fraction(0)
    for view in views:
        if two_sided and not view.complete:
            return None
        for p, gain in _gains(view, two_sided):
            if enhanced and not _within_log(p, gain):
                return None
            found = max(found, gain)
    return found


def _gains(view: Counts, two_sided: bool) -> list[tuple[Fraction, Fraction]]:
    """(p, greatest gain) of each value that occurs."""
    size = view.sizes[view.group]
    frequency = {v: Fraction(int(total), view.rows) for v, total in enumerate(view.totals) if total}
    upper = extremes_by_value(view.value, view.count, size, max)
    gains = [(frequency[v], q / frequency[v] - 1) for v, q in upper.items()]
    if two_sided:
        gains += [
            (frequency[v], frequency[v] / q - 1)
            for v, q in extremes_by_value(view.value, view.count, size, min).items()
        ]
    return gains


def _within_log(p: Fraction, gain: Fraction) -> bool:
    """gain <= -ln p."""
    return compare_ln(1 / p, gain) >= 0


def judge(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """From the groups' histograms; where values were redrawn, from the matrix they were redrawn by."""
    form = {"enhanced": bool(asked.get("enhanced", True)), "two_sided": bool(asked.get("two_sided", False))}
    limit = exact(asked["beta"])
    if evidence.redrawing is not None:
        return _redrawn(evidence.redrawing, limit, form)
    found = beta(evidence.column(column).views, **form)
    return Judgement({"beta": found}, found is not None and found <= limit)


def _redrawn(redrawing: Redrawing, limit: Fraction, form: Mapping[str, bool]) -> Judgement:
    """The parameters show what the promise is worth if values were redrawn as stated; that they were, the source alone shows."""
    if redrawing.distribution is None:
        return Judgement({}, None, NEEDS_SOURCE)
    found = posterior.beta(redrawing.matrix, redrawing.distribution, **form)
    if found is None or found > limit:
        return Judgement({"beta": found}, False, FROM_PARAMETERS)
    why = (
        "no file can show that values were redrawn at random; the matrix and the distribution that it was made for were checked, "
        "exactly"
    )
    return Judgement({"beta": found}, redrawing.proven, FROM_PARAMETERS, "" if redrawing.proven else why)


def believed(asked: Mapping[str, Any], prior: np.ndarray) -> float:
    """The greatest belief that beta-likeness leaves in any value of this overall distribution."""
    limit, enhanced = float(exact(asked["beta"])), asked.get("enhanced", True)
    caps = (p * (1 + (min(limit, -log(p)) if enhanced else limit)) for p in prior.tolist() if p > 0)
    return max(min(cap, 1.0) for cap in caps)
