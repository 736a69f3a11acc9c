"""Detects a source that is written to while it is published, by the file system's data on its files before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.data.files import resolve_files
from reticent.data.source import Source
from reticent.errors import SourceError


@dataclass(frozen=True)
class ChangeStamp:
    """File system data of a source's files.

    Carried columns are in no cell and are read in an earlier pass than the one that publishes them, so a change
    between the passes must be detected.
    """

    files: dict[Path, tuple[int, ...]]

    @classmethod
    def read(cls, source: Source | None) -> ChangeStamp:
        """Read the stamp of a source; it is empty for a frame, a database and a file that does not exist."""
        if source is None or source.path is None or source.url is not None:
            return cls({})
        try:
            return cls({path: _read_file_stamp(path) for path in resolve_files(source.path).paths})
        except (SourceError, OSError):
            return cls({})  # reading it reports what is wrong

    def require_unchanged(self) -> None:
        """Refuse a source of which a file has changed or is gone."""
        try:
            is_unchanged = all(_read_file_stamp(path) == stamp for path, stamp in self.files.items())
        except OSError:
            is_unchanged = False
        if not is_unchanged:
            raise make_source_changed_error()

    @contextmanager
    def guard_passthrough(self, columns: Mapping[str, Column]) -> Iterator[None]:
        """Run a block that reads carried columns again; require afterwards that the files have not changed."""
        yield
        if find_columns_with_role(columns, Role.INSENSITIVE):
            self.require_unchanged()


def make_source_changed_error() -> SourceError:
    """Make the error for a source whose rows are not those that were counted."""
    return SourceError(
        "The source changed while it was published, or is gone.",
        why="Its rows were counted first and read again to be published, and the two do not agree.",
        attempt="publishing when nobody writes to it, or a copy of it.",
    )


def _read_file_stamp(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
