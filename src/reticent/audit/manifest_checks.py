"""Checks of the manifest: against the job, against the columns of the files, and against the bytes of CSV files.

- `find_disagreements`: does the manifest repeat what the job declares? A forged one may loosen a promise, or flatten a
  hierarchy by which it is judged.
- `require_described_columns`: does the manifest describe the columns as they would be described again from these files?
  What stems from the data is derived once more. A list of values that no row shows, or a CSV that is not written as its
  rows are, has room for what was never published.
- `find_noncanonical_files`: are the bytes of a CSV those that the writer makes of its rows? A CSV field with the same
  content can be quoted or not: one hidden bit for every field. So a CSV is written once more and compared. A Parquet
  file may contain nothing but column chunks and a footer without texts of anybody's own: `format/parquet.py` refuses
  any other.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from reticent.audit.kind import RecomputedRelease
from reticent.audit.subject import Subject, describe_promise
from reticent.data.columns import Role, is_numeric_range
from reticent.data.declared_hierarchy import is_built_from_values, read_declared_hierarchy
from reticent.data.label_grammar import ANY_LABEL, parse_label
from reticent.data.text_formats import list_formats
from reticent.errors import BundleDamaged
from reticent.format.data_files import (
    FORMULAS_PRESENT,
    FORMULAS_QUOTED,
    DataFile,
    Schema,
    contains_formula,
    read_batches,
)
from reticent.format.data_writer import write_csv
from reticent.format.manifest import ColumnEntry, ComponentEntry, Manifest
from reticent.release.bundle import MANIFEST_FILE
from reticent.release.kind import find_data_files, list_schemas

BATCH_ROWS = 1 << 18  # rows that are written once more at a time


def find_noncanonical_files(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """List the names of data files that hold more, or other, bytes than their rows need."""
    schemas = list_schemas(manifest)
    files = {file: schemas[name] for name, file in find_data_files(folder, manifest).items() if file.suffix == ".csv"}
    quote = manifest.formulas == FORMULAS_QUOTED
    names = []
    if files and not quote and _find_formula_statement(files) != manifest.formulas:
        names.append(MANIFEST_FILE)
    for file, schema in files.items():
        names += [part.shown for part in file.each() if not _is_canonical_csv(part, schema, quote)]
    return tuple(names)


def find_disagreements(subject: Subject, job: Any) -> tuple[str, ...]:
    """List how the manifest differs from the job: in promises, method, stages, and in what is declared about columns."""
    disagreements = []
    wanted = [
        _leave_choice_to_table(describe_promise(promise), stated)
        for promise, stated in zip(job.promises, subject.promises, strict=False)
    ]
    if len(wanted) != len(tuple(job.promises)) or [(p.name, _normalize_parameters(p.parameters)) for p in wanted] != [
        (p.name, _normalize_parameters(p.parameters)) for p in subject.promises[: len(wanted)]
    ]:
        disagreements.append("the promises are not those of the job")
    if subject.manifest is not None and subject.manifest.method.name != job.method.name:
        disagreements.append("the method is not that of the job")
    if subject.manifest is not None and dict(subject.manifest.about or {}) != _list_said(job.about):
        disagreements.append("what is said about the release is not what the job says")
    stages = [(stage.name, getattr(stage, "kind", None)) for stage in job.prepare]
    if [(stage.name, stage.parameters.get("kind")) for stage in subject.stages] != stages:
        disagreements.append("the stages are not those of the job")
    allowed = int(job.release.suppress_at_most * (_count_planned_rows(subject)))
    if subject.manifest is not None and not subject.stages and subject.withheld_later > allowed:
        disagreements.append(
            f"{subject.withheld_later:,} rows are withheld beside those that columns withhold, and suppress_at_most "
            f"allows {allowed:,}"
        )
    for entry in subject.columns:
        column = job.columns.get(entry.name)
        if column is not None:
            disagreements += _find_column_disagreements(entry, column, subject)
    return tuple(disagreements)


def _leave_choice_to_table(wanted: ComponentEntry, stated: ComponentEntry) -> ComponentEntry:
    """Return a job's promise with the bandwidths that the manifest states, if the job leaves them to the table.

    Whether the table chooses these is for the promise's judge.
    """
    chosen = {name: stated.parameters.get(name) for name in ("bandwidth", "bandwidth_by")}
    if wanted.parameters.get("bandwidth") != "auto" or chosen["bandwidth_by"] is None:
        return wanted
    return ComponentEntry(wanted.name, {**wanted.parameters, **chosen})


def _list_said(about: Any) -> dict[str, Any]:
    """List what a job says about a release, as its manifest has it."""
    return {} if about is None else about.to_plain()


def _count_planned_rows(subject: Subject) -> int:
    """Count the rows that were planned: those published, and those withheld later."""
    if subject.manifest is None:
        return 0
    return subject.manifest.rows + subject.withheld_later


def require_described_columns(recount: RecomputedRelease, *, bytes: bool) -> None:
    """Refuse a manifest that describes other columns than the files have.

    With `bytes`, also refuse files in other bytes than the writer's.
    """
    subject = recount.subject
    if subject.manifest is None or subject.path is None:
        return
    labels = recount.labelled or recount.sampling is not None
    if subject.withheld_missing and not subject.complete:
        raise BundleDamaged(
            "The manifest states rows withheld for a missing value, and no column of which such rows are withheld."
        )
    for entry in subject.quasi:
        fault = _find_quasi_fault(entry, recount.frame[entry.name].unique(), labels)
        if fault:
            raise _make_description_error(entry, fault)
    tables = (recount.frame, *recount.other_tables.values())
    for entry in subject.find_columns_with_role(Role.SENSITIVE):
        if entry.missing in ("refuse", "withhold") and any(
            table[entry.name].null_count() for table in tables if entry.name in table.columns
        ):
            raise _make_description_error(entry, "values are missing in a column that the manifest says is complete")
    if bytes and (odd := find_noncanonical_files(subject.path, subject.manifest)):
        raise BundleDamaged(
            f"{' and '.join(odd)} is not written as reticent writes it.",
            why="Its bytes may carry more than its rows.",
            attempt="getting the folder again from its publisher.",
        )


def _find_formula_statement(files: dict[DataFile, Schema]) -> str | None:
    """Determine what the manifest must state about texts that look like formulas."""
    pieces = (piece for file, schema in files.items() for piece in read_batches(file, schema, BATCH_ROWS))
    return FORMULAS_PRESENT if any(contains_formula(piece.get_columns()) for piece in pieces) else None


def _is_canonical_csv(part: DataFile, schema: Schema, quote: bool) -> bool:
    """Whether the bytes of a file are those that the writer makes of its rows, written once more piece by piece."""
    header = 0
    with open(part.paths[0], "rb") as handle:
        for piece in read_batches(part, schema, BATCH_ROWS):
            written_bytes = _write_csv_bytes(piece, quote)[header:]
            if handle.read(len(written_bytes)) != written_bytes:
                return False
            header = header or len(_write_csv_bytes(piece.head(0), quote))
        return not handle.read(1)


def _normalize_parameters(parameters: Any) -> dict[str, Any]:
    return {
        name: _normalize_value(value)
        for name, value in parameters.items()
        if name != "population" and value is not None
    }


def _find_column_disagreements(entry: ColumnEntry, column: Any, subject: Subject) -> list[str]:
    """List how a column of the manifest differs from what the job declares about it."""
    disagreements = []
    if (column.missing == "withhold") != (entry.missing == "withhold"):
        disagreements.append(f"rows without a value in {entry.name!r} are withheld in one of release and job alone")
    if list_formats(column.format) != list_formats(entry.format) or (column.rates or {}) != (entry.rates or {}):
        disagreements.append(f"column {entry.name!r} is read by another format than in the job")
    has_wider_labels = column.labels is not None and column.labels.style in ("snapped", "padded")
    if has_wider_labels and entry.labels != column.labels.to_plain():
        disagreements.append(f"the labels of {entry.name!r} are not those that the job asks for")
    both_declare = column.domain is not None and entry.domain
    if both_declare and _normalize_value(list(column.domain)) != _normalize_value(entry.domain):
        disagreements.append(f"the domain of {entry.name!r} is not the job's")
    if entry.role == Role.SENSITIVE and not _is_same_domain(column, subject):
        disagreements.append(f"the domain of {entry.name!r} is not the job's")
    if column.role != entry.role:
        disagreements.append(f"column {entry.name!r} has another role than in the job")
    elif entry.role != Role.INSENSITIVE and _is_given_hierarchy(column.hierarchy) and entry.hierarchy is not None:
        tree = read_declared_hierarchy(column.hierarchy, entry.name).rows()
        if sorted(tree) != sorted(entry.hierarchy):
            disagreements.append(f"the hierarchy of {entry.name!r} is not the job's")
    elif entry.role == Role.SENSITIVE and _is_given_hierarchy(column.hierarchy) and entry.type == "categorical":
        disagreements.append(f"the hierarchy of {entry.name!r} is missing")
    return disagreements


def _find_quasi_fault(entry: ColumnEntry, distinct: pl.Series, labels: bool) -> str:
    """Find what is wrong with the description of a quasi-identifier; empty if nothing is.

    Compared are whether values are missing and, of categories without a hierarchy, the list of values.
    """
    has_missing = bool(distinct.null_count())
    if has_missing and entry.missing == "withhold":
        return "rows without a value are said to be withheld, and one is published"
    if entry.null and not has_missing:
        return "it says that values are missing and none is"
    if has_missing and not entry.null:
        return "values are missing, and it does not say so"
    listed = entry.values
    needs_list = entry.type == "categorical" and entry.hierarchy is None
    if listed is None:
        return "it does not list the column's values" if needs_list and distinct.drop_nulls().len() else ""
    if not needs_list:
        return "it lists values of a column that has none to be listed"
    texts = distinct.drop_nulls().cast(pl.String).to_list()
    wanted = _list_label_members(texts) if labels else sorted(texts)
    if listed != wanted and (labels or distinct.dtype == pl.String or len(listed) != len(wanted)):
        return f"it lists {len(listed):,} values, and rows show {len(wanted):,}, or others"
    return ""


def _make_description_error(entry: ColumnEntry, why: str) -> BundleDamaged:
    return BundleDamaged(
        f"The manifest does not describe column {entry.name!r} as it is published.",
        why=f"The reason: {why}.",
        attempt="getting the folder again from its publisher.",
    )


def _write_csv_bytes(rows: pl.DataFrame, quote: bool) -> bytes:
    buffer = io.BytesIO()
    write_csv(buffer, rows, quote=quote)
    return buffer.getvalue()


def _normalize_value(value: Any) -> Any:
    """Convert a parameter to one form, however it is written: a number as a fraction, a path as its last part."""
    if isinstance(value, Mapping):
        return {str(name): _normalize_value(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize_value(entry) for entry in value]
    if isinstance(value, Path):
        return value.name
    try:
        return str(value) if isinstance(value, bool) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return str(value)


def _is_same_domain(column: Any, subject: Subject) -> bool:
    """Whether a sampled release draws from the list of values that the job declares for its sensitive column."""
    if subject.manifest is None or column.domain is None or "domain" in subject.manifest.method.parameters:
        return True
    drawn_from = subject.manifest.own.get("domain")
    if drawn_from is None:
        return True
    if column.hierarchy is not None or column.order is not None:
        return True
    if is_numeric_range(column.domain):
        lowest, highest = (int(end) for end in column.domain)
        return len(drawn_from) == highest - lowest + 1 and {str(lowest), str(highest)} <= set(drawn_from)
    return sorted(column.domain) == sorted(drawn_from)


def _is_given_hierarchy(hierarchy: Any) -> bool:
    """Whether the steward gave the hierarchy; one that is built from data is cut down to what is published."""
    return hierarchy is not None and not is_built_from_values(hierarchy)


def _list_label_members(labels: Sequence[str]) -> list[str]:
    """List the values that labels name."""
    return sorted({text for label in labels if label != ANY_LABEL for text in parse_label(label)[1]})
