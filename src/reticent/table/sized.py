"""How much memory the rows of a file take, told before they are read: a file of few bytes may hold many rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reticent.errors import OutOfMemory
from reticent.memory import SMALL, TABLE, address_limit, refuse_large_table, room
from reticent.table.opened import PACKED, opened

VALUE = 48  # bytes of memory for each value of a Parquet file: a text of 16, three times over
LEAST = 8  # bytes that any of them takes
_PARQUET = (".parquet", ".pq")
_AT_ONCE = 1 << 24


def refuse_large(paths: Sequence[Path]) -> None:
    """Refuse files whose rows cannot fit in memory."""
    values = sum(_values(path) for path in paths if path.suffix.lower() in _PARQUET)
    left = room() if LEAST * values > SMALL else None
    if left is not None and LEAST * values > left:
        raise OutOfMemory(
            f"{paths[0].name} is too large for the memory that is left.",
            why=f"It claims {values:,} values, which take {LEAST * values >> 20:,} MiB at the least; {max(left, 0) >> 20:,} are left.",
            attempt="a machine with more memory, or --engine stream.",
        )
    if address_limit() is not None:
        refuse_large_table(paths[0].name, max(TABLE * sum(map(_size, paths)), VALUE * values))


def _values(path: Path) -> int:
    """Rows times columns, as the file's footer says them; 0 where it cannot be read, which its reader says."""
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(path)
    except Exception:
        return 0
    return facts.num_rows * facts.num_columns


def _size(path: Path) -> int:
    """Bytes, unpacked."""
    if path.suffix.lower() not in PACKED:
        return path.stat().st_size
    found = 0
    with opened(path) as handle:
        while data := handle.read(_AT_ONCE):
            found += len(data)
    return found
