"""Assigns an entry of the recipe to each row in bounded memory: rows are ordered within their cells by a sort on disk.

A row whose cell has one entry needs no rank.  `RowRanker` writes the others to buckets by where they are expected in
the order of (cell, PRF(key, position)): the cell's first rank, and as much of its rows as the word is of 2^64.  That
place is monotone in the order, so buckets sorted one by one give every row its rank, the same that sorting everything
would.

`DiskBuckets` holds rows of a frame in numbered buckets on disk, which are read back bucket by bucket.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.kernels.group_order import order_by_group
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe

BUCKET_BYTES = 1 << 26  # bytes that a bucket should take in memory
MAX_BUCKETS = 256  # files that are open at once
SORT_BUCKET_ROWS = 1 << 21  # rows that are sorted at once
MAX_RANK_FILES = 256  # files that are open at once
_RANK_RECORD = np.dtype([("cell", "<i4"), ("word", "<u8"), ("row", "<i8")])


def choose_bucket_count(rows: int, size: float, bucket_bytes: int = BUCKET_BYTES) -> int:
    """Choose the number of buckets, a power of two, for rows of this size in bytes."""
    needed = max(-(-int(rows * size) // bucket_bytes), 1)
    return min(1 << (needed - 1).bit_length(), MAX_BUCKETS)


class DiskBuckets:
    """Buckets on disk: `begin` with a number of them, `put_rows`, `finish`, then read the `frames`; each is removed once it is read."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.count = 0
        self.names: list[str] = []
        self.files: list[Any] = []
        self.writers: list[Any] = []

    def begin(self, count: int) -> None:
        """Set the number of buckets, a power of two, once the size of a row is known."""
        self.folder.mkdir(exist_ok=True)
        self.count = count

    def put_rows(self, bucket: np.ndarray, frame: pl.DataFrame) -> None:
        """Put each row into the bucket of its number."""
        bucket = bucket.astype(np.uint8)  # a byte is sorted by counting
        order = np.argsort(bucket, kind="stable")
        moved = frame[order]
        self.names = frame.columns
        moved.columns = [str(number) for number in range(frame.width)]  # a name may hold anything
        table = moved.to_arrow(compat_level=pl.CompatLevel.oldest())
        if not self.writers:
            self._open(table.schema)
        ends = np.searchsorted(bucket[order], np.arange(self.count + 1))
        for number, writer in enumerate(self.writers):
            if ends[number] < ends[number + 1]:
                writer.write_table(table.slice(int(ends[number]), int(ends[number + 1] - ends[number])))

    def _open(self, schema: Any) -> None:
        import pyarrow.ipc as ipc

        for number in range(self.count):
            self.files.append(open(self.folder / f"bucket-{number:03d}", "wb"))  # noqa: SIM115  # `close` closes them
            self.writers.append(ipc.new_stream(self.files[-1], schema, options=ipc.IpcWriteOptions(compression="lz4")))

    def frames(self) -> Iterator[pl.DataFrame]:
        import pyarrow.ipc as ipc

        for file in self.files:
            with open(file.name, "rb") as handle:
                frame = pl.from_arrow(ipc.open_stream(handle).read_all())
            Path(file.name).unlink()
            assert isinstance(frame, pl.DataFrame)
            frame.columns = self.names
            yield frame

    def finish(self) -> None:
        """End writing; a disk error on the last rows is raised here."""
        for writer, file in zip(self.writers, self.files, strict=True):
            writer.close()
            file.close()

    def close(self) -> None:
        """Close the files, after a failure too; a disk error is not raised again."""
        for file in self.files:
            with suppress(OSError):
                file.close()


def group_entries_by_cell(recipe: Recipe) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of entries of each cell, and the entries in the order of their cells."""
    entry_counts = np.bincount(recipe.cell, minlength=len(recipe.cells))
    order = np.empty(len(recipe.cell), np.int32)
    order_by_group(
        np.arange(len(order), dtype=np.int32),
        recipe.cell.astype(np.int32),
        np.cumsum(entry_counts) - entry_counts,
        order,
    )
    return entry_counts, order


def order_by_word(cell: np.ndarray, word: np.ndarray) -> np.ndarray:
    """Return the order of rows by cell and, within one, by word: cells and as many bits of the words as fit 63 are sorted together."""
    bits = int(cell.max(initial=0)).bit_length()
    key = (cell.astype(np.int64) << (63 - bits)) | (word >> np.uint64(bits + 1)).astype(np.int64)
    order = np.argsort(key)
    ties = find_ties(key[order])  # words that differ in their last bits alone
    rows = order[ties]
    order[ties] = rows[np.lexsort((rows, word[rows], cell[rows]))]
    return order


def find_ties(ascending: np.ndarray) -> np.ndarray:
    """Find the places in sorted numbers where the one before or the one after is equal."""
    is_equal = np.zeros(len(ascending) + 1, bool)
    is_equal[1:-1] = ascending[1:] == ascending[:-1]
    return np.flatnonzero(is_equal[1:] | is_equal[:-1])


class RowRanker:
    """Ranks rows: `take` cells of rows in their order, then `settle`, then get the `entries` that were left open."""

    def __init__(self, recipe: Recipe, rng: Random, folder: Path, bucket_rows: int = SORT_BUCKET_ROWS):
        self.rng = rng
        self.folder = folder
        entries, by_cell = group_entries_by_cell(recipe)
        self.only = by_cell[(np.cumsum(entries) - 1).clip(0)]  # the one entry of a cell that has one
        self.shared = entries > 1
        counts = np.where(self.shared, recipe.cells.counts, 0)
        self.counts = counts
        self.first = np.cumsum(counts) - counts
        self.open = by_cell[self.shared[recipe.cell[by_cell]]]
        self.until = np.cumsum(recipe.quota[self.open])
        self.rows = int(counts.sum())  # that need a rank
        self.bucket = max(bucket_rows, -(-self.rows // MAX_RANK_FILES), 1)
        names = [folder / f"ranks-{number:03d}" for number in range(-(-self.rows // self.bucket))]
        self.files = [open(name, "wb") for name in names]  # noqa: SIM115  # `close` closes them
        self.position = 0
        self.requested = 0
        self.settled: np.ndarray | None = None

    def take(self, cell: np.ndarray) -> np.ndarray:
        """Return the entry of each row, or, if it is not known yet, -1 less the row's number among such rows."""
        entries = self.only[cell].astype(np.int64)
        rows = np.flatnonzero(self.shared[cell])
        if len(rows):
            words = self.rng.words("rank", self.position, len(cell))[rows]
            number = np.arange(self.requested, self.requested + len(rows))
            entries[rows] = -1 - number
            self._write_records(cell[rows], words, number)
            self.requested += len(rows)
        self.position += len(cell)
        return entries

    def _write_records(self, cell: np.ndarray, word: np.ndarray, row: np.ndarray) -> None:
        cell_rows = self.counts[cell]
        row_share = np.minimum((word.astype(np.float64) * (cell_rows / 2.0**64)).astype(np.int64), cell_rows - 1)
        bucket = ((self.first[cell] + row_share) // self.bucket).astype(np.uint8)  # a byte is sorted by counting
        record = np.empty(len(cell), _RANK_RECORD)
        record["cell"] = cell
        record["word"] = word
        record["row"] = row
        order = np.argsort(bucket, kind="stable")
        record = record[order]
        ends = np.searchsorted(bucket[order], np.arange(len(self.files) + 1))
        for number, file in enumerate(self.files):
            if ends[number] < ends[number + 1]:
                file.write(record[ends[number] : ends[number + 1]].tobytes())

    def settle(self) -> None:
        """Rank the rows, bucket by bucket; refuse unless every cell got the rows that were counted."""
        for file in self.files:
            file.close()  # a disk error on the last rows is raised here
        if not self.files:
            return
        with open(self.folder / "entries", "wb") as file:  # flushed, so that a full disk raises here
            for start in range(0, self.rows, self.bucket):
                file.write(bytes(4 * (min(start + self.bucket, self.rows) - start)))
        self.settled = np.memmap(self.folder / "entries", np.int32, "r+", shape=(self.rows,))
        before = 0
        for file in self.files:
            record = np.fromfile(file.name, _RANK_RECORD)
            Path(file.name).unlink()
            order = order_by_word(record["cell"], record["word"])
            place = np.searchsorted(self.until, np.arange(before, before + len(record)), side="right")
            self.settled[record["row"][order]] = self.open[place]
            before += len(record)

    def entries(self, taken: np.ndarray) -> np.ndarray:
        """Return what `take` returned, with every entry known."""
        if self.settled is None:
            return taken
        unknown = np.flatnonzero(taken < 0)
        complete = taken.copy()
        complete[unknown] = self.settled[-1 - taken[unknown]]
        return complete

    def close(self) -> None:
        """Close the files, after a failure too; a disk error is not raised again."""
        for file in self.files:
            with suppress(OSError):
                file.close()
