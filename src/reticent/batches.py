"""Incremental publication: one release for each batch of the rows, each with the same promise, and one summary.

Xu, Wang, Fu & Wong, section 1.1: data published day by day comes in small batches, and small batches are skewed. Each
batch is restored (by the job's stages), published and audited by itself.  A batch is a stratum that the promise
conditions on: readers of a release know in which batch its people are.  So the column that makes the batches must
reveal nothing that is to be protected.

A later run publishes new batches only. A batch whose release the ledger has, made from the same rows with the same
promises, is skipped; one whose rows or promises changed since is left out with the reason, because two releases of the
same people can be joined. Names and seeds of batches go by their own values, so that a new batch changes no other.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue, registry
from reticent.data.broken_lines import read_broken_lines
from reticent.data.cells import COUNT_COLUMN
from reticent.data.columns import Column, Role, find_columns_with_role, has_types, resolve_columns
from reticent.data.csv import suggest_column
from reticent.data.passthrough import MAX_UNIQUE_PERCENT, ChangeStamp
from reticent.data.source import TextRows, list_broken_lines
from reticent.errors import ColumnError, OutputExists, PromiseUnreachable, pluralize
from reticent.format.folder import translate_disk_errors
from reticent.job.job import Job
from reticent.job_table import read_and_count
from reticent.ledger import private_files, staging
from reticent.ledger.commit import require_target_free
from reticent.ledger.fingerprint import CountedRows, TableFingerprint
from reticent.ledger.identifiers import MAX_COLLECTED_ROWS, MAX_HELD_ROWS, collect_identifiers
from reticent.ledger.journal import recover
from reticent.ledger.ledger import Ledger
from reticent.ledger.notes import BROKEN_LINES_FILE
from reticent.ledger.paths import (
    PLACE_FILE,
    compute_release_digest,
    encode_place,
    require_separate_folders,
    resolve_notes_folder,
)
from reticent.preconditions import require_whole_table_engine
from reticent.progress import ProgressEvent
from reticent.publish import publish
from reticent.release.release import Release
from reticent.validation import (
    flag,
    integer,
    is_callable,
    is_engine,
    is_job,
    is_ledger,
    optional,
    path,
    text,
    validate_arguments,
)

SUMMARY_FILE = "batches.json"
_ROW_COUNT_COLUMN = "\x00rows"
PER_BATCH_SENTENCE = (
    "The promise holds for each batch alone, given that a person is in it: not for a person who is in several, nor for "
    "the batches together."
)
_ROLE_REFUSALS = {
    Role.IDENTIFYING: "Identifying values are never published, and each would be the name of a folder.",
    Role.QUASI: "Each release would tell the exact value of everyone in it, which is to be generalized.",
    Role.SENSITIVE: "Each release would tell the exact value of everyone in it, which is what the promise protects.",
}


@validate_arguments(
    job=is_job,
    by=text,
    to=path,
    seed=optional(integer),
    force=flag,
    again=flag,
    ledger=optional(is_ledger),
    progress=is_callable,
    engine=is_engine,
)
def publish_batches(
    job: Job,
    by: str,
    to: str | Path,
    *,
    frame: Any = None,
    seed: int | None = None,
    force: bool = False,
    again: bool = False,
    ledger: str | Path | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    engine: Any = catalogue.DEFAULT_ENGINE,
) -> dict[str, Any]:
    """Publish a release in `to` for each value of a column; return the summary, which the owner's folder keeps too.

    A batch that cannot keep the promise is left out and the summary names it; the others are published. A batch whose
    release in `to` the ledger has is skipped if its rows and promises are what they were, and left out with the reason
    if they changed. `again` lets people be published again whom the ledger knows; `force` and `again` together publish
    every batch once more and replace the releases.
    """
    to = Path(to)
    book = Ledger.open(ledger)
    worker = require_whole_table_engine(engine, "Cutting batches")
    require_separate_folders(to, book.folder)
    recover(book.folder, [to])
    progress("reading")
    source = job.source if frame is None else None
    scanned = worker.scan(job.source, frame).rows
    rows = worker.cache(scanned)
    stamp = ChangeStamp.read(source if rows is scanned else None)  # rows in memory stay what they are
    names = rows.collect_schema().names()
    if by not in names:
        readable_rows = None if worker.distributed else rows
        raise ColumnError(f"There is no column {by!r} to batch by.", attempt=suggest_column(by, names, readable_rows))
    columns = resolve_columns(job.columns, names, "drop")
    values = worker.count_distinct_rows(rows, [by]).rename({COUNT_COLUMN: _ROW_COUNT_COLUMN}).sort(by)
    _require_safe_column(by, values, columns.get(by))
    is_typed = worker.distributed or has_types(job.source, frame)
    source_batches = list(_cut_batches(worker, rows, by, values, is_typed=is_typed, keep=by in columns))
    _require_no_release(to)
    earlier = {} if force and again else _compare_with_ledger(job, source_batches, to, book, worker)
    new_batches = [batch for batch in source_batches if batch.name not in earlier]
    _require_free_folders(to, [batch.name for batch in new_batches], force)
    keys = [*find_columns_with_role(columns, Role.QUASI), *find_columns_with_role(columns, Role.SENSITIVE)]
    if new_batches:
        new_values = [batch.value for batch in new_batches] if earlier else None
        count_new_rows = partial(_count_new_rows, worker, rows, by, values=new_values)
        new_rows = count_new_rows(keys)
        row_counts = new_rows[COUNT_COLUMN].to_numpy()
        max_rows = MAX_HELD_ROWS if worker.name == catalogue.DEFAULT_ENGINE else MAX_COLLECTED_ROWS
        identifiers = collect_identifiers(columns, count_new_rows, int(row_counts.sum()), max_rows)
        book = book.for_batches(CountedRows(new_rows.drop(COUNT_COLUMN), row_counts, source, identifiers), to)
        book.require_batches_not_published(again)
    summaries = []
    for number, batch in enumerate(source_batches):
        progress(ProgressEvent(f"batch {number + 1} of {len(source_batches)}", number / len(source_batches)))
        if batch.name in earlier:
            summaries.append(earlier[batch.name])
            continue
        stamp.require_unchanged()
        publish_batch = partial(
            publish,
            job,
            frame=batch.frame,
            to=to / batch.name,
            seed=None if seed is None else derive_batch_seed(seed, batch.name),
            force=force,
            again=again,
            ledger=book,
            engine=engine,
        )
        summaries.append(_summarize_batch(batch, publish_batch))
    broken_files = list_broken_lines(source)
    summary = _summarize_batches(by, summaries)
    if broken_files:
        summary["set_aside"] = sum(broken.count for broken in broken_files)
    _write_summary(to, summary, book.folder, read_broken_lines(broken_files, job.source.encoding))
    return summary


@dataclass(frozen=True, eq=False)
class SourceBatch:
    """The rows with one value of the column, wherever the engine has them, and a name that a folder can have.

    `value` is the column's value, as a series of one.
    """

    name: str
    rows: int
    frame: Any
    value: pl.Series


def derive_batch_seed(seed: int, name: str) -> int:
    """Derive a batch's seed from that of the run and the batch's name, so that a new batch changes no other."""
    digest = hashlib.blake2b(f"reticent batch {int(seed)} {name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _require_safe_column(by: str, values: pl.DataFrame, column: Column | None) -> None:
    """Refuse a column that is neither insensitive nor undeclared: a batch reveals its column's value for everyone in it."""
    if column is not None and column.role in _ROLE_REFUSALS:
        raise ColumnError(
            f"The column {by!r} is {column.role.value}: it cannot make batches.",
            why=_ROLE_REFUSALS[column.role],
            attempt="an insensitive column or one without a role, such as the day of a delivery.",
        )
    rows = int(values[_ROW_COUNT_COLUMN].sum())
    missing = int(values.filter(pl.col(by).is_null())[_ROW_COUNT_COLUMN].sum())
    if missing:
        raise ColumnError(
            f"The column {by!r} to batch by is missing in {pluralize(missing, 'row')}.", attempt="filling it."
        )
    alone = int((values[_ROW_COUNT_COLUMN] == 1).sum())
    if alone * 100 > MAX_UNIQUE_PERCENT * rows and not (column is not None and column.acknowledge):
        raise ColumnError(
            f"The column {by!r} is near-unique: {alone:,} of {rows:,} rows would be a batch of their own.",
            why="Each value is the name of a folder, and who knows it knows the row.",
            attempt="a column with fewer values, such as the week instead of the minute.",
        )


def _cut_batches(
    engine: Any, rows: Any, by: str, values: pl.DataFrame, *, is_typed: bool, keep: bool
) -> Iterator[SourceBatch]:
    """Yield each batch, in the order of the column's values; rows without types are marked as those of a CSV.

    The column itself is left out unless it is to be kept.
    """
    columns = [name for name in rows.collect_schema().names() if keep or name != by]
    names = _name_batches([str(value) for value in values[by].to_list()], _spell_exactly(values[by]))
    for index, row_count in enumerate(values[_ROW_COUNT_COLUMN]):
        value = values[by][index : index + 1]
        batch_rows = engine.filter_equal(rows, by, value, columns)
        yield SourceBatch(names[index], row_count, batch_rows if is_typed else TextRows(batch_rows), value)


def _spell_exactly(values: pl.Series) -> list[str]:
    """Spell each value so that no two are alike: moments may differ by nanoseconds, which Python does not show."""
    if values.dtype.is_temporal():
        return [str(number) for number in values.to_physical().to_list()]
    return [str(value) for value in values.to_list()]


def _name_batches(texts: list[str], exact_texts: list[str]) -> list[str]:
    """Name the folder of each batch by its value.

    Of values that would share a name, the one that is spelled so has it; each other one has a digest of its own value
    added, which no other value changes.
    """
    plain_names = [re.sub(r"[^A-Za-z0-9._-]+", "-", value).strip("-.") or "batch" for value in texts]
    uses = Counter(plain_names)
    names = []
    for value, exact_value, name in zip(texts, exact_texts, plain_names, strict=True):
        is_own_file = name in (SUMMARY_FILE, PLACE_FILE, BROKEN_LINES_FILE)  # they stand beside the batches' notes
        if not is_own_file and (uses[name] == 1 or value == name):
            names.append(name)
        else:
            names.append(f"{name}-{hashlib.sha256(exact_value.encode()).hexdigest()[:8]}")
    return names


def _count_new_rows(worker: Any, rows: Any, by: str, keys: list[str], values: list[pl.Series] | None) -> pl.DataFrame:
    """Count the distinct rows of the batches with these values; of all batches if there are none of earlier runs."""
    if values is None:
        return worker.count_distinct_rows(rows, keys)
    counted = worker.count_distinct_rows(rows, [by, *keys])
    new_values = pl.concat(values).implode()
    return (
        counted.filter(pl.col(by).is_in(new_values)).group_by(keys, maintain_order=True).agg(pl.col(COUNT_COLUMN).sum())
    )


def _compare_with_ledger(
    job: Job, source_batches: list[SourceBatch], to: Path, book: Ledger, worker: Any
) -> dict[str, dict[str, Any]]:
    """Summarize the batches that the ledger has a release of in `to`, by name: skipped, or changed since."""
    place = str(to.resolve())
    entries = {entry["release"]: entry for entry in book.read_entries() if entry["folder"] == place}
    promises = json.loads(json.dumps([registry.describe(promise) for promise in job.promises]))
    summaries = {}
    for batch in source_batches:
        if batch.name not in entries:
            continue
        entry = entries[batch.name]
        counted = read_and_count(worker, job, batch.frame)[2]
        content = CountedRows(counted.combinations, counted.multiplicity).hash_values(book.ensure_key()).content
        change = _describe_change(entry, content, promises, to / batch.name)
        summary = {
            "batch": batch.name,
            "status": "changed" if change else "skipped",
            "published": False,
            "source_rows": batch.rows,
            "digest": entry["digest"],
            "published_at": entry["at"],
        }
        summaries[batch.name] = summary | ({"why": change} if change else {})
    return summaries


def _describe_change(
    entry: Mapping[str, Any], content: TableFingerprint, promises: list[dict[str, Any]], folder: Path
) -> str:
    """Say what differs between a batch and the release that the ledger has of it; nothing if they agree."""
    published = f"It was published on {entry['at'][:10]}"
    advice = (
        "Try another folder for it, or --force --again (force=True, again=True), which publishes every batch again."
    )
    if content.mark != entry["content"]:
        reason = (
            f"{published} from {pluralize(entry['rows'], 'row')}, and now has {content.rows:,}: rows, values or columns "
            "differ. Two releases of the same people can be joined."
        )
        return f"{reason} {advice}"
    if entry["promises"] != promises:
        return f"{published} with another promise. {advice}"
    digest = compute_release_digest(folder)
    if digest != entry["digest"] and folder.exists():
        return f"{published}, and what stands there now is not that release. {advice}"
    return ""


def _require_no_release(to: Path) -> None:
    if (to / "manifest.json").exists():
        raise OutputExists(
            f"{to} is a release: batches cannot be put into it.",
            why="A release is handed out whole, as it was made.",
            attempt="another name.",
        )


def _require_free_folders(to: Path, names: list[str], force: bool) -> None:
    for name in names:
        require_target_free(to / name, force)


def _summarize_batch(batch: SourceBatch, publish_batch: Callable[[], Release]) -> dict[str, Any]:
    """Publish one batch and summarize it; the ledger was checked for all of them together before."""
    try:
        release = publish_batch()
    except PromiseUnreachable as error:
        return {
            "batch": batch.name,
            "status": "unreachable",
            "published": False,
            "source_rows": batch.rows,
            "why": str(error),
        }
    return {
        "batch": batch.name,
        "status": "published",
        "published": True,
        "source_rows": batch.rows,
        "rows": release.manifest.rows,
        "withheld": release.manifest.withheld,
        "digest": release.digest,
        "kept": release.audited.kept,
        "left": release.audited.remainder.to_dict(),
    }


def _summarize_batches(by: str, summaries: list[dict[str, Any]]) -> dict[str, Any]:
    published = [summary for summary in summaries if summary["published"]]
    statuses = Counter(summary["status"] for summary in summaries)
    return {
        "batch_by": by,
        "batches": summaries,
        "published": len(published),
        "skipped": statuses["skipped"],
        "changed": statuses["changed"],
        "unreachable": statuses["unreachable"],
        "rows": sum(summary["rows"] for summary in published),
        "withheld": sum(summary["withheld"] for summary in published),
        "promise": PER_BATCH_SENTENCE,
    }


def _write_summary(to: Path, summary: dict[str, Any], ledger: Path, broken_lines: bytes = b"") -> None:
    """Write the summary in the owner's folder, beside the batches' notes, and the lines that were set aside."""
    notes = resolve_notes_folder(to)
    contents = {PLACE_FILE: encode_place(to), SUMMARY_FILE: json.dumps(summary, indent=1).encode() + b"\n"}
    if broken_lines:
        contents[BROKEN_LINES_FILE] = broken_lines
    with translate_disk_errors(notes):
        private_files.make_folder(notes)
        for name, content in contents.items():
            with staging.stage_file(notes / name, ledger=ledger) as path:
                private_files.write_file(path, content)
