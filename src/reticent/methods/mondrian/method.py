"""Mondrian: strict multidimensional partitioning (LeFevre, DeWitt & Ramakrishnan, ICDE 2006, section 4).

Cells and any conjunction of count-capped and bound promises -> a recipe of disjoint groups.  Starting from the whole
table, each node is cut in two as long as both sides keep every promise.  All nodes of a level are cut together; the
interpreter loops over depth only.

Departs from the paper: how a cut is chosen is a choice (`cuts`), the paper's being "median"; and both sides are checked
against every promise, not against a size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from reticent.door import check_parameters
from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.blind_cuts import blind
from reticent.methods.mondrian.loss_cuts import ALWAYS, AT_FIRST, NEVER, LossCuts
from reticent.methods.mondrian.median_cuts import MedianCuts
from reticent.methods.mondrian.membership import nodes_of_known_members
from reticent.methods.mondrian.nodes import Nodes
from reticent.methods.mondrian.spans import Spans
from reticent.methods.protocols import Method
from reticent.methods.reachable import check_reachable
from reticent.methods.weights import check_weights, weights_of
from reticent.models.promises import Promises
from reticent.models.shapes import Bound, CountCapped
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Mondrian(Method):
    """`cuts` "loss" weighs every cut by the loss it leaves; "median" is the paper's, with or without `fallback` to the
    next widest column; "blind" looks at no sensitive value but to find how large groups must be.  `labels` "sets" publishes the exact values of a group instead of their common ancestor; left
    out, the labels are what the promises need, and "nodes" where they need nothing.
    `thorough` (loss only) tries the best four cuts of every node one level ahead: less loss in about four times the time.
    `weights` says how much a column's loss counts; 1 where it is silent.
    """

    cuts: Literal["loss", "median", "blind"] = "loss"
    fallback: bool = True
    labels: Literal["nodes", "sets"] | None = None
    thorough: bool = False
    weights: Mapping[str, float] | None = None
    name: ClassVar[str] = "mondrian"
    kind: ClassVar[str] = "generalized"
    strict: ClassVar[bool] = True
    deterministic: ClassVar[bool] = True
    keeps: ClassVar[tuple[type, ...]] = (CountCapped, Bound)

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("weights",))
        check_weights(self.weights)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        """Cut until no cut keeps the promises; nothing is drawn."""
        labels = self.labels_for(promises)
        bound = check_reachable(cells, promises, self.name)

        def start() -> Nodes:
            return nodes_of_known_members(cells, bound, promises) if promises.labels == "sets" else Nodes.of(cells)

        # Groups whose labels are equal are published as one: harmless where a union keeps what its parts keep.
        apart = labels == "nodes" and not promises.union_closed
        spans = Spans.of(cells.quasi, weights_of([domain.name for domain in cells.quasi], self.weights), apart=apart)
        if self.cuts == "blind":
            return blind(bound, start, spans, labels)
        nodes = start()
        accepts = Acceptance(bound, nodes)
        if self.cuts == "loss":
            ahead = ALWAYS if self.thorough else NEVER if accepts.sizes_suffice else AT_FIRST
            chooser: LossCuts | MedianCuts = LossCuts(nodes, accepts, spans, ahead)
        else:
            chooser = MedianCuts(nodes, accepts, spans, fallback=self.fallback, apart=apart)
        while len(nodes):
            chosen, cuts = chooser.choose()
            nodes.close(chosen)
            nodes.cut(cuts)
        return Recipe.of_groups(cells, nodes.group_of_cell(), labels)

    def labels_for(self, promises: Promises) -> str:
        """How groups print: as asked, else as the promises need it."""
        promises.check_labels(self.labels)
        return self.labels or promises.labels or "nodes"
