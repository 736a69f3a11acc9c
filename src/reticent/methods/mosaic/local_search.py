"""Local search of Mosaic: groups are re-solved by sweeps of several kinds, each taken as often as it pays.

Chains (`ChainSweeps`) re-solve small groups row by row, along chains of near rows that are cut optimally.  Quota cuts
take what lies on one side; where groups hold a few rows each, cutting along a chain finds what no side has.

Swaps (`SwapSweeps`) exchange rows of equal sensitive values, so that a group may shed what makes its box wide.  Every
group keeps its histogram of all sensitive columns, so any promise about sizes and values survives, known to the kernels
or not; where a promise is about what labels cover (k-map) there are none.

`resolve_tiling` chooses the kind of each sweep.  Which kind gains most differs from table to table and changes while
groups become smaller.  A kind's worth is what its last sweep took off the loss for its cost; one that has waited is
worth more.  Costs are rough and fixed, and no clock is read, so the same seed takes the same sweeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reticent.data.cells import Cells
from reticent.kernels.mosaic_pools import Chainer
from reticent.kernels.mosaic_swaps import Swapper
from reticent.methods.mosaic.kernel_tables import HIERARCHICAL_DISTANCE, KernelRule, LossSpace
from reticent.methods.mosaic.quota_cuts import QuotaSweeps
from reticent.methods.mosaic.segments import order_by_noisy_cuts
from reticent.methods.mosaic.tiling import (
    MAX_SEED,
    SweepBudget,
    Tiling,
    TilingProposal,
    divide_into_blocks,
    make_tiling,
)
from reticent.models.promise import BoundPromises
from reticent.workers import run_in_workers

CHAIN_BLOCK_GROUPS = 50
MAX_POOL_ROWS = 96  # of a pool
CHAIN_MATES = 2
CHAIN_NEARNESS = 1.0
CHAIN_PENALTY = 0.02
UNREACHABLE_ROWS = 1 << 30  # rows that no group has
MAX_SHED_SHARE = 0.2  # of a group's rows that may have to go
SWAP_LOOKS = (300, 3000)  # rows looked at to find one of them a place
MAX_SWAP_WORK = 100_000_000
MAX_SWAP_ROWS = 2_000_000
WAITING_BONUS = 0.15  # for each sweep waited


class ChainSweeps:
    def __init__(self, cells: Cells, space: LossSpace, rule: KernelRule, sweeps: SweepBudget) -> None:
        self.cells = cells
        self.space = space
        self.rule = rule
        self.sweeps = sweeps
        self.values = np.ascontiguousarray(cells.values[:, rule.column], np.int32)
        caps, rates, thresholds, limits, _ = rule.arrays
        needs, first = _compute_needed_rows(caps, np.minimum(cells.totals(rule.column), MAX_POOL_ROWS))
        self.limits = needs, first, rates[2].copy(), thresholds, limits

    @staticmethod
    def supports(rule: KernelRule) -> bool:
        """Tell whether chains can keep the promise: no lower caps and no hierarchical distance."""
        lower = rule.lower[:, 0].any()
        distance = rule.arrays[2][4]
        return rule.known and rule.column >= 0 and not lower and bool(distance != HIERARCHICAL_DISTANCE)

    def sweep_chains(self, now: Tiling, draw: np.random.Generator) -> TilingProposal | None:
        small = now.sizes() <= MAX_POOL_ROWS
        if small.sum() < 2:
            return None
        rest = now.take_groups(np.flatnonzero(~small))
        now = now.take_groups(np.flatnonzero(small))
        now = now.take_groups(order_by_noisy_cuts(*now.boxes(self.cells), self.space, draw))
        blocks = divide_into_blocks(len(now), CHAIN_BLOCK_GROUPS, draw)
        cell = np.repeat(now.cell, now.quota)
        members = np.arange(len(cell), dtype=np.int32)
        ends = np.zeros(len(cell), np.int8)
        starts = np.append(0, np.cumsum(now.sizes()))
        units = np.ascontiguousarray(self.cells.codes[cell]), self.values[cell]
        next_unit = np.zeros(len(cell), np.int32)
        max_groups = int(np.diff(starts[np.append(blocks[:, 0], blocks[-1, 1])]).max())

        def run(part: np.ndarray, _worker: int, stop: np.ndarray) -> None:
            chainer = Chainer(
                units, (self.space.spans, self.space.places), self.limits, (MAX_POOL_ROWS, max_groups), next_unit
            )
            chainer.resolve(
                members, ends, starts, np.ascontiguousarray(part), (CHAIN_MATES, CHAIN_NEARNESS, CHAIN_PENALTY), stop
            )

        self.sweeps.run_blocks(blocks, run)
        groups_before = np.cumsum(ends) - ends
        fresh = make_tiling(cell[members], groups_before, np.ones(len(cell), np.int64))
        block = np.searchsorted(starts[blocks[:, 1]], np.flatnonzero(ends), side="right")
        return TilingProposal.from_blocks(
            now, blocks, fresh, np.bincount(block, minlength=len(blocks))
        ).add_untouched_groups(rest)


class SwapSweeps:
    def __init__(self, cells: Cells, space: LossSpace) -> None:
        self.cells = cells
        self.space = space
        if cells.values.shape[1] == 1:
            values = cells.values[:, 0]
        elif cells.values.shape[1]:
            values = np.unique(cells.values, axis=0, return_inverse=True)[1].ravel()
        else:
            values = np.zeros(len(cells), np.int64)
        self.values = np.ascontiguousarray(values, np.int32)

    def sweep_swaps(self, now: Tiling, draw: np.random.Generator) -> Tiling | None:
        if self.cells.rows > MAX_SWAP_ROWS:
            return None
        lower, upper = now.boxes(self.cells)
        sizes = now.sizes()
        group = np.repeat(np.arange(len(now), dtype=np.int32), sizes)
        cell = np.repeat(now.cell, now.quota)
        value = self.values[cell]
        by_value = np.argsort(value, kind="stable").astype(np.int32)
        first = np.searchsorted(value[by_value], np.arange(int(value.max()) + 2))
        slots = cell, group, value, by_value, first, np.append(0, np.cumsum(sizes))
        boxes = np.ascontiguousarray(np.stack([lower, upper], axis=1), np.int32)
        space = self.space.spans, self.space.places, self.space.nodes, self.space.trees
        looks = int(np.clip(MAX_SWAP_WORK // self.cells.rows, *SWAP_LOOKS))
        costliest = np.argsort(-self.space.compute_loss_per_row(lower, upper) * sizes, kind="stable").astype(np.int32)
        swapper = Swapper(self.cells.codes, space, slots, boxes, looks)
        seed = int(draw.integers(1, MAX_SEED))
        run_in_workers(lambda order, _worker, stop: swapper.sweep(order, seed, MAX_SHED_SHARE, stop), [costliest])
        return make_tiling(cell, group, np.ones(len(cell), np.int64))


@dataclass
class SweepKind:
    """A kind of sweep; None where it has nothing to do."""

    run: Callable[[Tiling, np.random.Generator], TilingProposal | Tiling | None]
    cost: float
    worth: float = float("inf")
    waited: int = 0

    @property
    def due(self) -> float:
        return self.worth * (1 + WAITING_BONUS * self.waited)


def resolve_tiling(
    cells: Cells,
    space: LossSpace,
    rule: KernelRule,
    bound: BoundPromises,
    start: Tiling,
    sweeps: SweepBudget,
    draw: np.random.Generator,
) -> Tiling:
    """Re-solve for as long as the sweeps last; a block that the promises do not allow stays as it was."""
    kinds = _list_sweep_kinds(cells, space, rule, sweeps, start)

    def dearest() -> tuple[int, float]:
        index = max(range(len(kinds)), key=lambda index: (kinds[index].due, kinds[index].waited))
        return index, kinds[index].cost

    def sweep(now: Tiling, _number: int) -> Tiling | None:
        before = now.loss(cells, space)
        if len(now) < 2 or before == 0:
            return None
        kind = kinds[dearest()[0]]
        proposal = kind.run(now, draw)
        if isinstance(proposal, TilingProposal):
            proposal = proposal.fresh if rule.exact else proposal.accept_allowed_blocks(cells, bound)
        kind.worth = max(before - proposal.loss(cells, space), 0.0) / kind.cost if proposal is not None else 0.0
        for other in kinds:
            other.waited += 1
        kind.waited = 0
        return now if proposal is None else proposal

    return sweeps.improve(start, lambda tiling: tiling.loss(cells, space), sweep, dearest)


def _compute_needed_rows(caps: np.ndarray, max_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute how many rows a group needs that holds 0, 1, 2 .. rows of each value, and where each value's numbers begin."""
    first = np.concatenate([[0], np.cumsum(max_rows + 2)])
    value = np.repeat(np.arange(len(max_rows)), max_rows + 2)
    count = np.arange(len(value)) - first[value]
    numerator = caps[value, 0]
    denominator = caps[value, 1]
    needs = np.where(
        numerator > 0, -(-count * denominator // np.maximum(numerator, 1)), np.where(count > 0, UNREACHABLE_ROWS, 0)
    )
    return np.minimum(needs, UNREACHABLE_ROWS).astype(np.int32), first.astype(np.int64)


def _list_sweep_kinds(
    cells: Cells, space: LossSpace, rule: KernelRule, sweeps: SweepBudget, start: Tiling
) -> list[SweepKind]:
    """List the kinds there are for a promise, in the order in which they are tried first."""
    quotas = QuotaSweeps(cells, space, rule, sweeps)
    swaps = [SwapSweeps(cells, space).sweep_swaps] if rule.by_values else []
    chains = ChainSweeps(cells, space, rule, sweeps).sweep_chains if ChainSweeps.supports(rule) else None
    bands = [SweepKind(quotas.sweep_bands, 0.7)] if quotas.are_bands_worthwhile(start) else []
    if not rule.known:  # what cuts and chains propose is seldom allowed, swaps always are
        return [
            *(SweepKind(run, 0.7) for run in swaps),
            SweepKind(quotas.sweep_pools, 1.0),
            SweepKind(quotas.sweep_runs, 0.6),
            *bands,
        ]
    if rule.capped_only:
        return [
            SweepKind(quotas.sweep_pools, 1.0),
            SweepKind(quotas.sweep_runs, 0.6),
            *bands,
            *(SweepKind(run, 0.7) for run in swaps),
            *([SweepKind(chains, 1.0)] if chains else []),
        ]
    # cuts judge closeness at length, which neither swaps nor chains do
    quick = [*(SweepKind(run, 0.15) for run in swaps), *([SweepKind(chains, 0.3)] if chains else [])]
    return [*quick, SweepKind(quotas.sweep_runs, 1.5), *bands, SweepKind(quotas.sweep_pools, 1.5)]
