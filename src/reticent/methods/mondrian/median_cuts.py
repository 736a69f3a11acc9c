"""Median cuts (LeFevre, DeWitt & Ramakrishnan, ICDE 2006, section 4): the widest column first, cut at its median.

The width of a node in a column is its loss there: its range over the column's range, or the leaves under its lowest
common ancestor over all leaves.  With `fallback`, as in the paper, a node stays whole only where no column can be cut at
its median; without, where the widest cannot, as simple comparators do: that loses up to four times as much.

Departs from the paper: a tree is cut in two, between children of the lowest common ancestor, not into all of them.
"""

from __future__ import annotations

import numpy as np

from reticent.kernels.mondrian_median import median_cuts
from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.nodes import Nodes
from reticent.methods.mondrian.spans import Spans
from reticent.table.domain import Domain, RangeDomain


class MedianCuts:
    """Chooses a cut for each open node, or none."""

    def __init__(self, nodes: Nodes, accepts: Acceptance, spans: Spans, *, fallback: bool, apart: bool):
        self.nodes, self.accepts, self.spans = nodes, accepts, spans
        self.fallback, self.apart = fallback, apart
        self.base, self.fence = fences(nodes.cells.quasi)

    def choose(self) -> tuple[np.ndarray, np.ndarray]:
        """(which open nodes can be cut, their cuts)."""
        nodes, columns = self.nodes, len(self.nodes.cells.quasi)
        chosen = np.zeros(len(nodes), bool)
        cuts = np.zeros((len(nodes), 5), np.int64)
        widths = self.spans.losses(nodes.box)
        order = np.argsort(-widths, axis=1, kind="stable")
        trying = np.flatnonzero(nodes.size >= 2 * self.accepts.least_size)
        for attempt in range(columns if self.fallback else min(columns, 1)):
            column = order[trying, attempt]
            able = nodes.box[trying, 0, column] < nodes.box[trying, 1, column]
            asked = trying[able]
            found = nodes.spans(asked, column[able])
            kept = self._cut(found)
            chosen[asked[kept]] = True
            cuts[asked[kept]] = found[kept]
            trying = trying[~chosen[trying]]
            if not len(trying):
                break
        return chosen, cuts[chosen]

    def _cut(self, spans: np.ndarray) -> np.ndarray:
        """Turn whole spans into median cuts, in place; which of them keep every promise."""
        left = np.empty((len(spans), 2), np.int64)
        median_cuts(spans, self.nodes.words, self.nodes.count, self.base, self.fence, self.apart, left)
        kept = np.minimum(left[:, 0], left[:, 1] - left[:, 0]) >= self.accepts.least_size
        asked = np.flatnonzero(kept)
        kept[:] = False
        kept[asked[self.accepts.best(spans[asked])]] = True
        return kept


def fences(domains: tuple[Domain, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Where each column's fences begin, and for each fence its height, the previous lower one and the next lower one."""
    parts = []
    for domain in domains:
        height = np.zeros_like(domain.split) if isinstance(domain, RangeDomain) else domain.split
        parts.append(np.array([height, _lower_before(height), len(height) - 1 - _lower_before(height[::-1])[::-1]]))
    base = np.cumsum([0, *(part.shape[1] for part in parts)])
    return base.astype(np.int64), np.ascontiguousarray(np.hstack([*parts, np.zeros((3, 1))]), np.int32)


def _lower_before(height: np.ndarray) -> np.ndarray:
    """For each position the last one before it that is strictly lower, or -1."""
    found = np.full(len(height), -1, np.int64)
    at = np.arange(len(height))
    for level in np.unique(height):
        here = height == level
        found[here] = np.maximum.accumulate(np.where(height < level, at, -1))[here]
    return found
