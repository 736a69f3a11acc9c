"""Mosaic: generalization by local recoding that gives up the least information for a promise.

Groups need not be cuts of space: rows of one cell may go to several groups, and boxes may overlap.  Sizes and distinct values
are kept by ordering rows, cutting the order optimally and re-solving pools of near groups; caps on values by carriers, quota
cuts and the same re-solving; everything else by quota cuts whose every result the promises themselves check.

Equal labels coalesce when a release is published, so only promises closed under union are taken, and
delta-disclosure with absent values ignored, for which coalescing is done here and repaired.  Ours; see docs/methods/mosaic.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from reticent.errors import PromiseUnreachable
from reticent.methods import mosaic_segments as segments
from reticent.methods.mosaic_carriers import carriers
from reticent.methods.mosaic_loss import Space, space_of
from reticent.methods.mosaic_quotas import Tiling, resolve, tiling_of, top_down
from reticent.methods.mosaic_rule import Rule, rule_of
from reticent.methods.mosaic_sweeps import Sweeps, Watch
from reticent.models.promises import BoundPromises, Promises
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Mosaic:
    """`effort`: "quick", "balanced", "thorough" (work, so repeatable by seed) or a number of CPU seconds."""

    effort: str | int | float = "balanced"
    weights: Mapping[str, object] | None = None
    threads: int | None = None
    watch: Watch | None = field(default=None, compare=False, repr=False)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        sweeps = Sweeps.of(self.effort, self.watch, self.threads)
        space = space_of(cells, self.weights)
        bound = promises.bind(cells)
        rule = rule_of(cells, promises, bound)
        draw = rng.stream("mosaic")
        if not rule.capped and rule.exact:
            tiling = _by_segments(cells, space, rule, sweeps, draw)
        else:
            tiling = _by_quotas(cells, space, rule, bound, sweeps, draw)
        return _recipe(cells, tiling)


def _by_segments(cells: Cells, space: Space, rule: Rule, sweeps: Sweeps, draw: np.random.Generator) -> Tiling:
    least = (rule.least_size, rule.least_distinct)
    if rule.column < 0:
        codes, of_cell = cells.codes, segments.quasi_cells(cells.codes)
        at = np.flatnonzero(np.diff(of_cell, prepend=-1))
        counts = np.bincount(of_cell, weights=cells.counts).astype(np.int64)
        units = segments.free_units(codes[at], np.zeros(len(at), np.int64), counts, least, space)
    else:
        value = np.where(cells.values[:, rule.column] == rule.null, -1, cells.values[:, rule.column])
        units = segments.free_units(cells.codes, value, cells.counts, least, space)
    found = segments.segment(units, least, space)
    found = segments.resolve(units, least, space, found, sweeps, draw, cells.rows)
    tiling = tiling_of(*segments.assemble(units, found))
    return _deal(cells, tiling, draw) if rule.column < 0 else tiling


def _deal(cells: Cells, tiling: Tiling, draw: np.random.Generator) -> Tiling:
    """Hand quotas of quasi-identifier cells to the cells in them at random: the sensitive values have no say."""
    of_cell = segments.quasi_cells(cells.codes)
    group = np.repeat(np.arange(len(tiling)), np.diff(tiling.starts))
    order = np.argsort(tiling.cell, kind="stable")
    outcome = np.repeat(group[order], tiling.quota[order])
    row_cell = np.repeat(np.arange(len(cells)), cells.counts)
    shuffled = np.lexsort((draw.random(len(row_cell)), of_cell[row_cell]))
    return tiling_of(row_cell[shuffled], outcome, np.ones(len(row_cell), np.int64))


def _by_quotas(cells: Cells, space: Space, rule: Rule, bound: BoundPromises, sweeps: Sweeps,
               draw: np.random.Generator) -> Tiling:  # fmt: skip
    made, rows = carriers(cells, space, rule) if rule.column >= 0 else (None, cells.counts)
    start = top_down(cells, space, rule, rows)
    if made is not None:
        start = start.joined(made) if len(start) else made
    return resolve(cells, space, rule, bound, start, sweeps, draw)


def _recipe(cells: Cells, tiling: Tiling) -> Recipe:
    group = np.repeat(np.arange(len(tiling)), np.diff(tiling.starts))
    return Recipe(cells, tiling.cell.astype(np.int64), group, tiling.quota.astype(np.int64), len(tiling))
