"""The eligibility attack by brute force: every violating table of so many records, up to renaming, and all that it may publish.

For small tables, and what the quicker ways are checked by.  The priors know no value by name and suppression breaks ties at random,
so tables are falling counts.  Exact, as fractions.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import factorial, prod
from typing import Any

import numpy as np

from reticent.attacks.eligibility.priors import Prior, arrangements
from reticent.methods.suppression.stage import KINDS


def tables(rows: int, values: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Falling counts of so many records in so many values, each occurring."""
    most = rows if most is None else most
    if values == 1:
        if rows <= most:
            yield (rows,)
        return
    for first in range(min(rows - values + 1, most), -(-rows // values) - 1, -1):
        for others in tables(rows - first, values - 1, first):
            yield (first, *others)


@lru_cache(maxsize=32)
def joint(rows: int, values: int, l: int, kind: str, prior: str) -> dict[tuple[int, ...], dict[int, Fraction]]:
    """For every published table: the weight of S_1 having each published count.  Weights of one published table share a unit."""
    belief = Prior(prior)
    found: dict[tuple[int, ...], dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for counts in tables(rows, values):
        if l * counts[0] <= rows:
            continue
        outcomes = KINDS[kind].outcomes(np.array(counts), l)
        if belief.plausible:
            for published, led, share in _distinct(counts, outcomes):
                found[published][led] += share
            continue
        weight = belief.weight(counts) * arrangements(counts)
        for chance, outcome in outcomes:
            if chance:
                listed = outcome.tolist()
                found[tuple(sorted(listed, reverse=True))][listed[0]] += weight * chance
    return {published: dict(weights) for published, weights in found.items()}


def _distinct(counts: Sequence[int], outcomes: Any) -> Iterator[tuple[tuple[int, ...], int, Fraction]]:
    """PublishedCounts table, S_1's count in it, and how many tables with names lead there from these counts at all.

    A table of which several values may have been S_1 counts once, shared evenly among them.
    """
    leaders: dict[tuple[tuple[int, int], ...], set[tuple[int, int]]] = defaultdict(set)
    for chance, published in outcomes:
        if chance:
            listed = list(zip(counts, published.tolist(), strict=True))
            leaders[tuple(sorted(listed))].add(listed[0])
    for pairs, possible in leaders.items():
        alike = Counter(count for _, count in pairs)
        number = prod(map(factorial, alike.values())) // prod(map(factorial, Counter(pairs).values()))
        tied = sum(pairs.count(pair) for pair in possible)
        for pair in possible:
            yield tuple(sorted(alike.elements(), reverse=True)), pair[1], Fraction(number * pairs.count(pair), tied)


def worst(rows: int, values: int, l: int, kind: str, prior: str = "uniform") -> Fraction:
    """The greatest posterior over every table that the suppression may publish of so many records in so many values."""
    return max(
        weight / sum(weights.values()) / Counter(table)[count]
        for table, weights in joint(rows, values, l, kind, prior).items()
        for count, weight in weights.items()
    )


def worst_withheld(rows: int, values: int, l: int, kind: str, prior: str = "uniform") -> Fraction:
    """The greatest posterior of a withheld person's value over every table that may be published; not for the prior `plausible`."""
    total: dict[Any, Fraction] = defaultdict(Fraction)
    taken: dict[Any, Counter[Any]] = defaultdict(Counter)
    for counts in tables(rows, values):
        if l * counts[0] <= rows:
            continue
        weight = Prior(prior).weight(counts) * arrangements(counts)
        for chance, published in KINDS[kind].outcomes(np.array(counts), l):
            if chance:
                table = tuple(sorted(published.tolist(), reverse=True))
                total[table] += weight * chance
                for before, after in zip(counts, published.tolist(), strict=True):
                    taken[table][after] += weight * chance * (before - after)
    return max(
        some / (total[table] * (rows - sum(table)) * table.count(after))
        for table, by_count in taken.items()
        for after, some in by_count.items()
    )
