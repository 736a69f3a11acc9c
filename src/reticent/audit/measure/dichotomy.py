"""l-dichotomy (Xu, Wang, Fu & Wong, definition 1).

It is judged from a release and the manifest's statement of how rows were withheld:

    P-eligibility   l max count <= rows of the published table: recounted
    S-ambiguity     by how rows were withheld. None were: nothing to infer. By `safe`: at least l values share the highest
                    count, recounted. By `calibrated`: from parameters, since no file can show a draw. By anything else: not
                    given.

Rows without a value are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from reticent.audit.groups import FROM_PARAMETERS, RECOUNTED, Evidence, Judgement
from reticent.audit.measure.counts import parse_parameter
from reticent.format.manifest import ComponentEntry

DRAW_REASON = (
    "no file can show a draw; that the stage is `calibrated` for this l was checked, and that no value is too frequent in what is "
    "published. Its bound is for an adversary to whom all tables are equally likely, not for one who takes records to be independent"
)
PERTURBED_REASON = "values were redrawn after rows were withheld, so no file shows what people have; that the stage gives this l was checked"
SOUND_STAGES = ("calibrated", "safe")


def judge_dichotomy(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge l-dichotomy by the published shares of values and the stage that withheld rows."""
    l = parse_parameter(parameters["l"])  # noqa: E741  the field's own letter
    stage = next(
        (s for s in evidence.stages if s.name == "suppression" and parse_parameter(s.parameters["l"]) >= l), None
    )
    shares = _compute_shares(evidence, column)
    if shares is None:
        sound = stage is not None and stage.parameters.get("kind", "calibrated") in SOUND_STAGES
        return Judgement({}, None if sound else False, FROM_PARAMETERS, PERTURBED_REASON if sound else "")
    highest_share = max(shares, default=Fraction(0))
    reached = 1 / highest_share if highest_share else Fraction(0)
    judgement = _judge_ambiguity(stage, evidence.withheld, shares.count(highest_share) >= l)
    if reached < l:
        judgement = Judgement({}, False, RECOUNTED)
    return Judgement({"l": reached}, judgement.kept, judgement.evidence, judgement.why)


def _compute_shares(evidence: Evidence, column: str | None) -> list[Fraction] | None:
    """Compute, for each value, the share of the published people who have it.

    Return None where values were redrawn and the shares are not known.
    """
    if evidence.perturbation is not None:
        return None if evidence.perturbation.distribution is None else list(evidence.perturbation.distribution)
    totals = evidence.column(column).views[-1].totals
    return [Fraction(int(total), int(totals.sum())) for total in totals if total]


def _judge_ambiguity(stage: ComponentEntry | None, withheld: int, shared: bool) -> Judgement:
    kind = None if stage is None else stage.parameters.get("kind", "calibrated")
    if not withheld or kind == "safe":
        return Judgement({}, not withheld or shared, RECOUNTED)
    if kind == "calibrated":
        return Judgement({}, None, FROM_PARAMETERS, DRAW_REASON)
    return Judgement({}, False, FROM_PARAMETERS)
