"""The distinct rows of a Parquet file and how often each occurs, row group by row group, without spelling texts out.

A text column's pages are numbered by a dictionary already.  The numbers of a row are packed into one word, words are
counted (`tallies.py`), and only what is distinct is kept: memory holds one row group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.release.tallies import Tallies, Wide

NEAR = 1 << 10  # whole numbers that lie no further apart are numbered by their distance from the least


class TooManyDistinct(Exception):
    """There are more distinct values, or rows, than are worth counting."""


@dataclass(eq=False)
class _Column:
    """The values met so far, numbered in the order they were met; a null is a value like another."""

    number: dict[Any, int] = field(default_factory=dict)

    def add(self, values: list[Any]) -> np.ndarray:
        return np.array([self.number.setdefault(value, len(self.number)) for value in values], np.int32)


def distinct_rows(
    path: Path | Sequence[Path], names: list[str], limits: tuple[int, int] | None = None
) -> tuple[pl.DataFrame, np.ndarray]:
    """Each distinct combination of the columns `names`, and how many rows have it; of a file, or of the parts of one.

    `limits`: `TooManyDistinct` is raised as soon as a column has more distinct values, or there are more distinct combinations.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [path] if isinstance(path, Path) else path
    schema, types = pq.read_schema(paths[0]), _types(paths[0])
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
    columns = [_Column() for _ in names]
    tallies: Tallies | Wide = Tallies(len(names))
    with _RowGroups(paths, texts) as file:
        for at in range(file.num_row_groups):
            table = file.read_row_group(at, columns=names)
            local = [_numbered(table.column(name)) for name in names]
            del table
            meanings = [column.add(values) for column, (_, values) in zip(columns, local, strict=True)]
            sizes = [len(column.number) for column in columns]
            if limits is not None and (max(sizes) > limits[0] or len(tallies) > limits[1]):
                raise TooManyDistinct
            if isinstance(tallies, Tallies) and not tallies.fits(sizes):
                tallies = Wide(*tallies.found())
            tallies.add([numbers for numbers, _ in local], meanings, sizes)
    codes, times = tallies.found()
    frame = {}
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        series = pl.Series(name, list(column.number), dtype=types[name])  # not by pa.array: it would load pandas
        frame[name] = series.gather(codes[:, place])
    return pl.DataFrame(frame), times


def _types(path: Path) -> pl.Schema:
    return pl.scan_parquet(
        path, glob=False, hive_partitioning=False
    ).collect_schema()  # marks of a pattern may be its name


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
