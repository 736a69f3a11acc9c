"""A source that is not what it was when its rows were counted is refused: counts and rows disagree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from reticent.engines.locate import NOWHERE
from reticent.errors import SourceError
from reticent.table.cells import Cells
from reticent.table.stamped import changed as changed


class Tally:
    """Counts the rows of each cell once more, piece by piece, as they are read to be published."""

    def __init__(self, cells: Cells):
        self.cells = cells
        self.seen = np.zeros(len(cells), np.int64)

    def add(self, cell: np.ndarray) -> None:
        """Rows in these cells; one whose combination was not counted is refused at once."""
        if len(cell) and cell.min() <= NOWHERE:
            raise changed()
        self.seen += np.bincount(cell, minlength=len(self.seen))

    def finish(self) -> None:
        """Every cell has the rows that were counted."""
        if not np.array_equal(self.seen, self.cells.counts):
            raise changed()


@contextmanager
def read_again() -> Iterator[None]:
    """Rows that were read once can be read again, unless the source is another, or is gone."""
    try:
        yield
    except SourceError:
        raise changed() from None
