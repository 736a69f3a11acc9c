"""The eligibility attack on large tables, by stratified importance sampling.

A table that could have led to the published counts P holds, besides P, X = |T| - |P| records: some of a value that leads, and
some of values at the highest level or one below, which suppression cuts.  A stratum is a leading value (values of equal count are
alike: one stands for all) and the number of further values.  Without further values there is one table, which is weighed as it
is; with some, which ones and a composition of X into positive parts are drawn uniformly.  Every table that is possible is in a
stratum, so the sums are unbiased, and the posterior is their ratio, with an interval by the delta method.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import comb, inf, log

import numpy as np

from reticent.attacks.priors import Prior, arrangements
from reticent.methods.suppression_kinds import Kind

NORMAL = 1.959963984540054  # two-sided 95 %
LEAST = 8  # samples in a stratum


@dataclass(frozen=True, slots=True)
class Stratum:
    """Logarithms of (tables in the stratum times prior times likelihood), one for each table drawn."""

    leader: int
    logs: np.ndarray

    def moments(self, shift: float) -> tuple[float, float]:
        """The stratum's sum and the variance of its estimate, in units of exp(shift)."""
        weights = np.exp(self.logs - shift)
        return float(weights.mean()), float(weights.var(ddof=1) / len(weights)) if len(weights) > 1 else 0.0


def sampled(published: Sequence[int], rows: int, l: int, kind: Kind, prior: Prior, samples: int,
            rng: np.random.Generator) -> tuple[dict[int, float], float, float]:  # fmt: skip
    """The posterior of (one of) the values of each published count, and a 95 % interval around the worst."""
    strata = list(_strata(published, rows, l, kind, prior, samples, rng))
    shift = max((float(stratum.logs.max()) for stratum in strata), default=-inf)
    if shift == -inf:
        return {published[0]: 0.0}, 0.0, 1.0
    weight: dict[int, float] = {}
    variance: dict[int, float] = {}
    for stratum in strata:
        mean, spread = stratum.moments(shift)
        weight[stratum.leader] = weight.get(stratum.leader, 0.0) + mean
        variance[stratum.leader] = variance.get(stratum.leader, 0.0) + spread
    alike = {count: published.count(count) for count in weight}
    total = sum(alike[count] * weight[count] for count in weight)
    posterior = {count: weight[count] / total for count in weight}
    worst = max(posterior, key=posterior.__getitem__)
    slopes = {count: ((count == worst) - posterior[worst] * alike[count]) / total for count in weight}
    error = sum(slopes[count] ** 2 * variance[count] for count in weight) ** 0.5
    return posterior, max(posterior[worst] - NORMAL * error, 0.0), min(posterior[worst] + NORMAL * error, 1.0)


def _strata(
    published: Sequence[int], rows: int, l: int, kind: Kind, prior: Prior, samples: int, rng: np.random.Generator
):
    withheld = rows - sum(published)
    leading = sorted({count for count in published if l * (count + withheld) > rows})
    plans = []
    for count in leading:
        i = published.index(count)
        cut = [j for j, other in enumerate(published) if other >= published[0] - 1 and j != i]
        plans += [(i, cut, parts) for parts in range(min(len(cut), withheld - 1) + 1)]
    each = max(samples // max(sum(parts > 0 for _, _, parts in plans), 1), LEAST)
    for i, cut, parts in plans:
        size = log(comb(len(cut), parts)) + log(comb(withheld - 1, parts))
        logs = []
        for _ in range(each if parts else 1):
            table = list(published)
            for value, added in _added(i, cut, parts, withheld, rng):
                table[value] += added
            logs.append(size + _log_weight(table, published, rows, i, l, kind, prior))
        yield Stratum(published[i], np.array(logs))


def _added(leader: int, cut: list[int], parts: int, withheld: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """A uniform choice of further values and of positive parts of what was withheld."""
    if not parts:
        return [(leader, withheld)]
    others = [cut[at] for at in rng.choice(len(cut), parts, replace=False)]
    ends = np.sort(rng.choice(withheld - 1, parts, replace=False)) + 1
    sizes = np.diff(np.concatenate([[0], ends, [withheld]])).tolist()
    return list(zip([leader, *others], sizes, strict=True))


def _log_weight(
    table: Sequence[int], published: Sequence[int], rows: int, leader: int, l: int, kind: Kind, prior: Prior
) -> float:
    if table[leader] < max(table) or l * table[leader] <= rows:
        return -inf
    chance = likelihood(table, published, leader, l, kind)
    if chance <= 0:
        return -inf
    return prior.log_weight(table) + (0.0 if prior.plausible else log(chance))


def likelihood(table: Sequence[int], published: Sequence[int], leader: int, l: int, kind: Kind) -> float:
    """Pr(published, leader is S_1 | table), names given and ties of the table broken at random."""
    first = (table[leader], published[leader])
    others = sorted(((table[j], published[j]) for j in range(len(table)) if j != leader), reverse=True)
    counts = np.array([first[0], *(count for count, _ in others)])
    chance = kind.likelihood(counts, l, np.array([first[1], *(count for _, count in others)]))
    for _, tied in groupby(others, key=lambda pair: pair[0]):
        chance /= arrangements([count for _, count in tied])
    return chance / (1 + sum(count == first[0] for count, _ in others)) if chance else 0.0
