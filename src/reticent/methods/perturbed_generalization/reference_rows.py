"""The reference table of `cuts = "gain"`: other people's rows, public or of an earlier year, which tell where classes differ.

Groups are made of it and of the quasi-identifiers that are published, and of no sensitive value of theirs: whoever has the
reference could make them too, and the bounds hold with k.  That is so only if it is not the table itself; `require_another_table`
and `locate_reference` refuse that, by its path and row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import Column
from reticent.data.parsing import parse_texts
from reticent.data.population import LoadedPopulation, locate_values, read_population
from reticent.data.source import Source
from reticent.errors import JobError
from reticent.methods.perturbed_generalization.declared_domain import SensitiveDomain
from reticent.methods.perturbed_generalization.grouping import ReferenceRows


def require_another_table(source: Source, reference: Any) -> None:
    """Refuse the source's own file as its reference."""
    if isinstance(reference, Path) and source.path is not None and Path(source.path).resolve() == reference.resolve():
        raise _make_same_table_error()


def read_reference(source: Source, reference: Any, columns: Mapping[str, Column], cells: Cells) -> LoadedPopulation:
    """Read the reference's quasi-identifiers and its sensitive column as the job's own source is read."""
    return read_population(source, reference, columns, (*cells.quasi, *cells.sensitive), "reference")


def locate_reference(reference: Any, cells: Cells, domain: SensitiveDomain) -> ReferenceRows:
    """Place the reference's rows on the cells' codes; rows with a value that the table or the declared domain lacks are left out.

    A number or date between two of the table's goes with the lower one: a cut between them has it on one side.
    """
    if not isinstance(reference, LoadedPopulation):
        reference = read_reference(Source(), reference, {}, cells)
    rows = reference.rows
    codes = np.zeros((len(rows), len(cells.quasi)), np.int64)
    is_known = np.ones(len(rows), bool)
    for place, column in enumerate(cells.quasi):
        lower, upper = locate_values(column, rows[column.name])
        codes[:, place] = lower
        is_known &= (lower >= 0) | (upper < column.size)  # a value that lies between two, or beyond them, is ordered
    sensitive = cells.sensitive[0]
    values = parse_texts(list(domain.texts), sensitive.dtype)
    given = rows[sensitive.name].cast(values.dtype, strict=False)
    classes = (
        given.replace_strict(values, pl.Series(range(len(values)), dtype=pl.Int64), default=-1).fill_null(-1).to_numpy()
    )
    is_known &= classes >= 0
    _require_other_rows(cells, codes[is_known], classes[is_known], domain)
    return ReferenceRows(codes[is_known], classes[is_known])


def _require_other_rows(cells: Cells, codes: np.ndarray, classes: np.ndarray, domain: SensitiveDomain) -> None:
    """Refuse a reference with just the table's rows."""
    if len(codes) != cells.rows:
        return
    own = np.repeat(np.column_stack([cells.codes, domain.code[cells.values[:, 0]]]), cells.counts, axis=0)
    other = np.column_stack([codes, classes])
    if np.array_equal(own[np.lexsort(own.T)], other[np.lexsort(other.T)]):
        raise _make_same_table_error()


def _make_same_table_error() -> JobError:
    return JobError(
        "The reference table is the table that is published.",
        why="Cuts that follow the sensitive values of the people who are published would tell of those who are not drawn.",
        attempt='other people\'s rows, public or of an earlier year, or cuts = "loss".',
    )
