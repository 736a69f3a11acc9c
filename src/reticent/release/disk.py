"""What a disk refuses, in one error: libraries say it in words only, and each in others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from reticent.errors import DiskError

_IN_WORDS = re.compile(r"os error (\d+)")


@contextmanager
def writing(target: str | Path | None) -> Iterator[None]:
    """Turn what goes wrong with the disk in this block into a DiskError; everything else passes."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        number = getattr(error, "errno", None)
        if number is None and (said := _IN_WORDS.search(str(error))):
            number = int(said[1])
        if number is None:
            raise
        raise DiskError(
            f"{target or 'A temporary folder'} cannot be written: {os.strerror(number)}.",
            why="Nothing was kept.",
            attempt="more room, a folder you may write to, or another disk.",
        ) from None
