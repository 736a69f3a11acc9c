"""CSV files: text with a delimiter between fields, each field read as text.

- `sniff_csv` opens a file once and returns its `CsvDialect`: delimiter, quote, encoding and header. Everything that
  reads the file gets the dialect, and nothing guesses again.
- `scan_csv` returns the rows as a lazy frame. A file that Polars cannot scan by itself (compressed, or of another
  encoding than UTF-8) is read a block at a time.
- Broken lines, of fewer or more fields than the header, are refused or set aside (`broken_lines.py`). A file from which
  some are set aside is read a block at a time, without them.
- `require_header` and `is_record` decide whether the first line holds column names or a record of a file without a
  header, which no message may show. It is taken for a record if a quarter of the names or more are numbers, dates,
  addresses or empty, if two are equal, or if a name is one of the values in its own column.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.broken_lines import (
    BrokenLines,
    GoodLines,
    find_broken_lines,
    mark_unquoted_bytes,
    require_few_broken_lines,
    require_no_broken_lines,
)
from reticent.data.files import find_data_suffix, is_plain_utf8, open_text
from reticent.errors import SourceError, shorten_text

CHUNK_BYTES = 1 << 24  # bytes that are read at a time
MAX_HEADER_BYTES = 1 << 24  # bytes of the first line
MAX_RECORD_BYTES = 1 << 28  # bytes of one row
HEADER_CHECK_ROWS = 1000  # rows below the header that are compared with it
MAX_SUGGESTED_LETTERS = 80  # letters of a column name that a message suggests
DELIMITERS = (",", ";", "\t", "|")  # the candidates; of equally frequent ones the first wins
_LINE_FEED = ord("\n")
_MARK_EXAMPLES = {"delimiter": 'delimiter = ";".', "quote": 'quote = "\'", or quote = "" for none.'}
_ODD_NAME_PATTERN = re.compile(
    r"\s*([+-]?[\d.,]+|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\S+@\S+\.\S+|\S+\s\S+\s\S+\s\S+\s\S+.*)?\s*"
)


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV file is read: as its source declares, and as its first line shows.

    `quote` is empty if fields are not quoted. `header` has the column names, including repeated ones; `broken` are the
    lines that a scan leaves out.
    """

    delimiter: str
    quote: str
    encoding: str
    header: tuple[str, ...]
    broken: BrokenLines | None = None


def require_valid_marks(delimiter: str | None, quote: str, encoding: str) -> None:
    """Refuse a delimiter or quote that is not one character, and unknown text encodings."""
    for name, mark in (("delimiter", delimiter), ("quote", quote or None)):
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in "\r\n\x00"):
            raise SourceError(
                f"source.{name} must be one ASCII character, and no line end.", attempt=_MARK_EXAMPLES[name]
            )
    if delimiter is not None and delimiter == quote:
        raise SourceError("source.delimiter and source.quote are the same character.", attempt="another quote.")
    try:
        is_text_encoding = codecs.lookup(encoding)._is_text_encoding and encoding.isascii()
    except (LookupError, ValueError, UnicodeError):
        is_text_encoding = False
    if not is_text_encoding:
        raise SourceError(
            f"Unknown encoding {shorten_text(repr(encoding), 80)}.", attempt='"utf-8", "latin-1" or "cp1252".'
        )


def sniff_csv(
    path: Path,
    delimiter: str | None,
    quote: str,
    encoding: str,
    *,
    check_rows: bool = True,
    set_aside: bool = False,
) -> CsvDialect:
    """Return the dialect of a file; a delimiter that is not declared is guessed.

    With `check_rows`, broken lines are refused, or, with `set_aside`, are those that a scan leaves out.
    """
    first_line = _read_first_line(path, encoding)
    if delimiter is None:
        delimiter = _guess_delimiter(path, first_line)
    broken = None
    if check_rows:
        broken = find_broken_lines(path, delimiter, quote, encoding)
        require = require_few_broken_lines if set_aside else require_no_broken_lines
        require(broken)
    header = _parse_header(path, first_line, delimiter, quote, encoding)
    return CsvDialect(delimiter, quote, encoding, tuple(header), broken or None)


def scan_csv(
    path: Path, dialect: CsvDialect, *, empty_is_missing: bool = True, chunk_bytes: int = CHUNK_BYTES
) -> pl.LazyFrame:
    """Scan the rows lazily, each field a text."""
    names = list(dialect.header)
    has_unique_names = len(set(names)) == len(names)
    options: dict[str, Any] = {
        "separator": dialect.delimiter,
        "quote_char": dialect.quote or None,
        "infer_schema": False,
        "empty_string_is_null": empty_is_missing,
    }
    if dialect.broken is not None or not is_plain_utf8(path, dialect.encoding):
        if not has_unique_names:
            names = [
                f"{name}\x00{position}" if name in names[:position] else name for position, name in enumerate(names)
            ]
        return _scan_in_blocks(path, names, dialect, options, chunk_bytes)
    lazy = pl.scan_csv(
        path,
        # Polars leaves doubled quotes in the header as they are; repeated names are refused by the caller.
        with_column_names=lambda raw: names if has_unique_names and len(names) == len(raw) else raw,
        glob=False,
        **options,
    )
    # A scan of some columns does not count the fields of a row: a stray delimiter would move values, names even, into
    # the columns beside them unnoticed.  So the scan always has all columns.
    return lazy.map_batches(_return_frame, projection_pushdown=False, streamable=True, validate_output_schema=False)


def is_record(names: Sequence[str], lazy: pl.LazyFrame | None = None) -> bool:
    """Tell whether these names are rather a record's values; `lazy` holds the rows below them."""
    if not names:
        return False
    odd, repeated = count_odd_names(names)
    if odd * 4 >= len(names) or repeated > 0:
        return True
    return lazy is not None and _holds_own_name(lazy)


def count_odd_names(names: Sequence[str]) -> tuple[int, int]:
    """Count the names that look like no column name, and those that repeat another."""
    odd = sum(_ODD_NAME_PATTERN.fullmatch(name) is not None for name in names)
    return odd, len(names) - len(set(names))


def require_header(names: Sequence[str], lazy: pl.LazyFrame | None = None) -> None:
    """Refuse a file without a header: messages would show its first record."""
    if is_record(names, lazy):
        odd, repeated = count_odd_names(names)
        raise SourceError(
            "The first line does not look like a header.",
            why=f"It has {len(names)} names: numbers, dates or empty {odd}, repeated {repeated}"
            + ("." if odd or repeated else ", and a column holds its own name as a value."),
            attempt="a header line with a different name for each column.",
        )


def suggest_column(word: str, names: Sequence[str], lazy: pl.LazyFrame | None = None) -> str:
    """Suggest a column with nearly the same name as a missing one, and no other.

    Half of a first line may be names and the other half a record's values: what the user has not typed is not shown.
    """
    if is_record(names, lazy):
        return f"a header line: the {len(names)} names of the first line look like a record and are not shown."
    short_names = [name for name in names if len(name) <= MAX_SUGGESTED_LETTERS]
    matches = get_close_matches(str(word)[:MAX_SUGGESTED_LETTERS], short_names, n=1)
    if matches:
        return f"{matches[0]!r} instead."
    return (
        f"one of the {len(names)} names in the first line of the data, which are not shown: in a file whose header is missing or cut "
        "off they are a record's values."
    )


def _read_first_line(path: Path, encoding: str) -> bytes:
    with open_text(path, encoding) as handle:
        first_line = handle.readline(MAX_HEADER_BYTES + 1)
    if len(first_line) > MAX_HEADER_BYTES:
        raise SourceError(
            f"The first line of {path.name} has more than {MAX_HEADER_BYTES:,} bytes.",
            why="A file whose lines end with CR alone is one line.",
            attempt="saving it with line ends of LF or CRLF.",
        )
    if b"\r" in first_line.removesuffix(b"\n").removesuffix(b"\r"):
        raise SourceError(
            f"The lines of {path.name} end with CR alone, or its header holds one.",
            attempt="saving it with line ends of LF or CRLF.",
        )
    return first_line


def _guess_delimiter(path: Path, first_line: bytes) -> str:
    """Return a tab for a .tsv file, else the most frequent candidate in the first line."""
    if find_data_suffix(path) == ".tsv":
        return "\t"
    return max(DELIMITERS, key=first_line.decode("latin-1").count)


def _parse_header(path: Path, first_line: bytes, delimiter: str, quote: str, encoding: str) -> list[str]:
    try:
        text = first_line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"The header of {path.name} is not {encoding} (byte {error.start}).",
            attempt='the file\'s encoding, e.g. encoding = "latin-1".',
        ) from None
    try:
        return next(_read_records(io.StringIO(text, newline=""), delimiter, quote), [])
    except csv.Error:
        raise SourceError(
            f"The header of {path.name} cannot be read.",
            why="A name is longer than 131,072 characters, or a quote is not closed.",
            attempt="the delimiter and quote of [source].",
        ) from None


def _scan_in_blocks(
    path: Path, names: list[str], dialect: CsvDialect, options: dict[str, Any], chunk_bytes: int
) -> pl.LazyFrame:
    """Scan the rows of a file with these column names, a block at a time; `options` are Polars' own."""
    from polars.io.plugins import register_io_source

    def read_blocks(
        columns: list[str] | None, condition: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        rows_left = rows
        for text in _iterate_blocks(path, dialect, chunk_bytes):
            frame = pl.read_csv(text, has_header=False, new_columns=names, **options)
            if frame.width != len(names):
                raise SourceError(f"A row of {path.name} has other fields than the header.")
            if rows_left is not None:
                frame = frame.head(rows_left)
                rows_left -= len(frame)
            if condition is not None:
                frame = frame.filter(condition)
            yield frame if columns is None else frame.select(columns)
            if rows_left == 0:
                return

    return register_io_source(read_blocks, schema=dict.fromkeys(names, pl.String), validate_schema=True)


def _return_frame(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def _holds_own_name(lazy: pl.LazyFrame) -> bool:
    """Tell whether a column holds its own name among its first values."""
    texts = [name for name, dtype in lazy.collect_schema().items() if dtype == pl.String]
    if not texts:
        return False
    try:
        head = lazy.select(texts).head(HEADER_CHECK_ROWS).collect()
    except Exception:  # rows that cannot be read are another's message
        return False
    return any(head[name].str.strip_chars().eq(name.strip()).any() for name in texts)


def _read_records(text: io.TextIOBase, delimiter: str, quote: str) -> Any:
    """Return Python's reader of the records."""
    if not quote:
        return csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return csv.reader(text, delimiter=delimiter, quotechar=quote)


def _iterate_blocks(path: Path, dialect: CsvDialect, chunk_bytes: int) -> Iterator[bytes]:
    """Yield the text below the header in blocks of complete records: each ends at a line end outside of quotes."""
    quote = ord(dialect.quote) if dialect.quote else None
    pending = [b""]  # the beginning of a record that has not ended yet
    inside_quotes = False
    is_header = True
    with open_text(path, dialect.encoding) as whole_text:
        handle = whole_text if dialect.broken is None else GoodLines(whole_text, dialect.broken)
        while chunk := handle.read(chunk_bytes):
            outside, inside_quotes = mark_unquoted_bytes(chunk, quote, inside_quotes)
            ends = np.flatnonzero((np.frombuffer(chunk, np.uint8) == _LINE_FEED) & outside) + 1
            if not len(ends):
                pending.append(chunk)
                _require_record_size(path, sum(map(len, pending)))
                continue
            start = 0
            if is_header:
                pending = [b""]
                start = int(ends[0])
                is_header = False
            end = int(ends[-1])
            if block := b"".join((*pending, chunk[start:end])):
                yield block
            pending = [chunk[end:]]
    if not is_header and (block := b"".join(pending)):
        yield block


def _require_record_size(path: Path, size: int) -> None:
    if size > MAX_RECORD_BYTES:
        raise SourceError(
            f"A row of {path.name} has more than {MAX_RECORD_BYTES:,} bytes.",
            why="A quote that is not closed holds all that follows.",
            attempt="the quote of [source], or mending the file.",
        )
