"""The first rows of a source, read within a request: of a text file its beginning alone, of other files what their format allows.

A database and a spreadsheet cannot be read in part without waiting, so that their rows are shown where the steward asks.
"""

from __future__ import annotations

import gzip
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from reticent.data import source as sources
from reticent.data.database import build_select
from reticent.data.files import CSV_SUFFIXES, EXCEL_SUFFIXES, STATISTICS_READERS, open_text, resolve_files
from reticent.data.source import Source
from reticent.errors import ReticentError, SourceError

HEAD_BYTES = 256 * 1024  # of a text file
ROW_CHOICES = (5, 20, 50)
MAX_VALUE_LETTERS = 60
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
MAX_WAITED_BYTES = 20 * 2**20  # of a file that has to be read whole


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows as texts; None where a value is missing."""

    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


def can_be_read_now(source: Source) -> bool:
    """Tell whether the first rows can be read within a request."""
    if source.url is not None or source.path is None:
        return False
    files = resolve_files(source.path)
    if files.suffix in EXCEL_SUFFIXES or files.suffix in STATISTICS_READERS:
        return files.paths[0].stat().st_size <= MAX_WAITED_BYTES
    return True


def read_first_rows(source: Source, count: int) -> FirstRows:
    """Read the first rows of a source.

    Raises:
        ReticentError: the source cannot be read so.
    """
    try:
        if source.path is not None and (files := resolve_files(source.path)).suffix in CSV_SUFFIXES:
            return _read_text_head(source, files.paths[0], count)
        if source.url is not None:
            statement = build_select(source.table, source.query).rstrip().rstrip(";")
            limited = replace(source, table=None, query=f"SELECT * FROM ({statement}\n) AS head LIMIT {count}")
            return _collect(sources.open_source(limited).rows, count)
        return _collect(sources.open_source(source, by_pieces=True).rows, count)
    except ReticentError:
        raise
    except (OSError, EOFError, gzip.BadGzipFile, pl.exceptions.PolarsError) as error:
        why = getattr(error, "strerror", None) or "its format is damaged"
        raise SourceError(f"The first rows cannot be read: {why}.", attempt="another file.") from None


def mask_value(value: str | None) -> str | None:
    """Return a value of which its shape alone is seen: letters become x and digits 9."""
    if value is None:
        return None
    return _LETTER.sub("x", _DIGIT.sub("9", value))


def _read_text_head(source: Source, path: Path, count: int) -> FirstRows:
    with open_text(path, source.encoding) as handle:
        head = handle.read(HEAD_BYTES)
    if len(head) == HEAD_BYTES and b"\n" in head:
        head = head[: head.rindex(b"\n") + 1]
    suffix = next((suffix for suffix in path.suffixes if suffix not in (".gz", ".zst")), ".csv")
    with tempfile.TemporaryDirectory(prefix="reticent-studio-") as folder:
        part = Path(folder) / f"head{suffix}"
        part.write_bytes(head)
        part_source = replace(source, path=str(part), encoding="utf-8", broken="set-aside")
        return _collect(sources.open_source(part_source).rows, count)


def _collect(rows: Any, count: int) -> FirstRows:
    frame = sources.collect_frame(rows.head(count), "Reading the first rows")
    texts = [
        tuple(None if value is None else shorten(str(value)) for value in column.to_list())
        for column in frame.get_columns()
    ]
    return FirstRows(tuple(frame.columns), tuple(zip(*texts, strict=True)) if len(frame) else ())


def shorten(text: str) -> str:
    return text if len(text) <= MAX_VALUE_LETTERS else text[: MAX_VALUE_LETTERS - 1] + "…"
