"""A release folder as one zip file, made while it is sent: nothing of it is on the disk, and little in memory.

The same folder gives the same bytes: names in order, no times, no users.  Each file is hashed while it is read; one that
is not as the manifest says ends the archive before its directory is written, so that a browser has no whole file.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from reticent.errors import BundleDamaged
from reticent.operating_system import open_unlinked

PIECE_BYTES = 2**18
EARLIEST_TIME = (1980, 1, 1, 0, 0, 0)  # that a zip file can say
STORED_SUFFIXES = (".parquet", ".gz", ".zst")  # are compressed as they are
COMPRESSION_LEVEL = 6


class _Outlet:
    """A file without places: takes bytes, and gives them away."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: bytes are taken by `take`."""

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def stream_archive(folder: Path, files: Sequence[tuple[str, int, str]]) -> Iterator[bytes]:
    """Yield the bytes of a zip file with these files of a folder: name, bytes and SHA-256 of each.

    Raises:
        BundleDamaged: a file is not, or no longer, as it is listed.
    """
    outlet = _Outlet()
    archive = zipfile.ZipFile(
        cast(IO[bytes], outlet), "w"
    )  # closed, which writes the directory, only where all is well
    for name, size, checksum in files:
        entry = zipfile.ZipInfo(f"{folder.name}/{name}", EARLIEST_TIME)
        entry.create_system = 3  # as on POSIX, on every system
        entry.external_attr = 0o644 << 16
        entry.compress_type = zipfile.ZIP_STORED if name.endswith(STORED_SUFFIXES) else zipfile.ZIP_DEFLATED
        digest = hashlib.sha256()
        with archive.open(entry, "w", force_zip64=size >= 2**31) as target, _open_plain_file(folder / name) as source:
            while piece := source.read(PIECE_BYTES):
                digest.update(piece)
                target.write(piece)
                yield outlet.take()
        if digest.hexdigest() != checksum:
            raise BundleDamaged(f"{name} is not as the manifest says.", attempt="publishing again.")
    archive.close()
    yield outlet.take()


def _open_plain_file(path: Path) -> IO[bytes]:
    return os.fdopen(open_unlinked(path, os.O_RDONLY), "rb")
