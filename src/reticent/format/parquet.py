"""Checks what a Parquet file claims, by its footer and its page headers, before a page is opened.

A few bytes can claim any number of rows, and a page any size: a reader that believes them runs out of memory. So a
release's file must be nothing but its column chunks and its footer, with no free text, row groups and pages no larger
than a writer makes them, pages that fill their chunks, and chunks that hold as many values as their group has rows.

`ThriftReader` reads as much of Thrift's compact protocol as the headers of Parquet pages use; invalid bytes raise
ValueError.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_STRUCT_DEPTH = 8  # structs inside structs
MAX_LIST_ENTRIES = 1 << 16  # entries of a list
MAX_VARINT_BYTES = 10  # bytes of a number


class ThriftReader:
    """A reader at a position in some bytes; `end` is where they stop."""

    def __init__(self, raw: Any, at: int, end: int):
        self.raw = raw
        self.at = at
        self.end = end

    def struct(self, depth: int = 0) -> tuple[dict[int, Any], int]:
        """Read the fields of a struct by number; also return where it ends."""
        if depth > MAX_STRUCT_DEPTH:
            raise ValueError("structs are nested too deep")
        fields: dict[int, Any] = {}
        field = 0
        while (head := self._read_byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._read_zigzag()
            fields[field] = self._read_value(head & 15, depth)
        return fields, self.at

    def _read_value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._read_byte()
        if kind in (4, 5, 6):
            return self._read_zigzag()
        if kind == 7:
            return self._skip_bytes(8)
        if kind == 8:
            return self._skip_bytes(self._read_varint())
        if kind in (9, 10):
            head = self._read_byte()
            size = head >> 4 if head >> 4 != 15 else self._read_varint()
            if size > MAX_LIST_ENTRIES:
                raise ValueError("a list is too long")
            return [self._read_value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)[0]
        raise ValueError("no header")

    def _skip_bytes(self, size: int) -> None:
        """Skip texts and doubles: they do not affect a page's size."""
        self.at += size
        if self.at > self.end:
            raise ValueError("a header ends too late")

    def _read_byte(self) -> int:
        if self.at >= self.end:
            raise ValueError("a header ends too late")
        self.at += 1
        return int(self.raw[self.at - 1])

    def _read_varint(self) -> int:
        number = 0
        for place in range(MAX_VARINT_BYTES):
            byte = self._read_byte()
            number |= (byte & 127) << 7 * place
            if byte < 128:
                return number
        raise ValueError("a number is too long")

    def _read_zigzag(self) -> int:
        value = self._read_varint()
        return (value >> 1) ^ -(value & 1)


PARQUET_MAGIC = b"PAR1"
TAIL_BYTES = 8  # at both ends, and before the last the footer's length
MAX_FOOTER_BYTES = 64 << 20  # bytes of a footer
MAX_ROWS_PER_GROUP = 1 << 20  # rows of a row group; ours have half as many
MIN_ROWS_PER_GROUP = 1 << 12  # rows for each row group after the first
MAX_PAGE_BYTES = 128 << 20  # bytes of a page when it is opened
MIN_VALUES_PER_PAGE = 1 << 9  # values for each page after the first few; ours have twice as many
ALLOWED_CODECS = {0, 7}  # none, and LZ4, which opens to 255 times its size at most; others open to many thousand times
DICTIONARY_PAGE = 2
DATA_PAGE = 0
DATA_PAGE_V2 = 3
INDEX_PAGE = 1


class UnsoundParquet(ValueError):
    """Raised if a file's claims cannot be true. The message is a sentence that quotes nothing."""


@dataclass(frozen=True, slots=True)
class PageHeader:
    """A page: its `kind`, the `fields` of its header, where its body starts, its compressed and decompressed size."""

    kind: int
    fields: Mapping[int, Any]
    start: int
    packed: int
    size: int

    @property
    def type_header(self) -> Mapping[int, Any]:
        header = self.fields.get({DICTIONARY_PAGE: 7, DATA_PAGE: 5, DATA_PAGE_V2: 8}.get(self.kind, 0), {})
        return header if isinstance(header, dict) else {}

    @property
    def values(self) -> int:
        count = self.type_header.get(1, 0)
        return count if isinstance(count, int) else -1


@dataclass(frozen=True, slots=True)
class ParquetClaims:
    """What a sound file claims: its rows, its columns with their Arrow types, and its pages' decompressed bytes."""

    rows: int
    columns: Mapping[str, Any]
    unpacked_bytes: int


def read_claims(path: Path, *, pages: bool = True) -> ParquetClaims:
    """Read and check a file's claims; raises `UnsoundParquet`.

    Nothing is read but the footer and, with `pages`, the headers of the pages; leave them out if they were checked
    before.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = path.stat().st_size
    with open(path, "rb") as handle:
        _require_magic_bytes(handle, size)
        try:
            with pq.ParquetFile(path) as file:
                metadata = file.metadata
                schema = file.schema_arrow
        except (OSError, ValueError, pa.ArrowException, MemoryError):
            raise UnsoundParquet("its footer cannot be read") from None
        if pages and metadata.metadata:
            raise UnsoundParquet("its footer holds texts beside the columns")
        if len(set(schema.names)) != len(schema.names) or metadata.num_columns != len(schema.names):
            raise UnsoundParquet("a column stands twice, or holds lists or tables")
        if pages:
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as raw:
                _require_sound_pages(raw, metadata, size)
    unpacked_bytes = sum(chunk.total_uncompressed_size for chunk in _list_chunks(metadata))
    return ParquetClaims(metadata.num_rows, dict(zip(schema.names, schema.types, strict=True)), unpacked_bytes)


def _require_magic_bytes(handle: Any, size: int) -> None:
    if size < len(PARQUET_MAGIC) + TAIL_BYTES or handle.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC:
        raise UnsoundParquet("it is no Parquet file")
    handle.seek(size - TAIL_BYTES)
    tail = handle.read(TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != PARQUET_MAGIC or not 0 < length <= min(MAX_FOOTER_BYTES, size - len(PARQUET_MAGIC) - TAIL_BYTES):
        raise UnsoundParquet("it has no footer of a size that can be")


def _list_chunks(metadata: Any) -> Iterator[Any]:
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            yield metadata.row_group(group).column(place)


def _require_sound_pages(raw: Any, metadata: Any, size: int) -> None:
    """Check every page of every chunk, and that chunks fill the file."""
    groups = metadata.num_row_groups
    footer = size - TAIL_BYTES - int.from_bytes(raw[size - TAIL_BYTES : size - 4], "little")
    if not _read_codecs(raw, footer, size - TAIL_BYTES) <= ALLOWED_CODECS:
        raise UnsoundParquet("it is packed otherwise than reticent packs")
    if groups > 1 + metadata.num_rows // MIN_ROWS_PER_GROUP:
        raise UnsoundParquet(f"it has {groups:,} row groups for {metadata.num_rows:,} rows")
    rows = 0
    spans = []
    for group_index in range(groups):
        group = metadata.row_group(group_index)
        if not 0 <= group.num_rows <= MAX_ROWS_PER_GROUP:
            raise UnsoundParquet(f"a row group has {group.num_rows:,} rows, and {MAX_ROWS_PER_GROUP:,} are the most")
        rows += group.num_rows
        for place in range(metadata.num_columns):
            chunk = group.column(place)
            if chunk.num_values != group.num_rows:
                raise UnsoundParquet("a column has not as many values as rows")
            if not group.num_rows and not chunk.total_compressed_size:
                continue  # an empty table has no pages
            spans.append(span := _find_chunk_span(chunk, size))
            if _count_unpacked_bytes(raw, span, group.num_rows, metadata.num_rows) > chunk.total_uncompressed_size:
                raise UnsoundParquet("a column opens to more bytes than its footer says")
        release_mapped_memory(raw)
    if rows != metadata.num_rows:
        raise UnsoundParquet(f"it claims {metadata.num_rows:,} rows, and its row groups have {rows:,}")
    spans.sort()
    if [*(start for start, _ in spans), footer] != [len(PARQUET_MAGIC), *(end for _, end in spans)]:
        raise UnsoundParquet("it holds bytes that no column reads")


def release_mapped_memory(raw: Any) -> None:
    """Release the mapped memory that was read: otherwise a file that is read from end to end is in memory whole."""
    if hasattr(mmap, "MADV_DONTNEED"):
        raw.madvise(mmap.MADV_DONTNEED)


def _read_codecs(raw: Any, start: int, end: int) -> set[Any]:
    """Return the chunks' codecs by the format's own numbers: pyarrow ends the process if asked for one that it lacks."""
    try:
        groups = ThriftReader(raw, start, end).struct()[0].get(4, [])
        return {chunk[3][4] for group in groups for chunk in group[1]}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise UnsoundParquet("its footer cannot be read") from None


def _find_chunk_span(chunk: Any, size: int) -> tuple[int, int]:
    start = first = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        start = min(start, chunk.dictionary_page_offset)
        if not first and not chunk.num_values:  # a column without rows has an empty dictionary, and no page
            start = first = chunk.dictionary_page_offset
    end = start + chunk.total_compressed_size
    inside = start <= first <= end
    if not inside or not len(PARQUET_MAGIC) <= start <= end <= size - TAIL_BYTES:
        raise UnsoundParquet("a column lies outside the file")
    return start, end


def _count_unpacked_bytes(raw: Any, span: tuple[int, int], rows: int, file_rows: int) -> int:
    """Count the decompressed bytes of a chunk's pages; its group has `rows` rows, the file `whole`."""
    values = 0
    unpacked_bytes = 0
    for pages, header in enumerate(read_page_headers(raw, *span), start=1):
        if header.kind == DICTIONARY_PAGE:
            if header.values > file_rows:
                raise UnsoundParquet("a dictionary lists more values than rows")
        else:
            values += header.values
        unpacked_bytes += header.size
        if pages > 8 + rows // MIN_VALUES_PER_PAGE:
            raise UnsoundParquet(f"a column of {rows:,} rows has {pages:,} pages and more")
    if values != rows:
        raise UnsoundParquet("the pages of a column have not as many values as rows")
    return unpacked_bytes


def read_page_headers(raw: Any, start: int, end: int, max_bytes: int = MAX_PAGE_BYTES) -> Iterator[PageHeader]:
    """Yield the pages of a chunk, from its first byte to its last.

    A page that decompresses to more than `most` bytes is refused.
    """
    position = start
    while position < end:
        try:
            fields, position = ThriftReader(raw, position, end).struct()
            kind, size, packed = (int(fields[number]) for number in (1, 2, 3))
        except (KeyError, TypeError, ValueError):
            raise UnsoundParquet("a page has no header that can be read") from None
        if (
            kind not in (DICTIONARY_PAGE, DATA_PAGE, DATA_PAGE_V2, INDEX_PAGE)
            or packed < 0
            or position + packed > end
            or not 0 <= size <= max_bytes
        ):
            raise UnsoundParquet(f"a page is none of a column, or opens to more than {max_bytes:,} bytes")
        header = PageHeader(kind, fields, position, packed, size)
        if header.values < 0:
            raise UnsoundParquet("a page has no number of values")
        yield header
        position += packed
