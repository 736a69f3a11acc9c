"""Explains what a screen or a button stumbled over, so that the page can say it where it happened.

Errors of ours say what to try.  Those of the system are said by their reason, and of what nobody foresaw only the type and
the place are said: its message may quote a record.
"""

from __future__ import annotations

import os

from reticent.errors import DiskError, InternalError, OutOfMemory, ReticentError, locate_error
from reticent.memory import is_memory_error

REFUSED_STATUS = 422
UNFORESEEN_STATUS = 500


def explain_error(error: Exception) -> ReticentError:
    """Return an error of ours that says what went wrong and what to try in the studio."""
    if isinstance(error, ReticentError):
        return error
    if is_memory_error(error):
        return OutOfMemory()
    if isinstance(error, OSError) and error.errno is not None:
        return DiskError(
            f"A file or folder of the project cannot be used: {os.strerror(error.errno).lower()}.",
            attempt="again, once it is there and yours to read and write.",
        )
    return InternalError(
        f"A bug of ours: {type(error).__name__} {locate_error(error)}.",
        why="Its message is withheld: it may quote a record.",
        attempt="Undo, or the command of this screen; and report the place together with the job file.",
    )


def choose_status(error: ReticentError) -> int:
    """Return the status of a page that says this error."""
    return UNFORESEEN_STATUS if isinstance(error, InternalError) else REFUSED_STATUS
