"""Every error a caller can meet, in one tree.

    ReticentError
    |-- RequestError            the request is wrong; nothing was written            exit 1
    |   |-- SourceError         the data cannot be read as asked
    |   |   `-- SourceUnreachable   the file is not there, or the database does not answer   exit 6
    |   |-- ColumnError         a column is unknown, undeclared, of the wrong type or role
    |   |-- HierarchyError      a hierarchy is no tree, or lacks values of the data
    |   |-- JobError            a job file or a parameter is wrong
    |   |-- OutputExists        the folder is there and may not be replaced
    |   |-- AlreadyPublished    the ledger knows this source                             exit 5
    |   `-- DataUnavailable     a public data set cannot be fetched                      exit 6
    |-- PromiseUnreachable      no release found keeps the promise                   exit 2
    |   `-- LossTooHigh         a release would lose more than the job allows
    |-- AuditFailed             a release does not keep its promise                  exit 3
    |   |-- BundleDamaged       a release folder is incomplete, damaged or changed
    |   `-- ComparisonFailed    the release and its source or job disagree             exit 4
    |-- DiskError               what was to be written cannot be                     exit 74
    |-- OutOfMemory             the memory that is left is not enough (a MemoryError too)  exit 74
    `-- InternalError           a bug of ours                                        exit 70

A message says what, why with numbers, and what to try.  It names columns and counts and never quotes a record's
values, because logs travel.  Nor does it hold a password: every message is redacted when it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reticent.redaction import redact

MAX_PART_CHARACTERS = 1_200  # characters of what, of why and of what to try: a message fits a screen


class ReticentError(Exception):
    """Base of all errors raised on purpose."""

    exit_code = 70

    def __init__(self, what: str, *, why: str = "", attempt: str = ""):
        advice = attempt if attempt.strip(" .") else ""
        self.what, self.why, self.attempt = (shorten_text(redact(text)) for text in (what, why, advice))
        lines = (self.what, self.why and f"  {self.why}", self.attempt and f"  Try {self.attempt}")
        super().__init__("\n".join(line for line in lines if line))


def shorten_text(text: str, most: int = MAX_PART_CHARACTERS) -> str:
    """Return a text of at most this length; what is left out is counted."""
    return text if len(text) <= most else f"{text[:most]} ... ({len(text) - most:,} more characters)"


class RequestError(ReticentError):
    """The request is wrong; nothing was written."""

    exit_code = 1


class SourceError(RequestError):
    """The data cannot be read as asked."""


class SourceUnreachable(SourceError):
    """The data is not where the request says, or does not answer."""

    exit_code = 6


class ColumnError(RequestError):
    """A column is unknown, undeclared, or of the wrong type or role."""


class HierarchyError(RequestError):
    """All faults of a hierarchy at once; `values` holds the offending labels for `--show-values` only."""

    def __init__(self, what: str, *, why: str = "", attempt: str = "", values: Iterable[str] = ()):
        super().__init__(what, why=why, attempt=attempt)
        self.values = tuple(values)

    @classmethod
    def join_errors(cls, errors: Sequence[HierarchyError]) -> HierarchyError:
        """Join the faults of several columns into one error, so that they can be corrected in one go."""
        if len(errors) == 1:
            return errors[0]
        whys = dict.fromkeys(error.why for error in errors if error.why)
        return cls(
            "\n".join(error.what for error in errors),
            why="\n  ".join(whys),
            attempt=errors[0].attempt,
            values=[value for error in errors for value in error.values],
        )


class JobError(RequestError):
    """A job file or a parameter is wrong."""


class OutputExists(RequestError):
    """The output is there and may not be replaced."""


class AlreadyPublished(RequestError):
    """The ledger knows this source."""

    exit_code = 5


class DataUnavailable(RequestError):
    """A public data set cannot be fetched."""

    exit_code = 6


class PromiseUnreachable(ReticentError):
    """No release was found that keeps the promise."""

    exit_code = 2


class LossTooHigh(PromiseUnreachable):
    """The release would keep its promises and lose more than the job allows (`loss_at_most`)."""


class AuditFailed(ReticentError):
    """A release does not keep its promise."""

    exit_code = 3


class BundleDamaged(AuditFailed):
    """A release folder is incomplete, damaged or changed."""


class ComparisonFailed(AuditFailed):
    """A release is not what its source or its job says, whatever its own files show."""

    exit_code = 4


class DiskError(ReticentError):
    """What was to be written cannot be."""

    exit_code = 74


class OutOfMemory(ReticentError, MemoryError):
    """The memory that is left is not enough; nothing was kept."""

    exit_code = 74

    def __init__(
        self,
        what: str = "The memory ran out.",
        *,
        why: str = "Nothing was kept.",
        attempt: str = "fewer columns or rows at a time, or a larger machine.",
    ):
        super().__init__(what, why=why, attempt=attempt)


class InternalError(ReticentError):
    """A bug of ours."""

    exit_code = 70


def locate_error(error: BaseException) -> str:
    """Return the innermost line of our code that the error passed."""
    import os
    from traceback import extract_tb

    steps = [step for step in extract_tb(error.__traceback__) if is_own_file(step.filename)]
    return f"in {os.path.basename(steps[-1].filename)}, line {steps[-1].lineno}" if steps else "outside our code"


def is_own_file(filename: str) -> bool:
    """Tell whether a file is in this package's own folder, whatever the folders above it are called.

    A compiled kernel names its file from where it was built: `src/reticent/kernels/...`.
    """
    from pathlib import Path

    path = Path(filename)
    if not path.is_absolute():
        return path.parts[:3] == ("src", "reticent", "kernels")
    return Path(__file__).resolve().parent in path.resolve().parents


def quote_list(names: Iterable[object], most: int = 8) -> str:
    """List some names, each in quotes and none longer than a line, and the number of those left out."""
    known = list(names)
    shown = ", ".join(shorten_text(repr(name), 80) for name in known[:most])
    return shown + (f" and {len(known) - most:,} more" if len(known) > most else "")


def pluralize(number: int, thing: str, *verbs: str) -> str:
    """`1 value occurs`, `40 values occur`: the number with its word, and the verb for one or the one for several."""
    verb = f" {verbs[number != 1]}" if verbs else ""
    return f"{number:,} {thing}{'' if number == 1 else 's'}{verb}"


def suggest(word: str, known: Iterable[str]) -> str:
    """Return a 'did you mean' for names the user typed: column names, models, options."""
    from difflib import get_close_matches

    known = [str(name) for name in known]
    if not known:
        return "leaving it out."
    close = get_close_matches(str(word)[:80], [name for name in known if len(name) <= 80][:1000], n=1)
    return f"{close[0]!r} instead; known are {quote_list(known, 12)}." if close else f"one of {quote_list(known, 12)}."
