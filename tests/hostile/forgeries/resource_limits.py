"""Readers in a process of their own that may take 2 GB of addresses and so many CPU seconds: what dies there kills no test.

`python -m tests.hostile.forgeries.resource_limits FOLDER...` prints a line of JSON for each folder and reader.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ADDRESSES = 2 << 30
SECONDS = 10  # CPU seconds for each folder
BATCH = 16  # folders that one process reads
ROOT = Path(__file__).parents[3]


def read_under_limit(folders: Sequence[Path], readers: Iterable[str] = ("audit",)) -> dict[tuple[str, str], str]:
    """(folder, reader) -> what it made of it, or how the process died."""
    wanted = [(str(folder), reader) for folder in folders for reader in readers]
    found = {}
    for start in range(0, len(folders), BATCH):
        found |= _batch(folders[start : start + BATCH], list(readers))
    return {key: found.get(key, "died") for key in wanted}


def _batch(folders: Sequence[Path], readers: Sequence[str]) -> dict[tuple[str, str], str]:
    command = [sys.executable, "-m", "tests.hostile.forgeries.resource_limits", ",".join(readers), *map(str, folders)]
    limits = {"POLARS_MAX_THREADS": "2", "OMP_NUM_THREADS": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **limits, "PYTHONPATH": paths},
    )
    found = {}
    for line in run.stdout.splitlines():
        folder, reader, told = json.loads(line)
        found[folder, reader] = told
    missing = [(str(folder), reader) for folder in folders for reader in readers if (str(folder), reader) not in found]
    if missing:
        found[missing[0]] = f"died with {run.returncode}: {run.stderr[-300:]}"
    return found


def _told(folders: Iterable[str], readers: Sequence[str]) -> Iterator[list[str]]:
    from tests.hostile.forgeries.readers import outcome

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    for folder in folders:
        used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS * len(readers), resource.RLIM_INFINITY))
        for reader in readers:
            yield [folder, reader, outcome(Path(folder), reader)]


if __name__ == "__main__":
    for told in _told(sys.argv[2:], sys.argv[1].split(",")):
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
