"""Parquet files that lie: a codec for Thrift's compact protocol, and a file taken apart and put together with other claims.

It imports nothing of ours: what it writes is what a forger would write.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Struct = dict[int, tuple[int, Any]]
"""Field number -> (wire type, value)."""
PAGE_KINDS = {0: 5, 2: 7, 3: 8}  # of a page, the field that describes it


class _In:
    def __init__(self, raw: bytes, at: int = 0):
        self.raw = raw
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self.raw[self.at - 1]

    def varint(self) -> int:
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self) -> Struct:
        found: Struct = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            found[number] = (head & 15, self.value(head & 15))
        return found

    def value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind in (7, 8):
            size = 8 if kind == 7 else self.varint()
            self.at += size
            return self.raw[self.at - size : self.at]
        if kind in (9, 10):
            head = self.byte()
            size = head >> 4 if head >> 4 != 15 else self.varint()
            return (head & 15, [self.value(head & 15) for _ in range(size)])
        return self.struct()


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _zigzag(value: int) -> bytes:
    return _varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _value(kind: int, value: Any) -> bytes:
    if kind == 3:
        return bytes([value])
    if kind in (4, 5, 6):
        return _zigzag(value)
    if kind == 7:
        return value
    if kind == 8:
        return _varint(len(value)) + value
    if kind in (9, 10):
        of, items = value
        head = bytes([len(items) << 4 | of]) if len(items) < 15 else bytes([0xF0 | of]) + _varint(len(items))
        return head + b"".join(bytes([1 if one else 2]) if of in (1, 2) else _value(of, one) for one in items)
    return _struct(value)


def _struct(fields: Struct) -> bytes:
    out = b""
    last = 0
    for number, (kind, value) in sorted(fields.items()):
        if kind in (1, 2):
            kind = 1 if value else 2
        out += bytes([(number - last) << 4 | kind]) if 0 < number - last < 16 else bytes([kind]) + _zigzag(number)
        out += b"" if kind in (1, 2) else _value(kind, value)
        last = number
    return out + b"\x00"


Change = Callable[[Struct], None]


def rewrite(path: Path, footer: Change = lambda footer: None, page: Change = lambda page: None) -> None:
    """The file once more, with what `footer` makes of its metadata and `page` of every page's header."""
    raw = path.read_bytes()
    end = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    metadata = _In(raw, end).struct()
    body = bytearray(b"PAR1")
    for group in metadata[4][1][1]:
        for column in group[1][1][1]:
            _column(raw, column[3][1], body, page)
    footer(metadata)
    written = _struct(metadata)
    path.write_bytes(bytes(body) + written + len(written).to_bytes(4, "little") + b"PAR1")


def _column(raw: bytes, chunk: Struct, body: bytearray, page: Change) -> None:
    starts = [chunk[number][1] for number in (9, 11) if number in chunk]
    reader = _In(raw, min(starts))
    new = len(body)
    end = reader.at + chunk[7][1]
    while reader.at < end:
        header = reader.struct()
        packed = raw[reader.at : reader.at + header[3][1]]
        reader.at += header[3][1]
        number = {2: 11}.get(header[1][1], 9)
        page(header)
        if number in chunk and (number == 11 or header.get("first") is None):
            chunk[number] = (6, len(body)) if chunk[number][1] >= 0 else chunk[number]
        body += _struct(header) + packed
    if 11 in chunk:
        chunk[11] = (6, new)
    chunk[7] = (6, len(body) - new)
    chunk[6] = (6, max(chunk[6][1], len(body) - new))


def set_rows(rows: int) -> tuple[Change, Change]:
    """Footer and pages that claim so many rows, in agreement with one another."""

    def footer(metadata: Struct) -> None:
        metadata[3] = (6, rows)
        for group in metadata[4][1][1]:
            group[3] = (6, rows)
            for column in group[1][1][1]:
                column[3][1][5] = (6, rows)

    def page(header: Struct) -> None:
        about = PAGE_KINDS[header[1][1]]
        if header[1][1] != 2:
            header[about][1][1] = (5, rows)

    return footer, page
