"""The eligibility attack on large tables, by stratified importance sampling.

A table that could have led to the published counts P holds, besides P, X = |T| - |P| records: some of a value that leads, and
some of values at the highest level or one below, which suppression cuts.  A stratum is a leading value (values of equal count are
alike: one stands for all) and the number of further values.  Without further values there is one table, which is weighed as it
is; with some, which ones and a composition of X into positive parts are drawn.  Who leads nearly always lost the most, so most
draws give the leader the largest part; a few look at the others, so that every table that is possible is in reach and the sums are
unbiased.  All leaders share the same draws: what is left in their ratio, the posterior, is small.  Its interval is by the delta
method, and as good as the draws are many: where few of them hit, it is too narrow.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import comb, inf, log

import numpy as np

from reticent.attacks.priors import Prior, arrangements
from reticent.methods.suppression.kinds import Kind

NORMAL = 1.959963984540054  # two-sided 95 %
LEAST = 24  # draws in a stratum


def sampled(published: Sequence[int], rows: int, l: int, kind: Kind, prior: Prior, samples: int,
            rng: np.random.Generator) -> tuple[dict[int, float], float, float]:  # fmt: skip
    """The posterior of (one of) the values of each published count, and a 95 % interval around the worst."""
    withheld = rows - sum(published)
    leading = sorted({count for count in published if l * (count + withheld) > rows}, reverse=True)
    strata = list(_strata(published, rows, leading, l, kind, prior, samples, rng))
    shift = max((float(logs.max()) for logs in strata), default=-inf)
    if shift == -inf:
        return {published[0]: 0.0}, 0.0, 1.0
    weights = [np.exp(logs - shift) for logs in strata]  # (leading, draws) each
    sums = sum(drawn.mean(axis=1) for drawn in weights)
    alike = np.array([published.count(count) for count in leading])
    total = float(alike @ sums)
    posterior = sums / total
    worst = int(posterior.argmax())
    slopes = -posterior[worst] * alike / total
    slopes[worst] += 1 / total
    spread = sum(float((slopes @ drawn).var(ddof=1)) / drawn.shape[1] for drawn in weights if drawn.shape[1] > 1)
    reach = NORMAL * spread**0.5
    found = {count: float(share) for count, share in zip(leading, posterior, strict=True) if share > 0}
    return found, max(float(posterior[worst]) - reach, 0.0), min(float(posterior[worst]) + reach, 1.0)


def _strata(published: Sequence[int], rows: int, leading: list[int], l: int, kind: Kind, prior: Prior, samples: int,
            rng: np.random.Generator) -> Iterator[np.ndarray]:  # fmt: skip
    """(leading, draws): the logarithm of (tables that a draw stands for, prior, likelihood), for each number of further values."""
    withheld = rows - sum(published)
    place = {count: published.index(count) for count in leading}
    cut = [j for j, other in enumerate(published) if other >= published[0] - 1]
    most = min(len(cut), withheld - 1)
    each = max(samples // max(most, 1), LEAST)
    for parts in range(most + 1):
        seeds = rng.integers(0, 1 << 63, each if parts else 1)
        logs = np.full((len(leading), len(seeds)), -inf)
        for row, count in enumerate(leading):
            i = place[count]
            others = [j for j in cut if j != i]
            if parts > len(others):
                continue
            for at, seed in enumerate(seeds):
                first = not parts or at % 4 > 0
                added, stands_for = _draw(i, others, parts, withheld, first, np.random.default_rng(seed))
                if not added:
                    continue
                table = list(published)
                for value, more in added:
                    table[value] += more
                share = (
                    log(len(seeds) / (len(seeds) - -(-len(seeds) // 4) if first else -(-len(seeds) // 4)))
                    if parts
                    else 0.0
                )
                logs[row, at] = stands_for + share + _log_weight(table, published, rows, i, l, kind, prior)
        yield logs


def _draw(leader: int, others: list[int], parts: int, withheld: int, first: bool,
          rng: np.random.Generator) -> tuple[list[tuple[int, int]], float]:  # fmt: skip
    """Records added to each value, and the logarithm of how many tables the draw stands for; nothing where it is not of its class.

    Further values and a composition of what was withheld are uniform.  With `first`, the largest part is moved to the leader, and
    a table is reached from as many compositions as `_origins` counts; without, only compositions with a larger part elsewhere count.
    """
    if not parts:
        return [(leader, withheld)], 0.0
    chosen = [others[at] for at in rng.choice(len(others), parts, replace=False)]
    ends = np.sort(rng.choice(withheld - 1, parts, replace=False)) + 1
    sizes = np.diff(np.concatenate([[0], ends, [withheld]])).tolist()
    stands_for = log(comb(len(others), parts)) + log(comb(withheld - 1, parts))
    largest = max(sizes)
    if not first:
        return ([], 0.0) if sizes[0] == largest else (list(zip([leader, *chosen], sizes, strict=True)), stands_for)
    if sizes[0] < largest:
        at = sizes.index(largest)
        sizes[0], sizes[at] = sizes[at], sizes[0]
    return list(zip([leader, *chosen], sizes, strict=True)), stands_for - log(_origins(sizes))


def _origins(sizes: list[int]) -> int:
    """From how many compositions moving the first largest part to the front gives this one: itself, and one for each smaller part
    that stands before any other of the largest."""
    found = 1
    for size in sizes[1:]:
        if size == sizes[0]:
            break
        found += 1
    return found


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
