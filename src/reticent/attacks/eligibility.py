"""The eligibility attack (Xu, Wang, Fu & Wong, sections 1.2 and 2): which value led the table before records were withheld?

The adversary sees the published counts, knows |T| and the suppression with its probabilities (K1, K2), and weighs every table
that violates l-eligibility by a prior.  The posterior Pr(S'_i = S_1 | T_P, K) of a published value is its share of

    sum over tables B in which it leads of   prior(B) Pr(T_P | B).

Small tables: exactly, as fractions.  The priors know no value by name and suppression breaks ties at random, so tables are
enumerated up to renaming, as falling counts.  Large ones: self-normalized importance sampling of the tables that could have
led to T_P, with an interval (`eligibility_sampled`).
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial, prod
from typing import Any

import numpy as np

from reticent.attacks.eligibility_sampled import sampled
from reticent.attacks.priors import Prior, arrangements
from reticent.errors import RequestError
from reticent.methods.suppression.levels import eligible
from reticent.methods.suppression.stage import KINDS

MOST_TABLES = 2_000  # tables, up to renaming, that are enumerated


@dataclass(frozen=True, slots=True)
class Posterior:
    """The posterior of each published count's values (one of them), the worst, and an interval where it was sampled."""

    by_count: dict[int, Fraction | float]
    low: float
    high: float
    exact: bool

    @property
    def worst(self) -> Fraction | float:
        return max(self.by_count.values())


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


@lru_cache(maxsize=100_000)
def number_of_tables(rows: int, values: int) -> int:
    """Partitions of `rows` into so many positive parts."""
    if values <= 0 or rows < values:
        return int(rows == values == 0)
    return number_of_tables(rows - 1, values - 1) + number_of_tables(rows - values, values)


def small(rows: int, values: int) -> bool:
    """Whether all tables can be enumerated."""
    return rows <= 200 and number_of_tables(rows, values) <= MOST_TABLES


@lru_cache(maxsize=32)
def joint(rows: int, values: int, l: int, kind: str, prior: str) -> dict[tuple[int, ...], dict[int, Fraction]]:
    """For every published table: the weight of S_1 having each published count.  Weights of one published table share a unit."""
    belief, found = Prior(prior), defaultdict(lambda: defaultdict(Fraction))
    for counts in tables(rows, values):
        if l * counts[0] <= rows:
            continue
        outcomes = KINDS[kind].outcomes(np.array(counts), l)
        if belief.plausible:
            for published, led, number in _distinct(counts, outcomes):
                found[published][led] += number
            continue
        weight = belief.weight(counts) * arrangements(counts)
        for chance, published in outcomes:
            if chance:
                listed = published.tolist()
                found[tuple(sorted(listed, reverse=True))][listed[0]] += weight * chance
    return {published: dict(weights) for published, weights in found.items()}


def _distinct(counts: Sequence[int], outcomes: Any) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Published table, S_1's count in it, and how many tables with names lead there from these counts at all."""
    seen = set()
    for chance, published in outcomes:
        pairs = list(zip(counts, published.tolist(), strict=True))
        key = (pairs[0], tuple(sorted(pairs)))
        if not chance or key in seen:
            continue
        seen.add(key)
        alike = Counter(count for _, count in pairs)
        number = prod(map(factorial, alike.values())) // prod(map(factorial, Counter(pairs).values()))
        yield tuple(sorted(alike.elements(), reverse=True)), pairs[0][1], number


def posterior(published: Sequence[int], rows: int, l: int, kind: str, prior: str = "uniform", *,
              samples: int = 400, rng: np.random.Generator | None = None) -> Posterior:  # fmt: skip
    """The attack on one published table that was made from `rows` records."""
    listed = tuple(sorted((int(count) for count in published), reverse=True))
    if sum(listed) == rows or not small(rows, len(listed)):
        if (
            sum(listed) == rows
        ):  # nothing was withheld: the release is the table, and nobody is accused by what is not there
            return Posterior({listed[0]: Fraction(0)}, 0.0, 0.0, True)
        by_count, low, high = sampled(
            listed, rows, l, KINDS[kind], Prior(prior), samples, rng or np.random.default_rng()
        )
        return Posterior(by_count, low, high, False)
    weights = joint(rows, len(listed), l, kind, prior).get(listed, {})
    if not weights:
        return Posterior({listed[0]: Fraction(0)}, 0.0, 0.0, True)
    total, alike = sum(weights.values()), Counter(listed)
    by_count: dict[int, Fraction | float] = {count: weight / total / alike[count] for count, weight in weights.items()}
    worst = float(max(by_count.values()))
    return Posterior(by_count, worst, worst, True)


@dataclass(frozen=True, slots=True)
class Risk:
    """What a suppression does to one table: the mean withheld and the worst posterior among what it may publish."""

    suppressed: float
    worst_posterior: float
    low: float
    high: float
    exact: bool


def risk(counts: Sequence[int], l: int, kind: str, prior: str = "uniform", *, draws: int = 12, samples: int = 150,
         rng: np.random.Generator | None = None) -> Risk:  # fmt: skip
    """The attack on every table that the suppression may publish of these counts; on some of them where they are too many."""
    falling = np.array(sorted((int(count) for count in counts if count), reverse=True))
    rows = int(falling.sum())
    if eligible(falling, l):
        return Risk(0.0, 0.0, 0.0, 0.0, True)
    rng = np.random.default_rng() if rng is None else rng
    suppression = KINDS[kind]
    if small(rows, len(falling)):
        published = {
            tuple(sorted(p.tolist(), reverse=True)) for chance, p in suppression.outcomes(falling, l) if chance
        }
    else:
        published = {tuple(sorted(suppression.draw(falling, l, rng).tolist(), reverse=True)) for _ in range(draws)}
    found = [posterior(table, rows, l, kind, prior, samples=samples, rng=rng) for table in published]
    worst = max(found, key=lambda one: one.worst)
    return Risk(suppression.expected(falling, l), float(worst.worst), worst.low, worst.high, worst.exact)


def on_release(release: Any, prior: str = "uniform", column: str | None = None) -> dict[str, Any]:
    """The attack on a release with a suppression among its stages, from what its recipient has."""
    manifest = release.manifest
    stage = next((stage for stage in manifest.get("prepare", []) if stage["name"] == "suppression"), None)
    name = (
        column
        or (stage or {}).get("column")
        or next(c["name"] for c in manifest["columns"] if c["role"] == "sensitive")
    )
    if stage is None or not manifest["withheld"]:
        return {
            "attack": "eligibility",
            "prior": prior,
            "worst_posterior": 0.0,
            "low": 0.0,
            "high": 0.0,
            "promised": None,
        }
    counts = release.frame()[name].drop_nulls().value_counts()["count"].to_list()
    found = posterior(counts, sum(counts) + manifest["withheld"], stage["l"], stage["kind"], prior)
    return {"attack": "eligibility", "prior": prior, "worst_posterior": float(found.worst), "low": found.low, "high": found.high,
            "promised": 1 / stage["l"]}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """What the attack believes of the withheld: it guesses nobody, so there is no success to count."""

    targets: int
    worst_posterior: float
    low: float
    high: float
    promised: float
    prior: str

    def to_dict(self) -> dict[str, Any]:
        none = {"success": None, "baseline": None}
        return {"attack": "eligibility", **none, **{name: getattr(self, name) for name in self.__slots__}}


def eligibility(release: Any, prior: str = "uniform", column: str | None = None) -> Found:
    """The attack under its name: how surely does who knows the algorithm tell which value was withheld?"""
    if not any(stage["name"] == "suppression" for stage in release.manifest.get("prepare", [])):
        raise RequestError(
            "The eligibility attack is on what suppression withheld; this release has no such stage.",
            attempt="another attack.",
        )
    found = on_release(release, prior, column)
    promised = found["promised"] if found["promised"] is not None else 1.0
    return Found(release.manifest["withheld"], found["worst_posterior"], found["low"], found["high"], promised, prior)
