"""A source that is not what it was when its rows were counted is refused: counts and rows disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reticent.engines.locate import NOWHERE
from reticent.errors import SourceError
from reticent.table.cells import Cells
from reticent.table.roles import Column, Role, with_role
from reticent.table.several import files_of
from reticent.table.source import Source


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


@dataclass(frozen=True)
class Stamp:
    """What the disk says of a source's files: carried columns are in no cell, and were looked at in an earlier pass."""

    files: dict[Path, tuple[int, ...]]

    @classmethod
    def of(cls, source: Source | None) -> Stamp:
        """Of a frame, a database and a file that is not there, nothing."""
        if source is None or source.path is None or source.url is not None:
            return cls({})
        try:
            return cls({path: _told(path) for path in files_of(source.path).paths})
        except (SourceError, OSError):
            return cls({})  # whoever reads it says what is wrong

    @contextmanager
    def unchanged(self, columns: Mapping[str, Column]) -> Iterator[None]:
        """What is carried is read again in here: refused where a file is not what it was; or where it is gone."""
        yield
        try:
            same = all(_told(path) == told for path, told in self.files.items())
        except OSError:
            same = False
        if not same and with_role(columns, Role.INSENSITIVE):
            raise changed()


def _told(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def read_again() -> Iterator[None]:
    """Rows that were read once can be read again, unless the source is another, or is gone."""
    try:
        yield
    except SourceError:
        raise changed() from None


def changed() -> SourceError:
    return SourceError(
        "The source changed while it was published, or is gone.",
        why="Its rows were counted first and read again to be published, and the two do not agree.",
        attempt="publishing when nobody writes to it, or a copy of it.",
    )
