"""rho1-to-rho2 and Delta-growth guarantees (Tao, Xiao, Li & Zhang, ICDE 2008).

They are judged from p, k and the domain by formulas of the audit's own.

The judges compute the worst attack itself, not a bound on it: a victim with prior w at the published value y, k - 1
others known to have other values. If the victim is drawn, y is shown with probability p w + u, if another, with u,
where u = (1 - p) / m; so the tuple is the victim's with h = (p w + u) / (p w + k u) and the posterior of Q, y among it,
follows by equations 9, 10 and 12. Where n = floor(G / k) tuples of a group of G are drawn without replacement, the worst
attack is n tuples that all show y: the victim is drawn with probability n / G <= 1 / k, the other n - 1 tuples say nothing
of them, and the posterior is that of one tuple of a group of G / n >= k (the proof: docs/corruption.md).

    rho     the posterior at prior rho1 with w = min(lambda, rho1)
    Delta   kept iff p w (1 - w) - Delta (p w + k u) <= 0 for every w that a lambda-skewed prior allows: a parabola, open below,
            over an interval, decided at its vertex where that lies inside and at the ends where not

A person with r rows in r groups is shown r times, each group having k r rows: where all of them hold one value, the
odds of y grow by (1 + p / (k r u))^r, and both formulas hold with a = 1 / (that - 1) in the place of k u / p.

A domain that was not declared is the values that occur, and the adversary reads it too: where h people have the rarest
of them and everybody else is corrupted, one of the h has it, and a prior w of it becomes w / (1 - (1 - w)^h): certainty
for h = 1, and at least 1 / h. What is shown then comes on top, so such a release is never found kept.

Cuts that follow perturbed classes are judged with k = 1 (ERRATA 5.9). No file can show that values were perturbed so;
compared with the source (`audit/sampled.py`) it is tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from reticent.audit.groups import FROM_PARAMETERS, RECOUNTED, Evidence, Judgement, SamplingParameters
from reticent.audit.measure.counts import parse_parameter
from reticent.errors import BundleDamaged

DRAW_REASON = (
    "no file can show a draw; that p, k and the domain give the promise was checked exactly, and that groups are disjoint and "
    "as large as k"
)
UNDECLARED_DOMAIN_REASON = (
    "the manifest does not say that its domain was declared: a domain of the values that occur tells who knows everybody else's value "
    "that somebody has the one that nobody else has, and that is not within the promise"
)
MAX_HOLDERS = 10_000  # the rarest value is counted as if it had no more; the posterior is then at least as high
GROWTH_PARTS = 10**9  # achieved growth is rounded up at this many parts


def judge_rho(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge the rho1-to-rho2 guarantee by the highest posterior that an adversary can reach."""
    sampling = _require_sampling(evidence)
    rho1 = parse_parameter(parameters["rho1"])
    skew = _find_skew(parameters, sampling)
    reached = compute_highest_posterior(sampling, rho1, skew)
    return _make_judgement(
        {"rho2": reached, "k": sampling.counted_on}, reached <= parse_parameter(parameters["rho2"]), sampling
    )


def judge_delta(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge Delta-growth by the highest growth of a belief."""
    sampling = _require_sampling(evidence)
    skew = _find_skew(parameters, sampling)
    limit = parse_parameter(parameters["delta"])
    reached = compute_highest_growth(sampling, skew)
    kept = grows_at_most(sampling, skew, limit) and compute_growth_from_domain(sampling, skew) <= limit
    return _make_judgement({"delta": reached, "k": sampling.counted_on}, kept, sampling)


def compute_highest_posterior(sampling: SamplingParameters, rho1: Fraction, skew: Fraction) -> Fraction:
    """Compute the highest posterior of a predicate with prior rho1: from the shown row, or from an undeclared domain."""
    w = min(skew, rho1)
    return max(compute_posterior(sampling, rho1, w), compute_posterior_from_domain(sampling, rho1, w))


def compute_highest_growth(sampling: SamplingParameters, skew: Fraction) -> Fraction:
    """Compute the highest growth of a belief, rounded up: from the row that is shown, or from an undeclared domain."""
    return max(compute_growth(sampling, skew), compute_growth_from_domain(sampling, skew))


def compute_posterior(sampling: SamplingParameters, prior: Fraction, w: Fraction) -> Fraction:
    """Compute the posterior of a predicate with this prior that y meets, everyone else of k corrupted; y has the prior w."""
    if sampling.rows_per_person > 1:
        resistance = _compute_resistance(sampling)
        return (prior * resistance + w) / (resistance + w) if w else prior
    p = sampling.p
    redrawn = (1 - p) / sampling.domain
    shown_probability = p * w + redrawn  # by the victim
    owns = shown_probability / (shown_probability + (sampling.counted_on - 1) * redrawn)
    if_owner = (w * (p + redrawn) + (prior - w) * redrawn) / shown_probability
    return owns * if_owner + (1 - owns) * prior


def compute_posterior_from_domain(sampling: SamplingParameters, prior: Fraction, w: Fraction) -> Fraction:
    """Compute the posterior of a predicate with this prior, from a domain that is the values that occur.

    The rarest of them has the prior w.
    """
    if sampling.declared or not sampling.fewest_holders or not w:
        return prior
    holders = min(sampling.fewest_holders, MAX_HOLDERS)
    nobody_else = (1 - w) ** (holders - 1)
    somebody = 1 - nobody_else * (1 - w)
    return w / somebody + (prior - w) * (1 - nobody_else) / somebody


def compute_growth_from_domain(sampling: SamplingParameters, skew: Fraction) -> Fraction:
    """Compute how much a belief in one value grows at least by an undeclared domain, at priors up to lambda."""
    lowest_prior = max(Fraction(0), 1 - (sampling.domain - 1) * skew)
    priors = [lowest_prior + (skew - lowest_prior) * step / 8 for step in range(9)]
    priors.append(max(lowest_prior, min(skew, Fraction(1, 10**6))))
    return max(compute_posterior_from_domain(sampling, w, w) - w for w in priors)


def grows_at_most(sampling: SamplingParameters, skew: Fraction, limit: Fraction) -> bool:
    """Whether no belief of a lambda-skewed prior grows by more; what several rows hold together may be as unlikely as one likes."""
    lowest_prior = max(Fraction(0), 1 - (sampling.domain - 1) * skew)
    if sampling.rows_per_person > 1:
        lowest_prior = Fraction(0)
    p = sampling.p
    resistance = sampling.counted_on * (1 - p) / sampling.domain
    if sampling.rows_per_person > 1:
        resistance = p * _compute_resistance(sampling)

    def excess(w: Fraction) -> Fraction:
        return p * w * (1 - w) - limit * (p * w + resistance)

    vertex = (1 - limit) / 2
    return excess(min(max(vertex, lowest_prior), skew)) <= 0


def compute_growth(sampling: SamplingParameters, skew: Fraction) -> Fraction:
    """Compute the greatest growth, rounded up."""
    low = 0
    high = GROWTH_PARTS
    while low < high:
        middle = (low + high) // 2
        if grows_at_most(sampling, skew, Fraction(middle, GROWTH_PARTS)):
            high = middle
        else:
            low = middle + 1
    return Fraction(low, GROWTH_PARTS)


def bound_rho_belief(parameters: Mapping[str, Any], prior: Any) -> float:
    """Bound the belief that the promise allows to an adversary whose prior is rho1 at most."""
    return float(parse_parameter(parameters["rho2"]))


def _require_sampling(evidence: Evidence) -> SamplingParameters:
    if evidence.sampling is None:
        raise BundleDamaged(
            "A promise about corruption is kept by a sampled release alone.",
            why="Who has corrupted everyone else reads the last person's value off any table that shows them all.",
            attempt=evidence.suggest_promise(),
        )
    return evidence.sampling


def _find_skew(parameters: Mapping[str, Any], sampling: SamplingParameters) -> Fraction:
    skew = parse_parameter(parameters["lambda"])
    if not Fraction(1, sampling.domain) <= skew < 1:
        raise ValueError("no prior over the domain is as skewed")
    return skew


def _make_judgement(achieved: Mapping[str, Any], kept: bool, sampling: SamplingParameters) -> Judgement:
    if kept and not sampling.declared and sampling.proven is not False:
        return Judgement(achieved, None, FROM_PARAMETERS, UNDECLARED_DOMAIN_REASON)
    if kept and sampling.proven is None:
        return Judgement(achieved, None, FROM_PARAMETERS, DRAW_REASON)
    if kept:
        return Judgement(achieved, sampling.proven, RECOUNTED)
    return Judgement(achieved, False, FROM_PARAMETERS)


def _compute_resistance(sampling: SamplingParameters) -> Fraction:
    """Compute a of a posterior (q a + w) / (a + w): k u / p for one row, and what r rows of a person leave of it."""
    rows = sampling.rows_per_person
    redrawn = (1 - sampling.p) / sampling.domain
    group = sampling.counted_on * rows if sampling.counted_on > 1 else 1
    return 1 / ((1 + sampling.p / (group * redrawn)) ** rows - 1)
