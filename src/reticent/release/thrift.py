"""Thrift's compact protocol, as much of it as the headers of Parquet pages use; bytes of a stranger raise ValueError."""

from __future__ import annotations

from typing import Any

DEPTH = 8  # structs inside structs
LISTED = 1 << 16  # entries of a list
LENGTH = 10  # bytes of a number


class Thrift:
    """A reader at a place of some bytes; `end` is where they stop."""

    def __init__(self, raw: Any, at: int, end: int):
        self.raw, self.at, self.end = raw, at, end

    def struct(self, depth: int = 0) -> tuple[dict[int, Any], int]:
        """The fields of a struct by number, and where it ends."""
        if depth > DEPTH:
            raise ValueError("structs are nested too deep")
        found: dict[int, Any] = {}
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            found[field] = self._value(head & 15, depth)
        return found, self.at

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            return self._skipped(8)
        if kind == 8:
            return self._skipped(self._varint())
        if kind in (9, 10):
            head = self._byte()
            size = head >> 4 if head >> 4 != 15 else self._varint()
            if size > LISTED:
                raise ValueError("a list is too long")
            return [self._value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)[0]
        raise ValueError("no header")

    def _skipped(self, size: int) -> None:
        """Texts and doubles tell nothing of a page's size."""
        self.at += size
        if self.at > self.end:
            raise ValueError("a header ends too late")

    def _byte(self) -> int:
        if self.at >= self.end:
            raise ValueError("a header ends too late")
        self.at += 1
        return int(self.raw[self.at - 1])

    def _varint(self) -> int:
        found = 0
        for place in range(LENGTH):
            byte = self._byte()
            found |= (byte & 127) << 7 * place
            if byte < 128:
                return found
        raise ValueError("a number is too long")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
