"""The distinct rows of a Parquet file and how often each occurs, row group by row group, without spelling texts out.

A text column's pages are numbered by a dictionary already.  The numbers of a row are packed into one word, words are
counted, and only what is distinct is kept: memory holds one row group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

DENSE = 1 << 23  # words up to here are counted in an array, longer ones by a sort


@dataclass(eq=False)
class _Column:
    """The values met so far, numbered in the order they were met; a null is a value like another."""

    number: dict[Any, int] = field(default_factory=dict)

    def add(self, values: list[Any]) -> np.ndarray:
        return np.array([self.number.setdefault(value, len(self.number)) for value in values], np.int64)


def distinct_rows(path: Path, names: list[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """Each distinct combination of the columns `names`, and how many rows have it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
    columns = [_Column() for _ in names]
    found: list[np.ndarray] = []
    times: list[np.ndarray] = []
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for at in range(file.num_row_groups):
            table = file.read_row_group(at, columns=names)
            local = [_numbered(table.column(name)) for name in names]
            codes, count = _counted([numbers for numbers, _ in local], [len(values) for _, values in local])
            for place, (column, (_, values)) in enumerate(zip(columns, local, strict=True)):
                codes[:, place] = column.add(values)[codes[:, place]]
            found.append(codes)
            times.append(count)
    codes, count = _merged(found, times, [len(column.number) for column in columns])
    frame = {}
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        # no value may pass through a guess: the type is the file's own
        values = pl.Series(name, pa.array(list(column.number), schema.field(name).type, from_pandas=False))
        frame[name] = values.gather(codes[:, place])
    return pl.DataFrame(frame), count


def _numbered(column: Any) -> tuple[np.ndarray, list[Any]]:
    """A column of one row group as numbers, and the value that each stands for; None last where there are nulls."""
    import pyarrow as pa

    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # no rows
        return np.zeros(0, np.int64), []
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = coded.dictionary.to_pylist()
    numbers = coded.indices
    if numbers.null_count:
        numbers, values = numbers.fill_null(len(values)), [*values, None]
    return numbers.to_numpy(), values


def _counted(columns: list[np.ndarray], sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The distinct combinations of numbers, and how many rows have each."""
    room = prod(max(size, 1) for size in sizes)
    if room >= 1 << 62:
        distinct, count = np.unique(np.column_stack(columns), axis=0, return_counts=True)
        return distinct.astype(np.int64), count.astype(np.int64)
    word = np.zeros(len(columns[0]), np.int64)
    for numbers, size in zip(columns, sizes, strict=True):
        word *= max(size, 1)
        word += numbers
    if room <= DENSE:
        dense = np.bincount(word, minlength=1)
        distinct = np.flatnonzero(dense)
        count = dense[distinct]
    else:
        distinct, count = np.unique(word, return_counts=True)
    codes = np.empty((len(distinct), len(columns)), np.int64)
    for place in reversed(range(len(columns))):
        distinct, codes[:, place] = np.divmod(distinct, max(sizes[place], 1))
    return codes, count.astype(np.int64)


def _merged(found: list[np.ndarray], times: list[np.ndarray], sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The combinations of all row groups, equal ones added up."""
    if len(found) == 1:
        return found[0], times[0]
    if not found:
        return np.zeros((0, len(sizes)), np.int64), np.zeros(0, np.int64)
    codes, count = np.concatenate(found), np.concatenate(times)
    if prod(max(size, 1) for size in sizes) < 1 << 62:
        word = np.zeros(len(codes), np.int64)
        for place, size in enumerate(sizes):
            word = word * max(size, 1) + codes[:, place]
        _, first, which = np.unique(word, return_index=True, return_inverse=True)
    else:
        _, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return codes[first], np.bincount(which.reshape(-1), weights=count).astype(np.int64)
