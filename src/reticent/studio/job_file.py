"""The job file: the studio's state.  Every click edits it, comments are kept, and undo and redo are its history.

Edits are made to the file as it is on the disk at that moment, one field at a time, so that two tabs, or a tab and an
editor, do not overwrite each other's work.  A text that was changed elsewhere becomes part of the history.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from difflib import SequenceMatcher
from pathlib import Path
from threading import RLock
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from reticent.errors import DiskError, JobError
from reticent.job.job import Job

MAX_HISTORY = 500  # texts of the job that can be returned to
Key = str | int


class JobFile:
    """A job file on the disk, with its history while the studio runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = RLock()
        self._history: list[str] = []
        self._place = -1  # of the current text in the history
        self._refresh()

    def exists(self) -> bool:
        return self.path.is_file()

    @property
    def text(self) -> str:
        """The text on the disk now; empty where there is none."""
        with self._lock:
            return self._refresh()

    @property
    def digest(self) -> str:
        """A digest of the text, by which results of long work are found again."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def changed_lines(self) -> set[int]:
        """The lines, from 0, that the last edit changed or added."""
        with self._lock:
            text = self._refresh()
            if self._place < 1:
                return set()
            before = self._history[self._place - 1].splitlines()
            matcher = SequenceMatcher(None, before, text.splitlines(), autojunk=False)
            return {
                line
                for operation, _, _, start, end in matcher.get_opcodes()
                if operation in ("insert", "replace")
                for line in range(start, end)
            }

    @property
    def can_undo(self) -> bool:
        return self._place > 0

    @property
    def can_redo(self) -> bool:
        return self._place < len(self._history) - 1

    def read(self) -> Job:
        """Read the job as the command line does.

        Raises:
            JobError: the file is not valid; nothing of it is lost.
        """
        return Job.read(self.path)

    def read_table(self) -> dict[str, Any]:
        """Return the plain content of the file, whether or not it is a whole job yet; empty where it is not valid TOML."""
        try:
            return tomllib.loads(self.text, parse_float=Decimal)
        except (ValueError, ArithmeticError, RecursionError):
            return {}

    @contextmanager
    def edit(self) -> Iterator[tomlkit.TOMLDocument]:
        """Yield the document to be changed; at the end of the block it is written, all or nothing.

        Raises:
            JobError: the file on the disk is not valid TOML, so that no field of it can be changed.
        """
        with self._lock:
            try:
                document = tomlkit.parse(self._refresh())
            except (TOMLKitError, RecursionError) as error:
                raise JobError(
                    "The job file is not valid TOML, so that no field of it can be changed.",
                    why=str(error),
                    attempt="mending the file, or Undo.",
                ) from None
            yield document
            self.write(tomlkit.dumps(document))

    def set_field(self, keys: Sequence[Key], value: Any) -> None:
        """Set one field; tables on the way to it are made.  None removes it."""
        with self.edit() as document:
            set_in_document(document, keys, value)

    def write(self, text: str) -> None:
        """Write a new text, and remember the one before."""
        with self._lock:
            before = self._refresh()
            if text == before and self.exists():
                return
            self._store(text)
            del self._history[self._place + 1 :]
            self._remember(text)

    def undo(self) -> None:
        """Return to the text before the last edit."""
        self._step(-1)

    def redo(self) -> None:
        """Take back the last undo."""
        self._step(1)

    def _step(self, by: int) -> None:
        with self._lock:
            self._refresh()
            if 0 <= self._place + by < len(self._history):
                self._place += by
                self._store(self._history[self._place])

    def _refresh(self) -> str:
        """Return the text on the disk; one that was changed elsewhere is added to the history."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            text = ""
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8"
            raise DiskError(
                f"The job file {self.path.name} cannot be read: {why}.",
                attempt="another file for it (`--job`), or again once it is a text in UTF-8.",
            ) from None
        if self._place < 0 or text != self._history[self._place]:
            del self._history[self._place + 1 :]
            self._remember(text)
        return text

    def _remember(self, text: str) -> None:
        self._history.append(text)
        del self._history[:-MAX_HISTORY]
        self._place = len(self._history) - 1

    def _store(self, text: str) -> None:
        part = self.path.with_name(f".{self.path.name}.part")
        try:
            part.write_text(text, encoding="utf-8")
            os.replace(part, self.path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise DiskError(
                f"The job file {self.path.name} cannot be written: {error.strerror}.",
                attempt="again, once its folder is there and yours to write.",
            ) from None


def set_in_document(document: tomlkit.TOMLDocument, keys: Sequence[Key], value: Any) -> None:
    """Set a field of a document, or remove it where the value is None; tables on the way are made."""
    place: Any = document
    for position, key in enumerate(keys[:-1]):
        if isinstance(place, dict) and key not in place:
            if value is None:
                return
            inside_columns = position >= 1 and keys[0] == "columns"
            place[key] = tomlkit.inline_table() if inside_columns else tomlkit.table()
        place = place[key]
        if not isinstance(place, dict | list):  # a column declared by its role alone: age = "sensitive"
            raise JobError("This field is part of a value that is no table.", attempt="mending the job by hand.")
    last = keys[-1]
    if value is None:
        if isinstance(place, dict):
            place.pop(last, None)
        else:
            del place[last]
    else:
        place[last] = value
