"""The gate: a staged release is kept on evidence, or not at all.

Publish hands the audit what it may need beside the files: the population that is promised about, and the source as it was
counted.  A promise is published where the audit shows it kept, or where model and kind together say why no file can show it and
what was checked instead.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from reticent.audit.audit import AuditContext, audit_staged
from reticent.audit.result import Audit
from reticent.data.population import LoadedPopulation
from reticent.engines.engine import CountedTable
from reticent.errors import AuditFailed, InternalError
from reticent.job.job import Job
from reticent.recipe.recipe import Recipe


def make_audit_context(job: Job, counted: CountedTable, recipe: Recipe) -> AuditContext:
    """What the audit is given beside the files: the population that is promised about, and the source as it was counted."""
    population = next((p.population for p in job.promises if hasattr(p, "population")), None)
    people = population.rows if isinstance(population, LoadedPopulation) else population
    return AuditContext(people, counted.combinations, counted.multiplicity, partial(count_true_values, recipe))


def count_true_values(recipe: Recipe, column: str) -> dict[str, int]:
    """How many of the people published have each value of a sensitive column, before anything was redrawn."""
    cells, shown, at = recipe.cells, recipe.published_entries, recipe.cells.find_sensitive(column)
    domain = cells.sensitive[at]
    held = np.bincount(cells.values[recipe.cell[shown], at], weights=recipe.quota[shown], minlength=domain.size)
    return dict(zip(domain.texts, held.astype(np.int64).tolist(), strict=False))


def audit_staged_release(staged: Path, job: Job, beside: AuditContext) -> Audit:
    """Audit the staged folder; only what it shows to be kept is published, or what model and kind say no file can show."""
    return require_passed(audit_staged(staged, beside), job)


def require_passed(found: Audit, job: Job) -> Audit:
    """What an audit of a staged folder found, if it shows every promise of the job kept."""
    broken = [verdict.model for verdict in found.promises if verdict.kept is False]
    if broken or found.kept is False:
        raise AuditFailed(
            f"The release does not keep {', '.join(broken) or 'its promises'}; nothing was published.",
            why="The audit recounted the staged files and disagrees with the method: this is our bug.",
            attempt="reporting it, with the job file.",
        )
    unproven = [verdict.model for verdict in found.promises if verdict.kept is None and not verdict.why]
    if unproven or len(found.promises) != len(tuple(job.promises)):
        raise InternalError(
            f"Nothing shows that the release keeps {', '.join(unproven) or 'all of its promises'}; nothing was published.",
            why="A promise is published on evidence, or on a stated reason why no file can show it.",
            attempt="reporting it, with the job file.",
        )
    return found
