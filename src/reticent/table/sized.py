"""How much memory the rows of a file take, told before they are read: a file of few bytes may hold many rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reticent import memory
from reticent.errors import OutOfMemory
from reticent.table.opened import PACKED, opened

VALUE = 24  # bytes of memory for each value of a Parquet file at the least: a text of 16, and its code
LEAST = 8  # bytes of each row, of which one column at the least is read
_PARQUET = (".parquet", ".pq")
_AT_ONCE = 1 << 24


def refuse_large(paths: Sequence[Path]) -> None:
    """Refuse files whose rows cannot fit in memory."""
    claimed = [_claimed(path) for path in paths if path.suffix.lower() in _PARQUET]
    rows, values = (sum(each) for each in zip((0, 0), *claimed, strict=True))
    left = memory.room() if LEAST * rows > memory.SMALL else None
    if left is not None and LEAST * rows > left:
        raise OutOfMemory(
            f"{paths[0].name} is too large for the memory that is left.",
            why=f"It claims {rows:,} rows, which take {LEAST * rows >> 20:,} MiB at the least; {max(left, 0) >> 20:,} are left.",
            attempt="a machine with more memory, or --engine stream.",
        )
    if memory.addresses_left() is not None:  # packed files are unpacked once for it
        memory.refuse_large_table(paths[0].name, max(memory.TABLE * sum(map(size_of, paths)), VALUE * values))


def _claimed(path: Path) -> tuple[int, int]:
    """Rows and values, as the file's footer says them; 0 where it cannot be read, which its reader says."""
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(path)
    except Exception:
        return 0, 0
    return facts.num_rows, facts.num_rows * facts.num_columns


def size_of(path: Path) -> int:
    """Bytes, unpacked."""
    if path.suffix.lower() not in PACKED:
        return path.stat().st_size
    found = 0
    with opened(path) as handle:
        while data := handle.read(_AT_ONCE):
            found += len(data)
    return found
