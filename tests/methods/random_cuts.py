"""A cure that was tried: Mondrian whose key draws one cut among those of nearly equal loss:  python -m tests.methods.random_cuts

Of the eight best cuts that keep every promise, those that leave at most `slack` more loss than the best are equally likely.  So
many groupings of nearly equal loss come of one table, and whoever does not know the key cannot say why it was just this one.
It is no option of the library: docs/what-else-it-says.md says why.  Run, it prints how many releases of the study of tiny tables
(`studies.minimality`) leave somebody above the promise, for each promise and setting; the key is secret in `secret`.  With the
environment variable BENCH_WORK set (`studies.beta_likeness.tables`) it prints AIL on adult30k beside that of cuts by loss.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import reticent as rt
from reticent.methods.base import bind_reachable_promises, resolve_weights
from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.cuts import LOOK_AHEAD_NEVER, LossCuts
from reticent.methods.mondrian.nodes import PartitionNodes, SpanLosses, find_run_starts
from reticent.recipe.recipe import Recipe
from studies.beta_likeness import tables
from studies.minimality import figures

OPTIONS = 8


class DrawnCuts(LossCuts):
    """Chooses for each open node one of its best cuts, at random among those of nearly equal loss."""

    def __init__(self, *given, slack: float, draw: np.random.Generator):
        super().__init__(*given, LOOK_AHEAD_NEVER)
        self.slack = slack
        self.draw = draw

    def choose(self) -> tuple[np.ndarray, np.ndarray]:
        self.depth += 1
        found = self._find_options(OPTIONS)
        first = find_run_starts(found.owner)
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
        bound = bind_reachable_promises(cells, promises, self.name)
        apart = labels == "nodes" and not promises.union_closed
        spans = SpanLosses.from_domains(
            cells.quasi, resolve_weights([domain.name for domain in cells.quasi], self.weights), disjoint=apart
        )
        nodes = PartitionNodes.from_cells(cells)
        chooser = DrawnCuts(
            nodes, Acceptance(bound, nodes), spans, slack=self.slack, draw=rng.stream("mondrian, drawn cuts")
        )
        while len(nodes):
            chosen, cuts = chooser.choose()
            nodes.close(chosen)
            nodes.cut(cuts)
        return Recipe.of_groups(cells, nodes.group_of_cell(), labels)


def shares(settings: tuple[str, ...], promises: tuple[str, ...]) -> Iterator[str]:
    """What the study would say of this method."""
    figures.METHODS["mondrian (drawn)"] = Drawn()
    for setting in settings:
        for promise in promises:
            found = figures.summary(figures.figure(setting, [(promise, "mondrian (drawn)")]))
            yield from (f"{setting}, {promise}: {row['exceeding']:.1%} {row['worst']:.3f}" for row in found)


def losses(name: str = "adult30k") -> Iterator[str]:
    frame, columns = tables.prepared(name, None)
    cells = rt.count(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame.select(list(columns)))
    asked = (
        rt.KAnonymity(5),
        rt.ProbabilisticLDiversity(2),
        rt.ProbabilisticLDiversity(3),
        rt.BetaLikeness(2),
        rt.TCloseness("0.3"),
    )
    for promise in asked:
        jobs = (rt.Job(columns=columns, promises=[promise], method=method) for method in (rt.Mondrian(), Drawn()))
        least, drawn = (rt.plan(job, cells=cells, seed=1).loss for job in jobs)
        yield f"{name}, {promise}: {least:.4f} {drawn:.4f}"


if __name__ == "__main__":
    for line in shares(tuple(figures.SETTINGS), tuple(figures.PROMISES)):
        sys.stdout.write(line + "\n")
    for line in losses() if "BENCH_WORK" in os.environ else ():
        sys.stdout.write(line + "\n")
