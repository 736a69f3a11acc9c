"""Broken lines of a CSV file: those with another number of fields than the header, and those with a quote left open.

`find_broken_lines` finds all of them at once, by their numbers; no message quotes one. `require_no_broken_lines` refuses
a file that has some, and `require_few_broken_lines` one of which too many would be set aside: then the delimiter or the
quote is another, and what is left would be no sample of the people. `read_broken_lines` returns them as they are, for
their owner.

A good file is read once: delimiters and line ends outside of quotes are counted over its bytes, assuming that quotes
come in pairs. Only if a count differs from the header's, or a quote is open at the end, the file is read line by line:

- A line with an even number of quotes is a record; it is broken if its fields are not as many as the header's.
- A line with an odd number of quotes begins a record of several lines if the open quote is at the beginning of a field
  and the quote that closes it at the end of one. The whole record is broken if its fields are not as many as the
  header's: a line of it could look like a record, and is none. If no such quote closes it, the line is broken, and the
  next one is read by itself: a quote that nobody closes does not swallow the people below it.

A short record would be read as one whose last values are missing, a long one would move values into neighbouring columns.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np

from reticent.data.files import open_text
from reticent.errors import SourceError, pluralize

CHUNK_BYTES = 1 << 24  # bytes that are read at a time
MAX_LINES_SHOWN = 10  # numbers of lines that a message shows for each fault
MAX_STORED_LINES = 100_000  # broken lines of a file that are set aside
MAX_STORED_BYTES = 1 << 28  # bytes of all of them
MAX_RECORD_LINES = 1_000  # lines of one record
MIN_REFUSED_LINES = 10  # broken lines up to which only a half of the file is too much
_LINE_FEED = ord("\n")
_FEW = "too few fields"
_MANY = "too many fields"
_BLANK = "blank"
_QUOTE = "a quote that is not closed"


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """One broken line: its number, where its bytes are in the file's text as UTF-8, its fields, and what is wrong."""

    number: int
    start: int
    end: int
    fields: int
    fault: str


@dataclass(frozen=True, slots=True)
class BrokenLines:
    """The broken lines of a file: how many, of how many records, and the first of them.

    A file with more than MAX_STORED_LINES is read no further: it is refused, and `count` is one more than these.
    """

    path: Path
    width: int
    records: int = 0
    count: int = 0
    lines: tuple[BrokenLine, ...] = ()

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def number_of_lines(self) -> str:
        """How many lines are broken, in words."""
        if self.count > MAX_STORED_LINES:
            return f"More than {MAX_STORED_LINES:,} lines are"
        return pluralize(self.count, "line", "is", "are")

    def describe_faults(self) -> list[str]:
        """Describe each fault in half a sentence: how many lines have it, and the numbers of the first."""
        faults = dict.fromkeys(line.fault for line in self.lines)
        return [_describe_fault(fault, [line.number for line in self.lines if line.fault == fault]) for fault in faults]


def find_broken_lines(
    path: Path, delimiter: str, quote: str, encoding: str = "utf-8", *, chunk_bytes: int = CHUNK_BYTES
) -> BrokenLines:
    """Find the broken lines of a file.

    A file is looked at once as long as the file system shows no change of it, however many calls read it.
    """
    status = path.stat()
    stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
    return _find_broken_lines_of_version(path, delimiter, quote, encoding, chunk_bytes, stamp)


def require_no_broken_lines(broken: BrokenLines) -> None:
    """Refuse a file with broken lines; all of them are counted, and the first of each fault named by their numbers."""
    if not broken:
        return
    why = "A row with too few or too many fields puts values under the wrong names."
    attempt = (
        "mending the line (a blank one is to be removed), the delimiter and quote of [source], or "
        'broken = "set-aside" in [source], which leaves such lines out and counts them.'
    )
    header = f"the header has {broken.width}"
    if broken.count == 1 and broken.lines[0].fault != _QUOTE:
        line = broken.lines[0]
        raise SourceError(
            f"Line {line.number:,} of {broken.path.name} has {pluralize(line.fields, 'field')}, {header}.",
            why=why,
            attempt=attempt,
        )
    raise SourceError(
        f"{broken.number_of_lines} broken in {broken.path.name}, where {header} fields: "
        f"{'; '.join(broken.describe_faults())}.",
        why=why,
        attempt=attempt,
    )


def require_few_broken_lines(broken: BrokenLines) -> None:
    """Refuse a file of which too many lines would be set aside."""
    if broken.count > MAX_STORED_LINES:
        raise SourceError(
            f"{broken.number_of_lines} broken in {broken.path.name} ({'; '.join(broken.describe_faults())}): at most so many are "
            "set aside.",
            attempt="the delimiter and quote of [source], exporting the file again, or the file in several.",
        )
    is_large_share = broken.count > MIN_REFUSED_LINES and broken.count * 10 > broken.records
    if broken.count * 2 > broken.records or is_large_share:
        raise SourceError(
            f"{broken.count:,} of the {pluralize(broken.records, 'line')} below the header of {broken.path.name} are "
            f"broken ({'; '.join(broken.describe_faults())}): too many to be set aside.",
            why="At most one in ten is: where there are more, the delimiter or the quote is usually another one.",
            attempt="the delimiter and quote of [source], or exporting the file again.",
        )
    size = sum(line.end - line.start for line in broken.lines)
    if size > MAX_STORED_BYTES:
        raise SourceError(
            f"The broken lines of {broken.path.name} have {size:,} bytes; at most {MAX_STORED_BYTES:,} are set aside.",
            attempt="exporting the file again, or the file in several.",
        )


def describe_set_aside(
    files: Sequence[BrokenLines], consequence: str = "whoever stands there is not in the release"
) -> list[str]:
    """Describe the lines that were set aside, a sentence for each file that has some."""
    return [
        f"{pluralize(broken.count, 'broken line')} of {broken.records:,} in {broken.path.name} "
        f"{'was' if broken.count == 1 else 'were'} set aside ({'; '.join(broken.describe_faults())}): "
        f"{consequence}."
        for broken in files
        if broken
    ]


def read_broken_lines(files: Sequence[BrokenLines], encoding: str) -> bytes:
    """Return the header of the first file and the broken lines of all, as they are, in their order and as UTF-8."""
    parts: list[bytes] = []
    for broken in files:
        if not broken:
            continue
        with open_text(broken.path, encoding) as handle:
            header = handle.readline()
            if not parts:
                parts.append(_end_line(header))
            position = len(header)
            for line in broken.lines:
                _skip_bytes(handle, line.start - position)
                parts.append(_end_line(handle.read(line.end - line.start)))
                position = line.end
    return b"".join(parts)


class GoodLines:
    """A file's text without its broken lines, read as bytes."""

    def __init__(self, handle: IO[bytes], broken: BrokenLines) -> None:
        self._handle = handle
        self._position = 0
        self._ranges = deque((line.start, line.end) for line in broken.lines)

    def read(self, size: int) -> bytes:
        """Return some of the text, at most so many bytes; empty at its end."""
        while chunk := self._handle.read(size):
            if text := self._cut(chunk):
                return text
        return b""

    def _cut(self, chunk: bytes) -> bytes:
        """Return a chunk without the broken lines in it."""
        start = self._position
        end = start + len(chunk)
        self._position = end
        parts = []
        kept_from = start
        while self._ranges and self._ranges[0][0] < end:
            first, last = self._ranges[0]
            if first > kept_from:
                parts.append(chunk[kept_from - start : first - start])
            kept_from = min(last, end)
            if last > end:
                break
            self._ranges.popleft()
        parts.append(chunk[kept_from - start :])
        return b"".join(parts)


def mark_unquoted_bytes(chunk: bytes, quote: int | None, inside_quotes: bool) -> tuple[np.ndarray, bool]:
    """Return which bytes are outside of quotes, and whether the chunk ends inside; `inside_quotes`: it begins there."""
    if quote is None or quote not in chunk:
        return np.full(len(chunk), not inside_quotes), inside_quotes
    quotes_before = np.cumsum(np.frombuffer(chunk, np.uint8) == quote) + int(inside_quotes)
    return quotes_before % 2 == 0, bool(quotes_before[-1] % 2)


@lru_cache(maxsize=32)
def _find_broken_lines_of_version(
    path: Path, delimiter: str, quote: str, encoding: str, chunk_bytes: int, stamp: tuple[int, ...]
) -> BrokenLines:
    """Look at one version of a file, which `stamp` tells from others: separate calls of the library share the result."""
    if _has_even_rows(path, delimiter, quote, encoding, chunk_bytes):
        return BrokenLines(path, 0)
    with open_text(path, encoding) as handle:
        return _RecordReader(handle, delimiter.encode(), quote.encode()).find_broken(path)


class _RecordReader:
    """Reads a file record by record, and finds those that are broken."""

    def __init__(self, handle: IO[bytes], delimiter: bytes, quote: bytes) -> None:
        self.lines = iter(io.BufferedReader(handle, CHUNK_BYTES) if isinstance(handle, io.RawIOBase) else handle)
        self.pending: deque[bytes] = deque()
        self.delimiter = delimiter
        self.quote = quote

    def find_broken(self, path: Path) -> BrokenLines:
        header = self._next_line() or b""
        width = 1 + self._count_outside(header)
        position = len(header)
        number = 2
        records = 0
        count = 0
        broken: list[BrokenLine] = []
        while (line := self._next_line()) is not None:
            length = len(line)
            line_count = 1
            is_blank = width > 1 and not line.strip(b"\r\n")
            fields = 0 if is_blank else 1 + self._count_outside(line)
            fault = _find_fault(fields, width)
            if self.quote and line.count(self.quote) % 2:
                extent = self._extend(line)
                if extent is None:
                    fault = _QUOTE
                else:
                    length, line_count, fields = extent
                    fault = _find_fault(fields, width)
            records += 1
            if fault:
                count += 1
                if count > MAX_STORED_LINES:
                    break
                broken.append(BrokenLine(number, position, position + length, fields, fault))
            position += length
            number += line_count
        return BrokenLines(path, width, records, count, tuple(broken))

    def _next_line(self) -> bytes | None:
        return self.pending.popleft() if self.pending else next(self.lines, None)

    def _count_outside(self, text: bytes) -> int:
        """Count the delimiters outside of quotes in a text that begins outside of them."""
        if not self.quote or self.quote not in text:
            return text.count(self.delimiter)
        return sum(part.count(self.delimiter) for part in text.split(self.quote)[::2])

    def _extend(self, first: bytes) -> tuple[int, int, int] | None:
        """Return the bytes, lines and fields of the record that a line with an open quote begins; None if it begins none.

        Lines that were read in vain are read again.
        """
        if not self._opens_field(first):
            return None
        read: list[bytes] = []
        delimiters = self._count_outside(first)
        while len(read) < MAX_RECORD_LINES and (line := self._next_line()) is not None:
            read.append(line)
            rest = self._find_rest(line)
            if rest is None:
                break
            if rest == b"" and not self._closes(line):
                continue  # the field goes on in the next line
            delimiters += self._count_outside(rest)
            if rest.count(self.quote) % 2:
                if not self._opens_field(rest):
                    break
                continue
            return len(first) + sum(map(len, read)), 1 + len(read), 1 + delimiters
        self.pending.extendleft(reversed(read))
        return None

    def _opens_field(self, text: bytes) -> bool:
        """Tell whether the last open quote of a text is at the beginning of a field."""
        parts = text.split(self.quote)
        index = len(parts) - 2
        while index > 1 and parts[index] == b"":  # a doubled quote is one within a field
            index -= 2
        return parts[index].endswith(self.delimiter) or (index == 0 and parts[0] == b"")

    def _find_close(self, line: bytes) -> int:
        """Return the position of the first quote that is not doubled; -1 if there is none."""
        position = line.find(self.quote)
        while position >= 0 and line[position + 1 : position + 2] == self.quote:
            position = line.find(self.quote, position + 2)
        return position

    def _closes(self, line: bytes) -> bool:
        return self._find_close(line) >= 0

    def _find_rest(self, line: bytes) -> bytes | None:
        """Return what follows the quote that closes a field; empty if none does, None if a quote stands within it."""
        position = self._find_close(line)
        if position < 0:
            return b""
        rest = line[position + 1 :]
        is_end = not rest.rstrip(b"\r\n") or rest.startswith(self.delimiter)
        return rest if is_end else None


def _find_fault(fields: int, width: int) -> str:
    if fields == width:
        return ""
    if fields == 0:
        return _BLANK
    return _FEW if fields < width else _MANY


def _has_even_rows(path: Path, delimiter: str, quote: str, encoding: str, chunk_bytes: int) -> bool:
    """Tell whether each record has as many delimiters as the first one, assuming that quotes come in pairs."""
    delimiter_byte = ord(delimiter)
    quote_byte = ord(quote) if quote else None
    width = None
    pending_delimiters = 0  # in the record that has not ended yet
    inside_quotes = False
    ends_with_record = True
    quotes = _MultilineQuotes(delimiter_byte, quote_byte)
    with open_text(path, encoding) as handle:
        for chunk in _iterate_chunks(handle, chunk_bytes):
            characters = np.frombuffer(chunk, np.uint8)
            begins_inside = inside_quotes
            outside, inside_quotes = mark_unquoted_bytes(chunk, quote_byte, begins_inside)
            is_line_feed = characters == _LINE_FEED
            if not quotes.accept(characters, is_line_feed, outside, begins_inside):
                return False
            ends = np.flatnonzero(is_line_feed & outside)
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
    return not inside_quotes and (ends_with_record or width is None or pending_delimiters == width)


class _MultilineQuotes:
    """Checks, chunk by chunk, that quotes around line ends open at the beginning of a field.

    Two stray quotes in two lines would else make one record of both.
    """

    def __init__(self, delimiter: int, quote: int | None) -> None:
        self.quote = quote
        self.before_field = [delimiter, _LINE_FEED] + ([] if quote is None else [quote])
        self.last_byte = _LINE_FEED
        self.is_open_stray = False  # the quote that is open at the end of the last chunk

    def accept(
        self, characters: np.ndarray, is_line_feed: np.ndarray, outside: np.ndarray, begins_inside: bool
    ) -> bool:
        """Tell whether no line end of a chunk is within a quote that opens in the middle of a field."""
        has_quoted_end = bool((is_line_feed & ~outside).any())
        places = np.flatnonzero(characters == self.quote) if self.quote is not None else np.zeros(0, np.int64)
        opening = places[int(begins_inside) :: 2]
        before = np.where(opening > 0, characters[opening - 1], self.last_byte)
        is_stray = ~np.isin(before, self.before_field)
        is_good = True
        if has_quoted_end:
            line_ends = np.append(0, np.cumsum(is_line_feed))
            closing = np.append(places[1 - int(begins_inside) :: 2], len(characters))
            first_closing = int(closing[0]) if begins_inside else 0
            is_good = not (begins_inside and self.is_open_stray and line_ends[first_closing] > 0)
            of_opening = closing[int(begins_inside) :][: len(opening)]
            is_good &= not bool((is_stray & (line_ends[of_opening] > line_ends[opening])).any())
        if len(places):
            is_open = (len(places) + int(begins_inside)) % 2 == 1
            self.is_open_stray = is_open and len(is_stray) > 0 and bool(is_stray[-1])
        self.last_byte = int(characters[-1])
        return is_good


def _iterate_chunks(handle: IO[bytes], chunk_bytes: int) -> Iterator[bytes]:
    while chunk := handle.read(chunk_bytes):
        yield chunk


def _describe_fault(fault: str, numbers: Sequence[int]) -> str:
    shown = ", ".join(f"{number:,}" for number in numbers[:MAX_LINES_SHOWN])
    more = f" and {len(numbers) - MAX_LINES_SHOWN:,} more" if len(numbers) > MAX_LINES_SHOWN else ""
    return f"{fault}, {'line' if len(numbers) == 1 else 'lines'} {shown}{more}"


def _end_line(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"


def _skip_bytes(handle: IO[bytes], size: int) -> None:
    while size > 0 and (chunk := handle.read(min(size, CHUNK_BYTES))):
        size -= len(chunk)
