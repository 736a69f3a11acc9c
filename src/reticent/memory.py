"""Tells how much memory this process may still use, and which errors mean that there was too little.

A limit of addresses (`ulimit -v`) counts what libraries reserve; a control group, and the machine's memory, count what
they use.
"""

from __future__ import annotations

import errno
import re

from reticent.errors import OutOfMemory
from reticent.operating_system import get_address_limit, get_used_addresses, read_system_file

BYTES_PER_TEXT_BYTE = (
    12  # bytes of memory for each byte of a text file of rows, from reading to the audit; measured: 11
)
SMALL_TABLE_BYTES = 64 << 20  # bytes that are read without looking for room
RESERVED_ADDRESS_BYTES = 960 << 20  # addresses that libraries take while they are loaded and start their threads
_MEMORY_ERROR_PHRASES = (
    "cannot allocate memory",
    "failed to map segment",
    "out of memory",
    "memory allocation",
    "os error 12",
    "resource temporarily unavailable",  # no room for the stack of a thread
)


def is_memory_error(error: BaseException) -> bool:
    """Tell whether an error of a library means that memory ran out.

    A library that is not loaded, or panics, for lack of memory reports it in different words each time; under a limit
    of addresses that is taken for the reason.
    """
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    if not isinstance(error, ImportError) and type(error).__name__ not in ("PanicException", "ArrowException"):
        return False
    return get_address_limit() is not None or any(word in str(error).lower() for word in _MEMORY_ERROR_PHRASES)


def require_table_fits(name: str, need: int) -> None:
    """Refuse rows that would not fit under a limit of addresses: libraries end the process when it is met."""
    left = get_addresses_left()
    if left is not None and need > max(left := left - RESERVED_ADDRESS_BYTES, SMALL_TABLE_BYTES):
        raise OutOfMemory(
            f"{name} is too large for the memory that this process may take.",
            why=f"Publishing it takes about {need >> 20:,} MiB, and {max(left, 0) >> 20:,} are left (ulimit -v). Nothing was kept.",
            attempt="a greater limit, or --engine stream.",
        )


def get_available_memory() -> int | None:
    """Return the available bytes, the least of all limits; None if the system does not tell."""
    found = [
        left
        for left in (_read_available_memory(), get_addresses_left(), _read_control_group_memory())
        if left is not None
    ]
    return min(found, default=None)


def _read_available_memory() -> int | None:
    told = re.search(r"MemAvailable:\s+(\d+) kB", read_system_file("/proc/meminfo"))
    return int(told[1]) * 1024 if told else None


def get_addresses_left() -> int | None:
    """Return how many addresses the limit leaves; None if there is none."""
    limit = get_address_limit()
    used = get_used_addresses()
    return None if limit is None or used is None else limit - used


def _read_control_group_memory() -> int | None:
    limit, used = (read_system_file(f"/sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    return int(limit) - int(used) if limit.isdigit() and used.isdigit() else None
