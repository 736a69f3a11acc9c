"""Posteriors of the eligibility attack that are not counted: bounds for calibrated suppression, and sampling with intervals.

`CountPosterior` holds what an adversary believes after a release: posteriors by published count, and how exactly they
are known.

The mixture (`bound_mixture_posteriors`) bounds the attack on calibrated suppression, for tables of any size and every
prior; but for `records` the bounds mostly meet.  The tables that publish P by a cut come in families that
publish it with one probability and differ in which value of H led (`methods/suppression/calibrated_kind.py`); those
that publish it as `safe` does are alike in all values at the highest level.  With J of j values at that level L, H is
known from P: the values outside J with the l highest counts, and ties.  A family's tables weigh alike beforehand, or,
under `shapes`, as one over the number of values outside J with the leading one's published count.  Under `records` the
table in which the value of the published count p led, with M records more, weighs p! / (p + M)! times what its family
has in common: a value of H led with odds of prod (p' + t) / (p + t), t = 1 .. M, against one of the count p', which only
grow with M where p < p'.  M is all that was withheld where J is empty, and else lies between known ends.  So the
posterior is

    a mixture, over j and `safe`, of distributions that P determines

and lies between the least and the greatest of them.  Where all agree on a value, and that is most often, it is exact.
Necessary conditions decide which j can occur: one too many makes bounds wider, not wrong.  That families are of this
form is what the proof in `calibrated_kind` shows; `compute_listed_weights` does not use it, and agrees.

Sampling (`estimate_weights`) gives an interval that holds, where a release has too many tables behind it and no closed
form.  The tables are those of `candidate_tables`, in its strata.  Strata of few tables are listed.  In each other one,
n tables are drawn uniformly: the excess of the value that leads, at least what makes it violating, and those of g
others; one in which another exceeds the first has weight 0.  A weight, by the bound on it that the stratum allows, is a
number in [0, 1].  Its mean is bounded by the empirical Bernstein inequality (Maurer & Pontil 2009, theorem 4), which
holds for every n and every distribution on [0, 1], also where few draws hit:

    |mean - sample mean|  <=  sqrt(2 V ln(4 / d) / n) + 7 ln(4 / d) / (3 (n - 1))     with probability at least 1 - d

V being the sample variance.  All strata share MISS_PROBABILITY equally.  The number of draws is fixed before any is
made: `samples` split evenly among strata, at least MIN_STRATUM_DRAWS for each.  A posterior's ends have its own weight
at one end and all others' at the other.  The bound is the greatest probability of the release times the greatest prior
weight in the stratum: where weights differ little from it the interval is narrow; where nearly all of them are far
below (the prior `records`, large tables) it is wide, as the draws are uninformative.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb, exp, floor, log, nextafter, perm, sqrt
from typing import Any, Literal

import numpy as np

from reticent.attacks.eligibility.suppressed_tables import (
    CountPrior,
    PublishedCounts,
    TableStratum,
    WeightBounds,
    estimate_weighing_cost,
    list_strata,
    weigh_stratum,
)
from reticent.exact_arithmetic import as_ratio
from reticent.methods.suppression.calibrated_kind import CalibratedSuppression, ViolatingTable, compute_cut_probability
from reticent.methods.suppression.kinds import SuppressionKind

# ruff: noqa: E741  `l` is the field's own letter


CountShares = dict[int, WeightBounds]  # by published count: the posterior of one of its values, between bounds
MAX_EXACT_FACTORS = 2_000  # of odds that are multiplied as fractions
ODDS_ERROR = Fraction(1, 1 << 20)  # more than the logarithms of a longer product lose by rounding
PosteriorMethod = Literal["exact", "bounds", "sampled"]
MAX_LISTED_STRATUM_TABLES = 1_000  # tables, up to renaming, of strata that are listed
MIN_STRATUM_DRAWS = 2  # draws in a stratum
OUTWARD_FACTORS = np.array([1 - 2.0**-40, 1, 1 + 2.0**-40])  # more than logarithms lose by rounding
MISS_PROBABILITY = 0.05  # the probability with which an interval may be wrong
WeightInterval = tuple[float, float, float]  # low, estimate, high


def bound_mixture_posteriors(published: PublishedCounts, prior: str) -> dict[int, WeightBounds]:
    """Bound, for each published count, the posterior of one of its values: the least and the greatest."""
    mixture_parts = list(_list_mixture_parts(published, prior))
    counts = {count for shares in mixture_parts for count in shares}
    none = (Fraction(0), Fraction(0))
    return {
        count: (
            min(shares.get(count, none)[0] for shares in mixture_parts),
            max(shares.get(count, none)[1] for shares in mixture_parts),
        )
        for count in counts
    }


@dataclass(frozen=True, slots=True)
class CountPosterior:
    """The posterior of each published count's values (one of them) and the worst, between `low` and `high`.

    `exact`: both are the worst.  `bounds`: it lies between them for certain, and `by_count` has upper ends.  `sampled`: with
    probability 95 %, and `by_count` has estimates.
    """

    by_count: Mapping[int, Fraction | float]
    low: Fraction | float
    high: Fraction | float
    how: PosteriorMethod

    @property
    def worst(self) -> Fraction | float:
        return max(self.by_count.values())

    @property
    def exact(self) -> bool:
        return self.how == "exact"

    @property
    def ends(self) -> tuple[float, float]:
        """Low and high as floating-point numbers, rounded outward unless they are equal."""
        return (float(self.low), float(self.high)) if self.exact else round_outward(self.low, self.high)


def make_zero_posterior(table: PublishedCounts) -> CountPosterior:
    return CountPosterior({table.level: Fraction(0)}, Fraction(0), Fraction(0), "exact")


def normalize_weights(table: PublishedCounts, weights: Mapping[int, tuple[Any, Any]]) -> CountPosterior:
    """Compute posteriors from weights between bounds: a value's own at one end, all others' at the other."""
    if not weights:
        return make_zero_posterior(table)
    ends = {}
    for count, (low, high) in weights.items():
        others = [
            sum(table.alike[other] * weights[other][end] for other in weights if other != count) for end in (0, 1)
        ]
        denominator_low = low * table.alike[count] + others[1]
        denominator_high = high * table.alike[count] + others[0]
        ends[count] = (low / denominator_low if low else 0 * low, high / denominator_high)
    return make_bounded_posterior(ends)


def make_bounded_posterior(ends: Mapping[int, tuple[Any, Any]]) -> CountPosterior:
    low = max(low for low, _ in ends.values())
    high = max(high for _, high in ends.values())
    by_count = {count: high for count, (_, high) in ends.items() if high}
    return CountPosterior(by_count, low, high, "exact" if low == high else "bounds")


def round_outward(low: Fraction | float, high: Fraction | float) -> tuple[float, float]:
    """Convert to floating-point numbers that are not nearer to each other."""
    lower = float(low)
    upper = float(high)
    return nextafter(lower, 0.0) if lower > low else lower, nextafter(upper, 1.0) if upper < high else upper


def make_sampled_posterior(table: PublishedCounts, weights: Mapping[int, tuple[float, float, float]]) -> CountPosterior:
    if not weights:
        return make_zero_posterior(table)
    ends = normalize_weights(
        table, {count: (Fraction(low), Fraction(high)) for count, (low, _, high) in weights.items()}
    )
    total = sum(table.alike[count] * middle for count, (_, middle, _) in weights.items())
    by_count = {count: middle / total if total else ends.high for count, (_, middle, _) in weights.items()}
    return CountPosterior(by_count, *round_outward(ends.low, ends.high), "sampled")


def estimate_weights(
    published: PublishedCounts,
    kind: SuppressionKind,
    prior: CountPrior,
    samples: int,
    rng: np.random.Generator,
    miss: float = MISS_PROBABILITY,
    max_listed: int = MAX_LISTED_STRATUM_TABLES,
) -> dict[int, WeightInterval]:
    """Estimate, for each published count, the weight of one of its values.

    All intervals hold together but with probability `miss`.
    """
    possible = [stratum for stratum in list_strata(published, kind) if stratum.greatest(kind)]
    listed_strata, drawn_strata = _split_strata(possible, max_listed // estimate_weighing_cost(published, kind, prior))
    intervals: list[tuple[int, float, WeightInterval]] = []  # count, logarithm of a scale, in units of it
    for stratum in listed_strata:
        exact = weigh_stratum(stratum, kind, prior)
        if exact:
            intervals.append((stratum.count, _compute_log(exact), (1.0, 1.0, 1.0)))
    for stratum in drawn_strata:
        interval = estimate_stratum_mean(
            stratum, kind, prior, max(samples // len(drawn_strata), MIN_STRATUM_DRAWS), miss / len(drawn_strata), rng
        )
        intervals.append((stratum.count, _compute_log_scale(stratum, kind, prior), interval))
    shift = max((scale + log(high) for _, scale, (_, _, high) in intervals), default=0.0)
    total: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(3))
    for count, scale, interval in intervals:
        total[count] += np.array(interval) * exp(scale - shift) * OUTWARD_FACTORS
    return {count: (float(low), float(middle), float(high)) for count, (low, middle, high) in total.items() if high}


def estimate_stratum_mean(
    stratum: TableStratum, kind: SuppressionKind, prior: CountPrior, number: int, miss: float, rng: np.random.Generator
) -> WeightInterval:
    """Estimate the mean of a stratum's weights, each by the bound on them."""
    bound = _compute_log_bound(stratum, kind, prior)
    shares = np.zeros(number)
    least_excess = stratum.published.least_excess
    slack = stratum.total - least_excess
    exact_prior = prior if prior.plausible else CountPrior("uniform")
    likelihood = kind.likelihood
    if isinstance(kind, CalibratedSuppression) and not prior.plausible:
        likelihood = partial(kind.estimate, rng=rng)
    for draw in range(number):
        ends = np.sort(rng.choice(slack, stratum.higher, replace=False)) + 1
        first, *others = np.diff(np.concatenate([[0], ends, [slack + 1]])).tolist()
        first = first + least_excess - 1
        others = sorted(others, reverse=True)
        if not others or first >= others[0]:
            value = stratum.value(first, others, likelihood, exact_prior) / (1 + others.count(first))
            if value:
                weight = 0.0 if prior.plausible else prior.log_weight(stratum.table(first, others)[0].tolist())
                shares[draw] = exp(_compute_log(value) + weight - bound)
    return compute_bernstein_interval(np.minimum(shares, 1.0), miss)  # above 1 by rounding alone


def compute_bernstein_interval(shares: np.ndarray, miss: float) -> WeightInterval:
    """Compute the empirical Bernstein interval for the mean of numbers in [0, 1], two-sided."""
    number = len(shares)
    mean = float(shares.mean())
    term = log(4 / miss)
    reach = sqrt(2 * float(shares.var(ddof=1)) * term / number) + 7 * term / (3 * (number - 1))
    return max(mean - reach, 0.0), mean, min(mean + reach, 1.0)


def _list_mixture_parts(published: PublishedCounts, prior: str) -> Iterator[CountShares]:
    """List the distributions of which the posterior is a mixture."""
    level, at_top = published.level, published.alike[published.level]
    if published.safe:
        yield {level: (Fraction(1, at_top), Fraction(1, at_top))}
    for cut in range(min(at_top, len(published.counts) - published.l) + 1):
        if not _is_possible(published, cut):
            continue
        free = published.counts[cut:]
        leading_counts = Counter(count for count in free if count >= free[published.l - 1])
        if prior == "records":
            shares = _bound_record_shares(published, cut, leading_counts)
        else:
            shares = _compute_family_shares(leading_counts, prior == "shapes")
        if at_top > cut:  # any of the values at the level may be among those cut
            low, high = shares[level]
            uncut = Fraction(at_top - cut, at_top)
            shares[level] = (low * uncut, high * uncut)
        yield shares


def _compute_family_shares(leading_counts: Counter[int], shapes: bool) -> CountShares:
    """Compute the posterior of each value of H where a family's tables weigh alike, or as one over the values of a count."""
    weights = {count: Fraction(1, number) if shapes else Fraction(1) for count, number in leading_counts.items()}
    total = sum(weights[count] * number for count, number in leading_counts.items())
    return {count: (weight / total, weight / total) for count, weight in weights.items()}


def _bound_record_shares(published: PublishedCounts, cut: int, leading_counts: Counter[int]) -> CountShares:
    """Bound the posterior of each value of H under `records`, over all numbers of records that the leading value may have lost."""
    most_moved = published.withheld - cut
    least_moved = max(published.rows // published.l + 1 - min(leading_counts), 1) if cut else most_moved
    shares = {}
    for count in leading_counts:
        low_total = high_total = Fraction(0)
        for other, number in leading_counts.items():
            odds = (
                _bound_record_odds(count, other, least_moved),
                _bound_record_odds(count, other, most_moved),
            )
            low_total += number * min(low for low, _ in odds)
            high_total += number * max(high for _, high in odds)
        shares[count] = (1 / high_total, 1 / low_total)
    return shares


def _bound_record_odds(count: int, other: int, moved: int) -> WeightBounds:
    """Bound the odds that a value of the count `other` led against one of `count`: exact where the factors are few."""
    factors = min(moved, abs(count - other))  # those that do not cancel
    lowest = min(count, other)
    if factors == moved:
        numerator, denominator = count, other
    elif count > other:  # (other + moved + 1) ... (count + moved) over (other + 1) ... count
        numerator, denominator = lowest + moved, lowest
    else:
        numerator, denominator = lowest, lowest + moved
    if factors <= MAX_EXACT_FACTORS:
        exact = Fraction(perm(numerator + factors, factors), perm(denominator + factors, factors))
        return exact, exact
    steps = np.arange(1, factors + 1, dtype=np.float64)
    logarithm = float(np.sum(np.log1p((numerator - denominator) / (denominator + steps)))) / log(2)
    exponent = floor(logarithm)
    odds = Fraction(2.0 ** (logarithm - exponent)) * Fraction(2) ** exponent
    return odds * (1 - ODDS_ERROR), odds * (1 + ODDS_ERROR)


def _split_strata(strata: list[TableStratum], tables_left: int) -> tuple[list[TableStratum], list[TableStratum]]:
    """Split strata into those to be listed, the smallest first as long as they are few tables, and those to be drawn from."""
    listed_strata: list[TableStratum] = []
    drawn_strata: list[TableStratum] = []
    for number, _, stratum in sorted((stratum.number, index, stratum) for index, stratum in enumerate(strata)):
        tables_left -= number
        (listed_strata if tables_left >= 0 else drawn_strata).append(stratum)
    return listed_strata, drawn_strata


def _compute_log(chance: Fraction) -> float:
    numerator, denominator = as_ratio(chance)
    return log(numerator) - log(denominator)


def _compute_log_scale(stratum: TableStratum, kind: SuppressionKind, prior: CountPrior) -> float:
    """Compute the logarithm of what a mean of 1 stands for: the stratum's tables, all as heavy as the bound."""
    ways = stratum.ways
    slack = stratum.total - stratum.published.least_excess
    return _compute_log(ways) + log(comb(slack, stratum.higher)) + _compute_log_bound(stratum, kind, prior)


def _compute_log_bound(stratum: TableStratum, kind: SuppressionKind, prior: CountPrior) -> float:
    """Compute the logarithm of what no weight in the stratum exceeds."""
    if prior.plausible:
        return log(comb(stratum.cut, stratum.extra))
    chance = stratum.greatest(kind)
    log_chance = _compute_log(chance)
    if prior.name == "uniform":
        return log_chance
    base, _ = stratum.table(0, [0] * stratum.higher)
    fixed = base[1 + stratum.higher :].tolist()
    if prior.name == "shapes":  # greatest where the excesses are alike; (t + 1)! / (t + 1) of t tied with the first
        return log_chance + prior.log_weight([*fixed, *[-1] * stratum.higher, -2])
    lead = max(stratum.published.least_excess, -(-stratum.total // (stratum.higher + 1)))
    even_excess, remainder = divmod(
        stratum.total - lead, max(stratum.higher, 1)
    )  # log-concave: greatest where they are as even as may be
    level = stratum.published.level
    even = [level + lead, *[level + even_excess + 1] * remainder, *[level + even_excess] * (stratum.higher - remainder)]
    return log_chance + prior.log_weight([*fixed, *even])


def _is_possible(published: PublishedCounts, cut: int) -> bool:
    """Tell whether some table may publish P by a cut to which J has `cut` values: with one record above the level each, if with any."""
    l = published.l
    level = published.level
    size = sum(published.counts)
    least_count = published.counts[cut + l - 1]
    moved = published.withheld - cut
    if (
        l * level > size
        or moved < 1
        or l * (least_count + moved) <= published.rows
        or (cut and size + cut >= l * (level + 1))
    ):
        return False
    if cut:
        return least_count + moved > level + 1
    others = list(published.counts)
    others.remove(least_count)  # without J there is one table for each value of H: ask it
    table = ViolatingTable((least_count + moved, *others), l)
    return (
        any(low <= least_count <= high for low, high in table.open) and compute_cut_probability(table, least_count) > 0
    )
