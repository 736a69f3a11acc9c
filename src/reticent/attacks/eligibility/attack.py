"""The eligibility attack (Xu, Wang, Fu & Wong, sections 1.2 and 2): which value led the table before records were withheld?

The adversary sees the published counts, knows |T| and the suppression with its probabilities (K1, K2), and weighs every table
that violates l-eligibility by a prior.  The posterior Pr(S'_i = S_1 | T_P, K) of a published value is its share of

    sum over tables B in which it leads of   prior(B) Pr(T_P | B).

How it is had, and said in `how`:

    unsafe, safe    exact, under every prior here: S_1 is at the highest level, and values there are alike
    randomized      uniform prior: exact, counted (`counted`); bounds beyond thousands of records withheld
    calibrated      but for the prior `records`: a mixture with known parts (`mixture`), mostly exact, else bounds
    both            otherwise, and instead of bounds: exact where the tables behind the release are few (`candidates`);
                    else sampled, with an interval that holds (`sampled`)
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from typing import Any, Literal

import numpy as np

from reticent.attacks.eligibility import candidates, counted, mixture, sampled
from reticent.attacks.eligibility.counted import PublishedCounts
from reticent.attacks.eligibility.priors import Prior
from reticent.errors import RequestError
from reticent.methods.suppression.stage import KINDS

How = Literal["exact", "bounds", "sampled"]
MOST_LISTED = 10_000  # tables behind a release, up to renaming, that are listed
SAMPLES = 8_000


@dataclass(frozen=True, slots=True)
class Posterior:
    """The posterior of each published count's values (one of them) and the worst, between `low` and `high`.

    `exact`: both are the worst.  `bounds`: it lies between them for certain, and `by_count` has upper ends.  `sampled`: with
    probability 95 %, and `by_count` has estimates.
    """

    by_count: Mapping[int, Fraction | float]
    low: Fraction | float
    high: Fraction | float
    how: How

    @property
    def worst(self) -> Fraction | float:
        return max(self.by_count.values())

    @property
    def exact(self) -> bool:
        return self.how == "exact"


def posterior(published: Sequence[int], rows: int, l: int, kind: str, prior: str = "uniform", *, listed: int = MOST_LISTED,
              samples: int = SAMPLES, miss: float = sampled.MISS,
              rng: np.random.Generator | None = None) -> Posterior:  # fmt: skip
    """The attack on one published table that was made from `rows` records."""
    table = PublishedCounts(tuple(sorted((int(count) for count in published), reverse=True)), rows, l)
    belief, suppression = Prior(prior), KINDS[kind]
    if not table.withheld or len(table.counts) < l:  # the release is the table, or no suppression's
        return _nobody(table)
    if kind in ("unsafe", "safe"):
        share = Fraction(1, table.alike[table.level])
        possible = table.unsafe if kind == "unsafe" else table.safe
        return _between({table.level: (share, share)}) if possible else _nobody(table)
    if kind == "randomized" and prior == "uniform":
        return _shares(table, counted.weights(table))
    mixed = None
    if kind == "calibrated" and prior in mixture.PRIORS:
        mixed = _between(mixture.posteriors(table, prior)) if table.eligible else _nobody(table)
        if mixed.exact:
            return mixed
    found = candidates.weights(table, suppression, belief, listed)
    if found is not None:
        return _shares(table, found)
    if mixed is not None:
        return mixed
    drawn = sampled.weights(table, suppression, belief, samples, rng or np.random.default_rng(), miss)
    return _sampled(table, drawn)


def _nobody(table: PublishedCounts) -> Posterior:
    return Posterior({table.level: Fraction(0)}, Fraction(0), Fraction(0), "exact")


def _shares(table: PublishedCounts, weights: Mapping[int, tuple[Any, Any]]) -> Posterior:
    """Posteriors from weights between bounds: a value's own at one end, all others' at the other."""
    if not weights:
        return _nobody(table)
    ends = {}
    for count, (low, high) in weights.items():
        others = [
            sum(table.alike[other] * weights[other][end] for other in weights if other != count) for end in (0, 1)
        ]
        least, most = low * table.alike[count] + others[1], high * table.alike[count] + others[0]
        ends[count] = (low / least if low else 0 * low, high / most)
    return _between(ends)


def _between(ends: Mapping[int, tuple[Any, Any]]) -> Posterior:
    low, high = max(low for low, _ in ends.values()), max(high for _, high in ends.values())
    by_count = {count: high for count, (_, high) in ends.items() if high}
    return Posterior(by_count, low, high, "exact" if low == high else "bounds")


def outward(low: Fraction | float, high: Fraction | float) -> tuple[float, float]:
    """As floating-point numbers that are not nearer to each other."""
    down, up = float(low), float(high)
    return nextafter(down, 0.0) if down > low else down, nextafter(up, 1.0) if up < high else up


def _sampled(table: PublishedCounts, weights: Mapping[int, tuple[float, float, float]]) -> Posterior:
    if not weights:
        return _nobody(table)
    ends = _shares(table, {count: (Fraction(low), Fraction(high)) for count, (low, _, high) in weights.items()})
    total = sum(table.alike[count] * middle for count, (_, middle, _) in weights.items())
    by_count = {count: middle / total if total else ends.high for count, (_, middle, _) in weights.items()}
    return Posterior(by_count, *outward(ends.low, ends.high), "sampled")


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
            "how": "exact",
            "promised": None,
        }
    counts = release.frame()[name].drop_nulls().value_counts()["count"].to_list()
    found = posterior(counts, sum(counts) + manifest["withheld"], stage["l"], stage["kind"], prior)
    if not found.worst:
        raise RequestError(
            f"No table of {sum(counts) + manifest['withheld']:,} rows gives these counts by suppression alone.",
            why="Rows were withheld for another reason too, or the files are not as they were published.",
            attempt="attacking a release from which suppression alone withheld.",
        )
    low, high = (float(found.low), float(found.high)) if found.exact else outward(found.low, found.high)
    return {"attack": "eligibility", "prior": prior, "worst_posterior": float(found.worst), "low": low, "high": high,
            "how": found.how, "promised": 1 / stage["l"]}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """What the attack believes of the withheld: it guesses nobody, so there is no success to count."""

    targets: int
    worst_posterior: float
    low: float
    high: float
    how: How
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
    ends = found["low"], found["high"]
    return Found(release.manifest["withheld"], found["worst_posterior"], *ends, found["how"], promised, prior)
