"""The gate: a staged release is kept on evidence, or not at all.

Publish hands the audit what it may need beside the files: the population that is promised about, and the source as it was
counted.  A promise is published where the audit shows it kept, or where model and kind together say why no file can show it and
what was checked instead.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from reticent.audit.audit import Handed, audit_staged
from reticent.audit.result import Audit
from reticent.engines.engine import Counted
from reticent.errors import AuditFailed, InternalError
from reticent.job import Job
from reticent.recipe.recipe import Recipe
from reticent.table.population import People


def handed(job: Job, counted: Counted, recipe: Recipe) -> Handed:
    """What the audit is given beside the files: the population that is promised about, and the source as it was counted."""
    population = next((p.population for p in job.promises if hasattr(p, "population")), None)
    people = population.rows if isinstance(population, People) else population
    return Handed(people, counted.combinations, counted.times, partial(true_counts, recipe))


def true_counts(recipe: Recipe, column: str) -> dict[str, int]:
    """How many of the people published have each value of a sensitive column, before anything was redrawn."""
    cells, shown, at = recipe.cells, recipe.shown, recipe.cells.sensitive_at(column)
    domain = cells.sensitive[at]
    held = np.bincount(cells.values[recipe.cell[shown], at], weights=recipe.quota[shown], minlength=domain.size)
    return dict(zip(domain.texts, held.astype(np.int64).tolist(), strict=False))


def recount(staged: Path, job: Job, beside: Handed) -> Audit:
    """Audit the staged folder; only what it shows to be kept is published, or what model and kind say no file can show."""
    return passed(audit_staged(staged, beside), job)


def passed(found: Audit, job: Job) -> Audit:
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
