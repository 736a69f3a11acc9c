"""By how much a release of redrawn values can multiply the odds of two values of a person, and several releases together.

A release at random has, for any two values x and x' of a person and everything else in the table fixed, a greatest ratio
rho of the chances of what is published.  By Bayes' rule the odds of x against x' grow by at most that.

    sampled     1 + p / (k c u), u = (1 - p) / |U|, where a person has c rows at most: the tuple shows x with at most p + u, and somebody else's value of a group of
                at least k c (`models/corruption_guarantees.py`); k = 1 where the grouping looks at perturbed values
    perturbed   the greatest ratio of two entries of a column of the matrix, for who knows nobody else's value and the
                overall distribution, from which the matrix is made

Several releases.  Given the table, releases draw independently, so the chance of all of them is the product of theirs, and
so is the ratio: for everyone else's values o, P(R1, R2 | x, o) <= rho1 rho2 P(R1, R2 | x', o).  Whatever is believed of o,
as long as it does not depend on x, the sum over o keeps the inequality.  So odds multiply by at most the product of all
rho, and a belief q in a condition becomes at most q rho / (1 + q (rho - 1)).  A person with several rows is drawn for each:
rho to that power.  Draws of two releases that were both made with a seed may be the same, and nothing is said of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from reticent.format.schema_checks import parse_fraction
from reticent.limits import MAX_ROWS_OF_REDRAWN_PERSON


@dataclass(frozen=True, slots=True)
class ReleaseOdds:
    """The greatest growth of odds by a release; None where nothing bounds it, and why."""

    odds: Fraction | None
    why: str = ""
    seeded: bool = False


def bound_release_odds(manifest: Any) -> ReleaseOdds:
    """Bound by how much a release can multiply the odds of two values of a person, from its manifest."""
    rows = int(manifest.rows_per_person)
    seeded = bool(manifest.seeded)
    if rows > MAX_ROWS_OF_REDRAWN_PERSON:
        return ReleaseOdds(None, f"a person may have {rows:,} rows, and each is drawn for", seeded)
    if "p" in manifest.own:
        p = parse_fraction(manifest.own["p"])
        grouping = manifest.method.parameters.get("grouping", "mondrian")
        size = int(manifest.own["k"]) * rows if grouping == "mondrian" else 1
        redrawn = (1 - p) / len(manifest.own["domain"])
        if not redrawn:
            return ReleaseOdds(None, "it keeps every value that it shows", seeded)
        return ReleaseOdds((1 + p / (size * redrawn)) ** rows, seeded=seeded)
    if "matrix" in manifest.own:
        matrix = [[parse_fraction(chance) for chance in row] for row in manifest.own["matrix"]]
        columns = list(zip(*matrix, strict=True))
        if any(min(column) == 0 < max(column) for column in columns):
            return ReleaseOdds(None, "some values are never redrawn as others", seeded)
        ratio = max(max(column) / min(column) for column in columns if max(column))
        return ReleaseOdds(ratio**rows, seeded=seeded)
    return ReleaseOdds(None, f"a {manifest.kind} release shows what people have, which no odds bound", seeded)


def multiply_odds(parts: Sequence[ReleaseOdds]) -> ReleaseOdds:
    """Bound the odds by several releases of the same people together."""
    for part in parts:
        if part.odds is None:
            return part
    if sum(part.seeded for part in parts) > 1:
        return ReleaseOdds(None, "several of the releases were made with a seed, and may share their draws")
    return ReleaseOdds(prod((part.odds for part in parts if part.odds is not None), start=Fraction(1)))


def bound_belief(prior: Fraction, odds: Fraction) -> Fraction:
    """Bound what a belief can become if its odds are multiplied by so much."""
    return prior * odds / (1 + prior * (odds - 1))
