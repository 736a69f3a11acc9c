"""Anatomy: exact quasi-identifiers, sensitive values by group (Xiao & Tao, VLDB 2006; the bucketization of papers 1 to 4).

Cells and a promise of l-diversity -> groups of at least l rows in which no value occurs twice, in O(n).  The release
shows each row's group and, for each group, which values it holds; it does not show which row has which.

Departs from the paper: groups are dealt like cards.  The rows, sorted by value and in random order within a value, go
to floor(n / l) groups in turn; an l-eligible table has no value with more rows than there are groups, so no group gets
a value twice.  That places the residue, too.  `grouping` "hilbert" first cuts the Hilbert curve through
quasi-identifier space in halves as long as both are l-eligible, and deals each piece apart: the same promise with
groups of neighbours.  The draw within a value is random there as well: an adversary who knows the order of dealing must
not learn who holds what.

Rows whose value is missing never count toward diversity: they are dealt last, onto groups that keep the promise without
them.

(B,t)-privacy and its skyline (Li, Li & Zhang, ICDE 2009, section III-A: bucketization) are about who is in a group and
which values it lists, not about labels: a group's posterior beliefs are those of a generalized group of the same people.
Dealt groups break them (a list of l different values is like nobody's prior), so with such a promise groups are cut as
Mondrian cuts them, all people of one combination of quasi-identifiers together, as long as both sides keep every
promise; l-diversity is then one of these, and a group may list a value twice.  People are in one group, which the file
`quasi` shows: nothing is left to labels, and missing quasi-identifiers need no group of their own.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.errors import JobError, PromiseUnreachable
from reticent.exact_arithmetic import shares_at_most
from reticent.kernels.hilbert import compute_hilbert_keys
from reticent.methods.base import Method, bind_reachable_promises
from reticent.methods.equivalence_classes import choose_curve_bits, compute_grid
from reticent.methods.mondrian.method import LossCuts
from reticent.methods.mondrian.nodes import Acceptance, PartitionNodes, SpanLosses
from reticent.models.background_knowledge.bt_privacy import BTPrivacy, Skyline
from reticent.models.l_diversity import DistinctLDiversity, EntropyLDiversity, ProbabilisticLDiversity
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.validation import check_parameters, document_parameters

CUT_SHARES = ((1, 2), (3, 8), (5, 8))  # where a piece of the curve is tried
Diversity = ProbabilisticLDiversity | DistinctLDiversity | EntropyLDiversity


@document_parameters(METHODS["anatomy"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Anatomy(Method):
    """Groups of rows with different sensitive values, which are published apart from the rows."""

    grouping: str = "random"
    name: ClassVar[str] = "anatomy"
    kind: ClassVar[str] = "anatomized"
    labels: ClassVar[None] = None
    keeps: ClassVar[tuple[type, ...]] = (
        ProbabilisticLDiversity,
        DistinctLDiversity,
        EntropyLDiversity,
        BTPrivacy,
        Skyline,
    )

    def __post_init__(self) -> None:
        check_parameters(self)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        if len(cells.sensitive) != 1:
            raise JobError(
                f"anatomy publishes one sensitive column; there are {len(cells.sensitive)}.",
                attempt='role = "identifying" for all but one, which are then not published.',
            )
        kept: list[Diversity | BTPrivacy | Skyline] = promises.require_models(*self.keeps)
        if any(isinstance(promise, BTPrivacy | Skyline) for promise in kept):
            return cut_groups(cells, promises, self.name)
        l = max(ceil(promise.l) for promise in kept if not isinstance(promise, BTPrivacy | Skyline))
        value = cells.values[:, 0]
        null = cells.sensitive[0].null_code
        cells_with_value = np.flatnonzero(value != null) if null >= 0 else np.arange(len(cells))
        totals = np.bincount(value[cells_with_value], weights=cells.counts[cells_with_value]).astype(np.int64)
        require_eligible(totals, l, cells.sensitive[0].name)
        draw = rng.stream("anatomy")
        if self.grouping == "hilbert":
            row, group, groups = self._group_along_curve(cells, cells_with_value, len(totals), l, draw)
        else:
            by_value = cells_with_value[np.argsort(value[cells_with_value], kind="stable")]
            row = np.repeat(by_value.astype(np.int32), cells.counts[by_value])
            ends = np.cumsum(totals)
            for first, end in zip((ends - totals).tolist(), ends.tolist(), strict=True):
                draw.shuffle(row[first:end])
            groups = len(row) // l
            group = np.resize(np.arange(groups, dtype=np.int32), len(row))
        if null >= 0:
            missing = np.repeat(np.flatnonzero(value == null), cells.counts[value == null])
            row, group = add_rows_without_value(
                row, group, groups, draw.permutation(missing), promises, cells.sensitive[0].name
            )
        return Recipe(cells, row, group, np.broadcast_to(np.int64(1), len(row)), groups)

    def _group_along_curve(
        self, cells: Cells, cells_with_value: np.ndarray, values: int, l: int, draw: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Deal each eligible piece of the curve by itself; return rows, their groups, and the number of groups."""
        cells_with_value = cells_with_value[np.argsort(compute_curve_keys(cells)[cells_with_value], kind="stable")]
        row = np.repeat(cells_with_value.astype(np.int32), cells.counts[cells_with_value])
        row_values = cells.values[row, 0].astype(np.int16 if values < 1 << 15 else np.int32)
        order, group, groups = deal_rows(row_values, find_piece_starts(row_values, values, l), l, draw)
        return row[order], group, groups


def cut_groups(cells: Cells, promises: Promises, method: str) -> Recipe:
    """Cut groups of whole combinations of quasi-identifiers, each of which keeps every promise; nothing is drawn."""
    bound = bind_reachable_promises(cells, promises, method)
    nodes = PartitionNodes.from_cells(cells)
    chooser = LossCuts(nodes, Acceptance(bound, nodes), SpanLosses.from_domains(cells.quasi, np.ones(len(cells.quasi))))
    while len(nodes):
        chosen, cuts = chooser.choose()
        nodes.close(chosen)
        nodes.cut(cuts)
    group_of_cell = nodes.group_of_cell()
    row = np.repeat(np.arange(len(cells), dtype=np.int32), cells.counts)
    group = group_of_cell[row].astype(np.int32)
    return Recipe(cells, row, group, np.broadcast_to(np.int64(1), len(row)), int(group_of_cell.max()) + 1)


def require_eligible(totals: np.ndarray, l: int, column: str) -> None:
    rows = int(totals.sum())
    largest = int(totals.max(initial=0))
    if rows < l or l * largest > rows:
        share = largest / rows if rows else 0.0
        supported = rows // largest if largest else 0
        advice = [f"l = {supported} or less"] if supported > 1 else []
        if l <= int((totals > 0).sum()):
            advice.append(f'[[prepare]] with name = "suppression" and l = {l}')
        raise PromiseUnreachable(
            f"l = {l} on {column!r} cannot be met by anatomy.",
            why=f"The most frequent of its values has {largest:,} of {rows:,} rows, a share of {share:.4f}; one in {l} is allowed.",
            attempt=f"{', or '.join(advice)}." if advice else "another sensitive column.",
        )


def compute_curve_keys(cells: Cells) -> np.ndarray:
    """Compute each cell's position on the Hilbert curve through quasi-identifier space."""
    bits = choose_curve_bits(cells)
    keys = np.empty(len(cells), np.int64)
    compute_hilbert_keys(compute_grid(cells, bits, stretch=True), bits, keys)
    return keys


def find_piece_starts(row_values: np.ndarray, values: int, l: int) -> np.ndarray:
    """Find where to cut rows in curve order: in halves, or nearly, as long as both sides are l-eligible.  Loops over depth only."""
    starts = np.array([0, len(row_values)])
    finished = np.zeros(1, bool)
    while not finished.all():
        sizes = np.diff(starts)
        finished |= sizes < 2 * l
        cut = np.zeros(len(sizes), np.int64)
        for part, parts in CUT_SHARES:
            uncut = np.flatnonzero(~finished & (cut == 0))
            places = starts[uncut] + sizes[uncut] * part // parts
            ends = np.sort(np.concatenate([starts, places]))
            fits = _are_eligible(row_values, ends, values, l)
            first = np.searchsorted(ends, starts[uncut], side="right") - 1
            cut[uncut] = np.where(fits[first] & fits[first + 1], places, 0)
        split = cut > 0
        finished |= ~split
        order = np.argsort(np.concatenate([starts[:-1], cut[split]]), kind="stable")
        finished = np.concatenate([finished, np.zeros(int(split.sum()), bool)])[order]
        starts = np.sort(np.concatenate([starts, cut[split]]))
    return starts


def deal_rows(
    row_values: np.ndarray, starts: np.ndarray, l: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, int]:
    """Deal each piece's rows in turn to floor(size / l) groups.

    Return (order, group of each row in that order, number of groups).
    """
    sizes = np.diff(starts)
    groups = sizes // l
    order = rng.permutation(len(row_values)).astype(np.int32)
    order = order[np.argsort(row_values[order], kind="stable")]
    piece = np.repeat(np.arange(len(sizes)), sizes)
    order = order[np.argsort(piece[order], kind="stable")]
    place = np.arange(len(row_values)) - np.repeat(starts[:-1], sizes)
    first = np.cumsum(groups) - groups
    return order, np.repeat(first, sizes) + place % np.repeat(groups, sizes), int(groups.sum())


def add_rows_without_value(
    row: np.ndarray, group: np.ndarray, groups: int, missing: np.ndarray, promises: Promises, column: str
) -> tuple[np.ndarray, np.ndarray]:
    """Deal rows without a value onto the groups in turn; a group may not hold too many of them either."""
    dealt = np.arange(len(missing)) % groups
    sizes = np.bincount(group, minlength=groups) + np.bincount(dealt, minlength=groups)
    missing_counts = np.bincount(dealt, minlength=groups)
    caps = [promise.l for promise in promises if isinstance(promise, ProbabilisticLDiversity | EntropyLDiversity)]
    if not all(shares_at_most(missing_counts, 1 / cap, sizes).all() for cap in caps):
        raise PromiseUnreachable(
            f"l-diversity on {column!r} cannot be met by anatomy: {len(missing):,} of {len(row) + len(missing):,} rows have no value.",
            attempt='missing = "withhold" for this column.',
        )
    return np.concatenate([row, missing]), np.concatenate([group, dealt])


def _are_eligible(row_values: np.ndarray, ends: np.ndarray, values: int, l: int) -> np.ndarray:
    """Tell which of the pieces are l-eligible."""
    sizes = np.diff(ends)
    piece = np.repeat(np.arange(len(sizes)), sizes)
    key, count = np.unique(piece * values + row_values, return_counts=True)
    largest = np.maximum.reduceat(count, np.flatnonzero(np.diff(key // values, prepend=-1)))
    return l * largest <= sizes
