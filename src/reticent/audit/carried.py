"""What the carried columns of a release give away: how many rows have a value of their own, and how a value goes with a sensitive one.

Association is Cramer's V: with O the rows of a pair of values and E those expected of independent columns, chi^2 = sum (O - E)^2 / E
and V^2 = chi^2 / (n (min(r, c) - 1)).  A pair that does not occur adds E: all E sum to n, so those of absent pairs are n less those
of present ones.  Both are sums over the values of a column: they are added up a part at a time where a file is large.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.grouping import Numbered, number
from reticent.audit.kind import Recounted
from reticent.release.data import count_parts
from reticent.release.kind import data_files, schemas_of
from reticent.table.roles import Role

DENSE = 1 << 22  # pairs of values that are counted in an array, more of them by a sort
Part = tuple[pl.DataFrame, np.ndarray]
"""Distinct rows, and how often each occurs."""


def carried(recounted: Recounted) -> list[dict[str, Any]]:
    """An entry for each carried column: `distinct` values, the share of rows whose value is `unique`, and `association`."""
    subject, frame = recounted.subject, recounted.frame
    times = np.ones(len(frame), np.int64) if recounted.times is None else recounted.times
    sensitive = {
        c.name: _Beside(frame[c.name], times) for c in subject.named(Role.SENSITIVE) if c.name in frame.columns
    }
    found = []
    for name in [entry.name for entry in subject.named(Role.INSENSITIVE)]:
        parts = (
            _held(frame[name], frame, sensitive, times)
            if name in frame.columns
            else _counted(recounted, name, sensitive)
        )
        found.append(_entry(name, parts, sensitive, recounted.rows))
    for column in [] if subject.undeclared is None else subject.undeclared.get_columns():
        found.append(_entry(column.name, _held(column, frame, sensitive, times), sensitive, recounted.rows))
    return found


class _Beside:
    """A sensitive column: its values, and how many rows have each."""

    def __init__(self, column: pl.Series, times: np.ndarray):
        values = number(column)
        self.rows, self.distinct = values.times(times), values.distinct

    def codes(self, values: Numbered) -> np.ndarray:
        """Values numbered as here."""
        both = number(pl.concat([self.distinct, values.distinct]))
        place = np.empty(len(both), np.int64)
        place[both.codes[: len(self.distinct)]] = np.arange(len(self.distinct))
        return place[both.codes[len(self.distinct) :]][values.codes]


def _held(column: pl.Series, frame: pl.DataFrame, beside: dict[str, _Beside], times: np.ndarray) -> Iterator[Part]:
    """All rows as they are in memory."""
    yield pl.DataFrame([column.alias("\x00carried"), *(frame[name] for name in beside)]), times


def _counted(recounted: Recounted, name: str, beside: dict[str, _Beside]) -> Iterator[Part]:
    """From the file, a part at a time."""
    subject = recounted.subject
    assert subject.path is not None and subject.manifest is not None  # a plain table is in memory
    files, schemas = data_files(subject.path, subject.manifest), schemas_of(subject.manifest)
    file = next(file for file, schema in schemas.items() if name in schema)
    for frame, times in count_parts(files[file], schemas[file], name, list(beside)):
        yield frame.rename({name: "\x00carried"}), times


def _entry(name: str, parts: Iterator[Part], beside: dict[str, _Beside], rows: int) -> dict[str, Any]:
    distinct = unique = 0
    squares = dict.fromkeys(beside, 0.0)
    expected = dict.fromkeys(beside, 0.0)
    for frame, times in parts:
        values = number(frame["\x00carried"])
        held = np.bincount(values.codes, weights=times, minlength=len(values))
        distinct, unique = distinct + len(values), unique + int((held == 1).sum())
        for other, known in beside.items():
            square, sum_of = _present(values.codes, held, known.codes(number(frame[other])), known.rows, times, rows)
            squares[other] += square
            expected[other] += sum_of
    tied = {
        other: _v(squares[other] + (rows - expected[other]), rows, min(distinct, len(known.distinct)))
        for other, known in beside.items()
    }
    return {"column": name, "distinct": distinct, "unique": unique / rows, "association": tied}


def _present(
    one: np.ndarray, held: np.ndarray, other: np.ndarray, rows_of: np.ndarray, times: np.ndarray, rows: int
) -> tuple[float, float]:
    """The sum of (O - E)^2 / E over pairs that occur, and the sum of their E."""
    pair = one.astype(np.int64) * len(rows_of) + other
    if len(held) * len(rows_of) <= DENSE:
        observed = np.bincount(pair, weights=times)
        pairs = np.flatnonzero(observed)
        observed = observed[pairs]
    else:
        pairs, place = np.unique(pair, return_inverse=True)
        observed = np.bincount(place.reshape(-1), weights=times)
    expect = (held[pairs // len(rows_of)] / rows) * rows_of[pairs % len(rows_of)]
    return float(((observed - expect) ** 2 / expect).sum()), float(expect.sum())


def _v(square: float, rows: int, least: int) -> float:
    return float(min(np.sqrt(max(square, 0.0) / (rows * (least - 1))), 1.0)) if least > 1 else 0.0
