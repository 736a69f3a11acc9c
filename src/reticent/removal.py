"""Removal of people from a table: a source and a job without them, and what differencing tells about them.

`forget` writes the rows of a job's table without those of some people. Publishing again without them does not take back
what is out, and the difference between an earlier release and a new one is about the people who were removed: who has
both counts the sensitive values of each and subtracts. If an earlier release has all rows of this very table, and shows
sensitive values as they are, the difference is exactly the values of the removed rows. `forget` counts, for each such
release, what that tells (`ReleaseDifference`).

Identifiers are compared in the ledger's normalized form. They are never shown: people are named by their positions.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue, operating_system, registry
from reticent.data.columns import Column, Role, find_columns_with_role, has_types, recode_values, resolve_columns
from reticent.data.parsing import parse_dates, parse_numbers
from reticent.data.source import Source, collect_frame, open_source, with_spellings
from reticent.errors import ColumnError, OutputExists, RequestError, pluralize
from reticent.format.folder import translate_disk_errors
from reticent.job.job import Job
from reticent.job_table import read_and_count, scan_job_source
from reticent.ledger import staging
from reticent.ledger.fingerprint import CountedRows
from reticent.ledger.identifiers import normalize_identifiers
from reticent.ledger.ledger import Ledger
from reticent.ledger.private_files import PRIVATE_FILE_MODE
from reticent.ledger.release_desk import KnownRelease, find_people
from reticent.release.kind import reader_for
from reticent.validation import flag, is_job, is_ledger, names, optional, path, validate_arguments

SOURCE_SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True, slots=True)
class ReleaseDifference:
    """What an earlier release and one without the removed people tell together, about these.

    `certain` of the removed rows have their sensitive value told for certain, and `half` a value that is believed at .5 or
    more; both are None where they were not counted, and `reason` says why.
    """

    release: KnownRelease
    certain: int | None
    half: int | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "release": self.release.release,
            "folder": self.release.folder,
            "digest": self.release.digest,
            "certain": self.certain,
            "half": self.half,
            "says": self.reason,
        }


@dataclass(frozen=True, slots=True)
class RemovalOutcome:
    """A source without some people: the files that were written, and what was removed.

    `not_found` are the positions, from 1, of identifiers that the table does not have. `set_aside` counts broken lines of
    the source: they are not in the new one, and nobody was looked for in them.
    """

    source: Path
    job: Path | None
    rows: int
    removed_rows: int
    persons: int
    not_found: tuple[int, ...]
    differences: tuple[ReleaseDifference, ...]
    set_aside: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as `reticent forget --json` prints it."""
        return {
            "source": str(self.source),
            "job": None if self.job is None else str(self.job),
            "rows": self.rows,
            "removed_rows": self.removed_rows,
            "persons": self.persons,
            "not_found": list(self.not_found),
            "set_aside": self.set_aside,
            "differences": [difference.to_dict() for difference in self.differences],
        }


@validate_arguments(
    job=is_job,
    persons=names,
    to=path,
    job_to=optional(path),
    force=flag,
    ledger=optional(is_ledger),
)
def forget(
    job: Job,
    persons: Sequence[str],
    to: str | Path,
    *,
    frame: Any = None,
    job_to: str | Path | None = None,
    force: bool = False,
    ledger: Ledger | str | Path | None = None,
) -> RemovalOutcome:
    """Write a job's source without the rows of some people, and say what differencing tells about them.

    Parameters:
        job: the job; its identifying columns say whose a row is.
        persons: the people's identifiers, by any identifying column.
        to: the file to write, a CSV or, from a source with types, Parquet.
        frame: the table, if the job has no source.
        job_to: where to write the job with the new source.
        force: overwrite existing files.
        ledger: the folder of the ledger, instead of RETICENT_LEDGER or the user's own.

    Raises ColumnError if the job has no identifying column, RequestError if nobody of these people is in the table,
    OutputExists if a file is there.
    """
    target = Path(to)
    job_target = None if job_to is None else Path(job_to)
    for output in (target, *([] if job_target is None else [job_target])):
        _require_free_file(output, force)
    is_typed = has_types(job.source, frame)
    _require_suffix(target, is_typed)
    scan = open_source(with_spellings(replace(job.source, missing=()), ()), frame)
    table = collect_frame(scan.rows, "Reading the rows")
    columns = resolve_columns(job.columns, table.columns, "drop")
    removal = _select_rows(table, columns, persons)
    if not removal.is_removed.any():
        raise RequestError(
            f"None of {pluralize(len(persons), 'person')} is in the table.",
            why=f"Looked up in {', '.join(repr(name) for name in find_columns_with_role(columns, Role.IDENTIFYING))}.",
            attempt="identifiers as these columns have them, a line each.",
        )
    kept = table.filter(~removal.is_removed)
    if not len(kept):
        raise RequestError("Nobody would be left in the table.", attempt="fewer people, or publishing nothing.")
    differences = _measure_differences(job, frame, persons, removal.is_removed, ledger)
    with ExitStack() as stack:
        staged_table = stack.enter_context(staging.stage_file(target, only_new=not force))
        if job_target is not None:
            new_job = job.at(source=_make_source(job.source, target))
            staged_job = stack.enter_context(staging.stage_file(job_target, only_new=not force))
            staged_job.write_text(new_job.to_toml(), encoding="utf-8", newline="\n")
        _write_table(staged_table, kept)
    return RemovalOutcome(
        target,
        job_target,
        len(kept),
        int(removal.is_removed.sum()),
        removal.persons,
        removal.not_found,
        differences,
        sum(broken.count for broken in scan.broken),
    )


@dataclass(frozen=True, eq=False)
class _SelectedRows:
    is_removed: pl.Series
    persons: int
    not_found: tuple[int, ...]


def _select_rows(table: pl.DataFrame, columns: dict[str, Column], persons: Sequence[str]) -> _SelectedRows:
    """Select the rows of some people, by any identifying column."""
    identifying = find_columns_with_role(columns, Role.IDENTIFYING)
    if not identifying:
        raise ColumnError(
            "No column is identifying: nothing says whose a row is.", attempt='role = "identifying" for one that does.'
        )
    wanted = normalize_identifiers(pl.Series(list(persons), dtype=pl.String))
    is_removed = pl.repeat(False, len(table), eager=True)
    present: set[str] = set()
    for name in identifying:
        texts = normalize_identifiers(table[name])
        is_match = texts.is_in(wanted.drop_nulls().to_list()).fill_null(False)
        present |= set(texts.filter(is_match).to_list())
        is_removed = is_removed | is_match
    not_found = [position for position, text in enumerate(wanted.to_list(), 1) if text not in present]
    return _SelectedRows(is_removed, len(persons) - len(not_found), tuple(not_found))


def _measure_differences(
    job: Job, frame: Any, persons: Sequence[str], is_removed: pl.Series, ledger: Ledger | str | Path | None
) -> tuple[ReleaseDifference, ...]:
    """Measure what each release that holds the people tells about them, beside one without them."""
    book = Ledger.open(ledger)
    concerned = {
        known_release.identity: known_release
        for known in find_people(persons, ledger=book).releases
        for known_release in known
        if known_release.counts
    }
    if not concerned:
        return ()
    declared = _read_declared_rows(job, frame, is_removed, book.ensure_key())
    return tuple(
        _measure_difference(known_release, declared, int(is_removed.sum())) for known_release in concerned.values()
    )


@dataclass(frozen=True, eq=False)
class _DeclaredRows:
    """The job's table as it would be published: its mark in the ledger, and by column the sensitive values of removed rows."""

    mark: str
    removed: dict[str, list[Any]]


def _read_declared_rows(job: Job, frame: Any, is_removed: pl.Series, key: bytes) -> _DeclaredRows | None:
    """Read the rows with what the columns declare (formats, spellings, bounds); None where the job cannot read them."""
    engine = registry.load_engine(catalogue.DEFAULT_ENGINE)
    try:
        rows, columns = scan_job_source(job, frame, engine)
        sensitive = engine.cast(rows, columns).select(find_columns_with_role(columns, Role.SENSITIVE))
        frame_of_removed = collect_frame(sensitive, "Reading the rows").filter(is_removed)
        removed = {
            name: _list_recoded(name, columns[name], frame_of_removed[name]) for name in frame_of_removed.columns
        }
        counted = read_and_count(engine, job, frame)[2]
    except RequestError:
        return None
    mark = CountedRows(counted.combinations, counted.multiplicity).hash_values(key).content.mark
    return _DeclaredRows(mark, removed)


def _list_recoded(name: str, column: Column, values: pl.Series) -> list[Any]:
    """List a sensitive column's values as they are published: rounded, and none beyond a bound."""
    if column.round_to is None and column.top is None and column.bottom is None:
        return values.to_list()
    parse = parse_dates if isinstance(column.top or column.bottom, str) else parse_numbers
    distinct = values.drop_nulls().unique()
    recoded = dict(zip(distinct.to_list(), recode_values(name, column, parse(name, distinct)).to_list(), strict=True))
    return [recoded.get(value) for value in values.to_list()]


def _measure_difference(release: KnownRelease, declared: _DeclaredRows | None, removed_rows: int) -> ReleaseDifference:
    """Count what the difference between a release and one without the removed rows tells about these."""
    rows = pluralize(removed_rows, "removed row")
    reason = _explain_uncounted(release, declared, rows)
    if declared is None or reason:
        return ReleaseDifference(release, None, None, reason)
    removed = declared.removed
    if not removed:
        return ReleaseDifference(release, 0, 0, "There is no sensitive column whose values a difference could tell.")
    values = list(removed.values())
    counts_by_column = [Counter(column_values) for column_values in values]
    certain = 0
    half = 0
    for row_values in zip(*values, strict=True):
        most = max(
            counts[value] for counts, value in zip(counts_by_column, row_values, strict=True)
        )  # by the column that tells the most of the row
        certain += most == removed_rows
        half += 2 * most >= removed_rows
    reason = (
        f"If the new release withholds nobody, who has both subtracts their counts and has the values of {rows}: {certain:,} of them for "
        f"certain, {half:,} at .5 or more."
    )
    return ReleaseDifference(release, certain, half, reason)


def _explain_uncounted(release: KnownRelease, declared: _DeclaredRows | None, rows: str) -> str:
    """Explain why what a difference tells is not counted; empty if it can be."""
    if release.kind is None or release.withheld is None:
        return "An older version published it and recorded too little; not counted."
    if not getattr(reader_for(release.kind), "shows_each_value", False):
        return f"It is {release.kind}: its values are not those of people one by one, and were not subtracted; not counted."
    if release.withheld:
        return (
            f"It withholds {pluralize(release.withheld, 'row')}, so that its difference from a new release is {rows} among those; "
            "not counted."
        )
    if declared is None:
        return "The table cannot be read as the job declares its columns (`reticent check` says why); not counted."
    if release.content != declared.mark:
        return (
            "It was made from other rows than this table, or the job declares other columns, so that its difference from a new release "
            f"is not known to be {rows} alone; not counted."
        )
    return ""


def _require_free_file(target: Path, force: bool) -> None:
    if target.is_dir() or (os.path.lexists(target) and not force):
        raise OutputExists(f"{target} exists.", attempt="another name, or --force (force=True) for a file.")


def _require_suffix(target: Path, is_typed: bool) -> None:
    """Require a format that keeps the values as the source has them."""
    if target.suffix.lower() not in SOURCE_SUFFIXES:
        raise RequestError(f"{target} is no {' or '.join(SOURCE_SUFFIXES)} file.", attempt="a name that ends so.")
    if is_typed != (target.suffix.lower() == ".parquet"):
        why = (
            "The source has types, which a CSV would lose."
            if is_typed
            else "The source is a CSV: types would be guessed otherwise."
        )
        raise RequestError(
            f"{target} would be read otherwise than the source.",
            why=why,
            attempt=f"a name that ends with {'.parquet' if is_typed else '.csv'}.",
        )


def _write_table(staged: Path, table: pl.DataFrame) -> None:
    """Write a table that only its owner can read, as the source should be."""
    with translate_disk_errors(staged):
        if staged.suffix.lower() == ".csv":
            table.write_csv(staged)
        else:
            table.write_parquet(staged)
        operating_system.set_mode(staged, PRIVATE_FILE_MODE)


def _make_source(source: Source, target: Path) -> Source:
    """Return how the new file is read: as the old one, in the CSV that is written here."""
    return Source(path=os.path.abspath(target), missing=source.missing, empty=source.empty)
