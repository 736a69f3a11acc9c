"""The nodes of a strict partition, a level at a time, and which cuts of them are accepted.

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

A cut is accepted if both of its sides keep every promise (`Acceptance`).  A kernel checks the caps, which `CapTables`
holds as flat tables for several sensitive columns; bound promises are checked in batches of all sides (`CutSides`).

`CutMask` tells which cuts of some nodes keep the caps, all at once, for nodes whose best few cuts all broke a promise.
Asking about one cut after the other costs a pass over the node for each; a column of 30,000 categories has as many
cuts, and a promise that one rare value makes strict bars nearly all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import BandDomain, Domain, TreeDomain
from reticent.errors import JobError, PromiseUnreachable
from reticent.kernels.mondrian_allowed import mark_allowed_cuts
from reticent.kernels.mondrian_loss import compute_span_losses
from reticent.kernels.mondrian_nodes import divide_nodes, measure_nodes
from reticent.kernels.mondrian_sides import list_side_atoms, mark_cuts_within_caps, tally_sides
from reticent.models.promise import BoundPromises, CandidateGroups, Caps, Promises, order_rows_by_group

RANGE_SHAPE = 0
TREE_SHAPE = 1
SUBTREES_SHAPE = 2
BATCH_COUNTS = 1 << 22  # counts of values that a batch of cuts may take


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


@dataclass(frozen=True, eq=False)
class CapTables:
    """Caps of several sensitive columns as the flat tables a kernel reads.

    contents[cell] = (count, values ...), the values of each sensitive column numbered after those of the one before.
    """

    contents: np.ndarray
    bounds: np.ndarray
    rules: np.ndarray

    @classmethod
    def build(cls, cells: Cells, caps: tuple[tuple[int, Caps], ...]) -> CapTables:
        """Build the tables; only the columns that have a cap are in them."""
        views = {_make_view_key(column, cap): (column, cap) for column, cap in caps}
        names = sorted(views)
        sizes = [views[name][1].values for name in names]
        begin = dict(zip(names, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True)) if names else {}
        contents = [cells.counts, *(_list_cell_values(cells, *views[name]) + begin[name] for name in names)]
        bounds = [_tabulate_bounds(cap) for _, cap in caps]
        rules = [
            _tabulate_rule(cap, begin[_make_view_key(column, cap)], shift)
            for (column, cap), shift in zip(caps, np.cumsum([0, *map(len, bounds)]).tolist(), strict=False)
        ]
        return cls(
            np.column_stack(contents).astype(np.int64),
            np.concatenate([*bounds, np.zeros((0, 4))]).astype(np.int64),
            np.array(rules, np.int64).reshape(-1, 9),
        )


def compute_least_size(caps: Caps) -> int:
    """Compute a size that every group these caps allow has: each of its values needs so many rows around it."""
    least_size = max(caps.least_size, caps.least_distinct)
    if caps.upper is None or caps.without >= 0 or not caps.upper[:, 0].any():
        return least_size
    upper = caps.upper[caps.upper[:, 0] > 0]
    return max(least_size, int((-(-upper[:, 1] // upper[:, 0])).min()))


class Acceptance:
    """Promises bound to cells, which judge cuts of nodes over the same cells."""

    def __init__(self, promises: BoundPromises, nodes: PartitionNodes, rules: CapTables | None = None):
        self.promises = promises
        self.nodes = nodes
        self.caps = (*promises.caps, *(caps for check in promises.checks for caps in getattr(check, "caps", ())))
        self.checks = tuple(check for check in promises.checks if not hasattr(check, "caps"))
        self.rules = rules or CapTables.build(nodes.cells, self.caps)
        self.least_size = max([promises.least_size, *(compute_least_size(caps) for _, caps in self.caps)])

    def for_nodes(self, nodes: PartitionNodes) -> Acceptance:
        """Return the same promises for other nodes over the same cells."""
        return Acceptance(self.promises, nodes, self.rules)

    @property
    def sizes_suffice(self) -> bool:
        """Whether sides of at least `least_size` rows keep every promise: then no cut needs to be judged."""
        return not self.caps and not self.checks

    def select_best_cuts(self, cuts: np.ndarray, max_cuts: int = 1) -> np.ndarray:
        """Select, of each node's cuts, which follow one another, the first `max_cuts` whose two sides keep every promise.

        Return their positions.  The caller compares sizes.
        """
        positions = np.arange(len(cuts))
        if self.caps:
            positions = positions[self._select_within_caps(cuts, 1 << 62 if self.checks else max_cuts)]
        if self.checks:
            positions = self._select_passing_checks(cuts, positions, max_cuts)
        return positions[_count_preceding_equals(cuts[positions, 0]) < max_cuts]

    def _select_within_caps(self, cuts: np.ndarray, max_cuts: int) -> np.ndarray:
        nodes = self.nodes
        rules = self.rules
        verdicts = np.empty(len(cuts), np.int8)
        args = cuts, nodes.words, nodes.atom, nodes.first, rules.contents, rules.bounds, rules.rules
        mark_cuts_within_caps(*args, max_cuts, verdicts)
        return verdicts.astype(bool)

    def _select_passing_checks(self, cuts: np.ndarray, positions: np.ndarray, max_cuts: int) -> np.ndarray:
        """Select those of the positions in `positions` that pass, judged a few of each node at a time until enough have."""
        passing: list[np.ndarray] = []
        stage = max_cuts
        while len(positions):
            turn = _count_preceding_equals(cuts[positions, 0])
            now = positions[turn < stage]
            passed = now[self._pass_checks(cuts[now])]
            passing.append(passed)
            node, enough = np.unique(cuts[passed, 0], return_counts=True)
            positions = positions[(turn >= stage) & ~np.isin(cuts[positions, 0], node[enough >= max_cuts])]
            stage *= 64
        return np.sort(np.concatenate(passing)) if passing else positions

    def _pass_checks(self, cuts: np.ndarray) -> np.ndarray:
        widest = max([domain.size for domain in self.nodes.cells.sensitive], default=1)
        step = max(BATCH_COUNTS // (2 * widest), 1)
        verdicts = np.ones(len(cuts), bool)
        for begin in range(0, len(cuts), step):
            sides = CutSides(self.nodes, cuts[begin : begin + step])
            for check in self.checks:
                verdicts[begin : begin + step] &= check(sides).reshape(-1, 2).all(axis=1)
        return verdicts


class CutSides(CandidateGroups):
    """Both sides of each cut as groups: 2i and 2i + 1.  Histograms come from a kernel; cells are listed only on demand."""

    _nodes: PartitionNodes
    _cuts: np.ndarray
    _counts: dict[int, np.ndarray]

    def __init__(self, nodes: PartitionNodes, cuts: np.ndarray):
        self.__dict__.update(cells=nodes.cells, _nodes=nodes, _cuts=cuts, _counts={})

    def __len__(self) -> int:
        return 2 * len(self._cuts)

    def histogram(self, column: int) -> np.ndarray:
        if column not in self._counts:
            nodes = self._nodes
            counts = np.empty((len(self), self.cells.sensitive[column].size), np.int64)
            tally_sides(self._cuts, nodes.words, nodes.atom, nodes.first, nodes.get_cell_contents(column), counts)
            self._counts[column] = counts
        return self._counts[column]

    @cached_property
    def sizes(self) -> np.ndarray:
        if self.cells.sensitive:
            return self.histogram(0).sum(axis=1)
        return np.add.reduceat(self.quota, self.offsets[:-1])

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        nodes = self._nodes
        cuts = self._cuts
        offsets = np.zeros(len(self) + 1, np.int64)
        point = np.empty(int((cuts[:, 1] - cuts[:, 0]).sum()), np.int32)
        list_side_atoms(np.ascontiguousarray(cuts), nodes.words, nodes.atom, offsets, point)
        return offsets, point

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """(side, cell) of every cell of every cut, side by side."""
        nodes = self._nodes
        cuts = self._cuts
        runs = cuts[:, 1] - cuts[:, 0]
        cut = np.repeat(np.arange(len(cuts)), runs)
        row = concatenate_ranges(cuts[:, 0], runs)
        code = nodes.codes(row, cuts[cut, 2]).astype(np.int64)
        side = 2 * cut + ((code < cuts[cut, 3]) | (code > cuts[cut, 4]))
        order = np.argsort(side, kind="stable")
        atom = nodes.atom[row[order]]
        cell_counts = nodes.first[atom + 1] - nodes.first[atom]
        return np.repeat(side[order], cell_counts), concatenate_ranges(nodes.first[atom], cell_counts)

    @cached_property
    def cell(self) -> np.ndarray:
        return self._entries[1]

    @cached_property
    def quota(self) -> np.ndarray:
        return self.cells.counts[self.cell]

    @cached_property
    def offsets(self) -> np.ndarray:
        return np.append(0, np.cumsum(np.bincount(self._entries[0], minlength=len(self))))


@dataclass(frozen=True, eq=False)
class CutMask:
    """Mask of cuts: allowed[begin[i] + ordinal] is whether that cut of the i-th node of `asked` keeps the caps."""

    begin: np.ndarray
    allowed: np.ndarray

    @classmethod
    def all(cls, nodes: int) -> CutMask:
        """Make a mask that bars no cut."""
        return cls(np.zeros(nodes, np.int64), np.ones(0, np.int8))

    @property
    def empty(self) -> bool:
        return not len(self.allowed)

    def take_nodes(self, nodes: np.ndarray) -> CutMask:
        """Return the mask of the same cuts, of some of the nodes."""
        return CutMask(self.begin[nodes], self.allowed)

    @classmethod
    def build(
        cls, nodes: PartitionNodes, node_numbers: np.ndarray, side: np.ndarray, rules: CapTables, spans: SpanLosses
    ) -> CutMask:
        """Make the mask; `side` is the least number of rows of a side, for each node in `node_numbers`."""
        start = nodes.start[node_numbers]
        stop = nodes.stop[node_numbers]
        length = stop - start
        cut_bounds = bound_cut_counts(nodes, node_numbers)
        begin = np.cumsum(cut_bounds) - cut_bounds
        allowed = np.ones(int(cut_bounds.sum()), np.int8)
        table = np.column_stack([start, stop, side, begin, np.cumsum(length) - length]).astype(np.int64)
        cells = np.column_stack([nodes.first[nodes.atom], nodes.first[nodes.atom + 1]]).astype(np.int64)
        tables = nodes.words, cells, rules.contents, (rules.rules, rules.bounds), (spans.shape, spans.minima)
        mark_allowed_cuts(table, _order_rows_by_code(nodes, start, length), *tables, allowed)
        return cls(begin, allowed)


def bound_cut_counts(nodes: PartitionNodes, node_numbers: np.ndarray) -> np.ndarray:
    """Bound the number of cuts of each node: between codes, and each code and each child of a tree from the rest."""
    box = nodes.box[node_numbers].astype(np.int64)
    length = nodes.stop[node_numbers] - nodes.start[node_numbers]
    return 3 * np.minimum(box[:, 1] - box[:, 0] + 1, length[:, None]).sum(axis=1) + 1


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


def _tabulate_tree(domain: TreeDomain, disjoint: bool) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Losses of the nodes above each leaf by depth, and minima of `split` over 1, 2, 4, ... positions."""
    tree = domain.hierarchy
    above = domain.loss(tree.first, tree.last)[tree.paths[:, ::-1]]
    minima = [np.pad(row, (0, domain.size - len(row))) for row in domain.split_minimum.levels]
    return SUBTREES_SHAPE if disjoint else TREE_SHAPE, above.shape[1], above.reshape(-1), np.concatenate(minima)


def _tabulate_range(domain: Domain) -> tuple[int, int, np.ndarray, np.ndarray]:
    codes = np.arange(domain.size)
    return RANGE_SHAPE, 0, domain.loss(np.zeros_like(codes), codes), np.zeros(0)


def _make_view_key(column: int, caps: Caps) -> tuple[int, bytes]:
    """Make the key of a column's values, or of the sets of them that are counted as one."""
    return column, b"" if caps.family is None else caps.family.tobytes()


def _list_cell_values(cells: Cells, column: int, caps: Caps) -> np.ndarray:
    return cells.values[:, column] if caps.family is None else caps.family[cells.values[:, column]]


def _tabulate_bounds(caps: Caps) -> np.ndarray:
    """Tabulate upper and lower caps side by side; where there are none, caps that nothing breaks."""
    upper = np.ones((caps.values, 2), np.int64) if caps.upper is None else caps.upper
    lower = np.tile(np.array([0, 1], np.int64), (caps.values, 1)) if caps.lower is None else caps.lower
    return np.hstack([upper, lower])


def _tabulate_rule(caps: Caps, begin: int, shift: int) -> list[int]:
    floored = 0 if caps.lower is None else int((caps.lower[:, 0] > 0).sum())
    null, ignored = (code + begin if code >= 0 else -1 for code in (caps.null, caps.without))
    end = begin + caps.values
    return [
        caps.least_size,
        caps.least_distinct,
        null,
        ignored,
        int(caps.present_only),
        floored,
        begin,
        end,
        shift - begin,
    ]


def _count_preceding_equals(keys: np.ndarray) -> np.ndarray:
    """Count how many equal keys precede each in its run."""
    begin = find_run_starts(keys)
    return np.arange(len(keys)) - np.repeat(begin, np.diff(np.append(begin, len(keys))))


def _order_rows_by_code(nodes: PartitionNodes, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Order the rows of each node by their codes, node after node: (columns, rows)."""
    row = concatenate_ranges(start, length)
    owner = np.repeat(np.arange(len(start)), length)
    row_order = np.empty((len(nodes.cells.quasi), len(row)), np.int32)
    for column in range(len(row_order)):
        code = nodes.codes(row, np.full(len(row), column)).astype(np.int64)
        row_order[column] = row[_sort_by_owner_and_code(owner, code)]
    return row_order


def _sort_by_owner_and_code(owner: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Sort stably by owner, then code: sixteen bits at a time, which NumPy sorts by counting."""
    order = np.arange(len(code))
    for key in (code, owner):
        for shift in range(0, max(int(key.max(initial=0)).bit_length(), 1), 16):
            digit = (key >> shift & 0xFFFF).astype(np.uint16)
            order = order[np.argsort(digit[order], kind="stable")]
    return order
