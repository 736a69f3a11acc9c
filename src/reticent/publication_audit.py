"""Judges the audit of a staged release before it is committed: it is published on evidence, or not at all.

`publish` gives the audit what it may need beside the files: the population that the promise is about, and the source as
it was counted.  A promise is published if the audit shows that it is kept, or if model and kind together explain why no
file can show it and what was checked instead.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from reticent.audit.audit import AuditContext
from reticent.audit.result import Audit
from reticent.data.population import LoadedPopulation
from reticent.engines.engine import CountedTable
from reticent.errors import AuditFailed, InternalError
from reticent.job.job import Job
from reticent.recipe.recipe import Recipe


def require_passed(audit: Audit, job: Job) -> Audit:
    """Return the audit of a staged folder if it shows that every promise of the job is kept; otherwise raise."""
    broken = [verdict.model for verdict in audit.promises if verdict.kept is False]
    if broken or audit.kept is False:
        raise AuditFailed(
            f"The release does not keep {', '.join(broken) or 'its promises'}; nothing was published.",
            why="The audit recounted the staged files and disagrees with the method: this is our bug.",
            attempt="reporting it, with the job file.",
        )
    unproven = [verdict.model for verdict in audit.promises if verdict.kept is None and not verdict.why]
    if unproven or len(audit.promises) != len(tuple(job.promises)):
        raise InternalError(
            f"Nothing shows that the release keeps {', '.join(unproven) or 'all of its promises'}; nothing was published.",
            why="A promise is published on evidence, or on a stated reason why no file can show it.",
            attempt="reporting it, with the job file.",
        )
    return audit


def make_audit_context(job: Job, counted: CountedTable, recipe: Recipe) -> AuditContext:
    """Make what the audit gets beside the files: the population that the promise is about, and the source as it was counted."""
    population = next((promise.population for promise in job.promises if hasattr(promise, "population")), None)
    people = population.rows if isinstance(population, LoadedPopulation) else population
    return AuditContext(people, counted.combinations, counted.multiplicity, partial(_count_true_values, recipe))


def _count_true_values(recipe: Recipe, column: str) -> dict[str, int]:
    """Count the published people with each value of a sensitive column, before anything was perturbed."""
    cells = recipe.cells
    column_index = cells.find_sensitive(column)
    domain = cells.sensitive[column_index]
    published = recipe.published_entries
    codes = cells.values[recipe.cell[published], column_index]
    row_counts = np.bincount(codes, weights=recipe.quota[published], minlength=domain.size)
    return dict(zip(domain.texts, row_counts.astype(np.int64).tolist(), strict=False))
