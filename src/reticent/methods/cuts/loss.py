"""Loss-guided cuts: of all columns and all places to cut, the one that leaves the least total loss.

A cut's weight is the sum over its sides of rows x weighted loss of their tight boxes.  Ranges are cut between any two
values; trees too (in pre-order), and one leaf or one child of the lowest common ancestor may be cut from the rest, so
that a side may be any set of values: sides are disjoint as sets though their labels may cover each other.
"""

from __future__ import annotations

import numpy as np

from reticent.kernels.mondrian_loss import weigh
from reticent.methods.cuts.judge import Judge
from reticent.methods.cuts.nodes import Nodes
from reticent.methods.cuts.spans import Spans

FIRST, MORE = 32, 16  # candidates judged at first, and how many times more in each further round
DEEP, EVEN = 64, 16  # from this depth on a side holds at least one row in so many, where such a cut can be made


class LossCuts:
    """Chooses a cut for each open node, or none."""

    def __init__(self, nodes: Nodes, judge: Judge, spans: Spans):
        self.nodes, self.judge, self.spans = nodes, judge, spans
        self.depth = 0

    def choose(self) -> tuple[np.ndarray, np.ndarray]:
        """(which open nodes can be cut, their cuts)."""
        size, least = self.nodes.size, self.judge.least_size
        self.depth += 1
        chosen = np.zeros(len(size), bool)
        cuts = np.zeros((len(size), 5), np.int64)
        if self.depth > DEEP:
            self._settle(np.flatnonzero(size >= 2 * least), np.maximum(size // EVEN, least), chosen, cuts)
        self._settle(np.flatnonzero((size >= 2 * least) & ~chosen), np.full(len(size), least), chosen, cuts)
        return chosen, cuts[chosen]

    def _settle(self, trying: np.ndarray, side: np.ndarray, chosen: np.ndarray, cuts: np.ndarray) -> None:
        """Judge the candidates of each node, best first, in rounds of growing length until one passes or none is left."""
        nodes, slots = self.nodes, 1 if self.judge.sizes_suffice else FIRST
        behind = np.full((len(trying), 4), -1, np.int64), np.full(len(trying), -1.0)
        while len(trying):
            best, cost = self._weighed(trying, side, slots, *behind)
            asked, slot = np.nonzero(np.isfinite(cost[:, 1:]))
            asked_of = trying[asked]
            candidates = np.column_stack([nodes.start[asked_of], nodes.stop[asked_of], best[asked, slot + 1, :3]])
            passed = self.judge.first(candidates)
            chosen[asked_of[passed]] = True
            cuts[asked_of[passed]] = candidates[passed]
            left = np.isfinite(cost[:, -1]) & ~chosen[trying]
            trying, behind = trying[left], (best[left, -1], cost[left, -1])
            slots *= MORE

    def _weighed(self, trying: np.ndarray, side: np.ndarray, slots: int, last: np.ndarray, weight: np.ndarray):
        nodes, spans = self.nodes, self.spans
        asked = np.column_stack([nodes.start[trying], nodes.stop[trying], side[trying]])
        best = np.zeros((len(trying), slots + 1, 4), np.int64)
        cost = np.full((len(trying), slots + 1), np.inf)
        best[:, 0], cost[:, 0] = last, weight
        weigh(asked, nodes.words, nodes.count, nodes.box[trying], spans.shape, spans.value, spans.least, best, cost)
        return best, cost
