"""Where row groups of a Parquet file end: how rows came in says nothing about it.

A group has PIECE rows, or as many as GROUP bytes hold where rows are very wide: a writer holds a whole group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from reticent.release.rows import PIECE

GROUP = 1 << 29  # bytes of a row group in memory
TEXT = 24  # bytes that a text is taken for


def rows_of_group(schema: Any) -> int:
    """How many rows a group has: as the columns' types say, and no row."""
    return max(min(PIECE, GROUP // max(sum(map(_width, schema.types)), 1)), 1)


def _width(kind: Any) -> int:
    """Bytes of a value in memory."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _width(kind.index_type)
    try:
        return -(-kind.bit_width // 8)
    except ValueError:  # a text
        return TEXT


def even(tables: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Tables of a group's rows each, the last one of what is left; one group is held at a time."""
    import pyarrow as pa

    size, held = rows_of_group(schema), list[Any]()
    rows, begun = 0, False
    for table in tables:
        held.append(table)
        rows += len(table)
        del table
        if rows >= size:
            whole = pa.concat_tables(held)
            for start in range(0, rows - size + 1, size):
                yield whole.slice(start, size)
            rest = rows % size
            held, rows, begun = [whole.slice(rows - rest)] if rest else [], rest, True
            del whole  # not held while the next is made
    if held and (rows or not begun):
        yield pa.concat_tables(held)


class Cut:
    """Tables, or frames, cut where so many rows are taken of them; what was taken is not kept."""

    def __init__(self, tables: Iterable[Any]):
        self._tables, self._rest = iter(tables), None

    def take(self, rows: int | None) -> Iterator[Any]:
        """The next so many rows; all that are left where None is asked."""
        while rows is None or rows:
            table = next(self._tables, None) if self._rest is None else self._rest
            if table is None:
                return
            self._rest = None
            if rows is not None:
                if len(table) > rows:
                    table, self._rest = table.slice(0, rows), table.slice(rows)
                rows -= len(table)
            if len(table):
                yield table


def alone(group: Any) -> Any:
    """A row group whose dictionaries list its own values alone: a part of few rows repeats nothing of the others."""
    import pyarrow as pa

    columns = []
    for column in group.columns:
        whole = column.combine_chunks()
        if pa.types.is_dictionary(column.type):
            mine, codes = used(whole.indices)
            whole = pa.DictionaryArray.from_arrays(int32(codes), whole.dictionary.take(int32(mine)))
        columns.append(whole)
    return pa.Table.from_arrays(columns, schema=group.schema)


def used(indices: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which numbers occur, and the place of each row's number among them."""
    stored = np.frombuffer(indices.buffers()[1], np.int32)  # not by to_numpy: it would load pandas
    stored = stored[indices.offset : indices.offset + len(indices)]
    size = int(stored.max(initial=-1)) + 1
    if size > 4 * len(stored):
        return np.unique(stored, return_inverse=True)
    occurs = np.zeros(size, bool)
    occurs[stored] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[stored]


def int32(numbers: np.ndarray) -> Any:
    """Numbers as Arrow has them: from_buffers, because pa.array looks for pandas and would load it."""
    import pyarrow as pa

    stored = np.ascontiguousarray(numbers, np.int32)
    return pa.Array.from_buffers(pa.int32(), len(stored), [None, pa.py_buffer(stored)])
