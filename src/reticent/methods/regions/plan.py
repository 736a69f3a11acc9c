"""A plan in two levels (ADR 10): coarse regions from a sample, and an exact plan of each, wherever it is made.

1. `coarse` cuts quasi-identifier space by a keyed sample.
2. Each side of each cut is checked exactly, with the whole table's totals: a cut of which a side breaks a promise is taken back.
3. Each region is planned by the job's method against the whole table's totals, so every group keeps what is promised of the
   whole table.  Regions know nothing of each other: executors plan them.
4. Groups of two regions may read the same and are then one group; only promises that a union of groups keeps are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import starmap
from typing import Any

import numpy as np

from reticent.errors import JobError
from reticent.methods.protocols import Method
from reticent.methods.reachable import check_reachable
from reticent.methods.regions.coarse import Tree, coarse, sampled
from reticent.models.promises import Promises
from reticent.models.shapes import Groups, totals_of
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells

Each = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterable[Any]]
"""Calls a function with each of some arguments, wherever there is room; the results in the same order."""

_WHOLE = {
    "mosaic": "it moves rows by how the values of all rows are distributed",
    "burel": "its buckets are filled from all rows",
    "sabre": "its buckets are filled from all rows",
    "anatomy": "its groups draw on the values of all rows",
    "distribution": "its groups are made over all rows",
    "beta-perturbation": "it has no groups to plan",
    "perturbed-generalization": "it redraws values before groups are made",
}


def refuse(method: Method, promises: Promises, *, prepared: bool = False, withholding: bool = False) -> None:
    """Before data is read: what cannot be planned region by region."""
    why = _WHOLE.get(method.name, "") or (
        "a stage before the method speaks of all rows" if prepared
        else "the rows that are best withheld are chosen among all" if withholding
        else ""
    )  # fmt: skip
    for promise in promises:
        if not why and getattr(promise, "whole_table", False):
            why = f"{promise.name} has a prior over all rows"
        if not why and getattr(promise, "population", None) is not None:
            why = f"{promise.name} counts a population under each group's labels"
        if not why and not getattr(promise, "union_closed", False):
            why = f"{promise.name} may break where groups of two regions read the same"
    if why:
        raise JobError(
            f"{method.name} with these promises cannot be planned in regions: {why}.",
            attempt='no regions, or method = "mondrian" with k-anonymity, l-diversity, t-closeness or beta-likeness.',
        )


def plan(method: Method, cells: Cells, promises: Promises, rng: Random, regions: int, each: Each = starmap) -> Recipe:
    """One recipe of all regions; `each` is where regions are planned."""
    totals = totals_of(cells, None)
    check_reachable(cells, promises, method.name)
    tree = coarse(sampled(cells, rng), promises, regions, getattr(method, "weights", None))
    tree = tree.pruned(fine(tree, tree.route(cells.codes), cells, promises))
    leaf = tree.route(cells.codes)
    order = np.argsort(leaf, kind="stable")
    ends = np.flatnonzero(np.diff(leaf[order], append=-1)) + 1
    members = np.split(order, ends[:-1])
    known = replace(promises, reference=totals)
    asked = ((method, _part(cells, member), known, rng.apart(f"region {at}")) for at, member in enumerate(members))
    return _joined(cells, members, each(region, asked))


def region(method: Method, cells: Cells, promises: Promises, rng: Random) -> tuple[Any, ...]:
    """The plan of one region, in numbers of its own: cells, groups, quotas, how many groups, and how they print."""
    recipe = method.plan(cells, promises, rng)
    return recipe.cell.astype(np.int32), recipe.group.astype(np.int32), recipe.quota, recipe.groups, recipe.labels


def _part(cells: Cells, member: np.ndarray) -> Cells:
    return replace(cells, codes=cells.codes[member], values=cells.values[member], counts=cells.counts[member])


def fine(tree: Tree, leaf: np.ndarray, cells: Cells, promises: Promises) -> np.ndarray:
    """Which nodes of the tree keep every promise as one group, counted exactly; `leaf` is where each cell is sent."""
    bound = promises.bind(cells)
    found = np.zeros(len(tree.column), bool)
    for above in tree.chains():
        at = above[leaf]
        held = np.flatnonzero(at >= 0)
        order = held[np.argsort(at[held], kind="stable")]
        nodes, first = np.unique(at[order], return_index=True)
        found[nodes] = bound.allow(Groups(cells, order, cells.counts[order], np.append(first, len(order))))
    return found


def _joined(cells: Cells, members: list[np.ndarray], plans: Iterable[tuple[Any, ...]]) -> Recipe:
    cell, group, quota, before, labels = [], [], [], 0, "nodes"
    for member, (cells_, groups_, quotas, many, labels) in zip(members, plans, strict=True):  # noqa: B007
        cell.append(member[cells_])
        group.append(np.where(groups_ >= 0, groups_.astype(np.int64) + before, groups_))
        quota.append(quotas)
        before += many
    joined = [np.concatenate(part) for part in (cell, group, quota)]
    return Recipe(cells, joined[0], joined[1], joined[2], before, labels=labels)
