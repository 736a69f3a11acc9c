"""Mondrian: strict multidimensional partitioning (LeFevre, DeWitt & Ramakrishnan, ICDE 2006, section 4).

Cells and any conjunction of count-capped and group-checked promises -> a recipe of disjoint groups.  Starting from the
whole table, each node is cut in two as long as both sides keep every promise.  All nodes of a level are cut together;
the interpreter loops over depth only.

Departs from the paper: how a cut is chosen is a choice (`cuts`), the paper's being "median"; and both sides are checked
against every promise, not against a size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.methods.base import Method, bind_reachable_promises, resolve_weights
from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.cuts import (
    LOOK_AHEAD_ALWAYS,
    LOOK_AHEAD_AT_FIRST,
    LOOK_AHEAD_NEVER,
    LossCuts,
    MedianCuts,
)
from reticent.methods.mondrian.nodes import PartitionNodes, SpanLosses, make_known_member_nodes
from reticent.models.promise import BoundPromises, CountCappedPromise, GroupCheckedPromise, Promises
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.validation import check_parameters, document_parameters


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
