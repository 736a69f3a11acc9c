"""Rows of a frame put into numbered buckets on disk, and read back bucket by bucket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

BYTES = 1 << 26  # what a bucket should hold in memory
MOST = 256  # files that are open at once


def many(rows: int, size: float) -> int:
    """How many buckets, a power of two, for so many rows of so many bytes each."""
    wanted = max(-(-int(rows * size) // BYTES), 1)
    return min(1 << (wanted - 1).bit_length(), MOST)


class Buckets:
    """`begin` with so many, `put` rows, `finish`, then read the `frames`; each is removed once it is read."""

    def __init__(self, folder: Path):
        self.folder, self.count = folder, 0
        self.names: list[str] = []
        self.files: list[Any] = []
        self.writers: list[Any] = []

    def begin(self, count: int) -> None:
        """The number of buckets, a power of two, once it is known how large a row is."""
        self.folder.mkdir(exist_ok=True)
        self.count = count

    def put(self, bucket: np.ndarray, frame: pl.DataFrame) -> None:
        """Each row into the bucket of its number."""
        bucket = bucket.astype(np.uint8)  # a byte is sorted by counting
        order = np.argsort(bucket, kind="stable")
        moved = frame.rechunk()[order]  # of a frame in chunks, it would look for the chunk of every row
        self.names, moved.columns = frame.columns, [str(at) for at in range(frame.width)]  # a name may hold anything
        table = moved.to_arrow(compat_level=pl.CompatLevel.oldest())
        if not self.writers:
            self._open(table.schema)
        ends = np.searchsorted(bucket[order], np.arange(self.count + 1))
        for at, writer in enumerate(self.writers):
            if ends[at] < ends[at + 1]:
                writer.write_table(table.slice(int(ends[at]), int(ends[at + 1] - ends[at])))

    def _open(self, schema: Any) -> None:
        import pyarrow.ipc as ipc

        for at in range(self.count):
            self.files.append(open(self.folder / f"bucket-{at:03d}", "wb"))  # noqa: SIM115  # `close` closes them
            self.writers.append(ipc.new_stream(self.files[-1], schema, options=ipc.IpcWriteOptions(compression="lz4")))

    def frames(self) -> Iterator[pl.DataFrame]:
        import pyarrow.ipc as ipc

        for file in self.files:
            with open(file.name, "rb") as handle:
                found = pl.from_arrow(ipc.open_stream(handle).read_all())
            Path(file.name).unlink()
            assert isinstance(found, pl.DataFrame)
            found.columns = self.names
            yield found

    def finish(self) -> None:
        """Nothing is put any more; what the disk refuses of the last rows is told here."""
        for writer, file in zip(self.writers, self.files, strict=True):
            writer.close()
            file.close()

    def close(self) -> None:
        """After a failure too; what a disk refused is not told twice."""
        for file in self.files:
            with suppress(OSError):
                file.close()
