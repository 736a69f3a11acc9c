"""What a workload of questions is put to: of each release kind (its row in the catalogue), and of anything that has groups.

A function takes a release's tables, its manifest and the source's cells, and gives another, from questions to estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.release.kind import reader
from reticent.release.manifest import Manifest
from reticent.release.reading.boxes import Boxes
from reticent.release.reading.members import codes_of
from reticent.table.cells import Cells, gather
from reticent.utility.workload import Sampled, Workload

Ask = Callable[[Workload], np.ndarray]
Tables = Mapping[str, pl.DataFrame]


def answering(tables: Tables, manifest: Manifest, cells: Cells) -> Ask:
    """By the estimator of the release's kind."""
    made: Ask = catalogue.load(catalogue.KINDS[manifest.kind].answers)(tables, manifest, cells)
    return made


def over_groups(tables: Tables, manifest: Manifest, cells: Cells) -> Ask:
    """Groups whose values are published: uniform within boxes, or every matching of a group alike."""
    return of_sight(reader(manifest.kind).sight(tables, manifest, cells))


def of_sight(sight: Any) -> Ask:
    """The same of groups that are seen already: those of a plan, or of another tool's table."""
    if isinstance(sight, Boxes):
        return lambda workload: workload.generalized(sight)
    return lambda workload: workload.matched(sight)


def over_redrawn(tables: Tables, manifest: Manifest, cells: Cells) -> Ask:
    """Exact quasi-identifiers, and counts of redrawn values inverted by the matrix."""
    data, own, sensitive = tables["data"], manifest.own, cells.sensitive[0]
    codes = np.column_stack([codes_of(domain, data[domain.name]) for domain in cells.quasi])
    values = codes_of(sensitive, data[sensitive.name])[:, None]
    published, _ = gather(cells.quasi, cells.sensitive[:1], codes, values, np.ones(len(data), np.int64))
    matrix = np.array([[float(Fraction(str(entry))) for entry in row] for row in own["matrix"]])
    occurring = codes_of(sensitive, pl.Series(list(own["values"]), dtype=pl.String))
    return lambda workload: workload.perturbed(published, matrix, occurring)


def over_sampled(tables: Tables, manifest: Manifest, cells: Cells) -> Ask:
    """Reconstructed, weighted by G, uniform within boxes."""
    release = Sampled.of(tables["data"], manifest)
    return lambda workload: workload.sampled(release, cells)
