"""A table planned in regions, and the same plan made in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from unittest import mock

import polars as pl

import reticent as rt
from reticent.data.cells import combine_sensitive
from reticent.ledger.fingerprint import SAMPLE_SIZE
from reticent.methods import regions as region_planning
from reticent.methods.regions import SAMPLE_CELLS, plan_regions
from reticent.partitioned.cell_encoding import draw_sample
from reticent.partitioned.fingerprint import PartitionedCountedRows
from reticent.partitioned.pipeline import AUDIT_PART_ROWS, count_audit_parts
from reticent.partitioned.writing import BUCKET_BYTES, choose_bucket_count
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels

QUASI = ("age", "gender", "education", "marital_status", "work_class")


COLUMNS = {**{name: rt.quasi() for name in QUASI}, "salary_class": rt.sensitive()}


DROP = rt.Output(undeclared="drop")


KB = [rt.KAnonymity(5), rt.BetaLikeness(4)]


def labelled(release: rt.Release, columns=(*QUASI, "salary_class")) -> Counter:
    """Rows as texts."""
    return Counter(release.frame().select(pl.col(columns).cast(pl.String)).rows())


def in_one_place(job: rt.Job, frame: pl.DataFrame, regions: int, seed: int, sample_size: int = SAMPLE_CELLS) -> Counter:
    """The rows of the same plan made in one place."""
    cells = rt.count(job, frame=frame)
    asked = combine_sensitive(cells) if job.jointly else cells
    rng = Random.from_seed(seed)
    plan = plan_regions(job.method, asked, job.promises, rng, regions, sample_size=sample_size)
    recipe, labels = merge_equal_labels(plan)
    found: Counter = Counter()
    for cell, group, quota in zip(recipe.cell.tolist(), recipe.group.tolist(), recipe.quota.tolist(), strict=True):
        shown = [labels.texts[at][labels.of_group[group, at]] for at in range(len(cells.quasi))]
        own = len(cells.sensitive) if cells.joint < 0 else cells.joint
        values = [cells.sensitive[at].texts[cells.values[cell, at]] for at in range(own)]
        found[*shown, *values] += quota
    return found


@contextmanager
def small_parts(
    sample_cells: int = SAMPLE_CELLS,
    bucket_bytes: int = BUCKET_BYTES,
    sample_rows: int = SAMPLE_SIZE,
    audit_rows: int = AUDIT_PART_ROWS,
) -> Iterator[None]:
    """Everything that a partitioned publication does in parts, in parts of these sizes."""
    steps = {
        "reticent.partitioned.cell_encoding.draw_sample": partial(draw_sample, size=sample_cells),
        "reticent.methods.regions.sample_cells": partial(region_planning.sample_cells, size=sample_cells),
        "reticent.partitioned.writing.choose_bucket_count": partial(choose_bucket_count, bucket_bytes=bucket_bytes),
        "reticent.partitioned.pipeline.PartitionedCountedRows": partial(
            PartitionedCountedRows, sample_size=sample_rows
        ),
        "reticent.partitioned.pipeline.count_audit_parts": partial(count_audit_parts, part_rows=audit_rows),
    }
    with ExitStack() as replaced:
        for name, step in steps.items():
            replaced.enter_context(mock.patch(name, step))
        yield
