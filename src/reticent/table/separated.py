"""CSV files: text with a mark between fields, read whole and as text."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import SourceError
from reticent.table.ragged import refuse_ragged

_UTF8 = ("utf-8", "utf8")


def scan(
    path: Path, delimiter: str | None, quote: str, encoding: str, *, empty_is_missing: bool = True
) -> pl.LazyFrame:
    """The rows, lazily, each field a text."""
    read: Any = path
    recoded = encoding.lower().replace("_", "-") not in _UTF8
    if recoded:
        read = _recoded(path, encoding)
    mark = delimiter or likeliest_delimiter(path)
    refuse_ragged(path, mark, quote, encoding if recoded else None)
    lazy = pl.scan_csv(
        read,
        separator=mark,
        quote_char=quote or None,
        infer_schema=False,
        empty_string_is_null=empty_is_missing,
        glob=False,
    )
    # A scan of some columns does not count the fields of a row: a stray delimiter would move values, names even, into
    # the columns beside them unnoticed.  This keeps the scan whole.
    return lazy.map_batches(_whole, projection_pushdown=False, streamable=True, validate_output_schema=False)


def _whole(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def _recoded(path: Path, encoding: str) -> bytes:
    try:
        return path.read_bytes().decode(encoding).encode()
    except LookupError:
        raise SourceError(f"Unknown encoding {encoding!r}.", attempt='"utf-8", "latin-1" or "cp1252".') from None
    except UnicodeDecodeError as error:
        raise SourceError(
            f"The file {path.name} is not {encoding} (byte {error.start}).",
            attempt='another encoding, e.g. encoding = "latin-1".',
        ) from None


def header(path: str, delimiter: str | None, quote: str, encoding: str) -> list[str]:
    """The names in the first line, repeated ones repeated."""
    with open(path, "rb") as handle:
        raw = handle.readline()
    try:
        text = raw.decode("utf-8-sig" if encoding.lower() in _UTF8 else encoding)
    except UnicodeDecodeError as error:
        raise SourceError(
            f"The header of {Path(path).name} is not {encoding} (byte {error.start}).",
            attempt='the file\'s encoding, e.g. encoding = "latin-1".',
        ) from None
    mark = delimiter or likeliest_delimiter(Path(path))
    return next(csv.reader(io.StringIO(text), delimiter=mark, quotechar=quote), [])


def likeliest_delimiter(path: Path) -> str:
    """A tab in a .tsv file, else the mark that is most frequent in the first line."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    with open(path, "rb") as handle:
        head = handle.readline().decode("latin-1")
    return max((",", ";", "\t", "|"), key=head.count)
