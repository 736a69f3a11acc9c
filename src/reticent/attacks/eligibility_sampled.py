"""The eligibility attack on large tables, by self-normalized importance sampling.

A table that could have led to the published counts P holds, besides P, X = |T| - |P| records: some of a value i that leads, and
some of values at the highest level or one below, which D-suppression cuts.  The proposal picks i among the values that can
lead, a number of further values, which ones, and a composition of X into so many positive parts: its density is known, and
every table that is possible is possible under it.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import comb, inf, log, sqrt

import numpy as np

from reticent.attacks.priors import Prior, arrangements
from reticent.methods.suppression_kinds import Kind

NORMAL = 1.959963984540054  # two-sided 95 %


def sampled(published: Sequence[int], rows: int, l: int, kind: Kind, prior: Prior, samples: int,
            rng: np.random.Generator) -> tuple[dict[int, float], float, float]:  # fmt: skip
    """The posterior of (one of) the values of each published count, and a 95 % interval around the worst."""
    withheld = rows - sum(published)
    leading = [i for i, count in enumerate(published) if l * (count + withheld) > rows]
    cut = [i for i, count in enumerate(published) if count >= published[0] - 1]
    logs, leaders = np.full(samples, -inf), np.empty(samples, np.int64)
    for at in range(samples):
        i, added, density = _propose(leading, cut, withheld, rng)
        leaders[at] = i
        table = [count + added.get(value, 0) for value, count in enumerate(published)]
        if table[i] < max(table) or l * table[i] <= rows:
            continue
        chance = likelihood(table, published, i, l, kind)
        if chance > 0:
            logs[at] = prior.log_weight(table) + (0.0 if prior.plausible else log(chance)) - density
    if not np.isfinite(logs).any():
        return {published[0]: 0.0}, 0.0, 1.0
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    counts = np.array(published)
    led = counts[leaders]
    best: tuple[float, float] = (0.0, 1.0)
    by_count = {}
    for count in sorted(set(led.tolist()), reverse=True):
        alike = int((counts == count).sum())
        share = float(weights[led == count].sum())
        error = sqrt(float((weights**2 * ((led == count) - share) ** 2).sum()))
        by_count[count] = share / alike
        if share / alike >= best[0]:
            best = share / alike, error / alike
    return by_count, max(best[0] - NORMAL * best[1], 0.0), min(best[0] + NORMAL * best[1], 1.0)


def _propose(
    leading: list[int], cut: list[int], withheld: int, rng: np.random.Generator
) -> tuple[int, dict[int, int], float]:
    """A leader, how many records are added to it and to others, and the logarithm of the proposal's density."""
    i = leading[int(rng.integers(len(leading)))]
    others = [value for value in cut if value != i]
    most = min(len(others), withheld - 1)
    parts = int(rng.integers(most + 1))
    chosen = rng.choice(len(others), parts, replace=False) if parts else []
    ends = np.sort(rng.choice(withheld - 1, parts, replace=False)) + 1 if parts else np.empty(0, np.int64)
    sizes = np.diff(np.concatenate([[0], ends, [withheld]]))
    added = {i: int(sizes[0])} | {others[value]: int(size) for value, size in zip(chosen, sizes[1:], strict=True)}
    density = -log(len(leading)) - log(most + 1) - log(comb(len(others), parts)) - log(comb(withheld - 1, parts))
    return i, added, density


def likelihood(table: Sequence[int], published: Sequence[int], leader: int, l: int, kind: Kind) -> float:
    """Pr(published, leader is S_1 | table), names given and ties of the table broken at random."""
    first = (table[leader], published[leader])
    others = sorted(((table[j], published[j]) for j in range(len(table)) if j != leader), reverse=True)
    counts = np.array([first[0], *(count for count, _ in others)])
    chance = kind.likelihood(counts, l, np.array([first[1], *(count for _, count in others)]))
    for _, tied in groupby(others, key=lambda pair: pair[0]):
        chance /= arrangements([count for _, count in tied])
    return chance / (1 + sum(count == first[0] for count, _ in others)) if chance else 0.0
