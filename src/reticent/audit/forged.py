"""What counting a folder of a stranger stumbles over, as one refusal.

Everything that is known to be forged is refused by name where it is read.  Where a count of the files alone still fails, no release
was recounted and none may pass: the audit says so, and that it may be a fault of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from reticent.audit.subject import Subject
from reticent.errors import BundleDamaged, OutOfMemory
from reticent.memory import says_memory

STUMBLES = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, pl.exceptions.PolarsError)
UNCOUNTED = "The files of this release cannot be recounted"


@contextmanager
def counting(subject: Subject, *, staged: bool) -> Iterator[None]:
    """A block that reads nothing but the folder.  A release that publish has just written is no stranger's: its errors are ours."""
    try:
        yield
    except BaseException as error:
        panic = type(error).__name__ == "PanicException"  # Polars ends in one, and it is no Exception
        if says_memory(error):
            raise OutOfMemory from None  # says nothing of the folder
        if subject.foreign or staged or not (panic or isinstance(error, STUMBLES)):
            raise
        raise BundleDamaged(
            f"{UNCOUNTED} ({type(error).__name__}).",
            why="They hold what no release of this kind holds, or this is a bug of ours.",
            attempt="getting the folder again from its publisher; if it is as published, reporting this.",
        ) from None
