"""Mosaic: generalization by local recoding that gives up the least information for a promise.

Groups need not be cuts of space: rows of one cell may go to several groups, and boxes may overlap.  Sizes and distinct
values are kept by ordering rows, cutting the order optimally and re-solving pools of near groups; caps on values by
carriers, quota cuts and the same re-solving; everything else by quota cuts whose every result the promises themselves
check.

Equal labels coalesce when a release is published, so only promises closed under union are taken, and delta-disclosure
with absent values ignored, for which coalescing is done here and repaired.

Mondrian's groups are the start where kernels know nothing of a promise.  Elsewhere they are compared with what a search
found: where they lose less, the search is made again from them (`TilingSearch.improve_strict_tiling`).

Semantic beta-likeness is beta-likeness of families, so the search sees families in place of values (`fold_families`).

`repair_tiling` merges groups that break a promise with their nearest, until every group keeps it: for promises that
kernels judge only in part, and for delta-disclosure with absent values ignored, where groups that keep the promise can
break it once equal labels make them one.  One group of all rows keeps every promise that gets here, so this ends.

The method is ours; see docs/methods/mosaic.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.errors import JobError
from reticent.methods.base import Method, bind_reachable_promises
from reticent.methods.mondrian import Mondrian
from reticent.methods.mosaic import segments
from reticent.methods.mosaic.initial_groups import CAPPED_STRATEGY, make_initial_tiling
from reticent.methods.mosaic.kernel_tables import (
    KernelRule,
    LossSpace,
    fold_families,
    make_kernel_rule,
    make_loss_space,
)
from reticent.methods.mosaic.local_search import resolve_tiling
from reticent.methods.mosaic.quota_cuts import LARGE_GROUP_ROWS, cut_top_down
from reticent.methods.mosaic.tiling import SweepBudget, SweepWatch, Tiling, make_tiling
from reticent.models.delta_disclosure import DeltaDisclosure
from reticent.models.promise import BoundPromises, CountCappedPromise, GroupCheckedPromise, Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe
from reticent.validation import check_parameters, document_parameters

MAX_GROUPS_MERGED_AT_ONCE = 256
MAX_NEAR_GROUPS = 400
MAX_COMPARED_CELLS = 50_000  # beyond which k and caps, where Mondrian led nowhere, are not compared with it


def repair_tiling(cells: Cells, space: LossSpace, bound: BoundPromises, tiling: Tiling) -> Tiling:
    while len(tiling) > 1:
        broken = np.flatnonzero(~bound.allow(tiling.groups(cells)))
        if not len(broken):
            break
        tiling = _merge_pairs(tiling, _find_partners(cells, space, bound, tiling, broken[:MAX_GROUPS_MERGED_AT_ONCE]))
    return tiling


def merge_groups_with_equal_labels(cells: Cells, space: LossSpace, bound: BoundPromises, tiling: Tiling) -> Tiling:
    """Merge groups with equal labels, as a recipient sees them, such that each keeps every promise.

    Where groups that keep a promise apart would break it as one, the smallest of them joins a near group that leaves it
    another label, until what shares a label can be one.
    """
    tiling = repair_tiling(cells, space, bound, tiling)
    while True:
        recipe, _ = merge_equal_labels(make_recipe(cells, tiling))
        label = recipe.group[tiling.starts[:-1]]
        merged = make_tiling(recipe.cell, recipe.group, recipe.quota)
        allowed = bound.allow(merged.groups(cells))
        if allowed.all():
            return merged
        number = np.where(allowed[label], label, len(merged) + np.arange(len(tiling)))
        separated = _renumber_groups(tiling, number)
        separated_group = np.unique(number, return_inverse=True)[
            1
        ]  # the group of `apart` that each group of `tiling` is in
        clusters = [np.unique(separated_group[label == broken]) for broken in np.flatnonzero(~allowed)]
        pairs = _pair_clusters(cells, space, bound, separated, clusters)
        tiling = _merge_pairs(separated, pairs) if len(pairs) else repair_tiling(cells, space, bound, merged)


def make_recipe(cells: Cells, tiling: Tiling) -> Recipe:
    group = np.repeat(np.arange(len(tiling)), np.diff(tiling.starts))
    return Recipe(cells, tiling.cell.astype(np.int64), group, tiling.quota.astype(np.int64), len(tiling))


def improve_groups(recipe: Recipe, promises: Promises, sweeps: int, draw: np.random.Generator) -> Recipe:
    """Return groups of another method after so many sweeps of the search, which never raise their loss.

    The groups must keep the promises, and these must be closed under union.  A first Ctrl-C ends the sweeps.
    """
    cells, searched_promises = fold_families(recipe.cells, promises)
    bound = searched_promises.bind(cells)
    rule = make_kernel_rule(cells, searched_promises, bound)
    budget = SweepBudget.from_sweeps(sweeps)
    search = TilingSearch(cells, make_loss_space(cells), rule, bound, budget)
    start = make_tiling(recipe.cell, recipe.group, recipe.quota)
    tiling = search.resolve(search.cut_large_groups(start), draw)
    if search.compute_loss(tiling) > search.compute_loss(start):
        return recipe
    return replace(make_recipe(recipe.cells, tiling), chosen=recipe.chosen)


@document_parameters(METHODS["mosaic"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Mosaic(Method):
    """Searches for the groups of least loss, by local recoding.

    Effort by a word is counted in work, so that a seed repeats it.
    """

    effort: str | int | float = "balanced"
    weights: Mapping[str, object] | None = None
    threads: int | None = None
    name: ClassVar[str] = "mosaic"
    kind: ClassVar[str] = "generalized"
    labels: ClassVar[str] = "nodes"
    keeps: ClassVar[tuple[type, ...]] = (CountCappedPromise, GroupCheckedPromise)
    anytime: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("effort", "weights"))

    def refuse(self, promises: Promises) -> None:
        """Refuse promises that merging breaks, before any data is read: groups with equal labels are one group to a recipient."""
        for promise in promises:
            if not getattr(promise, "union_closed", False) and not isinstance(promise, DeltaDisclosure):
                raise JobError(
                    f"mosaic cannot keep {promise.name}: groups that keep it apart may break it together.",
                    attempt='method = "mondrian".',
                )

    def plan(self, cells: Cells, promises: Promises, rng: Random, watch: SweepWatch | None = None) -> Recipe:
        """Plan the groups; `watch` is called with the loss after every sweep and returns True to have the best so far published."""
        self.refuse(promises)
        sweeps = SweepBudget.from_options(self.effort, watch, self.threads)
        bind_reachable_promises(cells, promises, self.name)
        strict = cache(lambda: _tile_strictly(cells, promises, rng, self.weights))
        searched_cells, searched_promises = fold_families(cells, promises)
        bound = searched_promises.bind(searched_cells)
        rule = make_kernel_rule(searched_cells, searched_promises, bound)
        search = TilingSearch(searched_cells, make_loss_space(cells, self.weights), rule, bound, sweeps)
        is_compared = not (rule.exact and rule.least_distinct <= 1) or len(cells) <= MAX_COMPARED_CELLS
        if is_compared:
            strict()  # first, so that its time is part of the effort
        draw = rng.stream("mosaic")
        tiling = search.coalesce(search.tile(draw, strict))
        if is_compared:
            tiling = search.improve_strict_tiling(tiling, strict(), draw)
        return make_recipe(cells, tiling)


@dataclass(frozen=True)
class TilingSearch:
    """A search for groups of cells that keep the promises bound to them."""

    cells: Cells
    space: LossSpace
    rule: KernelRule
    bound: BoundPromises
    sweeps: SweepBudget

    def compute_loss(self, tiling: Tiling) -> float:
        return tiling.loss(self.cells, self.space)

    def tile(self, draw: np.random.Generator, strict: Callable[[], Tiling]) -> Tiling:
        """Make groups in the way that suits the promises; `strict` makes Mondrian's groups."""
        if self.rule.exact and not self.rule.capped:
            return _tile_by_segments(self.cells, self.space, self.rule, self.sweeps, draw)
        return self.resolve(self._start_with_quotas(strict), draw)

    def resolve(self, start: Tiling, draw: np.random.Generator) -> Tiling:
        return resolve_tiling(self.cells, self.space, self.rule, self.bound, start, self.sweeps, draw)

    def coalesce(self, tiling: Tiling) -> Tiling:
        """Merge groups with equal labels, and those that break a promise, where kernels do not rule both out."""
        if self.rule.exact and self.rule.union_closed:
            return tiling
        return merge_groups_with_equal_labels(self.cells, self.space, self.bound, tiling)

    def cut_large_groups(self, tiling: Tiling) -> Tiling:
        """Cut each large group by itself, where all its parts keep the promises: sweeps leave regions of many rows alone."""
        sizes = tiling.sizes()
        parts = tiling.take_groups(np.flatnonzero(sizes < LARGE_GROUP_ROWS))
        for group in np.flatnonzero(sizes >= LARGE_GROUP_ROWS):
            whole = tiling.take_groups(np.array([group]))
            rows = np.zeros(len(self.cells), np.int64)
            rows[whole.cell] = whole.quota
            cut = cut_top_down(self.cells, self.space, self.rule, rows, CAPPED_STRATEGY)
            is_allowed = self.rule.exact or bool(self.bound.allow(cut.groups(self.cells)).all())
            parts = parts.join_tiling(cut if is_allowed else whole)
        return parts

    def improve_strict_tiling(self, tiling: Tiling, strict: Tiling, draw: np.random.Generator) -> Tiling:
        """Return the groups or, where Mondrian's lose less, what a search from those makes of them; never more loss than theirs."""
        least_loss = self.compute_loss(strict)
        if self.compute_loss(tiling) <= least_loss:
            return tiling
        began_with_them = not self.rule.known
        if began_with_them or self._must_ignore_values():
            return strict
        again = self.coalesce(self.resolve(strict, draw))
        return again if self.compute_loss(again) <= least_loss else strict

    def _must_ignore_values(self) -> bool:
        """Whether there is a sensitive column that no group may depend on: for sizes all, for distinct values all but one."""
        return not self.rule.capped and len(self.cells.sensitive) > (self.rule.column >= 0)

    def _start_with_quotas(self, strict: Callable[[], Tiling]) -> Tiling:
        """Make the first groups.

        Of a promise that kernels know nothing of, cuts make groups that break it nearly all: Mondrian's are the start.
        Where they know a part of it, it is the better of both.
        """
        if self.rule.knows_nothing:
            return strict()
        start = make_initial_tiling(self.cells, self.space, self.rule, self.sweeps, strict)
        if self.rule.exact:
            return start
        start = repair_tiling(self.cells, self.space, self.bound, start)
        return start if self.rule.known else min(start, strict(), key=self.compute_loss)


def _merge_pairs(tiling: Tiling, pairs: np.ndarray) -> Tiling:
    number = np.arange(len(tiling))
    for group, partner in pairs:
        a = number[group]
        b = number[partner]
        if a != b:
            number[number == max(a, b)] = min(a, b)
    return _renumber_groups(tiling, number)


def _find_partners(
    cells: Cells, space: LossSpace, bound: BoundPromises, tiling: Tiling, broken: np.ndarray
) -> np.ndarray:
    """Pair each broken group with the group it loses least with among those that mend it, or among all if none near does."""
    lower, upper = tiling.boxes(cells)
    sizes = tiling.sizes()
    pairs = np.empty((len(broken), 2), np.int64)
    for index, group in enumerate(broken):
        loss = space.compute_loss_per_row(np.minimum(lower, lower[group]), np.maximum(upper, upper[group]))
        cost = loss * (sizes + sizes[group])
        cost[group] = np.inf
        near = np.argsort(cost, kind="stable")[: min(MAX_NEAR_GROUPS, len(cost) - 1)]
        mends = np.flatnonzero(bound.allow(_join_with_each(tiling, group, near).groups(cells)))
        pairs[index] = group, near[mends[0] if len(mends) else 0]
    return pairs


def _renumber_groups(tiling: Tiling, number: np.ndarray) -> Tiling:
    """Renumber group g to number[g]; equal numbers are one group."""
    return make_tiling(tiling.cell, np.repeat(number, np.diff(tiling.starts)), tiling.quota)


def _pair_clusters(
    cells: Cells, space: LossSpace, bound: BoundPromises, tiling: Tiling, clusters: list[np.ndarray]
) -> np.ndarray:
    """Pair the smallest group of each cluster with the near group it may join at least loss; no group is in two pairs."""
    lower, upper = tiling.boxes(cells)
    sizes = tiling.sizes()
    is_paired = np.zeros(len(tiling), bool)
    pairs = []
    for cluster in clusters:
        group = cluster[np.argmin(sizes[cluster])]
        loss = space.compute_loss_per_row(np.minimum(lower, lower[group]), np.maximum(upper, upper[group]))
        cost = loss * (sizes + sizes[group])
        cost[cluster] = np.inf
        cost[is_paired] = np.inf
        near = np.argsort(cost, kind="stable")[:MAX_NEAR_GROUPS]
        near = near[np.isfinite(cost[near])]
        mends = np.flatnonzero(bound.allow(_join_with_each(tiling, group, near).groups(cells))) if len(near) else near
        if len(mends) and not is_paired[group]:
            pairs.append((group, near[mends[0]]))
            is_paired[[group, near[mends[0]]]] = True
    return np.array(pairs, np.int64).reshape(-1, 2)


def _tile_by_segments(
    cells: Cells, space: LossSpace, rule: KernelRule, sweeps: SweepBudget, draw: np.random.Generator
) -> Tiling:
    """Tile with cells merged that the promise does not distinguish; their rows are dealt out at random afterwards."""
    limits = (rule.least_size, rule.least_distinct)
    value = cells.values[:, rule.column] if rule.column >= 0 else np.zeros(len(cells), np.int64)
    value = np.where(value == rule.null, -1, value)
    of_cell = segments.number_alike_cells(cells, rule.column)
    _, first_cell = np.unique(of_cell, return_index=True)
    counts = np.bincount(of_cell, weights=cells.counts).astype(np.int64)
    units, groups = segments.start_segments(cells.codes[first_cell], value[first_cell], counts, limits, space)
    groups = segments.resolve_segments(units, limits, space, groups, sweeps, draw, cells.rows)
    tiling = make_tiling(*segments.assemble_groups(units, groups))
    return tiling if np.array_equal(of_cell, np.arange(len(cells))) else _deal_quotas(cells, tiling, of_cell, draw)


def _tile_strictly(cells: Cells, promises: Promises, rng: Random, weights: Mapping[str, Any] | None) -> Tiling:
    recipe = Mondrian(cuts="loss", weights=weights).plan(cells, promises, rng)
    return make_tiling(recipe.cell, recipe.group, recipe.quota)


def _join_with_each(tiling: Tiling, group: int, others: np.ndarray) -> Tiling:
    """Join the group to each of the others in turn."""
    pair_groups = np.column_stack([np.full(len(others), group), others]).ravel()
    pairs = tiling.take_groups(pair_groups)
    return Tiling(pairs.cell, pairs.quota, pairs.starts[::2])


def _deal_quotas(cells: Cells, tiling: Tiling, of_cell: np.ndarray, draw: np.random.Generator) -> Tiling:
    """Deal quotas of merged cells to the cells in them at random: what distinguishes the cells has no influence."""
    group = np.repeat(np.arange(len(tiling)), np.diff(tiling.starts))
    groups_of = np.bincount(tiling.cell, minlength=int(of_cell.max()) + 1)
    # rows of cells taken together that are all in one group need not be told apart
    undivided = np.flatnonzero(groups_of[of_cell] == 1)
    only_group = np.zeros(len(groups_of), np.int64)
    only_group[tiling.cell] = group
    parted = np.flatnonzero(groups_of[of_cell] > 1)
    order = np.argsort(tiling.cell, kind="stable")
    order = order[groups_of[tiling.cell[order]] > 1]
    outcome = np.repeat(group[order], tiling.quota[order])
    row_cell = np.repeat(parted, cells.counts[parted])
    shuffled = np.lexsort((draw.random(len(row_cell)), of_cell[row_cell]))
    return make_tiling(
        np.concatenate([undivided, row_cell[shuffled]]),
        np.concatenate([only_group[of_cell[undivided]], outcome]),
        np.concatenate([cells.counts[undivided], np.ones(len(row_cell), np.int64)]),
    )
