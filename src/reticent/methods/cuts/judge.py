"""Whether both sides of a cut keep every promise: caps in a kernel, bound promises by a batched check of all sides."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from reticent.kernels.mondrian_caps import keep_caps, tally
from reticent.methods.cuts.nodes import Nodes
from reticent.models.caps import Caps
from reticent.models.promises import BoundPromises
from reticent.models.shapes import Groups

BATCH = 1 << 22  # counts of values that a batch of cuts may take


class Judge:
    """Promises bound to cells, asked about cuts of nodes over the same cells."""

    def __init__(self, promises: BoundPromises, nodes: Nodes):
        self.promises, self.nodes = promises, nodes
        self.held = {column: _held(nodes, column) for column in range(len(nodes.cells.sensitive))}
        self.rules = [(self.held[column], _bounds(caps), _rule(caps)) for column, caps in promises.caps]
        self.least_size = max([promises.least_size, *(_least(caps) for _, caps in promises.caps)])

    @property
    def sizes_suffice(self) -> bool:
        """Whether sides of at least `least_size` rows keep every promise: then no cut need be judged."""
        return not self.promises.caps and not self.promises.checks

    def keeps(self, cuts: np.ndarray) -> np.ndarray:
        """Which cuts leave two sides that keep every promise; their sizes are the caller's to compare."""
        kept = np.ones(len(cuts), bool)
        nodes = self.nodes
        for held, bounds, rule in self.rules:
            asked = np.flatnonzero(kept)
            verdict = np.empty(len(asked), np.int8)
            keep_caps(cuts[asked], nodes.codes, nodes.atom, nodes.first, held, bounds, rule, verdict)
            kept[asked] = verdict
        if self.promises.checks:
            asked = np.flatnonzero(kept)
            kept[asked] = self._checked(cuts[asked])
        return kept

    def _checked(self, cuts: np.ndarray) -> np.ndarray:
        widest = max([domain.size for domain in self.nodes.cells.sensitive], default=1)
        step = max(BATCH // (2 * widest), 1)
        kept = np.ones(len(cuts), bool)
        for at in range(0, len(cuts), step):
            sides = Sides(self, cuts[at : at + step])
            for check in self.promises.checks:
                kept[at : at + step] &= check(sides).reshape(-1, 2).all(axis=1)
        return kept


class Sides(Groups):
    """Both sides of each cut as groups: 2i and 2i + 1.  Histograms come from a kernel; cells are listed only if asked for."""

    def __init__(self, judge: Judge, cuts: np.ndarray):
        state = {"cells": judge.nodes.cells, "_judge": judge, "_cuts": cuts, "_counts": {}}
        self.__dict__.update(state)

    def __len__(self) -> int:
        return 2 * len(self._cuts)

    def histogram(self, column: int) -> np.ndarray:
        if column not in self._counts:
            nodes = self._judge.nodes
            counts = np.zeros((len(self), self.cells.sensitive[column].size), np.int64)
            tally(self._cuts, nodes.codes, nodes.atom, nodes.first, self._judge.held[column], counts)
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
        nodes, cuts = self._judge.nodes, self._cuts
        runs = cuts[:, 1] - cuts[:, 0]
        cut = np.repeat(np.arange(len(cuts)), runs)
        row = _ranges(cuts[:, 0], runs)
        code = nodes.codes[row, cuts[cut, 2]]
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


def _held(nodes: Nodes, column: int) -> np.ndarray:
    return np.column_stack([nodes.cells.values[:, column], nodes.cells.counts]).astype(np.int64)


def _bounds(caps: Caps) -> np.ndarray:
    """Upper and lower caps side by side; where there are none, ones that nothing breaks."""
    upper = np.ones((caps.values, 2), np.int64) if caps.upper is None else caps.upper
    lower = np.array([[0, 1]] * caps.values, np.int64) if caps.lower is None else caps.lower
    return np.hstack([upper, lower.reshape(-1, 2)]).astype(np.int64)


def _rule(caps: Caps) -> np.ndarray:
    floored = 0 if caps.lower is None else int((caps.lower[:, 0] > 0).sum())
    rule = [caps.least_size, caps.least_distinct, caps.null, caps.without, caps.present_only, floored]
    return np.array(rule, np.int64)


def _least(caps: Caps) -> int:
    """A size that every group these caps allow has: its commonest value needs so many rows around it."""
    least = max(caps.least_size, caps.least_distinct)
    if caps.upper is None or caps.without >= 0 or not caps.upper[:, 0].any():
        return least
    return max(least, int((-(-caps.upper[:, 1] // np.maximum(caps.upper[:, 0], 1)))[caps.upper[:, 0] > 0].min()))
