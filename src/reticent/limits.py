"""Limits on the size of what is written in a job.  All are checked before anything is computed from it.

A parameter is an exact fraction: `1e999999999` is ten characters in a file and a billion digits in memory.  So a number
is measured as it is written, before it becomes a fraction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from reticent.errors import JobError, RequestError

MAX_ROWS_OF_REDRAWN_PERSON = 1000  # of one person, whose odds multiply: a power that is computed in fractions
MAX_DIGITS = 400  # of a number, before and behind the point: far more than any parameter needs
MAX_JOB_TEXT_CHARACTERS = 100_000  # characters of one text: a long query
MAX_TEXT_CHARACTERS = 1 << 16  # of one text in a manifest: a value, or a label of a hierarchy
MAX_DEPTH = 20  # tables and lists within each other
MAX_ENTRIES = 1_000_000  # values in one job, those of hierarchies among them
MAX_JOB_FILE_BYTES = 64 << 20  # bytes of a job file
MAX_MANIFEST_VALUES = 4_000_000  # of a manifest, those of the hierarchies that it publishes among them
MAX_HIERARCHY_VALUES = 3_900_000  # of one hierarchy: the rest of the manifest has its own
MAX_SIDE_FILE_BYTES = (
    256 << 20
)  # bytes of a file that is read whole beside it: a hierarchy, weights, distances, questions
_NUMBER_PATTERN = re.compile(r"\s*[+-]?[\d_]*\.?[\d_]*(?:[eE]([+-]?\d+))?(?:/[\d_]+)?\s*", re.ASCII)


def require_moderate_number(value: object, name: str = "a number") -> None:
    """Refuse a number that is written with more digits, or further from 1, than any parameter is; NaN and infinity too."""
    if not is_moderate_number(value):
        raise JobError(
            f"{name} must be a number of at most {MAX_DIGITS} digits before and behind the point.",
            why="Parameters are exact: one with a billion digits could not be computed with.",
            attempt='a number such as 4, 0.5 or "1/3".',
        )


def read_text_file(path: str | Path, encoding: str = "utf-8-sig") -> str:
    """Read a whole text file; one that is too large, or never ends, is refused.

    Raises what `open` and decoding raise.
    """
    with open(path, "rb") as handle:
        content = handle.read(MAX_SIDE_FILE_BYTES + 1)
    if len(content) > MAX_SIDE_FILE_BYTES:
        raise RequestError(
            f"The file {Path(path).name} has more than {MAX_SIDE_FILE_BYTES:,} bytes.", attempt="a smaller file."
        )
    return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def is_moderate_number(value: object) -> bool:
    """Tell whether a number, or a text that would be read as one, can be computed with."""
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return abs(value) < 10**MAX_DIGITS if value.bit_length() < 8 * MAX_DIGITS else False
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, Decimal):
        return (
            value.is_finite() and len(value.as_tuple().digits) <= 2 * MAX_DIGITS and abs(value.adjusted()) <= MAX_DIGITS
        )
    if isinstance(value, Fraction):
        return is_moderate_number(value.numerator) and is_moderate_number(value.denominator)
    if isinstance(value, str):
        return _is_moderate_text(value)
    return True


def require_moderate_job(table: Mapping[str, Any]) -> None:
    """Refuse a job that is too deep or too long, or holds a number or a text that no field has; nothing of it is quoted."""
    waiting: list[tuple[Any, str, int]] = [(table, "the job", 0)]
    entries = 0
    while waiting:
        value, name, depth = waiting.pop()
        entries += 1
        if depth > MAX_DEPTH or entries > MAX_ENTRIES:
            raise JobError(
                f"The job is too large: it has more than {MAX_DEPTH} tables within each other, or more than {MAX_ENTRIES:,} values.",
                attempt="a file for each hierarchy.",
            )
        if isinstance(value, Mapping):
            for key in value:
                _require_moderate_text(str(key), "a name")
            waiting += [(inner, str(key), depth + 1) for key, inner in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(inner, name, depth + 1) for inner in value]
        elif isinstance(value, str):
            _require_moderate_text(value, name)
        elif not isinstance(value, bool | date | datetime | time):
            require_moderate_number(value, name)


def _is_moderate_text(text: str) -> bool:
    """Check a text that would be read as a number; any other text passes, and its reader decides."""
    if len(text) > 4 * MAX_DIGITS:
        return False
    written = _NUMBER_PATTERN.fullmatch(text)
    return written is None or written[1] is None or (len(written[1]) < 5 and abs(int(written[1])) <= MAX_DIGITS)


def _require_moderate_text(text: str, name: str) -> None:
    if len(text) > MAX_JOB_TEXT_CHARACTERS:
        raise JobError(
            f"{name} is a text of {len(text):,} characters; {MAX_JOB_TEXT_CHARACTERS:,} are the most.",
            attempt="a shorter text.",
        )
    if "\x00" in text:
        raise JobError(f"{name} holds a NUL.", why="No name, path or value of a table can have one.")
