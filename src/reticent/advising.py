"""What stages and promises have to say of a table before it is published: warnings, and what they propose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reticent import registry
from reticent.job import Job
from reticent.models.shapes import Groups
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells


def warned(job: Job, cells: Cells) -> list[str]:
    """What the method and the promises warn of on these cells."""
    parts = [part for part in (job.method, *job.promises) if hasattr(part, "warnings")]
    return [said for part in parts for said in part.warnings(cells)]


def advised(job: Job, cells: Cells, recipe: Recipe | None) -> tuple[Mapping[str, Any], ...]:
    """What stages and promises propose."""
    staged = [one for name in registry.STAGES for one in registry.stage(name).advice(cells, job.promises)]
    groups = _groups(cells, recipe)
    able = [promise for promise in job.promises if hasattr(promise, "advice")]
    return (*staged, *(one for promise in able for one in promise.advice(groups, recipe is not None)))


def _groups(cells: Cells, recipe: Recipe | None) -> Groups:
    """The planned groups, or all rows as one where nothing was planned."""
    if recipe is not None:
        return replace(recipe, cells=cells).as_groups()
    return Groups(cells, np.arange(len(cells)), cells.counts, np.array([0, len(cells)]))
