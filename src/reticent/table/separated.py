"""CSV files: text with a mark between fields, each field read as text."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path
from typing import Any

import polars as pl

from reticent.errors import SourceError, shortened
from reticent.table.in_parts import scan_in_parts
from reticent.table.opened import is_plain, opened, suffix_of
from reticent.table.ragged import refuse_ragged

HEADER = 1 << 24  # bytes of the first line
_MARKS = {"delimiter": 'delimiter = ";".', "quote": 'quote = "\'", or quote = "" for none.'}


def check_marks(delimiter: str | None, quote: str, encoding: str) -> None:
    """Refuse marks that are not one character, and encodings that are none of text."""
    for name, mark in (("delimiter", delimiter), ("quote", quote or None)):
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in "\r\n\x00"):
            raise SourceError(f"source.{name} must be one ASCII character, and no line end.", attempt=_MARKS[name])
    if delimiter is not None and delimiter == quote:
        raise SourceError("source.delimiter and source.quote are the same character.", attempt="another quote.")
    try:
        text = codecs.lookup(encoding)._is_text_encoding and encoding.isascii()
    except (LookupError, ValueError, UnicodeError):
        text = False
    if not text:
        raise SourceError(
            f"Unknown encoding {shortened(repr(encoding), 80)}.", attempt='"utf-8", "latin-1" or "cp1252".'
        )


def scan(
    path: Path, delimiter: str | None, quote: str, encoding: str, *, empty_is_missing: bool = True
) -> pl.LazyFrame:
    """The rows, lazily, each field a text."""
    mark = delimiter or likeliest_delimiter(path, encoding)
    refuse_ragged(path, mark, quote, encoding)
    names = header(str(path), delimiter, quote, encoding)
    how: Any = {"separator": mark, "infer_schema": False, "empty_string_is_null": empty_is_missing}
    if not is_plain(path, encoding):
        if len(set(names)) != len(names):
            names = [f"{name}\x00{at}" if name in names[:at] else name for at, name in enumerate(names)]
        return scan_in_parts(path, names, encoding, quote, **how)
    lazy = pl.scan_csv(
        path,
        # Its own reading of the header leaves doubled quotes as they are; repeated names are refused by who asks for them.
        with_column_names=lambda found: names if len(set(names)) == len(names) == len(found) else found,
        quote_char=quote or None,
        glob=False,
        **how,
    )
    # A scan of some columns does not count the fields of a row: a stray delimiter would move values, names even, into
    # the columns beside them unnoticed.  This keeps the scan whole.
    return lazy.map_batches(_whole, projection_pushdown=False, streamable=True, validate_output_schema=False)


def _whole(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def header(path: str, delimiter: str | None, quote: str, encoding: str) -> list[str]:
    """The names in the first line, repeated ones repeated."""
    try:
        text = _first_line(Path(path), encoding).decode("utf-8-sig")
    except UnicodeError as error:
        place = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise SourceError(
            f"The header of {Path(path).name} is not {encoding}{place}.",
            attempt='the file\'s encoding, e.g. encoding = "latin-1".',
        ) from None
    mark = delimiter or likeliest_delimiter(Path(path), encoding)
    how: Any = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=mark, **how), [])
    except csv.Error:
        raise SourceError(
            f"The header of {Path(path).name} cannot be read.",
            why="A name is longer than 131,072 characters, or a quote is not closed.",
            attempt="the delimiter and quote of [source].",
        ) from None


def _first_line(path: Path, encoding: str = "utf-8") -> bytes:
    with opened(path, encoding) as handle:
        raw = handle.readline(HEADER + 1)
    if len(raw) > HEADER:
        raise SourceError(
            f"The first line of {path.name} has more than {HEADER:,} bytes.",
            why="A file whose lines end with CR alone is one line.",
            attempt="saving it with line ends of LF or CRLF.",
        )
    if b"\r" in raw.removesuffix(b"\n").removesuffix(b"\r"):
        raise SourceError(
            f"The lines of {path.name} end with CR alone, or its header holds one.",
            attempt="saving it with line ends of LF or CRLF.",
        )
    return raw


def likeliest_delimiter(path: Path, encoding: str = "utf-8") -> str:
    """A tab in a .tsv file, else the mark that is most frequent in the first line."""
    if suffix_of(path) == ".tsv":
        return "\t"
    head = _first_line(path, encoding).decode("latin-1")
    return max((",", ";", "\t", "|"), key=head.count)
