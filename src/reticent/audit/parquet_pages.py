"""The pages of a Parquet file as bytes: dictionaries and values as they stand in the file, decompressed.

A reader shows the values that rows refer to.  A dictionary page may hold more: values of rows that were removed.  So pages are read
here by the format itself: a Thrift header (compact protocol) and a body, compressed by the column chunk's codec.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reticent.errors import OutOfMemory
from reticent.memory import SMALL, room
from reticent.release.parquet_headers import DATA_V2, DICTIONARY, forget, headers

LARGEST = (1 << 31) - 1  # bytes of a page that the format can say
PLAIN, PLAIN_DICTIONARY = 0, 2
_FIXED = {"INT32": "<i4", "INT64": "<i8", "FLOAT": "<f4", "DOUBLE": "<f8"}


@dataclass(frozen=True, eq=False)
class Page:
    """`physical` is the column's physical type; `plain` tells values that stand as they are from codes of them."""

    column: str
    physical: str
    dictionary: bool
    plain: bool
    values: int
    body: bytes

    def entries(self) -> list[Any]:
        """The values of a dictionary page: texts as bytes, numbers as they are stored."""
        if self.physical == "BYTE_ARRAY":
            found, at = [], 0
            for _ in range(self.values):
                size = int.from_bytes(self.body[at : at + 4], "little")
                found.append(self.body[at + 4 : at + 4 + size])
                at += 4 + size
            return found
        if self.physical in _FIXED:
            return np.frombuffer(self.body, _FIXED[self.physical], self.values).tolist()
        return []


def pages(path: Path) -> Iterator[Page]:
    """All pages of all column chunks; a release's were looked at before, another tool's may be as large as memory holds."""
    import pyarrow.parquet as pq

    with (
        pq.ParquetFile(path) as file,
        open(path, "rb") as handle,
        mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as raw,
    ):
        metadata = file.metadata
        for group in range(metadata.num_row_groups):
            for at in range(metadata.num_columns):
                yield from _chunk(raw, metadata.row_group(group).column(at))
            forget(raw)


def _chunk(raw: Any, chunk: Any) -> Iterator[Page]:
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        at = min(at, chunk.dictionary_page_offset)
    for page in headers(raw, at, at + chunk.total_compressed_size, LARGEST):
        _refuse_no_room(page.size)
        packed = raw[page.start : page.start + page.packed]
        body = _body(packed, page.size, page.kind, page.about, chunk.compression)
        encoding = page.about.get(4 if page.kind == DATA_V2 else 2, PLAIN)
        dictionary = page.kind == DICTIONARY
        plain = dictionary or encoding not in (PLAIN_DICTIONARY, 8)
        yield Page(chunk.path_in_schema, chunk.physical_type, dictionary, plain, page.values, body)


def _refuse_no_room(size: int) -> None:
    left = room() if size > SMALL else None
    if left is not None and 2 * size > left:
        raise OutOfMemory(
            "A page of the Parquet file is too large for the memory that is left.",
            why=f"It opens to {size / 1e9:.1f} GB, and {max(left, 0) / 1e9:.1f} GB are free.",
            attempt="a machine with more memory, or writing the file with smaller pages.",
        )


def _body(packed: bytes, size: int, kind: int, about: Mapping[int, Any], compression: str) -> bytes:
    import pyarrow as pa

    if compression == "UNCOMPRESSED":
        return packed
    codec = pa.Codec({"LZ4": "lz4_raw"}.get(compression, compression.lower()))
    levels = about.get(5, 0) + about.get(6, 0) if kind == DATA_V2 else 0
    if kind == DATA_V2 and (about.get(7) is False or size == levels):
        return packed
    return packed[:levels] + bytes(codec.decompress(packed[levels:], decompressed_size=size - levels))
