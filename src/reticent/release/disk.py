"""What a disk refuses, in one error: libraries say it in words only, and each in others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reticent.errors import DiskError

_IN_WORDS = re.compile(r"os error (\d+)")


@contextmanager
def writing(target: str | Path | None) -> Iterator[None]:
    """Turn what goes wrong with the disk in this block into a DiskError; everything else passes."""
    try:
        yield
    except Exception as error:
        number = _number(error)
        if number is None:
            raise
        raise DiskError(
            f"{target or 'A temporary folder'} cannot be written: {os.strerror(number)}.",
            why="Nothing was kept.",
            attempt="more room, a folder you may write to, or another disk.",
        ) from None


def _number(error: Exception) -> int | None:
    """The system's number of an error; Polars says it in words (it is known by its module, which need not be loaded)."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    if isinstance(error, OSError) or type(error).__module__.startswith("polars."):
        said = _IN_WORDS.search(str(error))
        return int(said[1]) if said else None
    return None
