"""What a sweep proposes: blocks of groups, each re-solved by itself, that stand or fall as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.methods.mosaic.tiling import Tiling
from reticent.models.promises import BoundPromises
from reticent.table.cells import Cells


@dataclass(frozen=True, eq=False)
class Proposal:
    """`fresh` in place of `old`; the block of each group of either."""

    old: Tiling
    old_block: np.ndarray
    fresh: Tiling
    block: np.ndarray

    @classmethod
    def of(cls, old: Tiling, blocks: np.ndarray, fresh: Tiling, groups: np.ndarray) -> Proposal:
        """`groups` says how many groups each of the blocks (first, last + 1, seed) has become."""
        numbers = np.arange(len(blocks))
        return cls(old, np.repeat(numbers, blocks[:, 1] - blocks[:, 0]), fresh, np.repeat(numbers, groups))

    def allowed(self, cells: Cells, bound: BoundPromises) -> Tiling:
        """The blocks all of whose groups the promises allow; the others as they were."""
        broken = np.zeros(int(self.old_block[-1]) + 1, bool)
        broken[self.block[~bound.allow(self.fresh.groups(cells))]] = True
        if not broken.any():
            return self.fresh
        kept = np.flatnonzero(~broken[self.block])
        return self.fresh.taken(kept).joined(self.old.taken(np.flatnonzero(broken[self.old_block])))

    def beside(self, rest: Tiling) -> Proposal:
        """The same, with groups that were left alone: a block of their own."""
        if not len(rest):
            return self
        last = int(self.old_block[-1]) + 1
        own = np.full(len(rest), last)
        return Proposal(
            self.old.joined(rest),
            np.append(self.old_block, own),
            self.fresh.joined(rest),
            np.append(self.block, own),
        )
