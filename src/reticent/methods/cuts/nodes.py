"""The nodes of a strict partition, a level at a time.

An atom is all cells with the same quasi-identifier codes: no cut can part them.  A node is a run of atoms; cutting
permutes the atoms of a node in place, so nodes stay runs.  A cut is a row (start, stop, column, lo, hi): atoms of the
run with lo <= code <= hi go left, the others right.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reticent.kernels.mondrian_nodes import divide, measure
from reticent.table.cells import Cells

LANES = 8  # kernels compare this many columns at once


@dataclass(eq=False)
class Nodes:
    """`start`, `stop`, `box`, `size` describe the nodes still open; those closed are in `done`."""

    cells: Cells
    first: np.ndarray  # cells of atom a: first[a] .. first[a + 1]
    codes: np.ndarray  # (atoms, columns padded to LANES) int32, permuted as nodes are cut
    atom: np.ndarray  # which atom a row of `codes` is
    count: np.ndarray  # how many rows of the table it stands for
    start: np.ndarray
    stop: np.ndarray
    box: np.ndarray = field(init=False)  # (nodes, least and greatest code, columns)
    size: np.ndarray = field(init=False)
    done: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._measure()

    @classmethod
    def of(cls, cells: Cells) -> Nodes:
        """One node that holds every cell."""
        fresh = np.ones(len(cells), bool)
        fresh[1:] = (cells.codes[1:] != cells.codes[:-1]).any(axis=1)
        starts = np.flatnonzero(fresh)
        atoms, columns = len(starts), cells.codes.shape[1]
        codes = np.zeros((atoms, -(-max(columns, 1) // LANES) * LANES), np.int32)
        codes[:, :columns] = cells.codes[starts]
        count = np.add.reduceat(cells.counts, starts)
        whole = np.array([0], np.int64), np.array([atoms], np.int64)
        return cls(cells, np.append(starts, len(cells)), codes, np.arange(atoms, dtype=np.int32), count, *whole)

    def __len__(self) -> int:
        return len(self.start)

    def spans(self, nodes: np.ndarray, column: np.ndarray) -> np.ndarray:
        """The whole of each of these nodes in a column, as rows like those of a cut."""
        ends = self.box[nodes, 0, column], self.box[nodes, 1, column]
        return np.column_stack([self.start[nodes], self.stop[nodes], column, *ends]).astype(np.int64)

    def close(self, open_: np.ndarray) -> None:
        """Keep open only these nodes; the others are groups."""
        self.done.append(self.start[~open_])
        self.start, self.stop, self.size, self.box = (part[open_] for part in (self.start, self.stop, self.size, self.box))

    def cut(self, cuts: np.ndarray) -> None:
        """Cut each open node by its row of `cuts`: the next level."""
        middle = np.empty(len(cuts), np.int64)
        divide(cuts, self.codes, self.atom, self.count, middle)
        self.start = np.column_stack([self.start, middle]).reshape(-1)
        self.stop = np.column_stack([middle, self.stop]).reshape(-1)
        self._measure()

    def _measure(self) -> None:
        self.box = np.empty((len(self.start), 2, self.codes.shape[1]), np.int32)
        self.size = np.empty(len(self.start), np.int64)
        measure(self.start, self.stop, self.codes, self.count, self.box, self.size)

    def group_of_cell(self) -> np.ndarray:
        """The closed nodes as groups, numbered as they lie."""
        starts = np.sort(np.concatenate([*self.done, self.start]))
        runs = np.diff(np.append(starts, len(self.atom)))
        group_of_atom = np.empty(len(self.atom), np.int64)
        group_of_atom[self.atom] = np.repeat(np.arange(len(starts)), runs)
        return np.repeat(group_of_atom, np.diff(self.first))
