"""A table planned in regions, and the same plan made in one place."""

from __future__ import annotations

from collections import Counter

import polars as pl

import reticent as rt
from reticent.data.cells import combine_sensitive
from reticent.methods.regions import plan_regions
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels

QUASI = ("age", "gender", "education", "marital_status", "work_class")


COLUMNS = {**{name: rt.quasi() for name in QUASI}, "salary_class": rt.sensitive()}


DROP = rt.Output(undeclared="drop")


KB = [rt.KAnonymity(5), rt.BetaLikeness(4)]


def labelled(release: rt.Release, columns=(*QUASI, "salary_class")) -> Counter:
    """Rows as texts."""
    return Counter(release.frame().select(pl.col(columns).cast(pl.String)).rows())


def in_one_place(job: rt.Job, frame: pl.DataFrame, regions: int, seed: int) -> Counter:
    """The rows of the same plan made in one place."""
    cells = rt.count(job, frame=frame)
    asked = combine_sensitive(cells) if job.jointly else cells
    recipe, labels = merge_equal_labels(plan_regions(job.method, asked, job.promises, Random.from_seed(seed), regions))
    found: Counter = Counter()
    for cell, group, quota in zip(recipe.cell.tolist(), recipe.group.tolist(), recipe.quota.tolist(), strict=True):
        shown = [labels.texts[at][labels.of_group[group, at]] for at in range(len(cells.quasi))]
        own = len(cells.sensitive) if cells.joint < 0 else cells.joint
        values = [cells.sensitive[at].texts[cells.values[cell, at]] for at in range(own)]
        found[*shown, *values] += quota
    return found
