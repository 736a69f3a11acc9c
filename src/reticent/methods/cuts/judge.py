"""Whether both sides of a cut keep every promise: caps in a kernel, bound promises by a batched check of all sides."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from reticent.kernels.mondrian_caps import keep_caps, tally
from reticent.methods.cuts.nodes import Nodes
from reticent.methods.cuts.rules import Rules, least_size
from reticent.models.promises import BoundPromises
from reticent.models.shapes import Groups

BATCH = 1 << 22  # counts of values that a batch of cuts may take
STAGES = (1, 7, 1 << 62)  # how many cuts of a node bound promises judge before looking whether one passed


class Judge:
    """Promises bound to cells, asked about cuts of nodes over the same cells."""

    def __init__(self, promises: BoundPromises, nodes: Nodes):
        self.promises, self.nodes = promises, nodes
        self.rules = Rules.of(nodes.cells, promises.caps)
        self.least_size = max([promises.least_size, *(least_size(caps) for _, caps in promises.caps)])

    @property
    def sizes_suffice(self) -> bool:
        """Whether sides of at least `least_size` rows keep every promise: then no cut need be judged."""
        return not self.promises.caps and not self.promises.checks

    def first(self, cuts: np.ndarray) -> np.ndarray:
        """Of each node's cuts, which follow one another, the first whose two sides keep every promise: their positions.

        Sizes are the caller's to compare.
        """
        kept = np.arange(len(cuts))
        if self.promises.caps:
            kept = kept[self._capped(cuts)]
        if self.promises.checks:
            kept = self._checked(cuts, kept)
        return kept[np.unique(cuts[kept, 0], return_index=True)[1]] if len(kept) else kept

    def _capped(self, cuts: np.ndarray) -> np.ndarray:
        nodes, rules = self.nodes, self.rules
        kept = np.empty(len(cuts), np.int8)
        keep_caps(cuts, nodes.words, nodes.atom, nodes.first, rules.held, rules.bounds, rules.rules,
                  not self.promises.checks, kept)  # fmt: skip
        return kept.astype(bool)

    def _checked(self, cuts: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """Positions in `asked` that pass; the best cut of each node is judged first, then a few, then the others."""
        found: list[np.ndarray] = []
        for stage in STAGES:
            turn = np.arange(len(asked)) - np.repeat(*_runs(cuts[asked, 0]))
            now = asked[turn < stage]
            passed = now[self._pass(cuts[now])]
            found.append(passed)
            asked = asked[(turn >= stage) & ~np.isin(cuts[asked, 0], cuts[passed, 0])]
            if not len(asked):
                break
        return np.sort(np.concatenate(found))

    def _pass(self, cuts: np.ndarray) -> np.ndarray:
        widest = max([domain.size for domain in self.nodes.cells.sensitive], default=1)
        step = max(BATCH // (2 * widest), 1)
        kept = np.ones(len(cuts), bool)
        for at in range(0, len(cuts), step):
            sides = Sides(self.nodes, cuts[at : at + step])
            for check in self.promises.checks:
                kept[at : at + step] &= check(sides).reshape(-1, 2).all(axis=1)
        return kept


class Sides(Groups):
    """Both sides of each cut as groups: 2i and 2i + 1.  Histograms come from a kernel; cells are listed only if asked for."""

    def __init__(self, nodes: Nodes, cuts: np.ndarray):
        self.__dict__.update(cells=nodes.cells, _nodes=nodes, _cuts=cuts, _counts={})

    def __len__(self) -> int:
        return 2 * len(self._cuts)

    def histogram(self, column: int) -> np.ndarray:
        if column not in self._counts:
            nodes = self._nodes
            counts = np.zeros((len(self), self.cells.sensitive[column].size), np.int64)
            tally(self._cuts, nodes.words, nodes.atom, nodes.first, nodes.held, column, counts)
            self._counts[column] = counts
        return self._counts[column]

    @cached_property
    def sizes(self) -> np.ndarray:
        if self.cells.sensitive:
            return self.histogram(0).sum(axis=1)
        return np.add.reduceat(self.quota, self.offsets[:-1])

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """(side, cell) of every cell of every cut, side by side."""
        nodes, cuts = self._nodes, self._cuts
        runs = cuts[:, 1] - cuts[:, 0]
        cut = np.repeat(np.arange(len(cuts)), runs)
        row = _ranges(cuts[:, 0], runs)
        code = nodes.codes(row, cuts[cut, 2]).astype(np.int64)
        side = 2 * cut + ((code < cuts[cut, 3]) | (code > cuts[cut, 4]))
        order = np.argsort(side, kind="stable")
        atom = nodes.atom[row[order]]
        held = nodes.first[atom + 1] - nodes.first[atom]
        return np.repeat(side[order], held), _ranges(nodes.first[atom], held)

    @cached_property
    def cell(self) -> np.ndarray:
        return self._entries[1]

    @cached_property
    def quota(self) -> np.ndarray:
        return self.cells.counts[self.cell]

    @cached_property
    def offsets(self) -> np.ndarray:
        return np.append(0, np.cumsum(np.bincount(self._entries[0], minlength=len(self))))


def _ranges(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """start[0], start[0] + 1, ... for each start, one after the other."""
    ends = np.cumsum(length)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(start - ends + length, length)


def _runs(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where runs of equal keys begin, and their lengths."""
    begin = np.flatnonzero(np.diff(keys, prepend=-1))
    return begin, np.diff(np.append(begin, len(keys)))
