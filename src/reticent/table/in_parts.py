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
    mark, kept, first = ord(quote) if quote else None, b"", True
    with opened(path, encoding) as handle:
        while data := handle.read(PART):
            kept += data
            upto = _last_end(kept, mark)
            if first and upto:
                begin, first = _first_end(kept[:upto], mark), False
                kept, upto = kept[begin:], upto - begin
            if upto:
                yield kept[:upto]
                kept = kept[upto:]
    if kept and not first:
        yield kept


def _ends(text: bytes, quote: int | None) -> np.ndarray:
    """Where records end."""
    data = np.frombuffer(text, np.uint8)
    ends = data == _NEWLINE
    if quote is not None and quote in text:
        ends &= np.cumsum(data == quote) % 2 == 0
    return np.flatnonzero(ends) + 1


def _last_end(text: bytes, quote: int | None) -> int:
    ends = _ends(text, quote)
    return int(ends[-1]) if len(ends) else 0


def _first_end(text: bytes, quote: int | None) -> int:
    return int(_ends(text, quote)[0])
