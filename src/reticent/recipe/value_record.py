"""Record of the value of each published row, made while rows are written, where the release does not link values to rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from reticent.format.row_batches import BatchColumn, RowBatch, RowBatches


@dataclass(frozen=True, eq=False)
class RecordedPieces:
    """Batches of rows that pass through unchanged, while the value of each row's entry (`of_entry`) is recorded."""

    pieces: RowBatches
    of_entry: np.ndarray
    _parts: list[np.ndarray] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return self.pieces.rows

    @property
    def beside(self) -> Mapping[str, BatchColumn]:
        return self.pieces.beside

    def __iter__(self) -> Iterator[RowBatch]:
        for piece in self.pieces:
            self._parts.append(self.of_entry[piece.entry])
            yield piece

    def to_bytes(self) -> bytes:
        """Return the values of all rows, in the order in which they were written."""
        return b"".join(part.tobytes() for part in self._parts)


def number_by_appearance(listed: np.ndarray, values: int) -> np.ndarray:
    """Number all `values` by where they first appear among those `listed`; those that do not appear come last."""
    first = np.full(values, len(listed), np.int64)
    first[listed[::-1]] = np.arange(len(listed) - 1, -1, -1)
    numbers = np.empty(values, np.int64)
    numbers[np.argsort(first, kind="stable")] = np.arange(values)
    return numbers
