"""rho1-to-rho2 and Delta-growth guarantees (Tao, Xiao, Li & Zhang, ICDE 2008), judged from p, k and the domain by formulas of its own.

The worst attack itself, not a bound on it: a victim with prior w at the published value y, k - 1 others known to have other values.
Whoever is drawn, y is shown with probability p w + u by the victim and u by each other, u = (1 - p) / m, so the tuple is the
victim's with h = (p w + u) / (p w + k u) and the posterior of Q, y among it, follows by equations 9, 10 and 12.

    rho     the posterior at prior rho1 with w = min(lambda, rho1)
    Delta   kept iff p w (1 - w) - Delta (p w + k u) <= 0 for every w that a lambda-skewed prior allows: a parabola, open below,
            over an interval, decided at its vertex where that lies inside and at the ends where not

Cuts that follow perturbed classes are judged with k = 1 (ERRATA 5.9).  That values were perturbed so, no file can show; against the
source (`audit/sampled.py`) it is tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from reticent.audit.evidence import FROM_PARAMETERS, RECOUNTED, Evidence, Judgement, Sampling
from reticent.audit.measure.comparison import exact
from reticent.errors import BundleDamaged

WHY = (
    "no file can show a draw; that p, k and the domain give the promise was checked exactly, and that groups are disjoint and "
    "as large as k"
)
STEPS = 10**9  # achieved growth is rounded up at this many parts


def judge_rho(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    sampling = _sampling(evidence)
    rho1, skew = exact(asked["rho1"]), _skew(asked, sampling)
    reached = posterior(sampling, rho1, min(skew, rho1))
    return _judged({"rho2": reached, "k": sampling.counted_on}, reached <= exact(asked["rho2"]), sampling)


def judge_delta(asked: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    sampling = _sampling(evidence)
    skew, most = _skew(asked, sampling), exact(asked["delta"])
    reached = growth(sampling, skew)
    return _judged({"delta": reached, "k": sampling.counted_on}, grows_at_most(sampling, skew, most), sampling)


def _judged(achieved: Mapping[str, Any], kept: bool, sampling: Sampling) -> Judgement:
    if kept and sampling.proven is None:
        return Judgement(achieved, None, FROM_PARAMETERS, WHY)
    if kept:
        return Judgement(achieved, sampling.proven, RECOUNTED)
    return Judgement(achieved, False, FROM_PARAMETERS)


def _sampling(evidence: Evidence) -> Sampling:
    if evidence.sampling is None:
        raise BundleDamaged(
            "A promise about corruption is kept by a sampled release alone.",
            why="Who has corrupted everyone else reads the last person's value off any table that shows them all.",
        )
    return evidence.sampling


def _skew(asked: Mapping[str, Any], sampling: Sampling) -> Fraction:
    skew = exact(asked["lambda"])
    if not Fraction(1, sampling.domain) <= skew < 1:
        raise ValueError("no prior over the domain is as skewed")
    return skew


def posterior(sampling: Sampling, prior: Fraction, w: Fraction) -> Fraction:
    """Of a predicate with this prior that y meets, everyone else of k corrupted, w being the prior of y."""
    p, redrawn = sampling.p, (1 - sampling.p) / sampling.domain
    shown = p * w + redrawn  # by the victim
    owns = shown / (shown + (sampling.counted_on - 1) * redrawn)
    if_owner = (w * (p + redrawn) + (prior - w) * redrawn) / shown
    return owns * if_owner + (1 - owns) * prior


def grows_at_most(sampling: Sampling, skew: Fraction, most: Fraction) -> bool:
    """No belief of a lambda-skewed prior grows by more."""
    least = max(Fraction(0), 1 - (sampling.domain - 1) * skew)
    p, room = sampling.p, sampling.counted_on * (1 - sampling.p) / sampling.domain

    def excess(w: Fraction) -> Fraction:
        return p * w * (1 - w) - most * (p * w + room)

    vertex = (1 - most) / 2
    return excess(min(max(vertex, least), skew)) <= 0


def growth(sampling: Sampling, skew: Fraction) -> Fraction:
    """The greatest growth, rounded up."""
    low, high = 0, STEPS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if grows_at_most(sampling, skew, Fraction(middle, STEPS)) else (middle + 1, high)
    return Fraction(low, STEPS)


def believed_rho(asked: Mapping[str, Any], prior: Any) -> float:
    """The greatest belief the promise allows, to who believed rho1 at most."""
    return float(exact(asked["rho2"]))
