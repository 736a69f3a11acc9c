"""CPU seconds and memory of a step: of this process and its threads.  Memory is known on Linux alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Cost:
    """`memory`: the most bytes held at once, above what was held before; None where the system does not say."""

    seconds: float = 0.0
    memory: int | None = None


@contextmanager
def measured() -> Iterator[Cost]:
    cost = Cost()
    before = _held("VmRSS") if _marked() else None
    started = time.process_time()
    yield cost
    cost.seconds = time.process_time() - started
    most = _held("VmHWM")
    cost.memory = None if before is None or most is None else max(most - before, 0)


def _marked() -> bool:
    """Forget the high-water mark of what ran before."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _held(field: str) -> int | None:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(f"{field}:")), None)
