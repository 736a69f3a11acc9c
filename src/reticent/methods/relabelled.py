"""Labels that are wider than their groups may coincide, and groups that read the same are one: do the promises still hold?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reticent.errors import PromiseUnreachable
from reticent.models.promises import Promises
from reticent.recipe.group_labels import coalesce
from reticent.recipe.recipe import WITHHELD, Recipe
from reticent.table.banded import BandDomain
from reticent.table.cells import Cells
from reticent.table.domain import Domain
from reticent.table.printed import PrintedDomain


def relabelled(promises: Promises, cells: Cells, recipe: Recipe) -> Recipe:
    """The recipe with labels that keep the promises; `cells` are what was planned on.

    A promise that a union of groups can break is checked on the groups as they read.  Where it breaks, columns that were widened
    unasked are tight after all; with labels that the steward asked for, it is refused.
    """
    if promises.union_closed or not any(_is_widened(domain) for domain in recipe.cells.quasi):
        return recipe
    if not _broken(promises, cells, coalesce(recipe)[0]):
        return recipe
    quasi = tuple(
        domain.tight if isinstance(domain, PrintedDomain | BandDomain) and not domain.asked else domain
        for domain in recipe.cells.quasi
    )
    tight = replace(recipe, cells=replace(recipe.cells, quasi=quasi))
    merged = coalesce(tight)[0]
    if broken := _broken(promises, cells, merged):
        names = " and ".join(promise.name for promise in promises)
        raise PromiseUnreachable(
            f"{names} cannot be kept with these labels.",
            why=f"{recipe.groups} groups keep the promise, {recipe.groups - merged.groups} of them read the same as another, and "
            f"{broken} of the groups that they make together break it.",
            attempt='a smaller step, or labels = "tight" for the columns that are snapped or padded.',
        )
    return tight


def _is_widened(domain: Domain) -> bool:
    """Whether labels of the column may be wider than their groups."""
    return isinstance(domain, PrintedDomain) or (isinstance(domain, BandDomain) and domain.labelling is not None)


def _broken(promises: Promises, cells: Cells, recipe: Recipe) -> int:
    """How many groups break a promise; the reference distribution is that of the rows which are published."""
    kept = recipe.group != WITHHELD
    counts = np.bincount(recipe.cell[kept], weights=recipe.quota[kept], minlength=len(cells)).astype(np.int64)
    groups = replace(recipe, cells=cells).as_groups()
    return int((~promises.bind(replace(cells, counts=counts)).allow(groups)).sum())
