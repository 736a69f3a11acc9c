"""Loss-guided cuts: of all columns and all places to cut, the one that leaves the least total loss.

A cut's weight is the sum over its sides of rows x weighted loss of their tight boxes.  Ranges are cut between any two
values; trees too (in pre-order), and one leaf or one child of the lowest common ancestor may be cut from the rest, so
that a side may be any set of values: sides are disjoint as sets though their labels may cover each other.

A cut that uses up what a promise allows bars others: the largest nodes choose between their two best cuts by what their
sides can be cut to next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reticent.kernels.mondrian_loss import weigh
from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.allowed import Mask, most_cuts
from reticent.methods.mondrian.nodes import Nodes, run_starts
from reticent.methods.mondrian.spans import Spans

FIRST, MORE = 32, 16  # candidates judged at first, and how many times more in each further round
CROWDED = FIRST * MORE  # a node with more cuts than that is not asked about one after the other
DEEP, EVEN = 64, 16  # from this depth on a side holds at least one row in so many, where such a cut can be made


@dataclass(frozen=True, slots=True)
class Ahead:
    """Nodes with at least one row in `share` try their `options` best cuts one level ahead."""

    options: int
    share: int


NEVER, AT_FIRST, ALWAYS = Ahead(1, 1), Ahead(2, 4), Ahead(4, 1 << 31)


class Options(NamedTuple):
    """Cuts that keep every promise, by node and the loss they leave."""

    owner: np.ndarray
    cuts: np.ndarray
    loss: np.ndarray

    @classmethod
    def join(cls, parts: list[Options]) -> Options:
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(np.zeros(0, np.int64), np.zeros((0, 5), np.int64), np.zeros(0))
        joined = cls(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        order = np.lexsort((joined.loss, joined.owner))
        return cls(*(part[order] for part in joined))


class LossCuts:
    """Chooses a cut for each open node, or none."""

    def __init__(self, nodes: Nodes, accepts: Acceptance, spans: Spans, ahead: Ahead = AT_FIRST):
        self.nodes, self.accepts, self.spans, self.ahead = nodes, accepts, spans, ahead
        self.depth = 0

    def choose(self) -> tuple[np.ndarray, np.ndarray]:
        """(which open nodes can be cut, their cuts)."""
        self.depth += 1
        large = self.nodes.size * self.ahead.share >= self.nodes.cells.rows
        found = self._options(self.ahead.options if large.any() else 1)
        pick = run_starts(found.owner)
        if self.ahead.options > 1 and large[found.owner].any():
            self._look_ahead(found, large, pick)
        chosen = np.zeros(len(self.nodes), bool)
        chosen[found.owner[pick]] = True
        return chosen, found.cuts[pick]

    def reach(self) -> np.ndarray:
        """The loss each open node has when it is cut once more, or as it is where it cannot be."""
        loss = self.spans.losses(self.nodes.box).sum(axis=1) * self.nodes.size
        found = self._options(1)
        pick = run_starts(found.owner)
        loss[found.owner[pick]] = found.loss[pick]
        return loss

    def _look_ahead(self, found: Options, large: np.ndarray, pick: np.ndarray) -> None:
        """Pick the cut whose sides can be cut best in turn: a cut that uses up what a promise allows bars others."""
        tried = np.flatnonzero(large[found.owner])
        trial = self.nodes.trial(found.cuts[tried])
        reach = LossCuts(trial, self.accepts.over(trial), self.spans, NEVER).reach().reshape(-1, 2).sum(axis=1)
        ranked = tried[np.lexsort((reach, found.owner[tried]))]
        best = ranked[run_starts(found.owner[ranked])]
        pick[np.searchsorted(found.owner[pick], found.owner[best])] = best

    def _options(self, most: int) -> Options:
        """The `most` best cuts of each node."""
        size, least = self.nodes.size, self.accepts.least_size
        trying = np.flatnonzero(size >= 2 * least)
        if self.depth <= DEEP:
            return self._settled(trying, np.full(len(size), least), most)
        even = self._settled(trying, np.maximum(size // EVEN, least), most)
        others = trying[~np.isin(trying, even.owner)]
        return Options.join([even, self._settled(others, np.full(len(size), least), most)])

    def _settled(self, trying: np.ndarray, side: np.ndarray, most: int) -> Options:
        """Ask about the candidates of each node, best first, in rounds of growing length until one passes or none is left.

        Where the first few of very many all break a promise, the caps are asked about every cut of the node at once.
        """
        slots = most if self.accepts.sizes_suffice else FIRST
        found: list[Options] = []
        behind = np.full((len(trying), 6), -1, np.int64), np.full(len(trying), -1.0)
        mask = Mask.all(len(trying))
        while len(trying):
            best, loss = self._weighed(trying, side, mask, slots, behind)
            there = np.isfinite(loss[:, 1:])
            asked = np.nonzero(there)[0]
            cuts = np.ascontiguousarray(best[:, 1:][there][:, :5])
            kept = self.accepts.best(cuts, most)
            found.append(Options(trying[asked[kept]], cuts[kept], loss[:, 1:][there][kept]))
            left = there[:, -1]
            left[asked[kept]] = False
            trying, behind, mask = trying[left], (best[left, -1], loss[left, -1]), mask.of_these(left)
            slots *= MORE
            if mask.empty and self.accepts.caps and most_cuts(self.nodes, trying).max(initial=0) > CROWDED:
                mask = Mask.of(self.nodes, trying, side[trying], self.accepts.rules, self.spans)
                slots = slots if self.accepts.checks else most
        return Options.join(found)

    def _weighed(
        self, trying: np.ndarray, side: np.ndarray, mask: Mask, slots: int, behind: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The next candidates of each node behind the last one seen, by loss: cuts with their ordinal, and the loss left."""
        nodes, spans = self.nodes, self.spans
        asked = np.column_stack([nodes.start[trying], nodes.stop[trying], side[trying], mask.begin])
        best = np.zeros((len(trying), slots + 1, 6), np.int64)
        loss = np.full((len(trying), slots + 1), np.inf)
        best[:, 0], loss[:, 0] = behind
        losses = spans.shape, spans.value, spans.least
        weigh(asked, nodes.words, nodes.count, nodes.box[trying], *losses, best, loss, mask.allowed)
        return best, loss
