"""The pages of a Parquet file as bytes: dictionaries and values as they stand in the file, decompressed.

A reader shows the values that rows refer to.  A dictionary page may hold more: values of rows that were removed.  So pages are read
here by the format itself: a Thrift header (compact protocol) and a body, compressed by the column chunk's codec.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DICTIONARY, DATA, DATA_V2 = 2, 0, 3
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
    """All pages of all column chunks."""
    import pyarrow.parquet as pq

    raw = path.read_bytes()
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        for group in range(metadata.num_row_groups):
            for at in range(metadata.num_columns):
                yield from _chunk(raw, metadata.row_group(group).column(at))


def _chunk(raw: bytes, chunk: Any) -> Iterator[Page]:
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        at = min(at, chunk.dictionary_page_offset)
    end = at + chunk.total_compressed_size
    while at < end:
        header, at = _Thrift(raw, at).struct()
        kind, size, packed = header[1], header[2], header[3]
        about = header.get({DICTIONARY: 7, DATA: 5, DATA_V2: 8}.get(kind, 0), {})
        body = _body(raw[at : at + packed], size, kind, about, chunk.compression)
        encoding = about.get(4 if kind == DATA_V2 else 2, PLAIN)
        dictionary = kind == DICTIONARY
        yield Page(chunk.path_in_schema, chunk.physical_type, dictionary, dictionary or encoding not in (PLAIN_DICTIONARY, 8),
                   about.get(1, 0), body)  # fmt: skip
        at += packed


def _body(packed: bytes, size: int, kind: int, about: dict[int, Any], compression: str) -> bytes:
    import pyarrow as pa

    if compression == "UNCOMPRESSED":
        return packed
    codec = pa.Codec({"LZ4": "lz4_raw"}.get(compression, compression.lower()))
    levels = about.get(5, 0) + about.get(6, 0) if kind == DATA_V2 else 0
    if kind == DATA_V2 and (about.get(7) is False or size == levels):
        return packed
    return packed[:levels] + bytes(codec.decompress(packed[levels:], decompressed_size=size - levels))


class _Thrift:
    """Thrift's compact protocol, as much of it as page headers use."""

    def __init__(self, raw: bytes, at: int):
        self.raw, self.at = raw, at

    def struct(self) -> tuple[dict[int, Any], int]:
        found: dict[int, Any] = {}
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            found[field] = self._value(head & 15)
        return found, self.at

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            self.at += 8
            return None
        if kind == 8:
            size = self._varint()
            self.at += size
            return self.raw[self.at - size : self.at]
        if kind in (9, 10):
            head = self._byte()
            size = head >> 4 if head >> 4 != 15 else self._varint()
            return [self._value(head & 15) for _ in range(size)]
        if kind == 12:
            return self.struct()[0]
        raise ValueError("no page header")

    def _byte(self) -> int:
        self.at += 1
        return self.raw[self.at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
