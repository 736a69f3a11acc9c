"""A source that is written to while it is published: what the disk says of its files before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reticent.errors import SourceError
from reticent.table.roles import Column, Role, with_role
from reticent.table.several import files_of
from reticent.table.source import Source


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

    def refuse_changed(self) -> None:
        """Where a file is not what it was, or is gone."""
        try:
            same = all(_told(path) == told for path, told in self.files.items())
        except OSError:
            same = False
        if not same:
            raise changed()

    @contextmanager
    def unchanged(self, columns: Mapping[str, Column]) -> Iterator[None]:
        """What is carried is read again in here."""
        yield
        if with_role(columns, Role.INSENSITIVE):
            self.refuse_changed()


def _told(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def changed() -> SourceError:
    return SourceError(
        "The source changed while it was published, or is gone.",
        why="Its rows were counted first and read again to be published, and the two do not agree.",
        attempt="publishing when nobody writes to it, or a copy of it.",
    )
