"""The eligibility attack (Xu, Wang, Fu & Wong, sections 1.2 and 2): which value led the table before records were
withheld?

The adversary sees the published counts, knows |T| and the suppression with its probabilities (K1, K2), and weighs
every table that violates l-eligibility by a prior.  The posterior Pr(S'_i = S_1 | T_P, K) of a published value is its
share of

    sum over tables B in which it leads of   prior(B) Pr(T_P | B).

Which value a withheld person has is another question, with another posterior (`withheld`); the attack answers both.
How the first is had, and said in `how`:

    unsafe, safe    exact, under every prior here: S_1 is at the highest level, and values there are alike
    randomized      uniform prior: exact, counted (`counted`); bounds beyond thousands of records withheld
    calibrated      but for the prior `records`: a mixture with known parts (`mixture`), mostly exact, else bounds
    both            otherwise, and instead of bounds: exact where the tables behind the release are few (`candidates`);
                    else sampled, with an interval that holds (`sampled`)
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent import notebook
from reticent.attacks.eligibility import candidates, counted, mixture
from reticent.attacks.eligibility.counted import PublishedCounts
from reticent.attacks.eligibility.posteriors import How, Posterior, between, from_draws, nobody, shares
from reticent.attacks.eligibility.priors import Prior
from reticent.attacks.eligibility.sampled import MISS, weights
from reticent.attacks.eligibility.withheld import of_withheld
from reticent.attacks.score import CONTROL
from reticent.errors import RequestError
from reticent.methods.suppression.stage import KINDS
from reticent.table.roles import Role

MOST_LISTED = 10_000  # tables behind a release, up to renaming, that are listed
SAMPLES = 8_000
NONE = Posterior({0: Fraction(0)}, Fraction(0), Fraction(0), "exact")


def posterior(published: Sequence[int], rows: int, l: int, kind: str, prior: str = "uniform", *, listed: int = MOST_LISTED,
              samples: int = SAMPLES, miss: float = MISS,
              rng: np.random.Generator | None = None) -> Posterior:  # fmt: skip
    """The attack on one published table that was made from `rows` records."""
    table = PublishedCounts(tuple(sorted((int(count) for count in published), reverse=True)), rows, l)
    belief, suppression = Prior(prior), KINDS[kind]
    if not table.withheld or len(table.counts) < l:  # the release is the table, or no suppression's
        return nobody(table)
    if kind in ("unsafe", "safe"):
        share = Fraction(1, table.alike[table.level])
        possible = table.unsafe if kind == "unsafe" else table.safe
        return between({table.level: (share, share)}) if possible else nobody(table)
    if kind == "randomized" and prior == "uniform":
        return shares(table, counted.weights(table))
    mixed = None
    if kind == "calibrated" and prior in mixture.PRIORS:
        mixed = between(mixture.posteriors(table, prior)) if table.eligible else nobody(table)
        if mixed.exact:
            return mixed
    found = candidates.weights(table, suppression, belief, listed)
    if found is not None:
        return shares(table, found)
    if mixed is not None:
        return mixed
    drawn = weights(table, suppression, belief, samples, rng or np.random.default_rng(), miss)
    return from_draws(table, drawn)


def both(published: Sequence[int], rows: int, l: int, kind: str, prior: str = "uniform", *, listed: int = MOST_LISTED,
         **how: Any) -> tuple[Posterior, Posterior]:  # fmt: skip
    """The attack's two questions: which value led, and which value a withheld person has."""
    leading = posterior(published, rows, l, kind, prior, listed=listed, **how)
    table = PublishedCounts(tuple(sorted((int(count) for count in published), reverse=True)), rows, l)
    return leading, of_withheld(table, KINDS[kind], Prior(prior), leading, listed)


def published_counts(release: Any, column: str) -> list[int]:
    """How many published people have each value of a sensitive column; refused where values were redrawn."""
    if column not in [entry.name for entry in release.manifest.named(Role.SENSITIVE)]:
        raise RequestError(f"The release has no sensitive column {column!r}.", attempt="one of its sensitive columns.")
    return release.value_counts(column).drop_nulls(column).to_series(1).to_list()


def on_release(release: Any, prior: str = "uniform", column: str | None = None) -> dict[str, Any]:
    """The attack on a release with a suppression among its stages, from what its recipient has."""
    manifest = release.manifest
    stage = manifest.stage("suppression")
    if stage is None or not manifest.withheld:
        return {"attack": "eligibility", "prior": prior, **_leading(NONE), **_withheld(NONE), "promised": None}
    counts = published_counts(release, column or stage.column or manifest.sensitive.name)
    rows, l = sum(counts) + manifest.withheld, stage.parameters["l"]
    leading, withheld = both(counts, rows, l, stage.parameters.get("kind", "calibrated"), prior)
    if not leading.worst:
        raise RequestError(
            f"No table of {rows:,} rows gives these counts by suppression alone.",
            why="Rows were withheld for another reason too, or the files are not as they were published.",
            attempt="attacking a release from which suppression alone withheld.",
        )
    answers = _leading(leading) | _withheld(withheld)
    return {"attack": "eligibility", "prior": prior, **answers, "promised": 1 / l}


def _leading(found: Posterior) -> dict[str, Any]:
    low, high = found.ends
    return {"worst_posterior": float(found.worst), "low": low, "high": high, "how": found.how}


def _withheld(found: Posterior) -> dict[str, Any]:
    low, high = found.ends
    worst = high if found.how != "exact" else float(found.worst)
    return {"worst_withheld_posterior": worst, "withheld_low": low, "withheld_high": high, "withheld_how": found.how}


@dataclass(frozen=True, slots=True)
class Belief:
    """What the attack believes of the withheld: it guesses nobody, so there is no success to count.

    `worst_posterior` is how surely it tells which value led the table, `worst_withheld_posterior` how surely which value a withheld
    person has; each with its ends and how it was had."""

    targets: int
    worst_posterior: float
    low: float
    high: float
    how: How
    promised: float
    prior: str
    worst_withheld_posterior: float
    withheld_low: float
    withheld_high: float
    withheld_how: How

    def _repr_html_(self) -> str:
        return notebook.attack(self)

    def to_dict(self) -> dict[str, Any]:
        none = {"success": None, "baseline": None, **dict.fromkeys(CONTROL)}
        return {"attack": "eligibility", **none, **{name: getattr(self, name) for name in self.__slots__}}


def eligibility(release: Any, prior: str = "uniform", column: str | None = None) -> Belief:
    """The attack under its name: how surely does who knows the algorithm tell which value was withheld?"""
    if release.manifest.stage("suppression") is None:
        raise RequestError(
            "The eligibility attack is on what suppression withheld; this release has no such stage.",
            attempt="another attack.",
        )
    answers = on_release(release, prior, column)
    del answers["attack"]
    promised = answers.pop("promised")
    return Belief(targets=release.manifest.withheld, promised=1.0 if promised is None else promised, **answers)
