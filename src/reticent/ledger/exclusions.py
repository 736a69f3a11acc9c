"""People who were left out of a release because the ledger knew them (`publish --only-new`), for the owner's audit.

`select_new_people` takes the rows of people out whom some release that counts was made from, by their identifying values,
and rows without any: whose they are nobody can tell. What is published is then no longer all of the source, and an audit
with the source has to leave the same rows out. So the owner's notes have

    left-out.bin     a line of JSON (columns, release, signature), then the hashes of the people, as in `identifiers`

It is signed with the ledger's secret, for the digest of this very release: rows are left out of an audit on nobody
else's word. One that is not signed so, is damaged, or came with the release counts as none.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.columns import Column, Role, find_columns_with_role, has_types
from reticent.data.source import Source, TextRows, collect_frame, open_source
from reticent.errors import AlreadyPublished, ColumnError, RequestError, pluralize
from reticent.ledger.identifiers import NotedColumn, hash_identifiers, normalize_identifiers
from reticent.ledger.journal import SKETCHES_FOLDER
from reticent.ledger.ledger import Ledger
from reticent.ledger.paths import compute_release_digest, list_notes_folders, resolve_ledger_folder
from reticent.ledger.private_files import read_key
from reticent.ledger.witness import MAX_FILE_BYTES, read_regular_file

LEFT_OUT_FILE = "left-out.bin"
MAX_LEFT_OUT_PEOPLE = MAX_FILE_BYTES // 16
DIFFERENCE_SENTENCE = (
    "Who holds this release and earlier ones knows that nobody in it is in those: of a person whom either may hold, being in "
    "the one rules out the other."
)
_PURPOSE = b"reticent left out"


@dataclass(frozen=True, eq=False)
class LeftOutPeople:
    """The people who were left out, by hashes of their identifying values under the ledger's key, ascending."""

    columns: tuple[str, ...]
    hashes: np.ndarray

    def pack(self, key: bytes, digest: str) -> bytes:
        """Return the content of the file, signed for the release with this digest."""
        words = self.hashes.astype("<u8").tobytes()
        fields: dict[str, Any] = {"columns": list(self.columns), "release": digest}
        return json.dumps({**fields, "mac": _sign(key, fields, words)}).encode("ascii") + b"\n" + words

    def select_others(self, rows: pl.LazyFrame, key: bytes) -> SelectedRows:
        """Select the rows of everybody else; rows without any identifying value are no one's, and left out, too."""
        is_known = []
        has_value = []
        for name in self.columns:
            values = _ColumnValues.collect(name, rows, key)
            is_known.append(_is_among(name, values.values.filter(pl.Series(np.isin(values.hashes, self.hashes)))))
            has_value.append(pl.col(name).is_not_null() & ~_is_among(name, values.blank))
        return SelectedRows(rows, pl.any_horizontal(is_known), pl.any_horizontal(has_value))


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Rows, and which of them are of people to be left out, and which have an identifying value."""

    rows: pl.LazyFrame
    is_known: pl.Expr
    has_value: pl.Expr

    @property
    def others(self) -> pl.LazyFrame:
        return self.rows.filter(~self.is_known & self.has_value)

    def count(self) -> tuple[int, int, int]:
        """Count all rows, those of known people, and those without an identifying value."""
        counts = self.rows.select(
            pl.len().alias("rows"), self.is_known.sum().alias("known"), (~self.has_value).sum().alias("missing")
        )
        row = collect_frame(counts, "Looking people up in the ledger").row(0)
        return int(row[0]), int(row[1]), int(row[2])


@dataclass(frozen=True, eq=False)
class _ColumnValues:
    """The distinct values of an identifying column with the hash of each, and those that are blank when normalized."""

    values: pl.Series
    hashes: np.ndarray
    blank: pl.Series

    @classmethod
    def collect(cls, name: str, rows: pl.LazyFrame, key: bytes) -> _ColumnValues:
        distinct = collect_frame(rows.select(pl.col(name).unique()), "Looking people up in the ledger")[
            name
        ].drop_nulls()
        texts = normalize_identifiers(distinct)
        values = distinct.filter(texts.is_not_null())
        return cls(values, hash_identifiers(name, texts.drop_nulls().to_list(), key), distinct.filter(texts.is_null()))


def _is_among(name: str, values: pl.Series) -> pl.Expr:
    """Tell which rows have one of some values of a column."""
    return pl.col(name).is_in(values.implode()).fill_null(False)


@dataclass(frozen=True, eq=False)
class NewPeople:
    """The rows of people whom the ledger does not know; `notices` are sentences for the owner about the others."""

    rows: pl.LazyFrame
    left_out: LeftOutPeople
    notices: tuple[str, ...]


def select_new_people(rows: pl.LazyFrame, columns: Mapping[str, Column], ledger: Ledger) -> NewPeople:
    """Select the rows of people whom no release was made from that the ledger knows and that counts.

    A row is a known person's if any of its identifying values is known; of columns that declare rows per person, if there
    are some, only these count.

    Raises ColumnError without an identifying column, AlreadyPublished if everybody is known.
    """
    names = _list_person_columns(columns)
    key = ledger.ensure_key()
    entries = ledger.read_counting_entries()
    noted = ledger.read_people(entries)
    known_hashes = [
        _find_known(name, rows, [column for entry_columns in noted for column in entry_columns], ledger, key)
        for name in names
    ]
    left_out = LeftOutPeople(tuple(names), np.unique(np.concatenate(known_hashes)))
    selected = left_out.select_others(rows, key)
    row_count, known_count, missing_count = selected.count()
    if row_count and known_count + missing_count == row_count:
        raise AlreadyPublished(
            f"Nobody in this table is new: the ledger knows {pluralize(known_count, 'row')} by "
            f"{_list_names(names)}, and {pluralize(missing_count, 'row')} name nobody.",
            why="--only-new publishes people whom no release was made from.",
            attempt="--again (again=True) to publish them again, if you accept that releases can be joined.",
        )
    unknown = [entry["release"] for entry, entry_columns in zip(entries, noted, strict=True) if not entry_columns]
    return NewPeople(
        selected.others, left_out, _describe_left_out(names, known_count, missing_count, left_out, unknown)
    )


def read_left_out(release: Path) -> tuple[LeftOutPeople, bytes] | None:
    """Return who was left out of a release, and the ledger's key, by the owner's notes; None if nothing is signed so."""
    try:
        key = read_key(resolve_ledger_folder())
    except RequestError:  # there is no ledger, or it has no secret
        return None
    digest = compute_release_digest(release)
    for notes in list_notes_folders(release.absolute()):
        content = read_regular_file(notes / LEFT_OUT_FILE)
        left_out = None if content is None or digest is None else _parse_content(content, key, digest)
        if left_out is not None:
            return left_out, key
    return None


def is_made_without_known_people(release: Any) -> bool:
    """Tell whether the owner's notes say that people were left out of a release."""
    folder = getattr(release, "folder", release)
    if not isinstance(folder, str | Path) or not Path(folder).is_dir():
        return False
    return read_left_out(Path(folder)) is not None


def leave_out_people(release: Any, source: Source, frame: Any) -> Any:
    """Return a frame of the source without the people who were left out of a release; the given frame if nobody was."""
    folder = getattr(release, "folder", release)
    if not isinstance(folder, str | Path) or not Path(folder).is_dir():
        return frame
    found = read_left_out(Path(folder))
    if found is None:
        return frame
    left_out, key = found
    rows = open_source(source, frame, by_pieces=True).rows
    if not set(left_out.columns) <= set(rows.collect_schema().names()):
        return frame  # another table than the one published; the audit tells how it differs
    others = left_out.select_others(rows, key).others
    return others if has_types(source, frame) else TextRows(others)


def _list_person_columns(columns: Mapping[str, Column]) -> list[str]:
    """List the columns that say whose a row is: those that declare it, or all identifying ones."""
    identifying = find_columns_with_role(columns, Role.IDENTIFYING)
    if not identifying:
        raise ColumnError(
            "No column is identifying, and --only-new knows people by one.",
            attempt='role = "identifying" for a column that says whose a row is.',
        )
    return [name for name in identifying if columns[name].rows_per_person is not None] or identifying


def _find_known(name: str, rows: pl.LazyFrame, noted: Sequence[NotedColumn], ledger: Ledger, key: bytes) -> np.ndarray:
    """Find the hashes of a column's values that a release was made from."""
    hashes = np.unique(_ColumnValues.collect(name, rows, key).hashes)
    is_known = np.zeros(len(hashes), bool)
    for column in {column.parts: column for column in noted}.values():
        is_known |= column.find_members(ledger.folder / SKETCHES_FOLDER, hashes)
    return hashes[is_known]


def _describe_left_out(
    names: Sequence[str], known: int, missing: int, left_out: LeftOutPeople, unknown: Sequence[str]
) -> tuple[str, ...]:
    sentences = [f"{pluralize(known, 'row')} of people whom the ledger knows by {_list_names(names)} were left out."]
    if missing:
        sentences.append(f"{pluralize(missing, 'row')} without a value of {_list_names(names)} were left out, too.")
    if unknown:
        sentences.append(
            f"Of {pluralize(len(unknown), 'release')} the ledger knows no people, only rows, such as {unknown[-1]!r}: theirs may "
            "be in this one."
        )
    if known:
        sentences.append(DIFFERENCE_SENTENCE)
    if len(left_out.hashes) > MAX_LEFT_OUT_PEOPLE:
        sentences.append("They are too many for your notes: an audit with the source needs the table without them.")
    return tuple(sentences)


def _list_names(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)


def _sign(key: bytes, fields: Mapping[str, Any], words: bytes) -> str:
    text = json.dumps(dict(fields), sort_keys=True).encode("ascii")
    return hmac.new(key, _PURPOSE + b"\0" + text + b"\0" + words, hashlib.sha256).hexdigest()


def _parse_content(content: bytes, key: bytes, digest: str) -> LeftOutPeople | None:
    """Return what a file says; None unless it is signed with this key for the release with this digest."""
    line, _, words = content.partition(b"\n")
    try:
        stated = json.loads(line)
        mac = stated.pop("mac")
        is_genuine = stated["release"] == digest and hmac.compare_digest(
            _sign(key, stated, words).encode(), str(mac).encode()
        )
        return LeftOutPeople(tuple(stated["columns"]), np.frombuffer(words, "<u8")) if is_genuine else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
