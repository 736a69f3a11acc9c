"""What a steward should hear before publishing: people who would stand alone in their group, and beliefs that were certain before.

Promises that bound how far a belief moves, and those that allow a group of one, say nothing about who stands alone: (B,t)-privacy
publishes a person's own row where the adversary was sure before, and a frequent value may be shown by one row under beta-likeness.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells


def count_lone_people(recipe: Recipe) -> int:
    """How many groups have one row."""
    return int((recipe.as_groups().sizes == 1).sum())


def describe_lone_people(alone: int) -> list[str]:
    """A sentence on so many groups of one; nothing where there is none."""
    if not alone:
        return []
    people = "1 person stands" if alone == 1 else f"{alone:,} people stand"
    return [
        f"{people} alone: their group has one row, and who finds it reads their value. The promises allow it. k-anonymity beside them "
        "does not: k = 5, for instance."
    ]


def warn_of_lone_people(promises: Iterable[Any], recipe: Recipe, cells: Cells) -> list[str]:
    """A sentence on groups of one, and one for each promise whose adversary was certain of people before the release.

    `cells` are those that the promises were planned on.
    """
    found = describe_lone_people(count_lone_people(recipe))
    for promise in promises:
        if hasattr(promise, "count_certain_priors"):
            found += _certain(promise, cells)
    return found


def _certain(promise: Any, cells: Cells) -> list[str]:
    counts = promise.count_certain_priors(cells)
    people = cells.rows
    points = [(bandwidth, certain) for (bandwidth, _), certain in zip(promise.skyline, counts, strict=True) if certain]
    return [
        f"{promise.name}: of {people:,} people the adversary of bandwidth {_said(bandwidth)} knew the value of {certain:,} before the "
        "release: a prior that is certain moves by nothing, and the promise does not protect them."
        for bandwidth, certain in points
    ]


def _said(bandwidth: Any) -> str:
    if isinstance(bandwidth, dict):
        return "{" + ", ".join(f"{name}: {_said(value)}" for name, value in bandwidth.items()) + "}"
    return bandwidth if isinstance(bandwidth, str) else f"{float(bandwidth):g}"
