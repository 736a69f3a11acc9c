"""The eligibility attack by sampling, where a release has too many tables behind it and no closed form: an interval that holds.

The tables are those of `candidates`, in its strata.  Strata of few tables are listed.  In each other one, n tables are
drawn uniformly: the excess of the value that leads, at least what makes it violating, and those of g others; one in which another
exceeds the first has weight 0.  A weight, by the bound on it that the stratum allows, is a number in [0, 1].  Its mean is bounded by
the empirical Bernstein inequality (Maurer & Pontil 2009, theorem 4), which holds for every n and every distribution on [0, 1], also
where few draws hit:

    |mean - sample mean|  <=  sqrt(2 V ln(4 / d) / n) + 7 ln(4 / d) / (3 (n - 1))     with probability at least 1 - d

V being the sample variance.  All strata share `MISS` equally.  The number of draws is fixed before any is made: `samples` split evenly
among strata, at least `LEAST` for each.  A posterior's ends have its own weight at one end and all others' at the other.  The
bound is the greatest probability of the release times the greatest prior weight in the stratum: where weights differ little from it the
interval is narrow; where nearly all of them are far below (the prior `records`, large tables) it says little, as the draws do.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import partial
from math import comb, exp, log, sqrt

import numpy as np

from reticent.attacks.eligibility.candidates import Stratum, cost, strata, weigh
from reticent.attacks.eligibility.counted import PublishedCounts
from reticent.attacks.eligibility.priors import Prior
from reticent.exact import ratio_of
from reticent.methods.suppression.calibrated import Calibrated
from reticent.methods.suppression.kinds import Kind

LISTED = 1_000  # tables, up to renaming, of strata that are listed
LEAST = 2  # draws in a stratum
OUTWARD = np.array([1 - 2.0**-40, 1, 1 + 2.0**-40])  # more than logarithms lose by rounding
MISS = 0.05  # the probability with which an interval may be wrong

Interval = tuple[float, float, float]  # low, estimate, high


def weights(published: PublishedCounts, kind: Kind, prior: Prior, samples: int, rng: np.random.Generator,
            miss: float = MISS) -> dict[int, Interval]:  # fmt: skip
    """For each published count, the weight of one of its values: all intervals hold together but with probability `miss`."""
    possible = [stratum for stratum in strata(published, kind) if stratum.greatest(kind)]
    few, many = _split(possible, LISTED // cost(published, kind, prior))
    found: list[tuple[int, float, Interval]] = []  # count, logarithm of a scale, in units of it
    for stratum in few:
        exact = weigh(stratum, kind, prior)
        if exact:
            found.append((stratum.count, _log(exact), (1.0, 1.0, 1.0)))
    for stratum in many:
        interval = draw_mean(stratum, kind, prior, max(samples // len(many), LEAST), miss / len(many), rng)
        found.append((stratum.count, _log_scale(stratum, kind, prior), interval))
    shift = max((scale + log(high) for _, scale, (_, _, high) in found), default=0.0)
    total: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(3))
    for count, scale, interval in found:
        total[count] += np.array(interval) * exp(scale - shift) * OUTWARD
    return {count: (float(low), float(middle), float(high)) for count, (low, middle, high) in total.items() if high}


def _log(chance: Fraction) -> float:
    numerator, denominator = ratio_of(chance)
    return log(numerator) - log(denominator)


def _split(listed: list[Stratum], left: int) -> tuple[list[Stratum], list[Stratum]]:
    """Strata to be listed, the smallest first as long as they are few tables, and those to be drawn from."""
    few: list[Stratum] = []
    many: list[Stratum] = []
    for number, _, stratum in sorted((stratum.number, at, stratum) for at, stratum in enumerate(listed)):
        left -= number
        (few if left >= 0 else many).append(stratum)
    return few, many


def draw_mean(
    stratum: Stratum, kind: Kind, prior: Prior, number: int, miss: float, rng: np.random.Generator
) -> Interval:
    """The mean of a stratum's weights, each by the bound on them."""
    bound, shares, least = _log_bound(stratum, kind, prior), np.zeros(number), stratum.published.least_excess
    room, plain = stratum.total - least, prior if prior.plausible else Prior("uniform")
    likelihood = kind.likelihood
    if isinstance(kind, Calibrated) and not prior.plausible:
        likelihood = partial(kind.estimate, rng=rng)
    for at in range(number):
        ends = np.sort(rng.choice(room, stratum.higher, replace=False)) + 1
        first, *others = np.diff(np.concatenate([[0], ends, [room + 1]])).tolist()
        first, others = first + least - 1, sorted(others, reverse=True)
        if not others or first >= others[0]:
            value = stratum.value(first, others, likelihood, plain) / (1 + others.count(first))
            if value:
                weight = 0.0 if prior.plausible else prior.log_weight(stratum.table(first, others)[0].tolist())
                shares[at] = exp(_log(value) + weight - bound)
    return bernstein(np.minimum(shares, 1.0), miss)  # above 1 by rounding alone


def bernstein(shares: np.ndarray, miss: float) -> Interval:
    """The empirical Bernstein interval for the mean of numbers in [0, 1], two-sided."""
    number, mean, term = len(shares), float(shares.mean()), log(4 / miss)
    reach = sqrt(2 * float(shares.var(ddof=1)) * term / number) + 7 * term / (3 * (number - 1))
    return max(mean - reach, 0.0), mean, min(mean + reach, 1.0)


def _log_scale(stratum: Stratum, kind: Kind, prior: Prior) -> float:
    """The logarithm of what a mean of 1 stands for: the stratum's tables, all as heavy as the bound."""
    ways, room = stratum.ways, stratum.total - stratum.published.least_excess
    return _log(ways) + log(comb(room, stratum.higher)) + _log_bound(stratum, kind, prior)


def _log_bound(stratum: Stratum, kind: Kind, prior: Prior) -> float:
    """The logarithm of what no weight in the stratum exceeds."""
    if prior.plausible:
        return log(comb(stratum.cut, stratum.extra))
    chance = stratum.greatest(kind)
    most = _log(chance)
    if prior.name == "uniform":
        return most
    base, _ = stratum.table(0, [0] * stratum.higher)
    fixed = base[1 + stratum.higher :].tolist()
    if prior.name == "shapes":  # greatest where the excesses are alike; (t + 1)! / (t + 1) of t tied with the first
        return most + prior.log_weight([*fixed, *[-1] * stratum.higher, -2])
    lead = max(stratum.published.least_excess, -(-stratum.total // (stratum.higher + 1)))
    least, over = divmod(
        stratum.total - lead, max(stratum.higher, 1)
    )  # log-concave: greatest where they are as even as may be
    level = stratum.published.level
    even = [level + lead, *[level + least + 1] * over, *[level + least] * (stratum.higher - over)]
    return most + prior.log_weight([*fixed, *even])
