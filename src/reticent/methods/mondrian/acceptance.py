"""Whether both sides of a cut keep every promise: caps in a kernel, bound promises by a batched check of all sides."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from reticent.kernels.mondrian_sides import keep_caps, part, tally
from reticent.methods.mondrian.nodes import Nodes, ranges, run_starts
from reticent.methods.mondrian.rules import Rules, least_size
from reticent.models.promises import BoundPromises
from reticent.models.shapes import Groups

BATCH = 1 << 22  # counts of values that a batch of cuts may take


class Acceptance:
    """Promises bound to cells, asked about cuts of nodes over the same cells."""

    def __init__(self, promises: BoundPromises, nodes: Nodes, rules: Rules | None = None):
        self.promises, self.nodes = promises, nodes
        self.caps = (*promises.caps, *(caps for check in promises.checks for caps in getattr(check, "caps", ())))
        self.checks = tuple(check for check in promises.checks if not hasattr(check, "caps"))
        self.rules = rules or Rules.of(nodes.cells, self.caps)
        self.least_size = max([promises.least_size, *(least_size(caps) for _, caps in self.caps)])

    def over(self, nodes: Nodes) -> Acceptance:
        """The same promises asked about other nodes over the same cells."""
        return Acceptance(self.promises, nodes, self.rules)

    @property
    def sizes_suffice(self) -> bool:
        """Whether sides of at least `least_size` rows keep every promise: then no cut need be judged."""
        return not self.caps and not self.checks

    def best(self, cuts: np.ndarray, most: int = 1) -> np.ndarray:
        """Of each node's cuts, which follow one another, the first `most` whose two sides keep every promise.

        Their positions.  Sizes are the caller's to compare.
        """
        kept = np.arange(len(cuts))
        if self.caps:
            kept = kept[self._capped(cuts, 1 << 62 if self.checks else most)]
        if self.checks:
            kept = self._checked(cuts, kept, most)
        return kept[_turn(cuts[kept, 0]) < most]

    def _capped(self, cuts: np.ndarray, most: int) -> np.ndarray:
        nodes, rules = self.nodes, self.rules
        kept = np.empty(len(cuts), np.int8)
        args = cuts, nodes.words, nodes.atom, nodes.first, rules.held, rules.bounds, rules.rules
        keep_caps(*args, most, kept)
        return kept.astype(bool)

    def _checked(self, cuts: np.ndarray, asked: np.ndarray, most: int) -> np.ndarray:
        """Those of the positions asked for that pass, judged a few of each node at a time until enough have."""
        found: list[np.ndarray] = []
        stage = most
        while len(asked):
            turn = _turn(cuts[asked, 0])
            now = asked[turn < stage]
            passed = now[self._pass(cuts[now])]
            found.append(passed)
            node, enough = np.unique(cuts[passed, 0], return_counts=True)
            asked = asked[(turn >= stage) & ~np.isin(cuts[asked, 0], node[enough >= most])]
            stage *= 64
        return np.sort(np.concatenate(found)) if found else asked

    def _pass(self, cuts: np.ndarray) -> np.ndarray:
        widest = max([domain.size for domain in self.nodes.cells.sensitive], default=1)
        step = max(BATCH // (2 * widest), 1)
        kept = np.ones(len(cuts), bool)
        for at in range(0, len(cuts), step):
            sides = Sides(self.nodes, cuts[at : at + step])
            for check in self.checks:
                kept[at : at + step] &= check(sides).reshape(-1, 2).all(axis=1)
        return kept


class Sides(Groups):
    """Both sides of each cut as groups: 2i and 2i + 1.  Histograms come from a kernel; cells are listed only if asked for."""

    _nodes: Nodes
    _cuts: np.ndarray
    _counts: dict[int, np.ndarray]

    def __init__(self, nodes: Nodes, cuts: np.ndarray):
        self.__dict__.update(cells=nodes.cells, _nodes=nodes, _cuts=cuts, _counts={})

    def __len__(self) -> int:
        return 2 * len(self._cuts)

    def histogram(self, column: int) -> np.ndarray:
        if column not in self._counts:
            nodes = self._nodes
            counts = np.empty((len(self), self.cells.sensitive[column].size), np.int64)
            tally(self._cuts, nodes.words, nodes.atom, nodes.first, nodes.held(column), counts)
            self._counts[column] = counts
        return self._counts[column]

    @cached_property
    def sizes(self) -> np.ndarray:
        if self.cells.sensitive:
            return self.histogram(0).sum(axis=1)
        return np.add.reduceat(self.quota, self.offsets[:-1])

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        nodes, cuts = self._nodes, self._cuts
        offsets = np.zeros(len(self) + 1, np.int64)
        point = np.empty(int((cuts[:, 1] - cuts[:, 0]).sum()), np.int32)
        part(np.ascontiguousarray(cuts), nodes.words, nodes.atom, offsets, point)
        return offsets, point

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """(side, cell) of every cell of every cut, side by side."""
        nodes, cuts = self._nodes, self._cuts
        runs = cuts[:, 1] - cuts[:, 0]
        cut = np.repeat(np.arange(len(cuts)), runs)
        row = ranges(cuts[:, 0], runs)
        code = nodes.codes(row, cuts[cut, 2]).astype(np.int64)
        side = 2 * cut + ((code < cuts[cut, 3]) | (code > cuts[cut, 4]))
        order = np.argsort(side, kind="stable")
        atom = nodes.atom[row[order]]
        held = nodes.first[atom + 1] - nodes.first[atom]
        return np.repeat(side[order], held), ranges(nodes.first[atom], held)

    @cached_property
    def cell(self) -> np.ndarray:
        return self._entries[1]

    @cached_property
    def quota(self) -> np.ndarray:
        return self.cells.counts[self.cell]

    @cached_property
    def offsets(self) -> np.ndarray:
        return np.append(0, np.cumsum(np.bincount(self._entries[0], minlength=len(self))))


def _turn(keys: np.ndarray) -> np.ndarray:
    """How many equal keys precede each in its run."""
    begin = run_starts(keys)
    return np.arange(len(keys)) - np.repeat(begin, np.diff(np.append(begin, len(keys))))
