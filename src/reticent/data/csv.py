"""CSV files: text with a delimiter between fields, each field read as text.

- `sniff_csv` opens a file once and returns its `CsvDialect`: delimiter, quote, encoding and header. Everything that
  reads the file gets the dialect, and nothing guesses again.
- `scan_csv` returns the rows as a lazy frame. A file that Polars cannot scan by itself (compressed, or of another
  encoding than UTF-8) is read a block at a time.
- `require_even_rows` refuses rows with fewer or more fields than the header, with the number of the line. A short row
  would be read as one whose last values are missing, a long one would move values into neighbouring columns.
  Delimiters and line ends outside of quotes are counted in one pass over the bytes; only if a count differs from the
  header's, the file is read record by record to find the line.
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
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.files import find_data_suffix, is_plain_utf8, open_text
from reticent.errors import SourceError, pluralize, shorten_text

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

    `quote` is empty if fields are not quoted. `header` has the column names, including repeated ones.
    """

    delimiter: str
    quote: str
    encoding: str
    header: tuple[str, ...]


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


def sniff_csv(path: Path, delimiter: str | None, quote: str, encoding: str, *, check_rows: bool = True) -> CsvDialect:
    """Return the dialect of a file; a delimiter that is not declared is guessed.

    With `check_rows`, rows of another width than the header are refused.
    """
    first_line = _read_first_line(path, encoding)
    if delimiter is None:
        delimiter = _guess_delimiter(path, first_line)
    if check_rows:
        require_even_rows(path, delimiter, quote, encoding)
    header = _parse_header(path, first_line, delimiter, quote, encoding)
    return CsvDialect(delimiter, quote, encoding, tuple(header))


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
    if not is_plain_utf8(path, dialect.encoding):
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


def require_even_rows(
    path: Path, delimiter: str, quote: str, encoding: str = "utf-8", *, chunk_bytes: int = CHUNK_BYTES
) -> None:
    """Refuse rows with another number of fields than the header.

    A file is checked once as long as the file system shows no change of it, however many calls read it.
    """
    status = path.stat()
    stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
    _require_even_rows_of_version(path, delimiter, quote, encoding, chunk_bytes, stamp)


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


@lru_cache(maxsize=32)
def _require_even_rows_of_version(
    path: Path, delimiter: str, quote: str, encoding: str, chunk_bytes: int, stamp: tuple[int, ...]
) -> None:
    """Check one version of a file, which `stamp` tells from others: separate calls of the library share the result."""
    if _has_even_rows(path, delimiter, quote, encoding, chunk_bytes):
        return
    with open_text(path, encoding) as raw, io.TextIOWrapper(raw, "utf-8-sig", errors="replace", newline="") as text:
        records = _read_records(text, delimiter, quote)
        try:
            width = len(next(records, []))
            line = 1 + records.line_num
            for record in records:
                if len(record) != width and (record or width > 1):
                    raise _make_ragged_error(path, line, len(record), width)
                line = records.line_num + 1
        except csv.Error:
            return  # the reader reports what it cannot read


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
    with open_text(path, dialect.encoding) as handle:
        while chunk := handle.read(chunk_bytes):
            outside, inside_quotes = _mark_unquoted_bytes(chunk, quote, inside_quotes)
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


def _has_even_rows(path: Path, delimiter: str, quote: str, encoding: str, chunk_bytes: int) -> bool:
    """Tell whether each record has as many delimiters as the first one, assuming that quotes come in pairs."""
    delimiter_byte = ord(delimiter)
    quote_byte = ord(quote) if quote else None
    width = None
    pending_delimiters = 0  # in the record that has not ended yet
    inside_quotes = False
    ends_with_record = True
    with open_text(path, encoding) as handle:
        while chunk := handle.read(chunk_bytes):
            characters = np.frombuffer(chunk, np.uint8)
            outside, inside_quotes = _mark_unquoted_bytes(chunk, quote_byte, inside_quotes)
            ends = np.flatnonzero((characters == _LINE_FEED) & outside)
            delimiters_before = np.cumsum((characters == delimiter_byte) & outside)
            counts = np.diff(delimiters_before[ends], prepend=0)
            if len(counts):
                counts[0] += pending_delimiters
                if width is None:
                    width = int(counts[0])
                if (counts != width).any():
                    return False
                pending_delimiters = int(delimiters_before[-1] - delimiters_before[ends[-1]])
            else:
                pending_delimiters += int(delimiters_before[-1])
            ends_with_record = bool(len(ends)) and int(ends[-1]) == len(characters) - 1
    return ends_with_record or width is None or pending_delimiters == width


def _make_ragged_error(path: Path, line: int, fields: int, width: int) -> SourceError:
    return SourceError(
        f"Line {line:,} of {path.name} has {pluralize(fields, 'field')}, the header has {width}.",
        why="A row with too few or too many fields puts values under the wrong names.",
        attempt="mending the line (a blank one is to be removed), or the delimiter and quote of [source].",
    )


def _mark_unquoted_bytes(chunk: bytes, quote: int | None, inside_quotes: bool) -> tuple[np.ndarray, bool]:
    """Return which bytes are outside of quotes, and whether the chunk ends inside; `inside_quotes`: it begins there."""
    if quote is None or quote not in chunk:
        return np.full(len(chunk), not inside_quotes), inside_quotes
    quotes_before = np.cumsum(np.frombuffer(chunk, np.uint8) == quote) + int(inside_quotes)
    return quotes_before % 2 == 0, bool(quotes_before[-1] % 2)


def _require_record_size(path: Path, size: int) -> None:
    if size > MAX_RECORD_BYTES:
        raise SourceError(
            f"A row of {path.name} has more than {MAX_RECORD_BYTES:,} bytes.",
            why="A quote that is not closed holds all that follows.",
            attempt="the quote of [source], or mending the file.",
        )
