"""Where row groups of a Parquet file end: how rows came in says nothing about it.

A group has PIECE rows, or as many as GROUP bytes hold where rows are very wide: a writer holds a whole group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

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
