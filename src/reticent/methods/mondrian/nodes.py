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


@dataclass(eq=False)
class Nodes:
    """`start`, `stop`, `box`, `size` describe the nodes still open; those closed are in `done`."""

    cells: Cells
    first: np.ndarray  # cells of atom a: first[a] .. first[a + 1]
    words: np.ndarray  # the atoms' codes, two columns to a word, permuted as nodes are cut
    atom: np.ndarray  # which atom a row of `words` is
    count: np.ndarray  # how many rows of the table it stands for
    start: np.ndarray
    stop: np.ndarray
    box: np.ndarray = field(init=False)  # (nodes, least and greatest code, columns)
    size: np.ndarray = field(init=False)
    done: list[np.ndarray] = field(default_factory=list)
    _held: dict[int, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._measure()

    @classmethod
    def of(cls, cells: Cells) -> Nodes:
        """One node that holds every cell."""
        fresh = np.ones(len(cells), bool)
        fresh[1:] = (cells.codes[1:] != cells.codes[:-1]).any(axis=1)
        starts = np.flatnonzero(fresh)
        atoms = len(starts)
        count = np.add.reduceat(cells.counts, starts)
        whole = np.array([0], np.int64), np.array([atoms], np.int64)
        return cls(
            cells,
            np.append(starts, len(cells)),
            packed(cells.codes[starts]),
            np.arange(atoms, dtype=np.int32),
            count,
            *whole,
        )

    def __len__(self) -> int:
        return len(self.start)

    def codes(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """The codes of some rows, each in a column of its own."""
        return self.words[row, column // 2] >> (32 * (column % 2)).astype(np.uint64) & np.uint64(0x7FFFFFFF)

    def held(self, column: int) -> np.ndarray:
        """What each cell holds: its count and its value in a sensitive column."""
        if column not in self._held:
            self._held[column] = np.column_stack([self.cells.counts, self.cells.values[:, column]]).astype(np.int64)
        return self._held[column]

    def spans(self, nodes: np.ndarray, column: np.ndarray) -> np.ndarray:
        """The whole of each of these nodes in a column, as rows like those of a cut."""
        ends = self.box[nodes, 0, column], self.box[nodes, 1, column]
        return np.column_stack([self.start[nodes], self.stop[nodes], column, *ends]).astype(np.int64)

    def close(self, open_: np.ndarray) -> None:
        """Keep open only these nodes; the others are groups."""
        self.done.append(self.start[~open_])
        self.start, self.stop, self.size, self.box = (
            part[open_] for part in (self.start, self.stop, self.size, self.box)
        )

    def cut(self, cuts: np.ndarray) -> None:
        """Cut each open node by its row of `cuts`: the next level."""
        middle = np.empty(len(cuts), np.int64)
        divide(cuts, self.words, self.atom, self.count, middle)
        self.start = np.column_stack([self.start, middle]).reshape(-1)
        self.stop = np.column_stack([middle, self.stop]).reshape(-1)
        self._measure()

    def trial(self, cuts: np.ndarray) -> Nodes:
        """The sides of some cuts, of one node or of many, as nodes of their own: nothing is cut here."""
        runs = cuts[:, 1] - cuts[:, 0]
        stop = np.cumsum(runs)
        row = ranges(cuts[:, 0], runs)
        rows = self.words[row], self.atom[row], self.count[row]
        nodes = Nodes(self.cells, self.first, *rows, stop - runs, stop, _held=self._held)
        nodes.cut(np.column_stack([stop - runs, stop, cuts[:, 2:]]))
        return nodes

    def _measure(self) -> None:
        self.box = np.empty((len(self.start), 2, len(self.cells.quasi)), np.int32)
        self.size = np.empty(len(self.start), np.int64)
        measure(self.start, self.stop, self.words, self.count, self.box, self.size)

    def group_of_cell(self) -> np.ndarray:
        """The closed nodes as groups, numbered as they lie."""
        starts = np.sort(np.concatenate([*self.done, self.start]))
        runs = np.diff(np.append(starts, len(self.atom)))
        group_of_atom = np.empty(len(self.atom), np.int64)
        group_of_atom[self.atom] = np.repeat(np.arange(len(starts)), runs)
        return np.repeat(group_of_atom, np.diff(self.first))


def packed(codes: np.ndarray) -> np.ndarray:
    """Codes two to a 64-bit word: even columns in the lower half."""
    words = codes[:, ::2].astype(np.uint64)
    words[:, : codes.shape[1] // 2] |= codes[:, 1::2].astype(np.uint64) << np.uint64(32)
    return words


def ranges(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """start[0], start[0] + 1, ... for each start, one after the other."""
    ends = np.cumsum(length)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(start - ends + length, length)


def run_starts(keys: np.ndarray) -> np.ndarray:
    """Where each run of equal keys begins."""
    fresh = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return np.flatnonzero(fresh)
