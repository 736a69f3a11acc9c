"""A method of each kind that questions are asked of."""

from __future__ import annotations

import reticent as rt
from tests.support import repeated_releases

METHODS = {
    "generalized": ([rt.KAnonymity(5)], rt.Mondrian()),
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "transformed": ([rt.PPrivacy("uniform")], rt.Distribution()),
    "perturbed": ([rt.BetaLikeness(3)], rt.BetaPerturbation()),
    "sampled": (
        [rt.DeltaGrowth("0.9", "0.6")],
        rt.PerturbedGeneralization(k=4, p="0.5", domain=repeated_releases.PAYS),
    ),
}
