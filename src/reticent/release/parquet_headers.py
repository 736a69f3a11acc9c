"""A Parquet file by its footer and its page headers, before a page is opened: what it claims, and whether that can be.

A few bytes can claim any number of rows, and a page any size: a reader that believes them dies of it.  So a release's file must
be nothing but its column chunks and its footer, with no text of anybody's own, row groups and pages no larger than a writer makes
them, pages that fill their chunks, and chunks that hold as many values as their group has rows.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.release.thrift import Thrift

MAGIC, TAIL = b"PAR1", 8  # at both ends, and before the last the footer's length
FOOTER = 64 << 20  # bytes of a footer
GROUP = 1 << 20  # rows of a row group; ours have half as many
SPARSE = 1 << 12  # rows for each row group after the first
PAGE = 128 << 20  # bytes of a page when it is opened
VALUES = 1 << 9  # values for each page after the first few; ours have twice as many
CODECS = {0, 7}  # none, and LZ4, which opens to 255 times its size at most; others open to many thousand times
DICTIONARY, DATA, DATA_V2, INDEX = 2, 0, 3, 1


class Unsound(ValueError):
    """What a file claims cannot be.  The message is a sentence that quotes nothing."""


@dataclass(frozen=True, slots=True)
class Header:
    """A page: its `kind`, the `fields` of its header, where its body starts, and its size packed and opened."""

    kind: int
    fields: Mapping[int, Any]
    start: int
    packed: int
    size: int

    @property
    def about(self) -> Mapping[int, Any]:
        found = self.fields.get({DICTIONARY: 7, DATA: 5, DATA_V2: 8}.get(self.kind, 0), {})
        return found if isinstance(found, dict) else {}

    @property
    def values(self) -> int:
        found = self.about.get(1, 0)
        return found if isinstance(found, int) else -1


@dataclass(frozen=True, slots=True)
class Claims:
    """What a sound file says: its rows, columns with their Arrow types, and how many bytes its pages open to."""

    rows: int
    columns: Mapping[str, Any]
    opened: int


def claims(path: Path, *, pages: bool = True) -> Claims:
    """Raises `Unsound`; nothing is read but the footer and the headers of `pages`, where they were not looked at before."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = path.stat().st_size
    with open(path, "rb") as handle:
        _refuse_ends(handle, size)
        try:
            with pq.ParquetFile(path) as file:
                metadata, schema = file.metadata, file.schema_arrow
        except (OSError, ValueError, pa.ArrowException, MemoryError):
            raise Unsound("its footer cannot be read") from None
        if pages and metadata.metadata:
            raise Unsound("its footer holds texts beside the columns")
        if len(set(schema.names)) != len(schema.names) or metadata.num_columns != len(schema.names):
            raise Unsound("a column stands twice, or holds lists or tables")
        if pages:
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as raw:
                _refuse_pages(raw, metadata, size)
    opened = sum(chunk.total_uncompressed_size for chunk in _chunks(metadata))
    return Claims(metadata.num_rows, dict(zip(schema.names, schema.types, strict=True)), opened)


def _refuse_ends(handle: Any, size: int) -> None:
    if size < len(MAGIC) + TAIL or handle.read(len(MAGIC)) != MAGIC:
        raise Unsound("it is no Parquet file")
    handle.seek(size - TAIL)
    tail = handle.read(TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or not 0 < length <= min(FOOTER, size - len(MAGIC) - TAIL):
        raise Unsound("it has no footer of a size that can be")


def _chunks(metadata: Any) -> Iterator[Any]:
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            yield metadata.row_group(group).column(place)


def _refuse_pages(raw: Any, metadata: Any, size: int) -> None:
    """Every page of every chunk is looked at, and that chunks fill the file."""
    groups = metadata.num_row_groups
    footer = size - TAIL - int.from_bytes(raw[size - TAIL : size - 4], "little")
    if not _codecs(raw, footer, size - TAIL) <= CODECS:
        raise Unsound("it is packed otherwise than reticent packs")
    if groups > 1 + metadata.num_rows // SPARSE:
        raise Unsound(f"it has {groups:,} row groups for {metadata.num_rows:,} rows")
    rows, spans = 0, []
    for at in range(groups):
        group = metadata.row_group(at)
        if not 0 <= group.num_rows <= GROUP:
            raise Unsound(f"a row group has {group.num_rows:,} rows, and {GROUP:,} are the most")
        rows += group.num_rows
        for place in range(metadata.num_columns):
            chunk = group.column(place)
            if chunk.num_values != group.num_rows:
                raise Unsound("a column has not as many values as rows")
            if not group.num_rows and not chunk.total_compressed_size:
                continue  # an empty table has no pages
            spans.append(span := _span(chunk, size))
            if _opened(raw, span, group.num_rows, metadata.num_rows) > chunk.total_uncompressed_size:
                raise Unsound("a column opens to more bytes than its footer says")
        forget(raw)
    if rows != metadata.num_rows:
        raise Unsound(f"it claims {metadata.num_rows:,} rows, and its row groups have {rows:,}")
    spans.sort()
    if [*(start for start, _ in spans), footer] != [len(MAGIC), *(end for _, end in spans)]:
        raise Unsound("it holds bytes that no column reads")


def forget(raw: Any) -> None:
    """Give back the memory of what was looked at: otherwise a file that is read from end to end is in memory whole."""
    if hasattr(mmap, "MADV_DONTNEED"):
        raw.madvise(mmap.MADV_DONTNEED)


def _codecs(raw: Any, start: int, end: int) -> set[Any]:
    """How chunks are packed, by the format's own numbers: pyarrow ends the process where it is asked for one that it does not know."""
    try:
        groups = Thrift(raw, start, end).struct()[0].get(4, [])
        return {chunk[3][4] for group in groups for chunk in group[1]}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise Unsound("its footer cannot be read") from None


def _span(chunk: Any, size: int) -> tuple[int, int]:
    start = first = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        start = min(start, chunk.dictionary_page_offset)
        if not first and not chunk.num_values:  # a column without rows has an empty dictionary, and no page
            start = first = chunk.dictionary_page_offset
    end = start + chunk.total_compressed_size
    inside = start <= first <= end
    if not inside or not len(MAGIC) <= start <= end <= size - TAIL:
        raise Unsound("a column lies outside the file")
    return start, end


def _opened(raw: Any, span: tuple[int, int], rows: int, whole: int) -> int:
    """How many bytes the pages of a chunk open to; its group has so many rows, the file `whole`."""
    values, opened = 0, 0
    for pages, header in enumerate(headers(raw, *span), start=1):
        if header.kind == DICTIONARY:
            if header.values > whole:
                raise Unsound("a dictionary lists more values than rows")
        else:
            values += header.values
        opened += header.size
        if pages > 8 + rows // VALUES:
            raise Unsound(f"a column of {rows:,} rows has {pages:,} pages and more")
    if values != rows:
        raise Unsound("the pages of a column have not as many values as rows")
    return opened


def headers(raw: Any, start: int, end: int, most: int = PAGE) -> Iterator[Header]:
    """The pages of a chunk, from its first byte to its last, none of which opens to more than `most` bytes."""
    at = start
    while at < end:
        try:
            fields, at = Thrift(raw, at, end).struct()
            kind, size, packed = (int(fields[number]) for number in (1, 2, 3))
        except (KeyError, TypeError, ValueError):
            raise Unsound("a page has no header that can be read") from None
        if kind not in (DICTIONARY, DATA, DATA_V2, INDEX) or packed < 0 or at + packed > end or not 0 <= size <= most:
            raise Unsound(f"a page is none of a column, or opens to more than {most:,} bytes")
        found = Header(kind, fields, at, packed, size)
        if found.values < 0:
            raise Unsound("a page has no number of values")
        yield found
        at += packed
