"""People by their identifying values: what the ledger keeps of them, so that cleaning a table does not make it forget.

The fingerprint of rows (`fingerprint`) no longer fits when columns are renamed or values recoded; who is in a table does.
Each distinct value of each identifying column is normalized (`normalize_identifiers`) and hashed by BLAKE2b under the
ledger's key, to 64 bits. The column's name is no part of it, so that a renamed column is recognized, except for whole
numbers of up to six digits: row numbers and counters of different registers are the same numbers, and count as the same
people only under the same name.

The hashes of a column are sorted and kept in files of up to four million, beside the sketches of tables:

    ledger-sketches/<mark><part>     64-bit words, ascending; <mark> is a keyed hash of all of them

That is 8 bytes for each person and column. Nobody is forgotten: equal normalized values have equal hashes. Two different
values have equal hashes with a chance of 2^-64, so that among a million people looked up in a ledger of ten million one is
taken for another with a chance of 5 in 10 million.

What makes a table one of the same people is as with rows: it misses at most half of what strangers would miss. Of a column
that is declared to name persons (`rows_per_person`), or that no two rows share, strangers miss everybody. A column of
first names is shared by strangers; how far is estimated from how many of its values occur once (Good and Turing).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.errors import pluralize
from reticent.ledger.private_files import make_unreadable_error

MAX_PART_PEOPLE = 1 << 22
"""Hashes in one file, of 32 MiB: what a journal may hold is limited (`private_files`)."""
MAX_HELD_ROWS = 50_000_000
"""Rows up to which identifying values are noted by an engine that holds the rows in memory anyway."""
MAX_COLLECTED_ROWS = 5_000_000
"""Rows up to which they are noted by an engine that does not."""
MAX_COUNTER_DIGITS = 6
MIN_TELLING_PEOPLE = 20
_HASH_PURPOSE = b"reticent people"
_MARK_PURPOSE = b"reticent mark"
_COUNTER_PATTERN = re.compile(rf"\d{{1,{MAX_COUNTER_DIGITS}}}")
_MARK_PATTERN = re.compile(r"[0-9a-f]{36}")


def normalize_identifiers(values: pl.Series) -> pl.Series:
    """Return each value as the text by which a person is known; null where there is none.

    Texts are compared without case, blanks and punctuation, in Unicode's compatible form (NFKC); whole numbers without
    leading zeros, also where they are written as 12.0; a midnight is its day.
    """
    dtype = values.dtype
    if dtype.is_integer():
        texts = values.cast(pl.String)
    elif dtype == pl.Binary:
        texts = values.bin.encode("hex")
    elif dtype.is_float():
        texts = values.fill_nan(None).cast(pl.String)
    elif dtype.is_nested() or dtype == pl.Object:
        texts = pl.Series([None if value is None else str(value) for value in values.to_list()], dtype=pl.String)
    else:
        texts = values.cast(pl.String)
    if (texts.str.len_bytes() != texts.str.len_chars()).any():
        texts = texts.str.normalize("NFKC")
    texts = (
        texts.str.to_lowercase()
        .str.strip_chars()
        .str.replace(r"[t ]00:00(:00(\.0+)?)?$", "")
        .str.replace(r"^([+-]?\d+)\.0*$", "$1")
        .str.replace_all(r"[^\p{L}\p{N}]", "")
    )
    frame = texts.alias("text").to_frame()
    is_number = pl.col("text").str.contains(r"^0+[0-9]+$")
    shortened = pl.col("text").str.replace(r"^0+([0-9])", "$1")
    normalized = pl.when(is_number).then(shortened).when(pl.col("text") != "").then(pl.col("text"))
    return frame.select(normalized.alias(values.name)).to_series()


def normalize_column_name(name: str) -> str:
    """Return a column's name as it binds counters: `Patient ID` and `patient_id` are the same."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def hash_identifiers(name: str, texts: Iterable[str], key: bytes) -> np.ndarray:
    """Hash normalized values of a column under a ledger's key, in their order."""
    anywhere = hashlib.blake2b(key=key, digest_size=8, person=_HASH_PURPOSE)
    under_name = anywhere.copy()
    under_name.update(normalize_column_name(name).encode() + b"\0")

    def hash_text(text: str) -> bytes:
        state = (under_name if _COUNTER_PATTERN.fullmatch(text) else anywhere).copy()
        state.update(text.encode())
        return state.digest()

    return np.frombuffer(b"".join(map(hash_text, texts)), "<u8")


@dataclass(frozen=True, eq=False)
class IdentifyingColumn:
    """The distinct normalized values of an identifying column, and the rows of each.

    `declared` says that the job declares rows per person for it: then it names persons, however often it repeats.
    """

    name: str
    values: pl.Series
    counts: np.ndarray
    missing: int
    declared: bool

    @classmethod
    def from_counts(cls, name: str, counted: pl.DataFrame, declared: bool) -> IdentifyingColumn:
        """Make one of the counted values of a column: the values, and the number of rows of each."""
        texts = normalize_identifiers(counted.to_series(0))
        merged = (
            pl.DataFrame({"text": texts, "rows": counted.to_series(1).cast(pl.Int64)})
            .group_by("text")
            .agg(pl.col("rows").sum())
        )
        missing = int(merged.filter(pl.col("text").is_null())["rows"].sum())
        present = merged.drop_nulls("text")
        return cls(name, present["text"], present["rows"].to_numpy(), missing, declared)

    def hash_values(self, key: bytes) -> HashedColumn:
        hashes, first = np.unique(hash_identifiers(self.name, self.values.to_list(), key), return_index=True)
        counts = self.counts[first]
        return HashedColumn(self.name, hashes, int(counts.sum()), int((counts == 1).sum()), self.declared)


@dataclass(frozen=True, eq=False)
class Identifiers:
    """The identifying columns of a table; `notices` are sentences for the owner about what the ledger cannot note."""

    columns: tuple[IdentifyingColumn, ...] = ()
    notices: tuple[str, ...] = ()
    _hashed: dict[bytes, tuple[HashedColumn, ...]] = field(default_factory=dict, repr=False)

    def hash_values(self, key: bytes) -> tuple[HashedColumn, ...]:
        """Hash all columns under a ledger's key, once; a column without a value has no part in it."""
        if key not in self._hashed:
            hashed = (column.hash_values(key) for column in self.columns if len(column.values))
            self._hashed[key] = tuple(hashed)
        return self._hashed[key]


NO_IDENTIFIERS = Identifiers()


def collect_identifiers(
    columns: Mapping[str, Column],
    count_values: Callable[[list[str]], pl.DataFrame],
    rows: int,
    max_rows: int = MAX_HELD_ROWS,
) -> Identifiers:
    """Collect the identifying columns of a table of so many rows; `count_values` counts the distinct values of a column.

    Of a table with more than `max_rows` rows nothing is collected, and a notice says so.
    """
    names = find_columns_with_role(columns, Role.IDENTIFYING)
    if names and rows > max_rows:
        return skip_identifiers(f"the table has {rows:,} rows, and values of more than {max_rows:,} are not held here")
    collected = [
        IdentifyingColumn.from_counts(name, count_values([name]), columns[name].rows_per_person is not None)
        for name in names
    ]
    notices = [
        f"The identifying column {column.name!r} is missing in {pluralize(column.missing, 'row')}: the ledger cannot know these "
        "people by it."
        for column in collected
        if column.missing
    ]
    return Identifiers(tuple(collected), tuple(notices))


def skip_identifiers(reason: str) -> Identifiers:
    """Return what stands for identifying columns that are not noted, with a notice of the reason."""
    return Identifiers(
        notices=(
            f"The ledger does not note people by their identifying columns here: {reason}. It knows this release by its "
            "rows alone.",
        )
    )


@dataclass(frozen=True, eq=False)
class HashedColumn:
    """The people of a table by one identifying column: their hashes, ascending, each once.

    `rows` have a value, and `once` people have one row.
    """

    name: str
    hashes: np.ndarray
    rows: int
    once: int
    declared: bool
    _common: dict[tuple[str, ...], int] = field(default_factory=dict, repr=False)

    @property
    def people(self) -> int:
        return len(self.hashes)

    def pack(self, key: bytes, max_part_people: int = MAX_PART_PEOPLE) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return what the ledger's line says of the column, and the content of its files by their names."""
        content = self.hashes.astype("<u8").tobytes()
        mark = hashlib.blake2b(content, key=key, digest_size=16, person=_MARK_PURPOSE).hexdigest()
        size = 8 * max_part_people
        files = {
            f"{mark}{number:04x}": content[start : start + size]
            for number, start in enumerate(range(0, len(content), size))
        }
        line = {
            "column": self.name,
            "people": self.people,
            "rows": self.rows,
            "once": self.once,
            "declared": self.declared,
            "parts": list(files),
        }
        return line, files

    def count_common(self, folder: Path, noted: NotedColumn) -> int:
        """Count the people who are also among those of a column that the ledger has noted."""
        if noted.parts not in self._common:
            self._common[noted.parts] = int(noted.find_members(folder, self.hashes).sum())
        return self._common[noted.parts]


@dataclass(frozen=True, slots=True)
class NotedColumn:
    """What a line of the ledger says of an identifying column of a release."""

    name: str
    people: int
    rows: int
    once: int
    declared: bool
    parts: tuple[str, ...]

    @property
    def strangers(self) -> float:
        """The estimated share of strangers' values that would be among these."""
        return 0.0 if self.declared else 1 - self.once / self.rows

    def read_hashes(self, folder: Path) -> np.ndarray:
        """Read the hashes of all people, ascending; RequestError if a file is missing or damaged."""
        return np.concatenate([_read_part(folder / name) for name in self.parts])

    def find_members(self, folder: Path, hashes: np.ndarray) -> np.ndarray:
        """Tell which of some ascending hashes are among these; `folder` has the ledger's sketches.

        Raises RequestError if a file is missing or damaged. One file is in memory at a time.
        """
        is_member = np.zeros(len(hashes), bool)
        people = 0
        last: int = -1
        for name in self.parts:
            known = _read_part(folder / name)
            if int(known[0]) <= last:
                raise make_unreadable_error(folder / name)
            last = int(known[-1])
            people += len(known)
            start, end = np.searchsorted(hashes, [known[0], known[-1]])
            wanted = hashes[start : end + 1]
            position = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            is_member[start : end + 1] |= known[position] == wanted
        if people != self.people:
            raise make_unreadable_error(folder / self.parts[0])
        return is_member


def read_noted_columns(entry: Mapping[str, Any], ledger_file: Path) -> list[NotedColumn]:
    """Read the identifying columns of a ledger's line; none if an older version wrote it.

    Raises RequestError if the line is damaged.
    """
    try:
        return [_parse_noted_column(stated) for stated in entry.get("people", [])]
    except (KeyError, TypeError, ValueError):
        raise make_unreadable_error(ledger_file) from None


@dataclass(frozen=True, slots=True)
class CommonPeople:
    """How many people of a table are in an earlier release, by the columns that tell the most."""

    column: str
    earlier_column: str
    people: int  # in common
    table_people: int
    share: float  # of the smaller table
    is_near: bool


def compare_people(table: Sequence[HashedColumn], earlier: Sequence[NotedColumn], folder: Path) -> CommonPeople | None:
    """Compare a table's people with those of an earlier release; None if nobody is in both."""
    compared = [_compare_columns(column, noted, folder) for column in table for noted in earlier]
    common = [one for one in compared if one.people]
    return max(common, key=lambda one: (one.is_near, one.share, one.people)) if common else None


def _compare_columns(column: HashedColumn, noted: NotedColumn, folder: Path) -> CommonPeople:
    people = column.count_common(folder, noted)
    smaller = min(column.people, noted.people)
    share = min(people / smaller, 1.0)
    missed_by_strangers = 1 - noted.strangers
    is_telling = missed_by_strangers >= 0.5 or smaller * missed_by_strangers >= MIN_TELLING_PEOPLE
    is_near = is_telling and 1 - share <= missed_by_strangers / 2
    return CommonPeople(column.name, noted.name, people, column.people, share, is_near)


def _read_part(path: Path) -> np.ndarray:
    """Read a file of hashes; RequestError unless it has some, in ascending order."""
    try:
        size = path.stat().st_size
        if not 0 < size <= 8 * MAX_PART_PEOPLE or size % 8:
            raise make_unreadable_error(path)
        known = np.fromfile(path, "<u8")
    except OSError:
        raise make_unreadable_error(path) from None
    if not (known[1:] > known[:-1]).all():
        raise make_unreadable_error(path)
    return known


def _parse_noted_column(stated: Mapping[str, Any]) -> NotedColumn:
    """Parse what a line says of a column; raises KeyError, TypeError or ValueError unless it is one of ours."""
    people = stated["people"]
    rows = stated["rows"]
    once = stated["once"]
    parts = tuple(stated["parts"])
    if not isinstance(stated["column"], str) or not isinstance(stated["declared"], bool):
        raise ValueError
    if not all(type(number) is int for number in (people, rows, once)) or not 0 <= once <= people <= rows:
        raise ValueError
    if not parts or not all(isinstance(part, str) and _MARK_PATTERN.fullmatch(part) for part in parts):
        raise ValueError
    return NotedColumn(stated["column"], people, rows, once, stated["declared"], parts)
