"""A CSV that Polars cannot scan by itself, packed or of another encoding, as a lazy frame that is read a part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import SourceError
from reticent.table.opened import opened

PART = 1 << 24  # bytes that are read at a time
RECORD = 1 << 28  # bytes of one row
_NEWLINE = 10


def scan_in_parts(path: Path, names: list[str], encoding: str, quote: str, **how: Any) -> pl.LazyFrame:
    """The rows of a file with these columns, each field a text; `how` are Polars' own options."""
    from polars.io.plugins import register_io_source

    def parts(
        columns: list[str] | None, condition: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        left = rows
        for text in _records(path, encoding, quote):
            frame = pl.read_csv(text, has_header=False, new_columns=names, quote_char=quote or None, **how)
            if frame.width != len(names):
                raise SourceError(f"A row of {path.name} has other fields than the header.")
            frame = frame if left is None else frame.head(left)
            left = None if left is None else left - len(frame)
            frame = frame if condition is None else frame.filter(condition)
            yield frame if columns is None else frame.select(columns)
            if left == 0:
                return

    return register_io_source(parts, schema=dict.fromkeys(names, pl.String), validate_schema=True)


def _records(path: Path, encoding: str, quote: str) -> Iterator[bytes]:
    """The text below the header in parts of whole records: each ends at a line end outside of quotes."""
    mark, kept, inside, first = ord(quote) if quote else None, [b""], 0, True
    with opened(path, encoding) as handle:
        while data := handle.read(PART):
            ends, inside = _ends(data, mark, inside)
            if not len(ends):
                kept.append(data)
                _refuse_long(path, sum(map(len, kept)))
                continue
            if first:
                kept, begin, first = [b""], int(ends[0]), False
            else:
                begin = 0
            upto = int(ends[-1])
            if text := b"".join((*kept, data[begin:upto])):
                yield text
            kept = [data[upto:]]
    if not first and (text := b"".join(kept)):
        yield text


def _ends(text: bytes, quote: int | None, inside: int) -> tuple[np.ndarray, int]:
    """Where records end, in a text that begins inside of quotes (1) or not (0); and whether it ends inside of them."""
    data = np.frombuffer(text, np.uint8)
    ends = data == _NEWLINE
    if quote is not None and quote in text:
        held = np.cumsum(data == quote) + inside
        ends &= held % 2 == 0
        inside = int(held[-1] % 2)
    elif inside:
        ends[:] = False
    return np.flatnonzero(ends) + 1, inside


def _refuse_long(path: Path, size: int) -> None:
    if size > RECORD:
        raise SourceError(
            f"A row of {path.name} has more than {RECORD:,} bytes.", why="A quote that is not closed holds all that follows.",
            attempt="the quote of [source], or mending the file.",
        )  # fmt: skip
