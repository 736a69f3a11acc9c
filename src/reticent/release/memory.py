"""How much memory this process may still take: what the system has left, and what limits leave of it."""

from __future__ import annotations

import re
from pathlib import Path

try:
    import resource
except ImportError:  # there are no such limits on Windows
    resource = None  # type: ignore[assignment]  # a system without limits has no such module


def room() -> int | None:
    """Bytes, the least of all limits; None where the system does not tell."""
    found = [left for left in (_available(), _address_space(), _control_group()) if left is not None]
    return min(found, default=None)


def _available() -> int | None:
    told = re.search(r"MemAvailable:\s+(\d+) kB", _read("/proc/meminfo"))
    return int(told[1]) * 1024 if told else None


def _address_space() -> int | None:
    if resource is None:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = _read("/proc/self/statm").split()
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return limit - int(pages[0]) * resource.getpagesize()


def _control_group() -> int | None:
    limit, used = (_read(f"/sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    return int(limit) - int(used) if limit.isdigit() and used.isdigit() else None


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
