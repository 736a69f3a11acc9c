"""Cells, groups and verdicts from plain histograms: what the model tests share."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.codec import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column, quasi
from reticent.models.promise import CandidateGroups, Promises

TREE = [["s0", "a", "*"], ["s1", "a", "*"], ["s2", "b", "*"], ["s3", "b", "*"], ["s4", "c", "*"]]


def cells_of(groups: Sequence[Mapping], tree: Sequence[Sequence[str]] = TREE) -> Cells:
    """One quasi-identifier `g`, the group's number, and one sensitive column `s`."""
    entries = [(g, value, count) for g, group in enumerate(groups) for value, count in group.items() if count]
    counted = pl.DataFrame(entries, schema={"g": pl.Int64, "s": pl.String, COUNT_COLUMN: pl.Int64}, orient="row")
    columns = {"g": quasi(), "s": Column("sensitive", hierarchy=tree, missing="category")}
    return encode_cells(counted, columns)[0]


def groups_by(cells: Cells, number: np.ndarray) -> CandidateGroups:
    """Whole cells in groups 0, 1, ...: `number` says each cell's."""
    order = np.argsort(number, kind="stable")
    sizes = np.bincount(number)
    return CandidateGroups(cells, order, cells.counts[order], np.append(0, np.cumsum(sizes)))


def verdicts(promises: Sequence, cells: Cells, number: np.ndarray | None = None) -> np.ndarray:
    """Which groups keep the promises; by the quasi-identifier `g` unless numbered otherwise."""
    number = cells.codes[:, 0].astype(np.int64) if number is None else number
    return Promises.from_iterable(promises).bind(cells).allow(groups_by(cells, number))
