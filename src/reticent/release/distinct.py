"""The distinct rows of a Parquet file and how often each occurs, row group by row group, without spelling texts out.

A text column's pages are numbered by a dictionary already.  The numbers of a row are packed into one word, words are
counted, and only what is distinct is kept: memory holds one row group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

DENSE = 1 << 21  # numbers up to here are counted in an array, larger ones by a sort
WAITING = 1 << 20  # combinations of row groups that are merged at once: merging each group by itself sorts all again
NEAR = 1 << 10  # whole numbers that lie no further apart are numbered by their distance from the least


@dataclass(eq=False)
class _Column:
    """The values met so far, numbered in the order they were met; a null is a value like another."""

    number: dict[Any, int] = field(default_factory=dict)

    def add(self, values: list[Any]) -> np.ndarray:
        return np.array([self.number.setdefault(value, len(self.number)) for value in values], np.int32)


def distinct_rows(path: Path | Sequence[Path], names: list[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """Each distinct combination of the columns `names`, and how many rows have it; of a file, or of the parts of one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [path] if isinstance(path, Path) else path
    schema, types = pq.read_schema(paths[0]), pl.read_parquet_schema(paths[0])
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
    columns = [_Column() for _ in names]
    codes, times = np.zeros((0, len(names)), np.int32), np.zeros(0, np.int64)
    waiting: list[tuple[np.ndarray, np.ndarray]] = []
    with _RowGroups(paths, texts) as file:
        for at in range(file.num_row_groups):
            table = file.read_row_group(at, columns=names)
            local = [_numbered(table.column(name)) for name in names]
            del table
            here, count = _counted([numbers for numbers, _ in local], [len(values) for _, values in local])
            for place, (column, (_, values)) in enumerate(zip(columns, local, strict=True)):
                here[:, place] = column.add(values)[here[:, place]]
            sizes = [len(column.number) for column in columns]
            if at == 0 and sizes == [len(values) for _, values in local]:  # no value twice: distinct as counted
                codes, times = here, count
                continue
            del local
            waiting.append((here, count))
            if at == file.num_row_groups - 1 or sum(len(some) for some, _ in waiting) > max(WAITING, len(codes)):
                every, many = zip((codes, times), *waiting, strict=True)
                codes, times = _merged(np.concatenate(every), np.concatenate(many), sizes)
                waiting = []
    frame = {}
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        series = pl.Series(name, list(column.number), dtype=types[name])  # not by pa.array: it would load pandas
        frame[name] = series.gather(codes[:, place])
    return pl.DataFrame(frame), times


class _RowGroups:
    """The row groups of several files, one after the other; one file is open at a time."""

    def __init__(self, paths: Sequence[Path], texts: list[str]):
        import pyarrow.parquet as pq

        self._texts, self._at = texts, Path()
        self._open: pq.ParquetFile | None = None
        counts = [(path, pq.read_metadata(path).num_row_groups) for path in paths]
        self._places = [(path, group) for path, groups in counts for group in range(groups)]
        self.num_row_groups = len(self._places)

    def __enter__(self) -> _RowGroups:
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            self._open.close()

    def read_row_group(self, at: int, columns: list[str]) -> Any:
        import pyarrow.parquet as pq

        path, group = self._places[at]
        if self._at != path:
            self.__exit__()
            self._open, self._at = pq.ParquetFile(path, read_dictionary=self._texts), path
        assert self._open is not None
        return self._open.read_row_group(group, columns=columns)


def _numbered(column: Any) -> tuple[np.ndarray, list[Any]]:
    """A column of one row group as numbers, and the value that each would stand for; None last where there are nulls."""
    import pyarrow as pa

    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # no rows
        return np.zeros(0, np.int64), []
    if pa.types.is_integer(column.type) and column.type.bit_width <= 32 and len(column) and not column.null_count:
        stored = _stored(column)
        least, most = int(stored.min()), int(stored.max())
        if most - least < NEAR:
            return np.subtract(stored, least, dtype=np.int64), list(range(least, most + 1))
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = coded.dictionary.to_pylist()
    numbers = coded.indices
    if numbers.null_count:
        numbers, values = numbers.fill_null(len(values)), [*values, None]
    return _stored(numbers), values


def _stored(numbers: Any) -> np.ndarray:
    """The numbers of an Arrow array without nulls."""
    width = numbers.type.to_pandas_dtype()
    stored = np.frombuffer(numbers.buffers()[1], width)  # not by to_numpy: it would load pandas
    return stored[numbers.offset : numbers.offset + len(numbers)]


def _counted(columns: list[np.ndarray], sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The distinct combinations of numbers in their order, and how many rows have each."""
    dense = _dense(columns, sizes)
    if dense is not None:
        times = np.bincount(dense, minlength=1)
        held = np.flatnonzero(times)
        row = np.empty(len(times), np.int64)  # one that has the combination
        row[dense] = np.arange(len(dense))
        row = row[held]
        return np.column_stack([numbers[row] for numbers in columns]).astype(np.int32), times[held].astype(np.int64)
    if prod(max(size, 1) for size in sizes) >= 1 << 62:
        distinct, count = np.unique(np.column_stack(columns), axis=0, return_counts=True)
        return distinct.astype(np.int32), count.astype(np.int64)
    word = np.zeros(len(columns[0]), np.int64)
    for numbers, size in zip(columns, sizes, strict=True):
        word *= max(size, 1)
        word += numbers
    distinct, count = np.unique(word, return_counts=True)
    codes = np.empty((len(distinct), len(columns)), np.int32)
    for place in reversed(range(len(columns))):
        distinct, codes[:, place] = np.divmod(distinct, max(sizes[place], 1))
    return codes, count.astype(np.int64)


def _dense(columns: list[np.ndarray], sizes: list[int]) -> np.ndarray | None:
    """A number below DENSE for each row, equal where combinations are and in their order; None where there are too many.

    Combinations of the columns so far that do not occur are left out before another column would make them too many.
    """
    word, room = np.zeros(len(columns[0]), np.int64), 1
    for numbers, size in zip(columns, sizes, strict=True):
        if room * max(size, 1) > DENSE:
            occurs = np.zeros(room, bool)
            occurs[word] = True
            number = np.cumsum(occurs) - 1
            word, room = number[word], int(number[-1]) + 1
        room *= max(size, 1)
        if room > DENSE:
            return None
        word *= max(size, 1)
        word += numbers
    return word


def _merged(codes: np.ndarray, times: np.ndarray, sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Equal combinations added up."""
    if prod(max(size, 1) for size in sizes) < 1 << 62:
        word = np.zeros(len(codes), np.int64)
        for place, size in enumerate(sizes):
            word *= max(size, 1)
            word += codes[:, place]
        order = np.argsort(word, kind="stable")
        fresh = np.diff(word[order], prepend=-1) != 0
    else:
        order = np.lexsort(codes.T)
        fresh = np.append(True, (codes[order][1:] != codes[order][:-1]).any(axis=1))[: len(order)]
    starts = np.flatnonzero(fresh)
    return codes[order[starts]], np.add.reduceat(times[order], starts) if len(starts) else times
