"""The folder that the studio works in: which files it may read and write there, and which it refuses.

A page can ask for any path that a text can say.  `Project.resolve` answers for all of them: a file is in the project's
folder, or was named on the command line; it is no link to somewhere else, and belongs to the user who started the studio.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from reticent.errors import DiskError, RequestError
from reticent.operating_system import belongs_to_other_user

MAX_NAME_LETTERS = 120
TABLE_SUFFIXES = (
    ".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet", ".arrow", ".feather", ".ipc", ".xlsx", ".sav", ".dta", ".sas7bdat",
)  # fmt: skip
_UNUSUAL_LETTERS = re.compile(r"[^\w.-]+")


class Project:
    """A folder, and the files outside it that were named on the command line."""

    def __init__(self, folder: Path, named: Sequence[Path] = ()) -> None:
        self.folder = folder.resolve(strict=True)
        self.named = tuple(path.resolve() for path in named)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def is_release(self) -> bool:
        """Whether the folder is itself a release that somebody received."""
        return (self.folder / "manifest.json").is_file()

    def resolve(self, text: str) -> Path:
        """Return the file or folder of this name, relative to the project's folder.

        Raises:
            RequestError: it lies elsewhere, is a link to elsewhere, or belongs to another user.
        """
        if not text or "\x00" in text or len(text) > 4096:
            raise RequestError("This is not the name of a file.", attempt="a file in the project's folder.")
        try:
            path = (self.folder / text).resolve()
        except (OSError, RuntimeError, ValueError):
            raise RequestError("This is not the name of a file.", attempt="a file in the project's folder.") from None
        if not any(path == allowed or allowed in path.parents for allowed in (self.folder, *self.named)):
            raise RequestError(
                "This file lies outside of the project's folder.",
                why="A page of the studio reads only the folder it was started in, and what was named when it started.",
                attempt="a copy in the folder, or `reticent studio --allow FILE`.",
            )
        self._require_own(path)
        return path

    def describe(self, path: Path) -> str:
        """Return the path as the job says it: relative to the folder where it lies inside."""
        return os.path.relpath(path, self.folder) if path.is_relative_to(self.folder) else str(path)

    def list_tables(self) -> list[Path]:
        """List the files of the folder that may hold a table, and the folders of Parquet files, by name."""
        try:
            entries = [entry for entry in self.folder.iterdir() if not entry.name.startswith(".")]
        except OSError as error:
            raise DiskError(
                f"The project's folder cannot be read: {os.strerror(error.errno or 0).lower()}.",
                attempt="again, once it is there and yours to read.",
            ) from None
        tables = [entry for entry in entries if _may_hold_table(entry) and self._is_own(entry)]
        return sorted(tables, key=lambda entry: entry.name.casefold())

    def list_releases(self) -> list[Path]:
        """List the release folders directly in the project's folder, the newest first."""
        entries = [entry.parent for entry in self.folder.glob("*/manifest.json") if self._is_own(entry.parent)]
        return sorted(entries, key=lambda entry: (entry / "manifest.json").stat().st_mtime, reverse=True)

    def choose_new_name(self, proposed: str) -> Path:
        """Return a path in the folder that does not exist yet, named after a name that a browser proposes."""
        name = _UNUSUAL_LETTERS.sub("_", Path(proposed.replace("\\", "/")).name).lstrip(".")[-MAX_NAME_LETTERS:]
        stem, dot, suffix = (name or "table.csv").partition(".")
        path = self.folder / f"{stem}{dot}{suffix}"
        number = 2
        while os.path.lexists(path):
            path = self.folder / f"{stem}-{number}{dot}{suffix}"
            number += 1
        return path

    def _is_own(self, path: Path) -> bool:
        try:
            self._require_own(path.resolve())
        except RequestError:
            return False
        return any(allowed in path.resolve().parents for allowed in (self.folder, *self.named))

    def _require_own(self, path: Path) -> None:
        try:
            facts = path.stat()
        except FileNotFoundError:
            return  # a file to be made
        except OSError as error:
            raise RequestError(f"This file cannot be looked at: {error.strerror}.") from None
        if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
            raise RequestError("This is neither a file nor a folder.", attempt="a file with a table.")
        if belongs_to_other_user(facts):
            raise RequestError(
                "This file belongs to another user of this machine.", attempt="a copy of your own in the folder."
            )


def _may_hold_table(path: Path) -> bool:
    if path.is_dir():
        is_release = (path / "manifest.json").exists()
        return not is_release and any(path.glob("*.parquet"))
    return path.suffix.lower() in TABLE_SUFFIXES
