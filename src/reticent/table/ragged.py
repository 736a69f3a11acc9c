"""CSV rows that have fewer or more fields than the header: refused with the number of the line.

A short row would be read as one whose last values are missing, a long one would move values into the columns beside
them.  Marks and line ends outside of quotes are counted in one pass over the bytes; only where a count is not the
header's, the file is read record by record to say which line it is.
"""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from pathlib import Path

import numpy as np

from reticent.errors import SourceError, some
from reticent.table.opened import opened

_AT_ONCE = 1 << 24  # bytes
_NEWLINE = 10


def refuse_ragged(path: Path, delimiter: str, quote: str, encoding: str = "utf-8") -> None:
    """A file that has not changed is looked at once."""
    found = path.stat()
    _looked_at(path, delimiter, quote, encoding, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=32)
def _looked_at(path: Path, delimiter: str, quote: str, encoding: str, *_: int) -> None:
    if len(delimiter) != 1 or len(quote) > 1 or not (delimiter + quote).isascii():
        return  # the reader refuses these itself
    if _is_even(path, encoding, ord(delimiter), ord(quote) if quote else None):
        return
    how = {
        "delimiter": delimiter,
        "quotechar": quote or None,
        "quoting": csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    }
    with opened(path, encoding) as raw, io.TextIOWrapper(raw, "utf-8-sig", errors="replace", newline="") as handle:
        rows = csv.reader(handle, **how)  # type: ignore[arg-type]  # a dictionary of options of several types
        try:
            width, line = len(next(rows, [])), 1 + rows.line_num
            for row in rows:
                if len(row) != width and (row or width > 1):
                    raise _ragged(path, line, len(row), width)
                line = rows.line_num + 1
        except csv.Error:
            return  # the reader says what it cannot read


def _ragged(path: Path, line: int, fields: int, width: int) -> SourceError:
    return SourceError(
        f"Line {line:,} of {path.name} has {some(fields, 'field')}, the header has {width}.",
        why="A row with too few or too many fields puts values under the wrong names.",
        attempt="mending the line (a blank one is to be removed), or the delimiter and quote of [source].",
    )


def _is_even(path: Path, encoding: str, mark: int, quote: int | None) -> bool:
    """Whether each record has as many marks as the first one, quotes being taken for pairs."""
    width, marks, inside, ended = None, 0, 0, True
    with opened(path, encoding) as handle:
        while chunk := handle.read(_AT_ONCE):
            data = np.frombuffer(chunk, np.uint8)
            outside = np.full(len(data), not inside)
            if quote is not None and quote in chunk:
                held = np.cumsum(data == quote) + inside
                outside, inside = held % 2 == 0, int(held[-1] % 2)
            ends = np.flatnonzero((data == _NEWLINE) & outside)
            upto = np.cumsum((data == mark) & outside)
            counts = np.diff(upto[ends], prepend=0)
            if len(counts):
                counts[0] += marks
                width = int(counts[0]) if width is None else width
                if (counts != width).any():
                    return False
                marks = int(upto[-1] - upto[ends[-1]])
            else:
                marks += int(upto[-1])
            ended = bool(len(ends)) and int(ends[-1]) == len(data) - 1
    return ended or width is None or marks == width
