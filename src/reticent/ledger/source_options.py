"""Reads the source of a release as `publish` read it: by the job, by the owner's job, or by options.

The owner's job is in the notes beside the release. The texts that mean missing, the delimiter, the encoding and the
query decide what a value is. A source that is read in another way differs from its own release, and a good release
would be reported as broken.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent.catalogue.job_fields import SOURCE_FIELDS
from reticent.data.columns import Column
from reticent.data.source import Source, TextRows, collect_frame, scan_source, with_spellings
from reticent.data.spellings import Spellings, collect_spellings
from reticent.errors import SourceError, pluralize
from reticent.ledger.exclusions import leave_out_people
from reticent.ledger.paths import list_notes_folders
from reticent.redaction import is_address

JOB_FILE = "job.toml"


def read_owner_source(release: Any) -> Source | None:
    """Read the source in the owner's job of a release; None if there is no such job."""
    text = getattr(release, "job_text", None) or _read_owner_job(getattr(release, "folder", release))
    if text is None:
        return None
    try:
        job = tomllib.loads(text)
        given = job.get("source", {})
        options = {name: given[name] for name in SOURCE_FIELDS if name in given}
        return with_spellings(Source(**options), collect_spellings(job.get("columns", {})))
    except (tomllib.TOMLDecodeError, AttributeError, SourceError, TypeError):
        return None  # a damaged note is ignored


def read_owner_person_columns(release: Any) -> tuple[str, ...]:
    """List columns for which the owner's job of a release declares rows per person; none if there is no such job."""
    text = getattr(release, "job_text", None) or _read_owner_job(getattr(release, "folder", release))
    if text is None:
        return ()
    try:
        columns = tomllib.loads(text).get("columns", {})
        return tuple(
            name for name, column in columns.items() if isinstance(column, Mapping) and "rows_per_person" in column
        )
    except (tomllib.TOMLDecodeError, AttributeError):
        return ()  # a damaged note is ignored


def find_person_columns(
    release: Any, columns: Mapping[str, Column] | None = None, given: Iterable[str] | None = None
) -> tuple[str, ...]:
    """List the columns that identify a row's person.

    They are those given, or those that the columns' roles or the owner's job declare.
    """
    if given:
        return tuple(dict.fromkeys(given))
    declared = [name for name, column in (columns or {}).items() if column.rows_per_person is not None]
    return tuple(declared) or read_owner_person_columns(release)


def resolve_source(
    release: Any, given: Any, job: Any = None, *, missing: Sequence[str] = (), options: Mapping[str, Any] | None = None
) -> tuple[Source, Any]:
    """Return how to read the source of a release, as `resolve_table` does, without people who were left out of it."""
    source, frame = resolve_table(release, given, job, missing=missing, options=options)
    return source, leave_out_people(release, source, frame)


def resolve_table(
    release: Any, given: Any, job: Any = None, *, missing: Sequence[str] = (), options: Mapping[str, Any] | None = None
) -> tuple[Source, Any]:
    """Return how to read `given` (a path, an address, a frame or a `Source`), and the frame if it is one.

    `how` holds fields of a `Source` that are passed explicitly; they win over the job's, which win over the owner's.
    """
    options = dict(options or {})
    if isinstance(given, Source):
        spellings = given.spellings or _read_base_source(release, job).spellings
        marks = tuple(dict.fromkeys((*given.missing, *missing)))
        return with_spellings(replace(given, **options, missing=marks), spellings), None
    base = _read_base_source(release, job)
    options["missing"] = tuple(dict.fromkeys((*base.missing, *missing)))
    if not isinstance(given, str | Path):
        return Source(missing=options["missing"]), _replace_spellings_of_frame(given, base.spellings)
    if is_address(str(given)) and not Path(given).exists():
        selection = {"table": options.pop("table", None), "query": options.pop("query", None)}
        if not any(selection.values()):
            selection = {"table": base.table, "query": base.query}
        return replace(base, path=None, url=str(given), **selection, **options), None
    return replace(base, **{"url": None, "table": None, "query": None, **options, "path": str(given)}), None


def resolve_plain_table(table: Any, job: Any = None, *, missing: Sequence[str] = ()) -> Any:
    """Return how to read a file that another tool made: as a job says of missing texts, empty fields and broken lines.

    What separates its fields need not be what separates those of the job's source. Frames and a `Source` are returned
    as they are.
    """
    if not isinstance(table, str | Path):
        return table
    if job is None:
        return Source(path=str(table), missing=tuple(missing))
    return Source(
        path=str(table),
        missing=tuple(missing) or job.source.missing,
        empty=job.source.empty,
        broken=job.source.broken,
    )


def describe_source_options(source: Source) -> str:
    """List the non-default reading options of a source; empty if there are none."""
    texts = [
        f"{name} {getattr(source, name)!r}"
        for name in ("delimiter", "encoding", "quote", "empty", "broken")
        if getattr(source, name) != Source.__dataclass_fields__[name].default
    ]
    if source.spellings:
        texts.append(f"spellings of {pluralize(len(source.spellings), 'column')} replaced")
    if source.missing:
        texts.append(f"{pluralize(len(source.missing), 'text', 'means', 'mean')} missing")
    return ", ".join(texts)


def _replace_spellings_of_frame(frame: Any, spellings: Spellings) -> Any:
    """Return a frame with the spellings of its columns replaced; callers then need no more than its missing texts."""
    if not spellings:
        return frame
    replaced = collect_frame(scan_source(with_spellings(Source(), spellings), frame), "Reading the frame")
    return TextRows(replaced) if isinstance(frame, TextRows) else replaced


def _read_base_source(release: Any, job: Any) -> Source:
    """Return the source of a job, of the owner's job of a release, or one that declares nothing."""
    return job.source if job is not None else read_owner_source(release) or Source()


def _read_owner_job(folder: Any) -> str | None:
    """Read the job in the owner's folder of a release, or of the batch that the release is in."""
    if not isinstance(folder, str | Path) or not Path(folder).is_dir():
        return None
    place = Path(folder).resolve()
    for notes in list_notes_folders(place):
        try:
            return (notes / JOB_FILE).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    return None
