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
from reticent.data.columns import Role
from reticent.format.data_files import count_distinct_rows_in_parts
from reticent.release.kind import find_data_files, list_schemas

MAX_DENSE_PAIRS = 1 << 22  # pairs of values that are counted in an array, more of them by a sort
CountedPart = tuple[pl.DataFrame, np.ndarray]
"""Distinct rows, and how often each occurs."""


def measure_passthrough(recounted: RecomputedRelease) -> list[dict[str, Any]]:
    """Measure each carried column: `distinct` values, the share of rows whose value is `unique`, and `association`."""
    subject = recounted.subject
    frame = recounted.frame
    times = np.ones(len(frame), np.int64) if recounted.times is None else recounted.times
    sensitive = {
        c.name: _SensitiveValues(frame[c.name], times)
        for c in subject.find_columns_with_role(Role.SENSITIVE)
        if c.name in frame.columns
    }
    found = []
    for name in [entry.name for entry in subject.find_columns_with_role(Role.INSENSITIVE)]:
        parts = (
            _list_memory_parts(frame[name], frame, sensitive, times)
            if name in frame.columns
            else _count_file_parts(recounted, name, sensitive)
        )
        found.append(_measure_column(name, parts, sensitive, recounted.rows))
    for column in [] if subject.undeclared is None else subject.undeclared.get_columns():
        found.append(
            _measure_column(column.name, _list_memory_parts(column, frame, sensitive, times), sensitive, recounted.rows)
        )
    return found


class _SensitiveValues:
    """A sensitive column: its values, and how many rows have each."""

    def __init__(self, column: pl.Series, times: np.ndarray):
        values = number_values(column)
        self.rows = values.times(times)
        self.distinct = values.distinct

    def codes(self, values: NumberedColumn) -> np.ndarray:
        """Convert numbered values to the codes of this column."""
        both = number_values(pl.concat([self.distinct, values.distinct]))
        place = np.empty(len(both), np.int64)
        place[both.codes[: len(self.distinct)]] = np.arange(len(self.distinct))
        return place[both.codes[len(self.distinct) :]][values.codes]


def _list_memory_parts(
    column: pl.Series, frame: pl.DataFrame, beside: dict[str, _SensitiveValues], times: np.ndarray
) -> Iterator[CountedPart]:
    """Yield all rows as they are in memory."""
    yield pl.DataFrame([column.alias("\x00carried"), *(frame[name] for name in beside)]), times


def _count_file_parts(
    recounted: RecomputedRelease, name: str, beside: dict[str, _SensitiveValues]
) -> Iterator[CountedPart]:
    """Count the rows of the file, a part at a time."""
    subject = recounted.subject
    assert subject.path is not None and subject.manifest is not None  # a plain table is in memory
    files = find_data_files(subject.path, subject.manifest)
    schemas = list_schemas(subject.manifest)
    file = next(file for file, schema in schemas.items() if name in schema)
    for frame, times in count_distinct_rows_in_parts(files[file], schemas[file], name, list(beside)):
        yield frame.rename({name: "\x00carried"}), times


def _measure_column(
    name: str, parts: Iterator[CountedPart], beside: dict[str, _SensitiveValues], rows: int
) -> dict[str, Any]:
    distinct = unique = 0
    squares = dict.fromkeys(beside, 0.0)
    expected = dict.fromkeys(beside, 0.0)
    for frame, times in parts:
        values = number_values(frame["\x00carried"])
        held = np.bincount(values.codes, weights=times, minlength=len(values))
        distinct = distinct + len(values)
        unique = unique + int((held == 1).sum())
        for other, known in beside.items():
            square, sum_of = _sum_present_pairs(
                values.codes, held, known.codes(number_values(frame[other])), known.rows, times, rows
            )
            squares[other] += square
            expected[other] += sum_of
    tied = {
        other: _compute_cramers_v(squares[other] + (rows - expected[other]), rows, min(distinct, len(known.distinct)))
        for other, known in beside.items()
    }
    return {"column": name, "distinct": distinct, "unique": unique / rows, "association": tied}


def _sum_present_pairs(
    one: np.ndarray, held: np.ndarray, other: np.ndarray, rows_of: np.ndarray, times: np.ndarray, rows: int
) -> tuple[float, float]:
    """Sum (O - E)^2 / E over pairs that occur, and their E."""
    pair = one.astype(np.int64) * len(rows_of) + other
    if len(held) * len(rows_of) <= MAX_DENSE_PAIRS:
        observed = np.bincount(pair, weights=times)
        pairs = np.flatnonzero(observed)
        observed = observed[pairs]
    else:
        pairs, place = np.unique(pair, return_inverse=True)
        observed = np.bincount(place.reshape(-1), weights=times)
    expect = (held[pairs // len(rows_of)] / rows) * rows_of[pairs % len(rows_of)]
    return float(((observed - expect) ** 2 / expect).sum()), float(expect.sum())


def _compute_cramers_v(square: float, rows: int, least: int) -> float:
    return float(min(np.sqrt(max(square, 0.0) / (rows * (least - 1))), 1.0)) if least > 1 else 0.0
