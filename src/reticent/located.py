"""Where the paths that a job file names lie: beside it, unless they are found from the working directory only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.errors import JobError


def lying_beside(value: Any, key: str, beside: Path | None) -> Any:
    """A path, or every path under a `key` of a table ("*": under any), at whatever depth."""
    if isinstance(value, str) and not key:
        return located(value, beside)
    if not isinstance(value, Mapping):
        return value
    return {
        name: located(inner, beside)
        if key in (name, "*") and isinstance(inner, str)
        else lying_beside(inner, key, beside)
        if key
        else inner
        for name, inner in value.items()
    }


def located(path: str, beside: Path | None) -> str:
    given = Path(path)
    try:
        lies_here = beside is not None and (not (beside / given).exists() and given.exists())
    except (OSError, ValueError):
        raise JobError(
            "A path in the job is none that a file can have.",
            why=f"It has {len(path):,} characters.",
            attempt="a shorter path.",
        ) from None
    if given.is_absolute() or beside is None or lies_here:
        return str(given)
    return str(beside / given)
