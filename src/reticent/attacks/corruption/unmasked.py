"""What corruption does to a release that shows people's values (Tao, Xiao, Li & Zhang, ICDE 2008, lemmas 1 and 2).

Lemma 2: whoever knows everyone else's value takes these from what is published; where a value is left over, it is the victim's, for
certain, however little was believed before.  Of a complete release one is left over for everybody.  Of a random sample of one it is so
for whoever has a value of which the sample shows as many as people have: `left_over` counts them, for whole tables or group by group.

Redrawn values are no counts, but the manifest of a perturbed release has the overall distribution, which is: its promise is about who
knows that distribution and nobody else's value.

Lemma 1, without any corruption: the values of a group with u different ones, less the l - 2 that (c,l)-diversity lets an adversary rule
out, make a predicate with the prior (u - l + 2) / (|U| - l + 2) that is certain afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.release.manifest import Manifest
from reticent.table.cells import Cells


@dataclass(frozen=True, slots=True)
class Unmasked:
    """Of `targets` people the value of so many follows from everyone else's; `rarest` is the share of their rarest value."""

    targets: int
    unmasked: int
    baseline: float
    rarest: float
    facts: dict[str, Any] = field(default_factory=dict)


def unmasked(release: Any, people: pl.DataFrame) -> Unmasked:
    if len(release.manifest.named("sensitive")) != 1:
        raise RequestError("An attack needs a release with one sensitive column.")
    column = release.manifest.sensitive.name
    redrawn = "matrix" in release.manifest.own
    shown = _told_by_manifest(release.manifest) if redrawn else _counts(release.value_counts(column))
    held = _counts(people.group_by(pl.col(column).alias("value")).len("count"))
    values = sorted(held, key=str)
    true = np.array([held[value] for value in values])
    published = np.array([shown.get(value, 0) for value in values])
    surely = left_over(published, true)
    hits = int(true[surely].sum())
    total = int(true.sum())
    rarest = float(true[surely].min() / total) if hits else 0.0
    facts = {} if redrawn else _lemma1(release, people, len(values))
    return Unmasked(total, hits, float(true.max() / total), rarest, facts)


def _told_by_manifest(manifest: Manifest) -> dict[str | None, int]:
    """How many people have each value, as far as a manifest of redrawn values tells it.

    With the overall distribution it tells all of them.  Without, the list of values tells of each that one person has it at
    least, unless a hierarchy or an order lists them.
    """
    values, column = manifest.own["values"], manifest.sensitive
    if "distribution" in manifest.own:
        shares = [Fraction(str(share)) for share in manifest.own["distribution"]]
        return {value: round(share * manifest.rows) for value, share in zip(values, shares, strict=True)}
    declared = column.hierarchy is not None or column.order is not None
    return dict.fromkeys(values, 0 if declared else 1)


def left_over(published: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Where who has the value is unmasked: all who have it but one are known, and more than these are published."""
    return (true > 0) & (published > true - 1)


def _counts(counted: pl.DataFrame) -> dict[str | None, int]:
    """How many rows hold each value, from values and counts beside them."""
    return dict(zip(counted.to_series(0).cast(pl.String).to_list(), counted.to_series(1).to_list(), strict=True))


def _lemma1(release: Any, people: pl.DataFrame, values: int) -> dict[str, Any]:
    """The prior of a predicate that a group makes certain."""
    from reticent.attacks.seen import counted

    cells: Cells = counted(release.columns, people)
    distinct = int((release.sight(cells).counts > 0).sum(axis=1).min())
    ruled_out = max(_l(release.manifest) - 2, 0)
    prior = certain_predicate(distinct, values, ruled_out + 2)
    return {"predicate_prior": float(prior), "predicate_posterior": 1.0}


def certain_predicate(distinct: int, domain: int, l: int) -> Fraction:  # noqa: E741  the field's own letter
    """Lemma 1: the prior of a predicate that is certain once the group is seen."""
    return Fraction(distinct - l + 2, domain - l + 2)


def _l(manifest: Manifest) -> int:
    asked = [int(p.parameters["l"]) for p in manifest.promises if p.name == "recursive-l-diversity"]
    return min(asked, default=2)
