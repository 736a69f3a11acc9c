"""Planning of a recipe by stages and a method, and what is checked of the recipe afterwards.

`compose_recipe` is the one place that turns cells and promises into a recipe: publishing, planning, checking, a region of
a table in parts and an adversary who runs the method again all call it.

A stage prepares: it keeps some rows of each cell and withholds the others; the method plans on the cells that are kept,
so that their totals, which are the published table's, are the reference distribution of every promise.  The composed
recipe is about the cells as they were counted: what a stage withheld is withheld in it, and every row of every cell has
one outcome.  A stage that has `finish(recipe, promises, rng)` splits the quotas once more after the method (a sample of
each group).

`warn_of_lone_people` warns the steward before publishing of people who would be alone in their group, and of beliefs
that were certain before.  Promises that bound how far a belief moves, and those that allow a group of one, do not bound
who is alone: (B,t)-privacy publishes a person's own row where the adversary was sure before, and a frequent value may
be shown by one row under beta-likeness.

`relabel_recipe` checks promises again where labels are wider than their groups: such labels may coincide, and groups
that read the same are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import BandDomain, Domain
from reticent.data.label_styles import WidenedDomain
from reticent.errors import JobError, PromiseUnreachable
from reticent.methods.base import Anytime, Method, Stage
from reticent.methods.local_suppression import plan_withholding
from reticent.models.promise import Promises
from reticent.progress import ProgressCallback, ProgressEvent
from reticent.randomness import Random
from reticent.recipe.group_labels import draw_padded_ends, merge_equal_labels
from reticent.recipe.recipe import WITHHELD_GROUP, Recipe

Watch = Callable[[Any], bool | None]
"""Called with the state of a method that improves as long as it may; returns True to take the best plan so far."""


def compose_recipe(
    stages: Sequence[Stage],
    method: Method,
    cells: Cells,
    promises: Promises,
    rng: Random,
    *,
    published: Cells | None = None,
    suppress_at_most: Fraction = Fraction(0),
    progress: ProgressCallback = lambda stage: None,
    watch: Watch | None = None,
) -> Recipe:
    """Plan by stages and a method, draw the ends of padded ranges, and choose labels that keep the promises.

    `cells` are what the promises are about; `published` are the same cells as they are published, without the column
    that combines several sensitive ones.  A method that improves as long as it may (`anytime`) reports its loss on the
    way as progress, or to `watch`, which returns True to take the best plan so far.
    """
    recipe = _plan_groups(stages, method, cells, promises, rng, suppress_at_most, progress, watch)
    recipe = replace(recipe, cells=cells if published is None else published)
    recipe = draw_padded_ends(recipe, rng)
    return relabel_recipe(select_method_promises(stages, promises), cells, recipe)


def settle_method(method: Method, promises: Promises, chosen: Mapping[str, Any]) -> Method:
    """Return the method as a manifest records it.

    Options that it leaves to its promises are resolved, and parameters that it chose while planning are `chosen`.
    """
    settled = {"labels": method.labels_for(promises)} if hasattr(method, "labels_for") else {}
    return replace(method, **settled, **chosen) if settled or chosen else method


def settle_promises(promises: Promises, cells: Cells) -> Promises:
    """Return the promises as a manifest records them: what they leave to the table (`cells`) to choose is chosen."""
    if not any(hasattr(promise, "settle") for promise in promises):
        return promises
    settled = (promise.settle(cells) if hasattr(promise, "settle") else promise for promise in promises)
    return replace(promises, all=tuple(settled))


def select_method_promises(stages: Sequence[Stage], promises: Promises) -> Promises:
    """Select the promises that the stages do not keep by themselves; refuse none, or the rows would be published as they are."""
    left = tuple(promise for promise in promises if not any(stage.keeps(promise) for stage in stages))
    if not left:
        names = " and ".join(promise.name for promise in promises)
        raise JobError(
            f"{names} speaks of the whole table, and nothing is promised of its groups.",
            attempt='a further [[promise]], such as model = "probabilistic-l-diversity".',
        )
    return replace(promises, all=left)


def count_lone_people(recipe: Recipe) -> int:
    """Count the groups of one row."""
    return int((recipe.as_groups().sizes == 1).sum())


def describe_lone_people(alone: int) -> list[str]:
    """Describe so many groups of one in a sentence; empty if there is none."""
    if not alone:
        return []
    people = "1 person stands" if alone == 1 else f"{alone:,} people stand"
    return [
        f"{people} alone: their group has one row, and who finds it reads their value. The promises allow it. k-anonymity beside them "
        "does not: k = 5, for instance."
    ]


def warn_of_lone_people(promises: Iterable[Any], recipe: Recipe, cells: Cells) -> list[str]:
    """Warn of groups of one in a sentence, and in one for each promise whose adversary was certain of people before the release.

    `cells` are those that the promises were planned on.
    """
    found = describe_lone_people(count_lone_people(recipe))
    for promise in promises:
        if hasattr(promise, "count_certain_priors"):
            found += _describe_certain_priors(promise, cells)
    return found


def knows_priors(promises: Iterable[Any]) -> bool:
    """Tell whether a promise is about prior beliefs: then a group of one row may keep it, in a release without labels too."""
    return any(hasattr(promise, "count_certain_priors") for promise in promises)


def relabel_recipe(promises: Promises, cells: Cells, recipe: Recipe) -> Recipe:
    """Return the recipe with labels that keep the promises; `cells` are what was planned on.

    A promise that a union of groups can break is checked on the groups as they read.  Where it breaks, columns that
    were widened by default become tight; with labels that the steward asked for, it is refused.
    """
    if promises.union_closed or not any(_is_widened(domain) for domain in recipe.cells.quasi):
        return recipe
    if not _count_broken_groups(promises, cells, merge_equal_labels(recipe)[0]):
        return recipe
    quasi = tuple(
        domain.tight if isinstance(domain, WidenedDomain | BandDomain) and not domain.is_requested else domain
        for domain in recipe.cells.quasi
    )
    tight = replace(recipe, cells=replace(recipe.cells, quasi=quasi))
    merged = merge_equal_labels(tight)[0]
    if broken := _count_broken_groups(promises, cells, merged):
        names = " and ".join(promise.name for promise in promises)
        raise PromiseUnreachable(
            f"{names} cannot be kept with these labels.",
            why=f"{recipe.groups} groups keep the promise, {recipe.groups - merged.groups} of them read the same as another, and "
            f"{broken} of the groups that they make together break it.",
            attempt='a smaller step, or labels = "tight" for the columns that are snapped or padded.',
        )
    return tight


def _plan_groups(
    stages: Sequence[Stage],
    method: Method,
    cells: Cells,
    promises: Promises,
    rng: Random,
    suppress_at_most: Fraction,
    progress: ProgressCallback,
    watch: Watch | None,
) -> Recipe:
    """Run the stages one after the other, then the method on what they kept, for the promises that no stage keeps."""
    if suppress_at_most:
        return plan_withholding(method, cells, promises, rng, suppress_at_most)
    prepared = None
    for stage in stages:
        step = stage.prepare(cells, promises, rng)
        prepared = step if prepared is None else prepared.chain(step)
        cells = step.cells
    method_promises = select_method_promises(stages, promises)
    if isinstance(method, Anytime):
        recipe = method.plan(cells, method_promises, rng, watch=watch or _make_sweep_watch(progress))
    else:
        recipe = method.plan(cells, method_promises, rng)
    for stage in stages:
        if hasattr(stage, "finish"):
            recipe = stage.finish(recipe, promises, rng)
    return recipe if prepared is None else prepared.complete(recipe)


def _describe_certain_priors(promise: Any, cells: Cells) -> list[str]:
    counts = promise.count_certain_priors(cells)
    people = cells.rows
    points = [(bandwidth, certain) for (bandwidth, _), certain in zip(promise.skyline, counts, strict=True) if certain]
    return [
        f"{promise.name}: of {people:,} people the adversary of bandwidth {_describe_bandwidth(bandwidth)} knew the value of {certain:,} before the "
        "release: a prior that is certain moves by nothing, and the promise does not protect them."
        for bandwidth, certain in points
    ]


def _is_widened(domain: Domain) -> bool:
    """Tell whether labels of the column may be wider than their groups."""
    return isinstance(domain, WidenedDomain) or (isinstance(domain, BandDomain) and domain.label_options is not None)


def _count_broken_groups(promises: Promises, cells: Cells, recipe: Recipe) -> int:
    """Count the groups that break a promise; the reference distribution is that of the published rows."""
    kept = recipe.group != WITHHELD_GROUP
    counts = np.bincount(recipe.cell[kept], weights=recipe.quota[kept], minlength=len(cells)).astype(np.int64)
    groups = replace(recipe, cells=cells).as_groups()
    return int((~promises.bind(replace(cells, counts=counts)).allow(groups)).sum())


def _make_sweep_watch(progress: ProgressCallback) -> Watch:
    """Make a watch that reports the sweeps of an anytime method as progress, and never stops it."""

    def watch(state: Any) -> None:
        progress(ProgressEvent(f"planning: {state.sweep} sweeps", state.done, f"search objective {state.loss:.4f}"))

    return watch


def _describe_bandwidth(bandwidth: Any) -> str:
    if isinstance(bandwidth, dict):
        return "{" + ", ".join(f"{name}: {_describe_bandwidth(value)}" for name, value in bandwidth.items()) + "}"
    return bandwidth if isinstance(bandwidth, str) else f"{float(bandwidth):g}"
