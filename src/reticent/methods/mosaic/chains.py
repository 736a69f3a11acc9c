"""Chains: small groups re-solved row by row, along chains of near rows that are cut optimally.

Quota cuts take what lies on one side; where groups hold a few rows each, cutting along a chain finds what no side has.
"""

from __future__ import annotations

import numpy as np

from reticent.kernels.mosaic_chains import Chainer
from reticent.methods.mosaic.orders import shuffled_cuts
from reticent.methods.mosaic.proposal import Proposal
from reticent.methods.mosaic.rule import HIERARCHICAL, Rule
from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.sweeps import Sweeps, blocks_of
from reticent.methods.mosaic.tiling import Tiling, tiling_of
from reticent.table.cells import Cells

BLOCK = 50
ROWS = 96  # of a pool
MATES, NEARNESS, FARTHER = 2, 1.0, 0.02
NEVER = 1 << 30  # rows that no group has


class ChainSweeps:
    def __init__(self, cells: Cells, space: Space, rule: Rule, sweeps: Sweeps) -> None:
        self.cells, self.space, self.rule, self.sweeps = cells, space, rule, sweeps
        self.values = np.ascontiguousarray(cells.values[:, rule.column], np.int32)
        caps, rates, least, limits, _ = rule.arrays
        needs, first = _needs(caps, np.minimum(cells.totals(rule.column), ROWS))
        self.limits = needs, first, rates[2].copy(), least, limits

    @staticmethod
    def take(rule: Rule) -> bool:
        """Whether chains know the promise: no lower caps and no hierarchical distance."""
        lower, distance = rule.lower[:, 0].any(), rule.arrays[2][4]
        return rule.known and rule.column >= 0 and not lower and bool(distance != HIERARCHICAL)

    def chains(self, now: Tiling, draw: np.random.Generator) -> Proposal | None:
        small = now.sizes() <= ROWS
        if small.sum() < 2:
            return None
        rest, now = now.taken(np.flatnonzero(~small)), now.taken(np.flatnonzero(small))
        now = now.taken(shuffled_cuts(*now.boxes(self.cells), self.space, draw))
        blocks = blocks_of(len(now), BLOCK, draw)
        cell = np.repeat(now.cell, now.quota)
        members, ends = np.arange(len(cell), dtype=np.int32), np.zeros(len(cell), np.int8)
        starts = np.append(0, np.cumsum(now.sizes()))
        units = np.ascontiguousarray(self.cells.codes[cell]), self.values[cell]
        follow = np.zeros(len(cell), np.int32)
        most = int(np.diff(starts[np.append(blocks[:, 0], blocks[-1, 1])]).max())

        def run(part: np.ndarray, _worker: int, stop: np.ndarray) -> None:
            chainer = Chainer(units, (self.space.spans, self.space.places), self.limits, (ROWS, most), follow)
            chainer.resolve(members, ends, starts, np.ascontiguousarray(part), (MATES, NEARNESS, FARTHER), stop)

        self.sweeps.over(blocks, run)
        ended = np.cumsum(ends) - ends
        fresh = tiling_of(cell[members], ended, np.ones(len(cell), np.int64))
        block = np.searchsorted(starts[blocks[:, 1]], np.flatnonzero(ends), side="right")
        return Proposal.of(now, blocks, fresh, np.bincount(block, minlength=len(blocks))).beside(rest)


def _needs(caps: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many rows a group needs that holds 0, 1, 2 .. rows of each value, and where each value's numbers begin."""
    first = np.concatenate([[0], np.cumsum(most + 2)])
    value = np.repeat(np.arange(len(most)), most + 2)
    count = np.arange(len(value)) - first[value]
    over, under = caps[value, 0], caps[value, 1]
    needs = np.where(over > 0, -(-count * under // np.maximum(over, 1)), np.where(count > 0, NEVER, 0))
    return np.minimum(needs, NEVER).astype(np.int32), first.astype(np.int64)
