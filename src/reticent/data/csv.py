"""CSV files: text with a delimiter between fields, each field read as text.

- `scan_csv` returns the rows as a lazy frame.
- `scan_in_blocks` does so for a file that Polars cannot scan by itself (compressed, or of another encoding than
  UTF-8), a block at a time.
- `require_header` and `is_record` decide whether the first line holds column names or a record of a file without a
  header, which no message may show. It is taken for a record if a quarter of the names or more are numbers, dates,
  addresses or empty, if two are equal, or if a name is one of the values in its own column.
- `require_even_rows` refuses rows with fewer or more fields than the header, with the number of the line. A short row
  would be read as one whose last values are missing, a long one would move values into neighbouring columns.
  Delimiters and line ends outside of quotes are counted in one pass over the bytes; only if a count differs from the
  header's, the file is read record by record to find the line.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.files import find_data_suffix, is_plain_utf8, open_text
from reticent.errors import SourceError, pluralize, shorten_text

_ODD_NAME_PATTERN = re.compile(
    r"\s*([+-]?[\d.,]+|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\S+@\S+\.\S+|\S+\s\S+\s\S+\s\S+\s\S+.*)?\s*"
)
HEADER_CHECK_ROWS = 1000  # rows


def count_odd_names(names: Sequence[str]) -> tuple[int, int]:
    """Count the names that look like no column name, and those that repeat another."""
    return sum(_ODD_NAME_PATTERN.fullmatch(name) is not None for name in names), len(names) - len(set(names))


def is_record(names: Sequence[str], lazy: pl.LazyFrame | None = None) -> bool:
    """Tell whether these names are rather a record's values; `lazy` holds the rows below them."""
    odd, repeated = count_odd_names(names)
    return bool(names) and (odd * 4 >= len(names) or repeated > 0 or (lazy is not None and _holds_own_name(lazy)))


def _holds_own_name(lazy: pl.LazyFrame) -> bool:
    """Tell whether a column holds its own name among its first values."""
    texts = [name for name, dtype in lazy.collect_schema().items() if dtype == pl.String]
    if not texts:
        return False
    try:
        first = lazy.select(texts).head(HEADER_CHECK_ROWS).collect()
    except Exception:  # rows that cannot be read are another's message
        return False
    return any(first[name].str.strip_chars().eq(name.strip()).any() for name in texts)


def suggest_column(word: str, names: Sequence[str], lazy: pl.LazyFrame | None = None) -> str:
    """Suggest a column with nearly the same name as a missing one, and no other.

    Half of a first line may be names and the other half a record's values: what the user has not typed is not shown.
    """
    if is_record(names, lazy):
        return f"a header line: the {len(names)} names of the first line look like a record and are not shown."
    close = get_close_matches(str(word)[:80], [name for name in names if len(name) <= 80], n=1)
    if close:
        return f"{close[0]!r} instead."
    return (
        f"one of the {len(names)} names in the first line of the data, which are not shown: in a file whose header is missing or cut "
        "off they are a record's values."
    )


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


READ_BYTES = 1 << 24  # bytes that are read at a time
MAX_RECORD_BYTES = 1 << 28  # bytes of one row
_NEWLINE_BYTE = 10


def scan_in_blocks(path: Path, names: list[str], encoding: str, quote: str, **how: Any) -> pl.LazyFrame:
    """Scan the rows of a file with these columns, each field a text; `how` holds Polars' own options."""
    from polars.io.plugins import register_io_source

    def parts(
        columns: list[str] | None, condition: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        left = rows
        for text in _iterate_records(path, encoding, quote):
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


def _iterate_records(path: Path, encoding: str, quote: str) -> Iterator[bytes]:
    """Yield the text below the header in blocks of complete records: each ends at a line end outside of quotes."""
    mark = ord(quote) if quote else None
    kept = [b""]
    inside = 0
    first = True
    with open_text(path, encoding) as handle:
        while data := handle.read(READ_BYTES):
            ends, inside = _find_record_ends(data, mark, inside)
            if not len(ends):
                kept.append(data)
                _require_record_size(path, sum(map(len, kept)))
                continue
            if first:
                kept = [b""]
                begin = int(ends[0])
                first = False
            else:
                begin = 0
            upto = int(ends[-1])
            if text := b"".join((*kept, data[begin:upto])):
                yield text
            kept = [data[upto:]]
    if not first and (text := b"".join(kept)):
        yield text


def _find_record_ends(text: bytes, quote: int | None, inside: int) -> tuple[np.ndarray, int]:
    """Return where records end, in a text that begins inside of quotes (1) or not (0), and whether it ends inside."""
    data = np.frombuffer(text, np.uint8)
    ends = data == _NEWLINE_BYTE
    if quote is not None and quote in text:
        held = np.cumsum(data == quote) + inside
        ends &= held % 2 == 0
        inside = int(held[-1] % 2)
    elif inside:
        ends[:] = False
    return np.flatnonzero(ends) + 1, inside


def _require_record_size(path: Path, size: int) -> None:
    if size > MAX_RECORD_BYTES:
        raise SourceError(
            f"A row of {path.name} has more than {MAX_RECORD_BYTES:,} bytes.",
            why="A quote that is not closed holds all that follows.",
            attempt="the quote of [source], or mending the file.",
        )


_CHECK_BYTES = 1 << 24  # bytes
_LINE_FEED = 10


def require_even_rows(path: Path, delimiter: str, quote: str, encoding: str = "utf-8") -> None:
    """Refuse rows with another number of fields than the header; a file that has not changed is checked once."""
    found = path.stat()
    _check_rows(path, delimiter, quote, encoding, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=32)
def _check_rows(path: Path, delimiter: str, quote: str, encoding: str, *_: int) -> None:
    if len(delimiter) != 1 or len(quote) > 1 or not (delimiter + quote).isascii():
        return  # the reader refuses these itself
    if _has_even_rows(path, encoding, ord(delimiter), ord(quote) if quote else None):
        return
    how = {
        "delimiter": delimiter,
        "quotechar": quote or None,
        "quoting": csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    }
    with open_text(path, encoding) as raw, io.TextIOWrapper(raw, "utf-8-sig", errors="replace", newline="") as handle:
        rows = csv.reader(handle, **how)  # type: ignore[arg-type]  # a dictionary of options of several types
        try:
            width = len(next(rows, []))
            line = 1 + rows.line_num
            for row in rows:
                if len(row) != width and (row or width > 1):
                    raise _make_ragged_error(path, line, len(row), width)
                line = rows.line_num + 1
        except csv.Error:
            return  # the reader reports what it cannot read


def _make_ragged_error(path: Path, line: int, fields: int, width: int) -> SourceError:
    return SourceError(
        f"Line {line:,} of {path.name} has {pluralize(fields, 'field')}, the header has {width}.",
        why="A row with too few or too many fields puts values under the wrong names.",
        attempt="mending the line (a blank one is to be removed), or the delimiter and quote of [source].",
    )


def _has_even_rows(path: Path, encoding: str, mark: int, quote: int | None) -> bool:
    """Tell whether each record has as many delimiters as the first one, assuming that quotes come in pairs."""
    width = None
    marks = 0
    inside = 0
    ended = True
    with open_text(path, encoding) as handle:
        while chunk := handle.read(_CHECK_BYTES):
            data = np.frombuffer(chunk, np.uint8)
            outside = np.full(len(data), not inside)
            if quote is not None and quote in chunk:
                held = np.cumsum(data == quote) + inside
                outside = held % 2 == 0
                inside = int(held[-1] % 2)
            ends = np.flatnonzero((data == _LINE_FEED) & outside)
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


MAX_HEADER_BYTES = 1 << 24  # bytes of the first line
_MARK_EXAMPLES = {"delimiter": 'delimiter = ";".', "quote": 'quote = "\'", or quote = "" for none.'}


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
        text = codecs.lookup(encoding)._is_text_encoding and encoding.isascii()
    except (LookupError, ValueError, UnicodeError):
        text = False
    if not text:
        raise SourceError(
            f"Unknown encoding {shorten_text(repr(encoding), 80)}.", attempt='"utf-8", "latin-1" or "cp1252".'
        )


def scan_csv(
    path: Path, delimiter: str | None, quote: str, encoding: str, *, empty_is_missing: bool = True
) -> pl.LazyFrame:
    """Scan the rows lazily, each field a text."""
    mark = delimiter or guess_delimiter(path, encoding)
    require_even_rows(path, mark, quote, encoding)
    names = read_header(str(path), delimiter, quote, encoding)
    how: Any = {"separator": mark, "infer_schema": False, "empty_string_is_null": empty_is_missing}
    if not is_plain_utf8(path, encoding):
        if len(set(names)) != len(names):
            names = [f"{name}\x00{at}" if name in names[:at] else name for at, name in enumerate(names)]
        return scan_in_blocks(path, names, encoding, quote, **how)
    lazy = pl.scan_csv(
        path,
        # Polars leaves doubled quotes in the header as they are; repeated names are refused by the caller.
        with_column_names=lambda found: names if len(set(names)) == len(names) == len(found) else found,
        quote_char=quote or None,
        glob=False,
        **how,
    )
    # A scan of some columns does not count the fields of a row: a stray delimiter would move values, names even, into
    # the columns beside them unnoticed.  This keeps the scan whole.
    return lazy.map_batches(_return_frame, projection_pushdown=False, streamable=True, validate_output_schema=False)


def _return_frame(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def read_header(path: str, delimiter: str | None, quote: str, encoding: str) -> list[str]:
    """Return the names in the first line, including repeated ones."""
    try:
        text = _read_first_line(Path(path), encoding).decode("utf-8-sig")
    except UnicodeError as error:
        place = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise SourceError(
            f"The header of {Path(path).name} is not {encoding}{place}.",
            attempt='the file\'s encoding, e.g. encoding = "latin-1".',
        ) from None
    mark = delimiter or guess_delimiter(Path(path), encoding)
    how: Any = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=mark, **how), [])
    except csv.Error:
        raise SourceError(
            f"The header of {Path(path).name} cannot be read.",
            why="A name is longer than 131,072 characters, or a quote is not closed.",
            attempt="the delimiter and quote of [source].",
        ) from None


def _read_first_line(path: Path, encoding: str = "utf-8") -> bytes:
    with open_text(path, encoding) as handle:
        raw = handle.readline(MAX_HEADER_BYTES + 1)
    if len(raw) > MAX_HEADER_BYTES:
        raise SourceError(
            f"The first line of {path.name} has more than {MAX_HEADER_BYTES:,} bytes.",
            why="A file whose lines end with CR alone is one line.",
            attempt="saving it with line ends of LF or CRLF.",
        )
    if b"\r" in raw.removesuffix(b"\n").removesuffix(b"\r"):
        raise SourceError(
            f"The lines of {path.name} end with CR alone, or its header holds one.",
            attempt="saving it with line ends of LF or CRLF.",
        )
    return raw


def guess_delimiter(path: Path, encoding: str = "utf-8") -> str:
    """Return a tab for a .tsv file, else the most frequent candidate in the first line."""
    if find_data_suffix(path) == ".tsv":
        return "\t"
    head = _read_first_line(path, encoding).decode("latin-1")
    return max((",", ";", "\t", "|"), key=head.count)
