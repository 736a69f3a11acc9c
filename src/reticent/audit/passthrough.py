"""What the carried columns of a release reveal: unique values, and association with sensitive values.

Association is Cramer's V: with O the rows of a pair of values and E those expected of independent columns, chi^2 = sum
(O - E)^2 / E and V^2 = chi^2 / (n (min(r, c) - 1)). A pair that does not occur adds E: all E sum to n, so those of
absent pairs are n less those of present ones. Both are sums over the values of a column: they are added up a part at a
time where a file is large.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import NumberedColumn, number_values
from reticent.audit.kind import RecomputedRelease
from reticent.audit.source_comparison import find_places
from reticent.data.columns import Role
from reticent.format.data_files import count_distinct_rows_in_parts
from reticent.release.kind import find_data_files, list_schemas

MAX_DENSE_PAIRS = 1 << 22  # pairs of values that are counted in an array, more of them by a sort
CARRIED_COLUMN = "\x00carried"
CountedPart = tuple[pl.DataFrame, np.ndarray]
"""Distinct rows, and how often each occurs."""


def measure_passthrough(recount: RecomputedRelease) -> list[dict[str, Any]]:
    """Measure each carried column: `distinct` values, the share of rows whose value is `unique`, and `association`."""
    subject = recount.subject
    frame = recount.frame
    times = np.ones(len(frame), np.int64) if recount.times is None else recount.times
    sensitive = {
        c.name: _SensitiveValues(frame[c.name], times)
        for c in subject.find_columns_with_role(Role.SENSITIVE)
        if c.name in frame.columns
    }
    entries = []
    for name in [entry.name for entry in subject.find_columns_with_role(Role.INSENSITIVE)]:
        if name in frame.columns:
            parts = _list_memory_parts(frame[name], frame, sensitive, times)
        else:
            parts = _count_file_parts(recount, name, sensitive)
        entries.append(_measure_column(name, parts, sensitive, recount.rows))
    if subject.undeclared is not None:
        for column in subject.undeclared.get_columns():
            parts = _list_memory_parts(column, frame, sensitive, times)
            entries.append(_measure_column(column.name, parts, sensitive, recount.rows))
    return entries


class _SensitiveValues:
    """A sensitive column: its values, and how many rows have each."""

    def __init__(self, column: pl.Series, times: np.ndarray):
        values = number_values(column)
        self.rows = values.times(times)
        self.distinct = values.distinct

    def codes(self, values: NumberedColumn) -> np.ndarray:
        """Convert numbered values to the codes of this column."""
        return find_places(values.distinct, self.distinct)[values.codes]


def _list_memory_parts(
    column: pl.Series, frame: pl.DataFrame, sensitive: dict[str, _SensitiveValues], times: np.ndarray
) -> Iterator[CountedPart]:
    """Yield all rows as they are in memory."""
    yield pl.DataFrame([column.alias(CARRIED_COLUMN), *(frame[name] for name in sensitive)]), times


def _count_file_parts(
    recount: RecomputedRelease, name: str, sensitive: dict[str, _SensitiveValues]
) -> Iterator[CountedPart]:
    """Count the rows of the file, a part at a time."""
    subject = recount.subject
    assert subject.path is not None and subject.manifest is not None  # a plain table is in memory
    files = find_data_files(subject.path, subject.manifest)
    schemas = list_schemas(subject.manifest)
    file = next(file for file, schema in schemas.items() if name in schema)
    for frame, times in count_distinct_rows_in_parts(files[file], schemas[file], name, list(sensitive)):
        yield frame.rename({name: CARRIED_COLUMN}), times


def _measure_column(
    name: str, parts: Iterator[CountedPart], sensitive: dict[str, _SensitiveValues], rows: int
) -> dict[str, Any]:
    """Measure a carried column from the distinct rows of one part after another; no value is in two parts."""
    distinct = 0
    unique = 0
    squares = dict.fromkeys(sensitive, 0.0)
    expected = dict.fromkeys(sensitive, 0.0)
    for frame, times in parts:
        values = number_values(frame[CARRIED_COLUMN])
        value_rows = np.bincount(values.codes, weights=times, minlength=len(values))
        distinct += len(values)
        unique += int((value_rows == 1).sum())
        for other, column in sensitive.items():
            square, sum_of = _sum_present_pairs(
                values.codes, value_rows, column.codes(number_values(frame[other])), column.rows, times, rows
            )
            squares[other] += square
            expected[other] += sum_of
    association = {
        other: _compute_cramers_v(squares[other] + (rows - expected[other]), rows, min(distinct, len(column.distinct)))
        for other, column in sensitive.items()
    }
    return {"column": name, "distinct": distinct, "unique": unique / rows, "association": association}


def _sum_present_pairs(
    codes: np.ndarray,
    value_rows: np.ndarray,
    sensitive_codes: np.ndarray,
    sensitive_rows: np.ndarray,
    times: np.ndarray,
    rows: int,
) -> tuple[float, float]:
    """Sum (O - E)^2 / E over pairs that occur, and their E."""
    pair = codes.astype(np.int64) * len(sensitive_rows) + sensitive_codes
    if len(value_rows) * len(sensitive_rows) <= MAX_DENSE_PAIRS:
        observed = np.bincount(pair, weights=times)
        pairs = np.flatnonzero(observed)
        observed = observed[pairs]
    else:
        pairs, place = np.unique(pair, return_inverse=True)
        observed = np.bincount(place.reshape(-1), weights=times)
    expect = (value_rows[pairs // len(sensitive_rows)] / rows) * sensitive_rows[pairs % len(sensitive_rows)]
    return float(((observed - expect) ** 2 / expect).sum()), float(expect.sum())


def _compute_cramers_v(chi_square: float, rows: int, categories: int) -> float:
    """Compute Cramer's V; `categories` is the smaller number of values of both columns."""
    if categories <= 1:
        return 0.0
    return float(min(np.sqrt(max(chi_square, 0.0) / (rows * (categories - 1))), 1.0))
