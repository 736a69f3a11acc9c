"""Stages and a method as one recipe.

A stage prepares: it keeps some rows of each cell and withholds the others; the method plans on the cells that are kept, so that their
totals, which are the published table's, are the reference distribution of every promise.  The composed recipe speaks of the
cells as they were counted: what a stage withheld is withheld in it, and every row of every cell has one outcome.
A stage that has `finish(recipe, promises, rng)` splits the quotas once more after the method (a sample of each group).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from reticent.errors import JobError
from reticent.methods.protocols import Anytime, Method, Stage
from reticent.methods.withholding import plan_withholding
from reticent.models.promises import Promises
from reticent.randomness import Random
from reticent.recipe.prepared import Prepared as Prepared
from reticent.recipe.recipe import Recipe
from reticent.step import Step
from reticent.table.cells import Cells


def plan(
    stages: Sequence[Stage],
    method: Method,
    cells: Cells,
    promises: Promises,
    rng: Random,
    suppress_at_most: Fraction = Fraction(0),
    say: Callable[[str], None] = lambda stage: None,
    watch: Callable[[Any], bool | None] | None = None,
) -> Recipe:
    """The stages one after the other, then the method on what they kept, for the promises that no stage keeps.

    A method that improves as long as it may (`anytime`) says its loss on the way, or tells it to `watch`.
    """
    if suppress_at_most:
        return plan_withholding(method, cells, promises, rng, suppress_at_most)
    prepared = None
    for stage in stages:
        step = stage.prepare(cells, promises, rng)
        prepared, cells = step if prepared is None else prepared.then(step), step.cells
    left = left_to_method(stages, promises)
    if isinstance(method, Anytime):
        told = watch or (lambda now: say(Step(f"planning: {now.sweep} sweeps", now.done, f"loss {now.loss:.4f}")))
        recipe = method.plan(cells, left, rng, watch=told)
    else:
        recipe = method.plan(cells, left, rng)
    for stage in stages:
        if hasattr(stage, "finish"):
            recipe = stage.finish(recipe, promises, rng)
    return recipe if prepared is None else prepared.complete(recipe)


def settled(method: Method, promises: Promises) -> Method:
    """The method with what it leaves to its promises decided, as a manifest says it."""
    return replace(method, labels=method.labels_for(promises)) if hasattr(method, "labels_for") else method


def left_to_method(stages: Sequence[Stage], promises: Promises) -> Promises:
    """What the stages do not keep by themselves; there must be something, or the rows would be published as they are."""
    left = tuple(promise for promise in promises if not any(stage.keeps(promise) for stage in stages))
    if not left:
        names = " and ".join(promise.name for promise in promises)
        raise JobError(
            f"{names} speaks of the whole table, and nothing is promised of its groups.",
            attempt='a further [[promise]], such as model = "probabilistic-l-diversity".',
        )
    return Promises(left)
