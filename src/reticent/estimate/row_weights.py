"""How many people a published row stands for, where rows were drawn of groups (Tao et al. 2008, step S3).

A row has the size of its group in the column G. Of a group of G people one row is published, and stands for all of them,
or floor(G / k) where the manifest's method has `draw` = "many", and each stands for G divided by their number.  Where a
person has c rows at most it is floor(G / (k c)).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from reticent.data.columns import Role
from reticent.format.manifest import Manifest

SIZE_COLUMN = "G"


def draws_many(manifest: Manifest) -> bool:
    """Tell whether floor(G / k) rows of a group of G are published; a manifest that does not say so is of one row of each."""
    return manifest.method.parameters.get("draw", "one") == "many"


def count_rows_of_one_drawn(manifest: Manifest) -> int:
    """Count the rows of a group of which one is drawn: k, times the rows that a person may have."""
    return int(manifest.own["k"]) * manifest.rows_per_person


def count_drawn_rows(sizes: np.ndarray, manifest: Manifest) -> np.ndarray:
    """Count the published rows of groups of these sizes."""
    if not draws_many(manifest):
        return np.ones(len(sizes), np.int64)
    return np.maximum(sizes // count_rows_of_one_drawn(manifest), 1)


def compute_row_weights(sizes: np.ndarray, manifest: Manifest) -> np.ndarray:
    """Compute how many people each published row stands for, from the sizes of the rows' groups."""
    weights: np.ndarray = sizes / count_drawn_rows(sizes, manifest)
    return weights


def allot_people(data: pl.DataFrame, manifest: Manifest) -> np.ndarray:
    """Allot the people of each group to its rows, in whole numbers that sum to its size and differ by one at most.

    Rows of a group have equal labels, so what is asked of labels alone is answered alike however they are allotted.
    """
    sizes: np.ndarray = data[SIZE_COLUMN].to_numpy()
    if not draws_many(manifest):
        return sizes
    drawn = count_drawn_rows(sizes, manifest)
    turn = data.select(pl.int_range(pl.len()).over(list_label_columns(manifest)).alias("turn"))["turn"].to_numpy()
    allotted: np.ndarray = sizes // drawn + (turn < sizes % drawn)
    return allotted


def list_label_columns(manifest: Manifest) -> list[str]:
    """List the columns that are labels of groups."""
    return [column.name for column in manifest.find_columns_with_role(Role.QUASI)]
