"""Mosaic: generalization by local recoding that gives up the least information for a promise.

Groups need not be cuts of space: rows of one cell may go to several groups, and boxes may overlap.  Sizes and distinct values
are kept by ordering rows, cutting the order optimally and re-solving pools of near groups; caps on values by carriers, quota
cuts and the same re-solving; everything else by quota cuts whose every result the promises themselves check.

Equal labels coalesce when a release is published, so only promises closed under union are taken, and
delta-disclosure with absent values ignored, for which coalescing is done here and repaired.  Ours; see docs/methods/mosaic.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.errors import JobError
from reticent.methods.mondrian import Mondrian
from reticent.methods.mosaic import segments
from reticent.methods.mosaic.repair import published, recipe_of, repair
from reticent.methods.mosaic.resolving import resolve
from reticent.methods.mosaic.rule import Rule, rule_of
from reticent.methods.mosaic.space import Space, space_of
from reticent.methods.mosaic.starts import start_of
from reticent.methods.mosaic.sweeps import Sweeps, Watch
from reticent.methods.mosaic.tiling import Tiling, tiling_of
from reticent.methods.protocols import Method
from reticent.methods.reachable import check_reachable
from reticent.methods.weights import check_weights
from reticent.models.delta_disclosure import DeltaDisclosure
from reticent.models.promises import BoundPromises, Promises
from reticent.models.shapes import Bound, CountCapped
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Mosaic(Method):
    """`effort` is "quick", "balanced", "thorough" (counted in work, so repeatable by seed) or a number of CPU seconds;
    `weights` says how much a column's loss counts, 1 where it is silent; `threads` never changes the result.
    """

    effort: str | int | float = "balanced"
    weights: Mapping[str, object] | None = None
    threads: int | None = None
    name: ClassVar[str] = "mosaic"
    kind: ClassVar[str] = "generalized"
    labels: ClassVar[str] = "nodes"
    keeps: ClassVar[tuple[type, ...]] = (CountCapped, Bound)
    anytime: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("effort", "weights"))
        check_weights(self.weights)

    def refuse(self, promises: Promises) -> None:
        """Before any data is read: groups with equal labels are one group to a recipient, and a promise must survive that."""
        for promise in promises:
            if not getattr(promise, "union_closed", False) and not isinstance(promise, DeltaDisclosure):
                raise JobError(
                    f"mosaic cannot keep {promise.name}: groups that keep it apart may break it together.",
                    attempt='method = "mondrian".',
                )

    def plan(self, cells: Cells, promises: Promises, rng: Random, watch: Watch | None = None) -> Recipe:
        """`watch` is told the loss after every sweep and returns True to have the best so far published."""
        self.refuse(promises)
        sweeps = Sweeps.of(self.effort, watch, self.threads)
        bound = check_reachable(cells, promises, self.name)
        space = space_of(cells, self.weights)
        rule = rule_of(cells, promises, bound)
        draw = rng.stream("mosaic")
        if rule.exact and not rule.capped:
            tiling = _by_segments(cells, space, rule, sweeps, draw)
        else:
            strict = partial(_strict, cells, promises, rng)
            tiling = _by_quotas(cells, space, rule, bound, sweeps, draw, strict)
        if not (rule.exact and promises.union_closed):
            tiling = published(cells, space, bound, tiling)
        return recipe_of(cells, tiling)


def _by_segments(cells: Cells, space: Space, rule: Rule, sweeps: Sweeps, draw: np.random.Generator) -> Tiling:
    """Cells that the promise does not tell apart are one to the search; their rows are dealt out at random afterwards."""
    least = (rule.least_size, rule.least_distinct)
    value = cells.values[:, rule.column] if rule.column >= 0 else np.zeros(len(cells), np.int64)
    value = np.where(value == rule.null, -1, value)
    of_cell = segments.alike_cells(cells, rule.column)
    _, at = np.unique(of_cell, return_index=True)
    counts = np.bincount(of_cell, weights=cells.counts).astype(np.int64)
    units, found = segments.start(cells.codes[at], value[at], counts, least, space)
    found = segments.resolve(units, least, space, found, sweeps, draw, cells.rows)
    tiling = tiling_of(*segments.assemble(units, found))
    return tiling if np.array_equal(of_cell, np.arange(len(cells))) else _deal(cells, tiling, of_cell, draw)


def _deal(cells: Cells, tiling: Tiling, of_cell: np.ndarray, draw: np.random.Generator) -> Tiling:
    """Hand quotas of cells taken together to the cells in them at random: what tells them apart has no say."""
    group = np.repeat(np.arange(len(tiling)), np.diff(tiling.starts))
    groups_of = np.bincount(tiling.cell, minlength=int(of_cell.max()) + 1)
    # rows of cells taken together that are all in one group need not be told apart
    whole = np.flatnonzero(groups_of[of_cell] == 1)
    one = np.zeros(len(groups_of), np.int64)
    one[tiling.cell] = group
    parted = np.flatnonzero(groups_of[of_cell] > 1)
    order = np.argsort(tiling.cell, kind="stable")
    order = order[groups_of[tiling.cell[order]] > 1]
    outcome = np.repeat(group[order], tiling.quota[order])
    row_cell = np.repeat(parted, cells.counts[parted])
    shuffled = np.lexsort((draw.random(len(row_cell)), of_cell[row_cell]))
    return tiling_of(np.concatenate([whole, row_cell[shuffled]]), np.concatenate([one[of_cell[whole]], outcome]),
                     np.concatenate([cells.counts[whole], np.ones(len(row_cell), np.int64)]))  # fmt: skip


def _strict(cells: Cells, promises: Promises, rng: Random) -> Tiling:
    recipe = Mondrian(cuts="loss").plan(cells, promises, rng)
    return tiling_of(recipe.cell, recipe.group, recipe.quota)


def _by_quotas(cells: Cells, space: Space, rule: Rule, bound: BoundPromises, sweeps: Sweeps,
               draw: np.random.Generator, strict: Callable[[], Tiling]) -> Tiling:  # fmt: skip
    start = start_of(cells, space, rule, sweeps, strict)
    if not rule.exact:
        start = repair(cells, space, bound, start)
    return resolve(cells, space, rule, bound, start, sweeps, draw)
