"""How wide guaranteed ranges of averages are: err = (u - l) / r (Koudas et al., VLDB 2009, section 5), whatever the kind.

    SELECT AVG(column) FROM release WHERE A_1 IN R_1 AND A_2 IN R_2

with the ranges of the COUNT workload over quasi-identifiers; u and l bound the answer over every table that the release leaves
possible, and r is the span of the column.  Kinds whose answers are estimates alone have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from reticent.release.asking.condition import NULL, Atom, Condition, Joined
from reticent.release.kind import Question, reader
from reticent.release.manifest import Manifest
from reticent.table.cells import Cells
from reticent.table.domain import Domain, RangeDomain
from reticent.table.types import dtype_named, typed
from reticent.utility.errors import range_errors
from reticent.utility.questions import SELECTIVITY, averaged
from reticent.utility.workload import FREE, Workload

QUERIES = 20


def average_ranges(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest, cells: Cells, seed: int, queries: int = QUERIES
) -> dict[str, Any] | None:
    """The median and the mean of err; None where no column holds numbers, or the kind gives no guaranteed range."""
    axis = averaged(cells)
    if axis is None:
        return None
    column = [*cells.quasi, cells.sensitive[0]][axis]
    types = {entry.name: entry.dtype for entry in manifest.columns}
    if not isinstance(column, RangeDomain) or not dtype_named(types[column.name]).is_numeric():
        return None
    asked = Workload.draw(cells, predicates=min(2, len(cells.quasi)), selectivity=SELECTIVITY, queries=queries,
                          rng=np.random.default_rng(seed))  # fmt: skip
    known: dict[str, Any] = {}
    answers = [
        reader(manifest.kind).estimate(tables, manifest, Question(aggregate="avg", column=column.name, condition=where, known=known))
        for where in conditions(asked, cells, types)
    ]  # fmt: skip
    answers = [one.published or one for one in answers]  # of published rows: withheld ones have no range
    places = np.asarray(column.positions, float)[: len(column.texts)]
    found = range_errors(answers, float(places[-1] - places[0]))
    if not len(found):
        return None
    return {
        "column": column.name,
        "queries": len(found),
        "median": float(np.median(found)),
        "mean": float(found.mean()),
    }


def conditions(asked: Workload, cells: Cells, types: Mapping[str, str]) -> list[Condition | None]:
    """The questions of a workload over quasi-identifiers, as a release is asked."""
    found: list[Condition | None] = []
    for lower, upper in zip(asked.lower, asked.upper, strict=True):
        parts = [
            _within(domain, int(lower[axis]), int(upper[axis]), types[domain.name])
            for axis, domain in enumerate(cells.quasi)
            if upper[axis] != FREE
        ]
        found.append(Joined(True, tuple(parts)) if parts else None)
    return found


def _within(domain: Domain, lower: int, upper: int, dtype: str) -> Condition:
    """One of the values from one code to another; the last code may be that of a missing value."""
    values = typed(list(domain.texts[lower : upper + 1]), dtype).to_list()
    missing = (Atom(domain.name, NULL),) if upper >= len(domain.texts) else ()
    if isinstance(domain, RangeDomain) and domain.kind == "numeric" and values:
        span = Joined(True, (Atom(domain.name, ">=", values[0]), Atom(domain.name, "<=", values[-1])))
        return Joined(False, (span, *missing))
    return Joined(False, (*(Atom(domain.name, "=", value) for value in values), *missing))
