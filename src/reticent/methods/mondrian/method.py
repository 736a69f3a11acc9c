"""Mondrian: strict multidimensional partitioning (LeFevre, DeWitt & Ramakrishnan, ICDE 2006, section 4).

Cells and any conjunction of count-capped and group-checked promises -> a recipe of disjoint groups.  Starting from the
whole table, each node is cut in two as long as both sides keep every promise.  All nodes of a level are cut together;
the interpreter loops over depth only.

Departs from the paper: how a cut is chosen is a choice (`cuts`), the paper's being "median"; and both sides are checked
against every promise, not against a size.

`LossCuts` takes, of all columns and all places to cut, the cut that leaves the least total loss.  A cut's weight is the
sum over its sides of rows x weighted loss of their tight boxes.  Ranges are cut between any two values; trees too (in
pre-order), and one leaf or one child of the lowest common ancestor may be cut from the rest, so that a side may be any
set of values: sides are disjoint as sets though their labels may cover each other.  A cut that uses up what a promise
allows bars others: the largest nodes choose between their two best cuts by what their sides can be cut to next.

`MedianCuts` cuts the widest column at its median, as the paper does.  The width of a node in a column is its loss there:
its range over the column's range, or the leaves under its lowest common ancestor over all leaves.  With `fallback`, as
in the paper, a node stays whole only where no column can be cut at its median; without, where the widest cannot, as
simple comparators do: that loses up to four times as much.  Departs from the paper: a tree is cut in two, between
children of the lowest common ancestor, not into all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.data.domain import Domain, RangeDomain
from reticent.kernels.mondrian_loss import weigh_cuts
from reticent.kernels.mondrian_median import place_median_cuts
from reticent.methods.base import Method, bind_reachable_promises, resolve_weights
from reticent.methods.mondrian.nodes import (
    Acceptance,
    CutMask,
    PartitionNodes,
    SpanLosses,
    bound_cut_counts,
    find_run_starts,
    make_known_member_nodes,
)
from reticent.models.promise import BoundPromises, CountCappedPromise, GroupCheckedPromise, Promises
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.validation import check_parameters, document_parameters

FIRST_CANDIDATES = 32
CANDIDATE_GROWTH = 16  # candidates judged at first, and how many times more in each further round
CROWDED_CUTS = (
    FIRST_CANDIDATES * CANDIDATE_GROWTH
)  # a node with more cuts than that is not asked about one after the other
DEEP_LEVEL = 64
EVEN_SIDE_SHARE = 16  # from this depth on a side holds at least one row in so many, where such a cut can be made


def plan_blind_cuts(
    bound: BoundPromises, start: Callable[[], PartitionNodes], spans: SpanLosses, labels: str
) -> Recipe:
    """Plan blind cuts: groups that depend on sensitive values by one number alone, against adversaries who know the method.

    Return the finest groups of the sizes tried that keep every promise; where none do, those of `start`.

    Cuts weigh loss and sizes alone.  The least size of a group is the first of k, 5/4 k, 25/16 k, ... at which all
    groups keep every promise, k being the least that the promises themselves allow.  Of sensitive values the groups
    reveal that one number, and so that at each size tried before some group broke a promise.  Of a large table that is
    a statement about thousands of groups; in a table of six people, which has one or two, it still leaves somebody
    above the promise in a fifth of the releases (studies/minimality).

    It costs loss: one group that breaks a promise makes all groups larger (docs/what-else-it-says.md has the price).
    """
    size = Acceptance(bound, start()).least_size
    while True:
        nodes = start()
        start_count = len(nodes)
        chooser = LossCuts(nodes, Acceptance(BoundPromises(bound.cells, size, (), ()), nodes), spans, LOOK_AHEAD_NEVER)
        while len(nodes):
            chosen, cuts = chooser.choose()
            nodes.close(chosen)
            nodes.cut(cuts)
        recipe = Recipe.of_groups(bound.cells, nodes.group_of_cell(), labels)
        if recipe.groups == start_count or bound.allow(recipe.as_groups()).all():
            return recipe
        size = size * 5 // 4 + 1


@document_parameters(METHODS["mondrian"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Mondrian(Method):
    """Cuts groups in two, one column at a time, as long as both sides keep every promise."""

    cuts: Literal["loss", "median", "blind"] = "loss"
    fallback: bool = True
    labels: Literal["nodes", "sets"] | None = None
    thorough: bool = False
    weights: Mapping[str, float] | None = None
    name: ClassVar[str] = "mondrian"
    kind: ClassVar[str] = "generalized"
    strict: ClassVar[bool] = True
    deterministic: ClassVar[bool] = True
    keeps: ClassVar[tuple[type, ...]] = (CountCappedPromise, GroupCheckedPromise)

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("weights",))

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        """Cut until no cut keeps the promises; nothing is drawn."""
        labels = self.labels_for(promises)
        bound = bind_reachable_promises(cells, promises, self.name)

        def start() -> PartitionNodes:
            return (
                make_known_member_nodes(cells, bound, promises)
                if promises.labels == "sets"
                else PartitionNodes.from_cells(cells)
            )

        # Groups whose labels are equal are published as one: harmless where a union keeps what its parts keep.
        disjoint = labels == "nodes" and not promises.union_closed
        spans = SpanLosses.from_domains(
            cells.quasi, resolve_weights([domain.name for domain in cells.quasi], self.weights), disjoint=disjoint
        )
        if self.cuts == "blind":
            return plan_blind_cuts(bound, start, spans, labels)
        nodes = start()
        accepts = Acceptance(bound, nodes)
        if self.cuts == "loss":
            ahead = LOOK_AHEAD_AT_FIRST
            if self.thorough:
                ahead = LOOK_AHEAD_ALWAYS
            elif accepts.sizes_suffice:
                ahead = LOOK_AHEAD_NEVER
            chooser: LossCuts | MedianCuts = LossCuts(nodes, accepts, spans, ahead)
        else:
            chooser = MedianCuts(nodes, accepts, spans, fallback=self.fallback, disjoint=disjoint)
        while len(nodes):
            chosen, cuts = chooser.choose()
            nodes.close(chosen)
            nodes.cut(cuts)
        return Recipe.of_groups(cells, nodes.group_of_cell(), labels)

    def labels_for(self, promises: Promises) -> str:
        """Return how groups print: as the option sets it, else as the promises need it."""
        promises.check_labels(self.labels)
        return self.labels or promises.labels or "nodes"


@dataclass(frozen=True, slots=True)
class LookAhead:
    """Nodes with at least one row in `share` try their `options` best cuts one level ahead."""

    options: int
    share: int


LOOK_AHEAD_NEVER = LookAhead(1, 1)
LOOK_AHEAD_AT_FIRST = LookAhead(2, 4)
LOOK_AHEAD_ALWAYS = LookAhead(4, 1 << 31)


class CutOptions(NamedTuple):
    """Cuts that keep every promise, by node and the loss they leave."""

    owner: np.ndarray
    cuts: np.ndarray
    loss: np.ndarray

    @classmethod
    def join(cls, parts: list[CutOptions]) -> CutOptions:
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(np.zeros(0, np.int64), np.zeros((0, 5), np.int64), np.zeros(0))
        joined = cls(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        order = np.lexsort((joined.loss, joined.owner))
        return cls(*(part[order] for part in joined))


class LossCuts:
    """Chooses for each open node the cut that leaves the least loss, or none."""

    def __init__(
        self,
        nodes: PartitionNodes,
        accepts: Acceptance,
        spans: SpanLosses,
        ahead: LookAhead = LOOK_AHEAD_AT_FIRST,
        first_candidates: int = FIRST_CANDIDATES,
        crowded_cuts: int = CROWDED_CUTS,
    ):
        self.first_candidates = first_candidates
        self.crowded_cuts = crowded_cuts
        self.nodes = nodes
        self.accepts = accepts
        self.spans = spans
        self.ahead = ahead
        self.depth = 0

    def choose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (which open nodes can be cut, their cuts)."""
        self.depth += 1
        large = self.nodes.size * self.ahead.share >= self.nodes.cells.rows
        options = self._find_options(self.ahead.options if large.any() else 1)
        pick = find_run_starts(options.owner)
        if self.ahead.options > 1 and large[options.owner].any():
            self._look_ahead(options, large, pick)
        chosen = np.zeros(len(self.nodes), bool)
        chosen[options.owner[pick]] = True
        return chosen, options.cuts[pick]

    def estimate_next_loss(self) -> np.ndarray:
        """Compute the loss of each open node after one more cut, or as it is if it cannot be cut."""
        loss = self.spans.losses(self.nodes.box).sum(axis=1) * self.nodes.size
        options = self._find_options(1)
        pick = find_run_starts(options.owner)
        loss[options.owner[pick]] = options.loss[pick]
        return loss

    def _look_ahead(self, options: CutOptions, large: np.ndarray, pick: np.ndarray) -> None:
        """Pick the cut whose sides can be cut best in turn: a cut that uses up what a promise allows bars others."""
        tried = np.flatnonzero(large[options.owner])
        trial = self.nodes.split_on_trial(options.cuts[tried])
        reach = (
            LossCuts(trial, self.accepts.for_nodes(trial), self.spans, LOOK_AHEAD_NEVER)
            .estimate_next_loss()
            .reshape(-1, 2)
            .sum(axis=1)
        )
        ranked = tried[np.lexsort((reach, options.owner[tried]))]
        best = ranked[find_run_starts(options.owner[ranked])]
        pick[np.searchsorted(options.owner[pick], options.owner[best])] = best

    def _find_options(self, max_options: int) -> CutOptions:
        """Find the `most` best cuts of each node."""
        size = self.nodes.size
        least_size = self.accepts.least_size
        trying = np.flatnonzero(size >= 2 * least_size)
        if self.depth <= DEEP_LEVEL:
            return self._find_accepted_options(trying, np.full(len(size), least_size), max_options)
        even = self._find_accepted_options(trying, np.maximum(size // EVEN_SIDE_SHARE, least_size), max_options)
        others = trying[~np.isin(trying, even.owner)]
        return CutOptions.join([even, self._find_accepted_options(others, np.full(len(size), least_size), max_options)])

    def _find_accepted_options(self, trying: np.ndarray, side: np.ndarray, max_options: int) -> CutOptions:
        """Ask about the candidates of each node, best first, in rounds of growing length until one passes or none is left.

        Where the first few of very many all break a promise, the caps are asked about every cut of the node at once.
        """
        slots = max_options if self.accepts.sizes_suffice else self.first_candidates
        options: list[CutOptions] = []
        behind = np.full((len(trying), 6), -1, np.int64), np.full(len(trying), -1.0)
        mask = CutMask.all(len(trying))
        while len(trying):
            best, loss = self._weigh_candidates(trying, side, mask, slots, behind)
            is_candidate = np.isfinite(loss[:, 1:])
            owner = np.nonzero(is_candidate)[0]
            cuts = np.ascontiguousarray(best[:, 1:][is_candidate][:, :5])
            accepted = self.accepts.select_best_cuts(cuts, max_options)
            options.append(CutOptions(trying[owner[accepted]], cuts[accepted], loss[:, 1:][is_candidate][accepted]))
            unfinished = is_candidate[:, -1]
            unfinished[owner[accepted]] = False
            trying = trying[unfinished]
            behind = (best[unfinished, -1], loss[unfinished, -1])
            mask = mask.take_nodes(unfinished)
            slots *= CANDIDATE_GROWTH
            if mask.empty and self.accepts.caps and self._is_crowded(trying):
                mask = CutMask.build(self.nodes, trying, side[trying], self.accepts.rules, self.spans)
                slots = slots if self.accepts.checks else max_options
        return CutOptions.join(options)

    def _is_crowded(self, trying: np.ndarray) -> bool:
        """Tell whether a node has so many cuts that they are not asked about one after the other."""
        return bool(bound_cut_counts(self.nodes, trying).max(initial=0) > self.crowded_cuts)

    def _weigh_candidates(
        self, trying: np.ndarray, side: np.ndarray, mask: CutMask, slots: int, behind: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the next candidates of each node behind the last one seen, by loss: cuts with their ordinal, and the loss left."""
        nodes = self.nodes
        spans = self.spans
        node_table = np.column_stack([nodes.start[trying], nodes.stop[trying], side[trying], mask.begin])
        best = np.zeros((len(trying), slots + 1, 6), np.int64)
        loss = np.full((len(trying), slots + 1), np.inf)
        best[:, 0], loss[:, 0] = behind
        losses = spans.shape, spans.value, spans.minima
        weigh_cuts(node_table, nodes.words, nodes.count, nodes.box[trying], *losses, best, loss, mask.allowed)
        return best, loss


class MedianCuts:
    """Chooses for each open node a cut at the median, or none."""

    def __init__(
        self, nodes: PartitionNodes, accepts: Acceptance, spans: SpanLosses, *, fallback: bool, disjoint: bool
    ):
        self.nodes = nodes
        self.accepts = accepts
        self.spans = spans
        self.fallback = fallback
        self.disjoint = disjoint
        self.base, self.fence = compute_fences(nodes.cells.quasi)

    def choose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (which open nodes can be cut, their cuts)."""
        nodes = self.nodes
        columns = len(self.nodes.cells.quasi)
        chosen = np.zeros(len(nodes), bool)
        cuts = np.zeros((len(nodes), 5), np.int64)
        widths = self.spans.losses(nodes.box)
        order = np.argsort(-widths, axis=1, kind="stable")
        trying = np.flatnonzero(nodes.size >= 2 * self.accepts.least_size)
        for attempt in range(columns if self.fallback else min(columns, 1)):
            column = order[trying, attempt]
            able = nodes.box[trying, 0, column] < nodes.box[trying, 1, column]
            cuttable = trying[able]
            median_cuts = nodes.spans(cuttable, column[able])
            accepted = self._place_median_cuts(median_cuts)
            chosen[cuttable[accepted]] = True
            cuts[cuttable[accepted]] = median_cuts[accepted]
            trying = trying[~chosen[trying]]
            if not len(trying):
                break
        return chosen, cuts[chosen]

    def _place_median_cuts(self, spans: np.ndarray) -> np.ndarray:
        """Turn whole spans into median cuts, in place; return which of them keep every promise."""
        left_rows = np.empty((len(spans), 2), np.int64)
        place_median_cuts(spans, self.nodes.words, self.nodes.count, self.base, self.fence, self.disjoint, left_rows)
        accepted = np.minimum(left_rows[:, 0], left_rows[:, 1] - left_rows[:, 0]) >= self.accepts.least_size
        candidates = np.flatnonzero(accepted)
        accepted[:] = False
        accepted[candidates[self.accepts.select_best_cuts(spans[candidates])]] = True
        return accepted


def compute_fences(domains: tuple[Domain, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Compute where each column's fences begin, and for each fence its height, the previous lower one and the next lower one."""
    parts = []
    for domain in domains:
        height = np.zeros_like(domain.split) if isinstance(domain, RangeDomain) else domain.split
        parts.append(
            np.array([height, _find_lower_before(height), len(height) - 1 - _find_lower_before(height[::-1])[::-1]])
        )
    base = np.cumsum([0, *(part.shape[1] for part in parts)])
    return base.astype(np.int64), np.ascontiguousarray(np.hstack([*parts, np.zeros((3, 1))]), np.int32)


def _find_lower_before(height: np.ndarray) -> np.ndarray:
    """Find for each position the last one before it that is strictly lower, or -1."""
    lower_before = np.full(len(height), -1, np.int64)
    positions = np.arange(len(height))
    for level in np.unique(height):
        is_level = height == level
        lower_before[is_level] = np.maximum.accumulate(np.where(height < level, positions, -1))[is_level]
    return lower_before
