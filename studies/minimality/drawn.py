"""A cure that was tried: Mondrian whose key draws one cut among those of nearly equal loss.

Of the eight best cuts that keep every promise, those that leave at most `slack` more loss than the best are equally likely.  So
many groupings of nearly equal loss come of one table, and whoever does not know the key cannot say why it was just this one.
It is no option of the library: the figures of the study say why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import reticent as rt
from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.loss_cuts import NEVER, LossCuts
from reticent.methods.mondrian.nodes import Nodes, run_starts
from reticent.methods.mondrian.spans import Spans
from reticent.methods.reachable import check_reachable
from reticent.methods.weights import weights_of
from reticent.recipe.recipe import Recipe

OPTIONS = 8


class DrawnCuts(LossCuts):
    """Chooses for each open node one of its best cuts, at random among those of nearly equal loss."""

    def __init__(self, *given, slack: float, draw: np.random.Generator):
        super().__init__(*given, NEVER)
        self.slack, self.draw = slack, draw

    def choose(self) -> tuple[np.ndarray, np.ndarray]:
        self.depth += 1
        found = self._options(OPTIONS)
        first = run_starts(found.owner)
        least = np.repeat(found.loss[first], np.diff(np.append(first, len(found.owner))))
        luck = np.where(found.loss <= least * (1 + self.slack), self.draw.random(len(found.loss)), 2.0)
        pick = np.lexsort((luck, found.owner))[first]
        chosen = np.zeros(len(self.nodes), bool)
        chosen[found.owner[pick]] = True
        return chosen, found.cuts[pick]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(rt.Mondrian):
    """`slack`: how much more loss than the best a cut may leave, as a share."""

    slack: float = 0.1
    deterministic: ClassVar[bool] = False

    def plan(self, cells, promises, rng) -> Recipe:
        labels = self.labels_for(promises)
        bound = check_reachable(cells, promises, self.name)
        apart = labels == "nodes" and not promises.union_closed
        spans = Spans.of(cells.quasi, weights_of([domain.name for domain in cells.quasi], self.weights), apart=apart)
        nodes = Nodes.of(cells)
        chooser = DrawnCuts(
            nodes, Acceptance(bound, nodes), spans, slack=self.slack, draw=rng.stream("mondrian, drawn cuts")
        )
        while len(nodes):
            chosen, cuts = chooser.choose()
            nodes.close(chosen)
            nodes.cut(cuts)
        return Recipe.of_groups(cells, nodes.group_of_cell(), labels)
