"""The nodes of a strict partition, a level at a time.

An atom is all cells with the same quasi-identifier codes: no cut can part them.  A node is a run of atoms; cutting
permutes the atoms of a node in place, so nodes stay runs.  A cut is a row (start, stop, column, lo, hi): atoms of the
run with lo <= code <= hi go left, the others right.

`make_known_member_nodes` makes the nodes to start from if labels must tell who is in which group: no two labels may
cover the same person.  Cuts part the values of a column, and an exact set or a tight range covers no value that lies on
the other side.  Two kinds of label cover more than their group: a null beside other values prints `*`, and a node of a
hierarchy of numbers prints values that it does not hold.  So a null stands alone in its column, which parts the table
before the first cut, and such hierarchies are refused.

`SpanLosses` holds what a span of codes loses in each column, as the flat tables a kernel reads (equations 2-5 of paper
1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import BandDomain, Domain, TreeDomain
from reticent.errors import JobError, PromiseUnreachable
from reticent.kernels.mondrian_loss import compute_span_losses
from reticent.kernels.mondrian_nodes import divide_nodes, measure_nodes
from reticent.models.promise import BoundPromises, CandidateGroups, Promises, order_rows_by_group


@dataclass(eq=False)
class PartitionNodes:
    """The nodes of a partition: `start`, `stop`, `box`, `size` describe the open nodes; the closed ones are in `done`."""

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
    def from_cells(cls, cells: Cells) -> PartitionNodes:
        """Make one node that holds every cell."""
        fresh = np.ones(len(cells), bool)
        fresh[1:] = (cells.codes[1:] != cells.codes[:-1]).any(axis=1)
        starts = np.flatnonzero(fresh)
        atoms = len(starts)
        count = np.add.reduceat(cells.counts, starts)
        bounds = np.array([0], np.int64), np.array([atoms], np.int64)
        return cls(
            cells,
            np.append(starts, len(cells)),
            pack_codes(cells.codes[starts]),
            np.arange(atoms, dtype=np.int32),
            count,
            *bounds,
        )

    def __len__(self) -> int:
        return len(self.start)

    def codes(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the codes of some rows, each in a column of its own."""
        return self.words[row, column // 2] >> (32 * (column % 2)).astype(np.uint64) & np.uint64(0x7FFFFFFF)

    def get_cell_contents(self, column: int) -> np.ndarray:
        """Return what each cell holds: its count and its value in a sensitive column."""
        if column not in self._held:
            self._held[column] = np.column_stack([self.cells.counts, self.cells.values[:, column]]).astype(np.int64)
        return self._held[column]

    def spans(self, nodes: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the whole of each of these nodes in a column, as rows like those of a cut."""
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
        divide_nodes(cuts, self.words, self.atom, self.count, middle)
        self.start = np.column_stack([self.start, middle]).reshape(-1)
        self.stop = np.column_stack([middle, self.stop]).reshape(-1)
        self._measure()

    def split_on_trial(self, cuts: np.ndarray) -> PartitionNodes:
        """Return the sides of some cuts, of one node or of many, as nodes of their own, without cutting these nodes."""
        runs = cuts[:, 1] - cuts[:, 0]
        stop = np.cumsum(runs)
        row = concatenate_ranges(cuts[:, 0], runs)
        rows = self.words[row], self.atom[row], self.count[row]
        nodes = PartitionNodes(self.cells, self.first, *rows, stop - runs, stop, _held=self._held)
        nodes.cut(np.column_stack([stop - runs, stop, cuts[:, 2:]]))
        return nodes

    def _measure(self) -> None:
        self.box = np.empty((len(self.start), 2, len(self.cells.quasi)), np.int32)
        self.size = np.empty(len(self.start), np.int64)
        measure_nodes(self.start, self.stop, self.words, self.count, self.box, self.size)

    def group_of_cell(self) -> np.ndarray:
        """Return the closed nodes as groups, numbered as they lie."""
        starts = np.sort(np.concatenate([*self.done, self.start]))
        runs = np.diff(np.append(starts, len(self.atom)))
        group_of_atom = np.empty(len(self.atom), np.int64)
        group_of_atom[self.atom] = np.repeat(np.arange(len(starts)), runs)
        return np.repeat(group_of_atom, np.diff(self.first))


def pack_codes(codes: np.ndarray) -> np.ndarray:
    """Pack codes two to a 64-bit word: even columns in the lower half."""
    words = codes[:, ::2].astype(np.uint64)
    words[:, : codes.shape[1] // 2] |= codes[:, 1::2].astype(np.uint64) << np.uint64(32)
    return words


def concatenate_ranges(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """List start[0], start[0] + 1, ... for each start, one after the other."""
    ends = np.cumsum(length)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(start - ends + length, length)


def find_run_starts(keys: np.ndarray) -> np.ndarray:
    """Find where each run of equal keys begins."""
    fresh = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return np.flatnonzero(fresh)


def make_known_member_nodes(cells: Cells, bound: BoundPromises, promises: Promises) -> PartitionNodes:
    """Make one node for each pattern of missing quasi-identifiers, each of which keeps every promise."""
    names = " and ".join(promise.name for promise in promises)
    for domain in cells.quasi:
        if isinstance(domain, BandDomain):
            raise JobError(
                f"{names} needs labels that tell groups apart, "
                f"and {domain.name!r} is published by nodes of a hierarchy.",
                why="Numbers and dates of two groups can lie under one node.",
                attempt=f"no hierarchy for {domain.name!r}: it is then published as ranges.",
            )
    nodes = _split_by_null_pattern(PartitionNodes.from_cells(cells))
    allowed = bound.allow(_make_candidate_groups(cells, nodes.group_of_cell()))
    if not allowed.all():
        raise PromiseUnreachable(
            f"{names} cannot be met by mondrian.",
            why=f"Missing values of a quasi-identifier form groups of their own, so that labels tell groups apart; of "
            f"{len(allowed)} patterns of missing values {int((~allowed).sum())} break the promise as one group.",
            attempt="filling in or withholding the rows with missing values, or a weaker promise.",
        )
    return nodes


def _split_by_null_pattern(single_node: PartitionNodes) -> PartitionNodes:
    """Sort the single node's atoms by which of their quasi-identifiers are null, and make a node for each pattern."""
    cells = single_node.cells
    null = np.array([domain.null_code for domain in cells.quasi])
    missing = (cells.codes[single_node.first[:-1]] == null) & (null >= 0)
    if not missing.any():
        return single_node
    _, pattern = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(pattern.reshape(-1), kind="stable")
    start = find_run_starts(pattern.reshape(-1)[order]).astype(np.int64)
    stop = np.append(start[1:], len(order)).astype(np.int64)
    return PartitionNodes(
        cells,
        single_node.first,
        single_node.words[order],
        single_node.atom[order],
        single_node.count[order],
        start,
        stop,
    )


def _make_candidate_groups(cells: Cells, group_of_cell: np.ndarray) -> CandidateGroups:
    order, offsets = order_rows_by_group(group_of_cell, int(group_of_cell.max(initial=-1)) + 1)
    return CandidateGroups(cells, order, cells.counts[order], offsets)


RANGE_SHAPE = 0
TREE_SHAPE = 1
SUBTREES_SHAPE = 2


@dataclass(frozen=True, eq=False)
class SpanLosses:
    """shape[j] = (kind, begin in value, begin in minima, levels, null code, codes); see the kernel for their meaning."""

    shape: np.ndarray
    value: np.ndarray
    minima: np.ndarray

    @classmethod
    def from_domains(cls, domains: tuple[Domain, ...], weights: np.ndarray, *, disjoint: bool = False) -> SpanLosses:
        widest = max([domain.size for domain in domains], default=1)
        values: list[np.ndarray] = []
        minima_parts = [np.frexp(np.maximum(np.arange(widest + 1), 1))[1] - 1]  # the logarithm to base 2
        shape = np.zeros((len(domains), 6), np.int64)
        for j, (domain, weight) in enumerate(zip(domains, weights, strict=True)):
            kind, levels, value, minima = (
                _tabulate_tree(domain, disjoint) if isinstance(domain, TreeDomain) else _tabulate_range(domain)
            )
            begins = sum(map(len, values)), sum(map(len, minima_parts))
            shape[j] = kind, *begins, levels, domain.null_code, domain.size
            values.append(weight * value)
            minima_parts.append(minima)
        return cls(shape, np.concatenate([*values, [0.0]]), np.concatenate(minima_parts).astype(np.int32))

    def losses(self, box: np.ndarray) -> np.ndarray:
        """Compute (boxes, columns): the weighted loss of each box in each column."""
        box_losses = np.empty((len(box), len(self.shape)))
        compute_span_losses(box, self.shape, self.value, self.minima, box_losses)
        return box_losses


def _tabulate_range(domain: Domain) -> tuple[int, int, np.ndarray, np.ndarray]:
    codes = np.arange(domain.size)
    return RANGE_SHAPE, 0, domain.loss(np.zeros_like(codes), codes), np.zeros(0)


def _tabulate_tree(domain: TreeDomain, disjoint: bool) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Losses of the nodes above each leaf by depth, and minima of `split` over 1, 2, 4, ... positions."""
    tree = domain.hierarchy
    above = domain.loss(tree.first, tree.last)[tree.paths[:, ::-1]]
    minima = [np.pad(row, (0, domain.size - len(row))) for row in domain.split_minimum.levels]
    return SUBTREES_SHAPE if disjoint else TREE_SHAPE, above.shape[1], above.reshape(-1), np.concatenate(minima)
