"""The audit: recount a release from its published files, by formulas of its own, and judge every promise.

The procedure is the same for every kind; what only a kind knows is in its `Auditor` (`audit/<kind>.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.evidence import Evidence, Perturbation, SourceRows
from reticent.audit.kind import RecomputedRelease, auditor_for, infer_withheld_rows, list_third_party_notes
from reticent.audit.manifest_checks import find_disagreements, require_described_columns
from reticent.audit.passthrough import measure_passthrough
from reticent.audit.person_counts import compute_source_entropy, count_population
from reticent.audit.provenance import Provenance, check_page, identify_folder, trace_provenance
from reticent.audit.result import Audit, Verdict, judge_promise
from reticent.audit.risk import compute_group_risk
from reticent.audit.source_comparison import SourceComparison, is_small_source
from reticent.audit.streamed_comparison import compare_with_source
from reticent.audit.subject import Subject, read_folder_subject, read_table_subject, translate_read_errors
from reticent.audit.withholding import check_stated_withholding
from reticent.data.columns import Column, Role
from reticent.data.columns import parse_columns as columns_of
from reticent.data.source import collect_frame, scan_source
from reticent.data.spelling import describe_variants
from reticent.errors import BundleDamaged, JobError
from reticent.ledger.source_options import describe_source_options, resolve_source
from reticent.validation import is_job, mapping, names, null_values, optional, path_or_table, text, validate_arguments
from reticent.validation import promises as promises_of

SourceTable = pl.DataFrame | pl.LazyFrame


@dataclass(frozen=True, eq=False)
class AuditContext:
    """What `publish` gives the audit beside the files: a population, the source as it was counted, and true values.

    `source` holds distinct rows with how many `times` each occurs; `published` counts, for a sensitive column, the
    published people who have each value.
    """

    population: Any = None
    source: pl.DataFrame | None = None
    times: np.ndarray | None = None
    published: Callable[[str], Mapping[str, int]] | None = None


@validate_arguments(
    release=path_or_table,
    source=optional(path_or_table),
    expect_digest=optional(text),
    job=optional(is_job),
    columns=optional(columns_of),
    quasi=optional(names),
    sensitive=optional(names),
    hierarchy=optional(mapping),
    missing=null_values,
    promises=promises_of,
    population=optional(path_or_table),
)
def audit(
    release: Any,
    *,
    source: Any = None,
    expect_digest: str | None = None,
    job: Any = None,
    columns: Mapping[str, Column] | None = None,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    hierarchy: Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    promises: Iterable[Any] = (),
    population: Any = None,
) -> Audit:
    """Recount a release folder (or an opened release), or a table that another tool made, and judge its promises.

    `expect_digest` refuses a release that was changed; without it the result's `identity` states what, if anything,
    shows that it was not. `source` (a path, a frame or a `Source`) checks the rows against where they came from, and
    that nothing else of it leaked. A plain CSV or Parquet file or frame needs the roles of its columns: a `job`,
    `columns`, or `quasi`, `sensitive` and `hierarchy`. `missing` lists texts that mean null; `promises` are judged too.
    With a release folder, a `job` defines how the source is read, and what the manifest must repeat of it; without one
    the source is read as the owner's job beside the release defines.
    """
    given = {"columns": columns, "quasi": quasi, "sensitive": sensitive, "hierarchy": hierarchy}
    if is_plain_table(release):
        if expect_digest is not None:
            raise JobError(
                "A digest is that of a release folder; this is a plain table.", attempt="leaving expect_digest out."
            )
        asked = [*promises, *(job.promises if job is not None else ())]
        subject = read_table_subject(
            find_folder(release),
            resolve_declared_columns(job, given),
            asked,
            missing=_find_null_values(job, missing),
            jointly=bool(getattr(job, "jointly", False)),
        )
    else:
        require_no_roles(given)
        subject = read_folder_subject(find_folder(release), expect_digest, promises)
    rows, read_as = (None, "") if source is None else _read_source_rows(release, source, job, missing)
    found = _audit_subject(
        infer_withheld_rows(subject, rows),
        rows,
        AuditContext(_read_population(release, population, job, missing)),
        missing,
    )
    if read_as:
        found = replace(found, notes=(*found.notes, f"The source was read as it was published: {read_as}."))
    notes = () if job is None or subject.foreign else find_disagreements(subject, job)
    identity = identify_folder(subject.path, expect_digest) if subject.manifest is not None and subject.path else None
    page = check_page(subject.path) if identity is not None and subject.path else None
    return replace(found, disagreements=notes, identity=identity, page=page)


def _read_source_rows(release: Any, source: Any, job: Any, missing: Sequence[str]) -> tuple[SourceTable, str]:
    """Read the source as `publish` read it, and describe how that differs from reading it plainly.

    Read lazily where it is large.
    """
    given, frame = resolve_source(release, source, job, missing=missing)
    little = is_plain_table(release) or is_small_source(given, frame)
    rows = scan_source(given, frame, by_pieces=not little)
    return (collect_frame(rows, "Reading the source") if little else rows), describe_source_options(given)


def _read_population(release: Any, population: Any, job: Any, missing: Sequence[str]) -> Any:
    """Read the population as the source is read."""
    if population is None:
        return None
    given, frame = resolve_source(release, population, job, missing=missing)
    return collect_frame(scan_source(given, frame), "Reading the population")


def audit_staged(folder: Path, handed: AuditContext) -> Audit:
    """Audit a release before `publish` keeps it: the promises, from the files and what `publish` hands over."""
    return _audit_subject(read_folder_subject(folder), None, handed, (), staged=True)


def _audit_subject(
    subject: Subject, source: SourceTable | None, handed: AuditContext, missing: Sequence[str], *, staged: bool = False
) -> Audit:
    with translate_read_errors(subject, staged=staged):
        each_row = isinstance(source, pl.DataFrame)
        found = auditor_for(subject.kind).recount(subject, each_row=each_row, thorough=not staged)
        if not staged:
            require_described_columns(found, bytes=source is None)
    people = None if handed.population is None else count_population(found, handed.population, missing)
    proven = None
    redrawing = _find_perturbation(found, handed)
    utility = dict(found.utility)
    sampling = found.sampling
    compared = None
    if source is not None:
        compared = compare_with_source(found, source)
        matching = auditor_for(subject.kind).match(found, compared)
        redrawing = matching.perturbation or redrawing
        sampling = matching.sampling or sampling
        matching = replace(matching, findings=(*matching.findings, *check_stated_withholding(found, compared)))
        proven = trace_provenance(found, matching, compared)
        if found.labelled:
            axes = matching.axes or ()
            utility["entropy"] = None if proven.uncovered else compute_source_entropy(found, axes, compared.rows)
    evidence = replace(_collect_evidence(found, people, redrawing, compared, handed), sampling=sampling)
    with translate_read_errors(subject, staged=staged):
        verdicts = _judge_promises(subject, evidence)
    shown = found.labelled or not staged
    risk = None
    if shown:
        risk = compute_group_risk(
            list(found.labels), found.groups.labels, found.groups.sizes, people, rows_per_person=subject.rows_per_person
        )
    withheld = None if subject.foreign and source is None else subject.withheld
    return Audit(
        subject.kind,
        found.rows,
        len(found.sizes),
        withheld,
        verdicts,
        found.measures,
        utility,
        risk,
        found.by_column,
        proven,
        list_notes(found, proven),
        measure_passthrough(found),
    )


def list_notes(found: RecomputedRelease, proven: Provenance | None = None) -> tuple[str, ...]:
    """List the kind's notes, notes on a table of another tool, and values that are spelled alike."""
    lost = (
        []
        if proven is None or not (found.labelled and proven.uncovered)
        else ["entropy is not known: it needs a source row of its own for every published one."]
    )
    return (*found.notes, *list_third_party_notes(found), *lost, *_list_similar_spellings(found))


def _judge_promises(subject: Subject, evidence: Evidence) -> tuple[Verdict, ...]:
    """Judge the promises.

    A release whose own promise cannot be judged is damaged; a promise that the caller added is a wrong request.
    """
    stated = () if subject.manifest is None else subject.manifest.promises
    found = []
    for number, promise in enumerate(subject.promises):
        try:
            found.append(judge_promise(promise, evidence))
        except BundleDamaged as error:
            if number < len(stated):
                raise
            attempt = error.attempt or "a promise that fits the column."
            raise JobError(error.what, why=error.why, attempt=attempt) from None
    return tuple(found)


def _collect_evidence(
    found: RecomputedRelease,
    people: np.ndarray | None,
    redrawing: Perturbation | None,
    source: SourceComparison | None,
    handed: AuditContext,
) -> Evidence:
    subject = found.subject
    rows = None
    if source is not None:
        names = [column.name for column in subject.columns if column.role != Role.INSENSITIVE]
        rows = SourceRows(lambda: source.count_rows(names).pair)
    elif (given := handed.source) is not None:
        rows = SourceRows(lambda: (given, handed.times))
    return Evidence(
        found.alike,
        found.sizes,
        found.sensitive,
        subject.withheld,
        subject.stages,
        subject.rows_per_person,
        people,
        redrawing,
        subject.columns,
        found,
        rows,
        targeted=found.targeted,
    )


def _find_perturbation(found: RecomputedRelease, handed: AuditContext) -> Perturbation | None:
    """Find the perturbation with its distribution: with withheld rows no file has it, and `publish` hands it over."""
    redrawing = found.perturbation
    if redrawing is None or redrawing.distribution is not None or handed.published is None:
        return redrawing
    counts = handed.published(found.subject.find_columns_with_role(Role.SENSITIVE)[0].name)
    return redrawing.with_distribution_of([counts.get(value, 0) for value in redrawing.values])


def _list_similar_spellings(found: RecomputedRelease) -> list[str]:
    """List notes on values that are equal up to case, spaces or Unicode form: they count as different, so diversity may
    be only spelling.
    """
    said = [
        describe_variants(c.name, found.column(c.name).unique())
        for c in found.subject.find_columns_with_role(Role.SENSITIVE)
    ]
    return [sentence for sentence in said if sentence]


def resolve_declared_columns(job: Any, given: Mapping[str, Any]) -> dict[str, Column]:
    """Resolve the roles of a plain table's columns: a job's, or those named."""
    declared = dict(given["columns"] or (job.columns if job is not None else {}))
    declared |= {name: Column(Role.QUASI) for name in given["quasi"] or () if name not in declared}
    declared |= {
        name: Column(Role.SENSITIVE, missing="category") for name in given["sensitive"] or () if name not in declared
    }
    for name, tree in (given["hierarchy"] or {}).items():
        if name not in declared:
            raise JobError(
                f"A hierarchy is given for {name!r}, which has no role.",
                attempt="quasi=[...] or sensitive=[...] with it.",
            )
        declared[name] = replace(declared[name], hierarchy=tree)
    return declared


def require_no_roles(given: Mapping[str, Any]) -> None:
    """Refuse roles for a release folder, which describes its own columns."""
    named = [name for name, value in given.items() if value]
    if named:
        raise JobError(
            f"{' and '.join(named)} describe{'s' if len(named) == 1 else ''} a plain table; a release folder describes itself.",
            attempt="leaving them out.",
        )


def find_folder(release: Any) -> Any:
    return getattr(release, "folder", release)


def is_plain_table(release: Any) -> bool:
    """Whether this is a table that another tool made, not a release folder."""
    folder = find_folder(release)
    return not isinstance(folder, str | Path) or Path(folder).is_file()


def _find_null_values(job: Any, missing: Sequence[str]) -> tuple[str, ...]:
    return tuple(missing) or (job.source.missing if job is not None else ())
