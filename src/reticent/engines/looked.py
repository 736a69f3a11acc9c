"""How often the values of a column occur, in bounded memory: values by their hashes, counted, and put on disk where too many.

Two values with one 64-bit hash would be taken for one.  Of 10^8 values that happens once in 4,000 tables, and makes a person's
rows look more than they are, never fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import polars as pl

from reticent.table.repeats import Repeats
from reticent.table.source import is_text

HELD = 1 << 20  # values of one column that are held in memory
PARTS = 64
_RECORD = np.dtype([("hash", "<u8"), ("times", "<i8")])


class Repeated:
    """One column, piece by piece.  `room` makes a folder, when first there are too many values."""

    def __init__(self, room: Callable[[], Path]):
        self.room = room
        self.missing = 0
        self.hashes, self.times = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        self.waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self.pending = 0
        self.folder: Path | None = None

    def add(self, series: pl.Series) -> None:
        self.missing += series.null_count()
        values = series.drop_nulls()
        counted = (values.cast(pl.String) if is_text(values.dtype) else values).alias("value").hash(1).value_counts()
        self.waiting.append((counted.to_series(0).to_numpy(), counted.to_series(1).to_numpy().astype(np.int64)))
        self.pending += len(counted)
        if self.pending > HELD // 4:
            self._merge()
        if len(self.hashes) > HELD:
            self._spill()

    def _merge(self) -> None:
        """What came in since, added to what is held."""
        self.hashes, self.times = _summed([(self.hashes, self.times), *self.waiting])
        self.waiting, self.pending = [], 0

    def _spill(self) -> None:
        """What is held, sorted by its hash, to the disk, in parts by the hash's first bits."""
        if self.folder is None:
            self.folder = self.room()
        record = np.empty(len(self.hashes), _RECORD)
        record["hash"], record["times"] = self.hashes, self.times
        ends = np.searchsorted(self.hashes, np.arange(1, PARTS, dtype=np.uint64) << np.uint64(64 - 6))
        for at, part in enumerate(np.split(record, ends)):
            with open(self.folder / f"part-{at:02d}", "ab") as file:
                file.write(part.tobytes())
        self.hashes, self.times = self.hashes[:0], self.times[:0]

    def found(self) -> Repeats:
        self._merge()
        if self.folder is None:
            return _repeats(self.missing, [self.times])
        self._spill()
        return _repeats(self.missing, (self._part(self.folder / f"part-{at:02d}") for at in range(PARTS)))

    def _part(self, path: Path) -> np.ndarray:
        record = np.fromfile(path, _RECORD)
        path.unlink()
        return _summed([(record["hash"], record["times"])])[1]


def _summed(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Equal hashes added up, in the order of hashes."""
    hashes, times = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(hashes, kind="stable")
    hashes, times = hashes[order], times[order]
    starts = np.flatnonzero(np.diff(hashes, prepend=~hashes[:1]))
    return hashes[starts], np.add.reduceat(times, starts) if len(starts) else times[:0]


def _repeats(missing: int, times: Iterable[np.ndarray]) -> Repeats:
    distinct = once = most = 0
    for part in times:
        distinct += len(part)
        once += int((part == 1).sum())
        most = max(most, int(part.max(initial=0)))
    return Repeats(missing, distinct, once, most)
