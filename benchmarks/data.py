"""Census files for the benchmarks, made when first needed and kept in `.cache/`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from benchmarks.measure import ROOT
from reticent.datasets.census import CENSUS_COLUMNS, write_census


def census_file(rows: int, attributes: Sequence[str] = CENSUS_COLUMNS, seed: int = 0, suffix: str = ".parquet") -> Path:
    """A file with so many rows of the census, text as plain strings."""
    which = sha256(",".join(attributes).encode()).hexdigest()[:8]
    path = ROOT / ".cache" / f"census-v1-{rows}-{which}-{seed}{suffix}"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        part = path.with_name(f"part-{os.getpid()}{suffix}")
        part.unlink(missing_ok=True)
        write_census(part, rows, seed, attributes=attributes).replace(path)
    return path
