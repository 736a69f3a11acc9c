"""A method of each kind that questions are asked of, and a small release by each."""

from __future__ import annotations

from pathlib import Path

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


def publish_by(name: str, folder: Path) -> rt.Release:
    """Publish 200 people of `repeated_releases` by the method of this name, and open the release."""
    promises, method = METHODS[name]
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method)
    rt.publish(job, frame=repeated_releases.people(200), to=folder, seed=1, again=True)
    return rt.open(folder)
