"""A CSV's bytes as UTF-8, whatever they are packed and encoded in: unpacked and recoded as they are read, never whole."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from reticent.errors import SourceError

PACKED = {".gz": "gzip", ".zst": "zstd"}
_UTF8 = ("utf-8", "utf8")
_AT_ONCE = 1 << 20


def suffix_of(path: Path) -> str:
    """What kind of file it is: `.csv` of `people.csv.gz`."""
    found = path.suffix.lower()
    return Path(path.stem).suffix.lower() if found in PACKED else found


def is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in _UTF8


def is_plain(path: Path, encoding: str) -> bool:
    """Whether the file's own bytes are the text."""
    return path.suffix.lower() not in PACKED and is_utf8(encoding)


@contextmanager
def opened(path: Path, encoding: str = "utf-8") -> Iterator[IO[bytes]]:
    """The text's bytes, as UTF-8; a byte that is not in the encoding is refused with its place."""
    with _unpacked(path) as raw:
        yield raw if is_utf8(encoding) else io.BufferedReader(_Recoded(raw, path, encoding), _AT_ONCE)


@contextmanager
def _unpacked(path: Path) -> Iterator[Any]:
    packed = PACKED.get(path.suffix.lower())
    if packed is None:
        with open(path, "rb") as raw:
            yield raw
        return
    import pyarrow as pa

    with open(path, "rb") as file, pa.CompressedInputStream(pa.PythonFile(file), packed) as inside:
        yield io.BufferedReader(_Unpacked(inside, path), _AT_ONCE)


class _Unpacked(io.RawIOBase):
    """What a packed file holds; one that is cut off or damaged is refused by its name."""

    def __init__(self, inside: Any, path: Path):
        self.inside, self.path = inside, path

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        try:
            data = self.inside.read(len(room))
        except (OSError, ValueError):
            raise SourceError(
                f"The file {self.path.name} cannot be unpacked.", why="It is cut off, damaged, or no file of its ending.",
                attempt="packing it again.",
            ) from None  # fmt: skip
        room[: len(data)] = data
        return len(data)


class _Recoded(io.RawIOBase):
    """Text of another encoding as UTF-8."""

    def __init__(self, raw: IO[bytes], path: Path, encoding: str):
        self.raw, self.path, self.encoding = raw, path, encoding
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.taken = 0
        self.left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self.left:
            data = self.raw.read(_AT_ONCE)
            self.left = self._text(data).encode()
            self.taken += len(data)
            if not data:
                break
        found, self.left = self.left[: len(room)], self.left[len(room) :]
        room[: len(found)] = found
        return len(found)

    def _text(self, data: bytes) -> str:
        try:
            return self.decoder.decode(data, final=not data)
        except UnicodeError as error:
            place = ""
            if isinstance(error, UnicodeDecodeError):  # of what was kept from before, and of these bytes
                place = f" (byte {self.taken - (len(error.object) - len(data)) + error.start})"
            raise SourceError(
                f"The file {self.path.name} is not {self.encoding}{place}.",
                attempt='another encoding, e.g. encoding = "latin-1".',
            ) from None
