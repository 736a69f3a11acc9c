"""Local suppression as a choice (`suppress_at_most`): outlying rows are withheld where that lowers the total loss.

A withheld row counts 1, so it pays only where the others of its group then lose less.  Every group is looked at in every
column: what would it gain if all its values below, or above, some value were withheld?  The best such trims are taken, and the
method plans anew on the rows that are left; what it makes of them is kept if it loses less in total, else fewer are tried.

Every plan is made for, and checked against, the rows it publishes: their totals are the reference distribution of t, beta and
delta, so a promise holds on the published table whatever was withheld.  The number withheld is published, the rows never.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.errors import PromiseUnreachable
from reticent.methods.base import Method
from reticent.models.promise import BoundPromises, CandidateGroups, Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import compute_column_losses, compute_total_loss, compute_weight_shares
from reticent.recipe.recipe import WITHHELD_GROUP, PreparedCells, Recipe

MAX_PLANS = 8  # that one search may make


def plan_withholding(method: Method, cells: Cells, promises: Promises, rng: Random, at_most: Fraction) -> Recipe:
    """Return the method's plan, or one that withholds up to a share `at_most` of the rows and loses less."""
    search = _WithholdingSearch(method, cells, promises, rng, int(cells.rows * at_most))
    start = method.plan(cells, promises, rng)
    plans = [search.lower_loss(search.lower_loss(start, bold=first), bold=not first) for first in (False, True)]
    return min([start, *plans], key=search.loss)  # the first of equals: nothing is withheld for nothing


def choose_trims(recipe: Recipe, promises: Promises, weights: Any, amount: int, *, bold: bool = False) -> np.ndarray:
    """Choose how many more rows of each original cell to withhold, at most `amount`: the trims that gain most for each row.

    If not `bold`, what is left of a group must keep the promises by itself; a bold trim trusts the next plan to find
    other places for them.
    """
    cells = recipe.cells
    published = np.flatnonzero(recipe.group != WITHHELD_GROUP)
    group = recipe.group[published]
    cell = recipe.cell[published]
    quota = recipe.quota[published]
    bound = promises.bind(PreparedCells.from_cells(cells, count_withheld_rows(recipe)).cells)
    trims = _find_best_trims(
        recipe, group, cell, quota, compute_weight_shares(cells, weights), 1 if bold else bound.least_size
    )
    goes = _select_trimmed(cells, trims, group, cell)
    if not bold:
        trims.gain[~_are_allowed(bound, recipe, group, cell, np.where(goes, 0, quota))] = 0
    order = np.argsort(-trims.gain, kind="stable")
    order = order[trims.gain[order] > 0]
    order = order[np.cumsum(trims.rows[order]) <= amount]
    chosen = np.zeros(recipe.groups, bool)
    chosen[order] = True
    withheld = goes & chosen[group]
    return np.bincount(cell[withheld], weights=quota[withheld], minlength=len(cells)).astype(np.int64)


def count_withheld_rows(recipe: Recipe) -> np.ndarray:
    """Count the rows of each cell that a recipe withholds."""
    is_withheld = recipe.group == WITHHELD_GROUP
    return np.bincount(recipe.cell[is_withheld], weights=recipe.quota[is_withheld], minlength=len(recipe.cells)).astype(
        np.int64
    )


@dataclass(frozen=True, eq=False)
class _WithholdingSearch:
    method: Method
    cells: Cells
    promises: Promises
    rng: Random
    budget: int

    def loss(self, recipe: Recipe) -> float:
        return compute_total_loss(recipe, getattr(self.method, "weights", None))

    def lower_loss(self, best: Recipe, *, bold: bool) -> Recipe:
        """Trim and plan anew as long as that lowers the loss; a failure halves what is tried next."""
        best_loss = self.loss(best)
        amount = self.budget
        for _ in range(MAX_PLANS):
            max_rows = min(amount, self.budget - best.withheld)
            trimmed = choose_trims(best, self.promises, getattr(self.method, "weights", None), max_rows, bold=bold)
            if not trimmed.any():
                break
            plan = self._plan_without(count_withheld_rows(best) + trimmed)
            if plan is not None and (plan_loss := self.loss(plan)) < best_loss:
                best = plan
                best_loss = plan_loss
            else:
                amount = int(trimmed.sum()) // 2
        return best

    def _plan_without(self, withheld: np.ndarray) -> Recipe | None:
        prepared = PreparedCells.from_cells(self.cells, withheld)
        try:
            return prepared.complete(self.method.plan(prepared.cells, self.promises, self.rng))
        except PromiseUnreachable:
            return None


def _find_best_trims(
    recipe: Recipe, group: np.ndarray, cell: np.ndarray, quota: np.ndarray, share: np.ndarray, min_rows: int
) -> _Trims:
    sizes = recipe.as_groups().sizes
    losses = compute_column_losses(recipe)
    group_losses = losses @ share
    trims = _Trims.none(recipe.groups)
    for column_index, domain in enumerate(recipe.cells.quasi):
        code = recipe.cells.codes[cell, column_index].astype(np.int64)
        runs, run = np.unique(group * domain.size + code, return_inverse=True)
        rows = np.bincount(run.reshape(-1), weights=quota).astype(np.int64)
        of = runs // domain.size
        value = runs % domain.size
        start = np.flatnonzero(np.diff(of, prepend=-1))
        low = value[start][of]
        high = value[np.append(start[1:], len(of)) - 1][of]
        until = np.cumsum(rows)
        below = until - (until - rows)[start][of]  # rows of the group up to and including this value
        for rest_low, rest_high, first, last, trimmed_rows in (
            (np.append(value[1:], 0), high, low, value, below),
            (low, np.append(0, value[:-1]), value, high, sizes[of] - below + rows),
        ):
            fine = np.flatnonzero((trimmed_rows < sizes[of]) & (sizes[of] - trimmed_rows >= min_rows))
            rest_loss = domain.loss(rest_low[fine], rest_high[fine])
            trimmed_groups = of[fine]
            rows_out = trimmed_rows[fine]
            gain = (sizes[trimmed_groups] - rows_out) * share[column_index] * (
                losses[trimmed_groups, column_index] - rest_loss
            ) - rows_out * (1 - group_losses[trimmed_groups])
            trims.offer(trimmed_groups, gain / rows_out, column_index, first[fine], last[fine], rows_out)
    return trims


def _select_trimmed(cells: Cells, trims: _Trims, group: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """Select the entries that the best trim of their group takes."""
    column = trims.column[group]
    code = cells.codes[cell, np.maximum(column, 0)]
    return (column >= 0) & (code >= trims.first[group]) & (code <= trims.last[group])


def _are_allowed(
    bound: BoundPromises, recipe: Recipe, group: np.ndarray, cell: np.ndarray, remaining: np.ndarray
) -> np.ndarray:
    """Tell whether the rest of each group keeps the promises as they are now: a hint, the next plan decides."""
    order = np.flatnonzero(remaining > 0)
    order = order[np.argsort(group[order], kind="stable")]
    offsets = np.append(0, np.cumsum(np.bincount(group[order], minlength=recipe.groups)))
    return bound.allow(CandidateGroups(recipe.cells, cell[order], remaining[order], offsets))


@dataclass(frozen=True, eq=False)
class _Trims:
    """The best trim of each group so far: rows gained per row withheld, and which codes of which column go."""

    gain: np.ndarray
    column: np.ndarray
    first: np.ndarray
    last: np.ndarray
    rows: np.ndarray

    @classmethod
    def none(cls, groups: int) -> _Trims:
        column, first, last = (np.full(groups, -1, np.int64) for _ in range(3))
        return cls(np.zeros(groups), column, first, last, np.zeros(groups, np.int64))

    def offer(
        self, group: np.ndarray, gain: np.ndarray, column: int, first: np.ndarray, last: np.ndarray, rows: np.ndarray
    ) -> None:
        order = np.lexsort((gain, group))
        top = order[np.append(group[order][1:] != group[order][:-1], True)] if len(order) else order
        top = top[gain[top] > self.gain[group[top]]]
        groups = group[top]
        self.gain[groups] = gain[top]
        self.column[groups] = column
        self.first[groups] = first[top]
        self.last[groups] = last[top]
        self.rows[groups] = rows[top]
