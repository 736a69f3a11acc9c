"""The audit: recount a release from its published files, by formulas of its own, and judge every promise.

`audit` reads the subject (a release folder, or a table of another tool), its source and a population; `audit_staged`
audits a release that `publish` has just written. Both end in `_audit_subject`: recount the files, count the population,
compare with the source, judge the promises, and put the result together. The procedure is the same for every kind; what
only a kind knows is in its `Auditor` (`audit/<kind>.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from reticent import validation
from reticent.audit.early_withholding import check_missing_rows, check_row_limits, select_complete_rows
from reticent.audit.groups import Evidence, Perturbation, SourceRows
from reticent.audit.kind import (
    RecomputedRelease,
    SourceMatching,
    auditor_for,
    infer_withheld_rows,
    list_third_party_notes,
)
from reticent.audit.manifest_checks import find_disagreements, require_described_columns
from reticent.audit.measure.p_privacy import read_target_files
from reticent.audit.person_counts import compute_source_entropy, count_population
from reticent.audit.provenance import Provenance, check_page, identify_folder, trace_provenance
from reticent.audit.result import Audit, Verdict, judge_plugin_promise, judge_promise, leave_unjudged
from reticent.audit.risk import compute_group_risk, measure_passthrough
from reticent.audit.source_comparison import SourceComparison, is_small_source, recode_as_stated
from reticent.audit.streamed_comparison import compare_with_source
from reticent.audit.subject import (
    Subject,
    describe_promise,
    read_folder_subject,
    read_table_subject,
    translate_read_errors,
)
from reticent.audit.withholding import check_stated_withholding
from reticent.data.broken_lines import BrokenLines, describe_set_aside
from reticent.data.columns import Column, Role, parse_columns
from reticent.data.odd_values import describe_variants
from reticent.data.source import collect_frame, list_broken_lines, scan_source
from reticent.errors import BundleDamaged, JobError
from reticent.ledger.exclusions import is_made_without_known_people
from reticent.ledger.release_desk import find_withdrawal
from reticent.ledger.source_options import (
    describe_source_options,
    find_person_columns,
    resolve_plain_table,
    resolve_source,
    resolve_table,
)
from reticent.plugins import get_namespace, is_plugin_name, list_namespaces, require_judging_plugins
from reticent.validation import is_job, mapping, names, null_values, optional, path_or_table, text, validate_arguments

SourceTable = pl.DataFrame | pl.LazyFrame


@dataclass(frozen=True, eq=False)
class AuditContext:
    """What `publish` hands to the audit beside the files: a population, the source as it was counted, and true values.

    `source` holds distinct rows with how many `times` each occurs; `published` counts, for a sensitive column, the
    published people who have each value. `naming` are the columns of a source that name the person of a row; `promises`
    those of the job, which name files that a manifest does not hold. `judges` are the plugins that may judge promises of
    theirs: those that whoever audits has named, never those that a manifest names.
    """

    population: Any = None
    source: pl.DataFrame | None = None
    times: np.ndarray | None = None
    published: Callable[[str], Mapping[str, int]] | None = None
    naming: Sequence[str] = ()
    promises: Sequence[Any] = ()
    judges: Sequence[str] = ()


@validate_arguments(
    release=path_or_table,
    source=optional(path_or_table),
    expect_digest=optional(text),
    job=optional(is_job),
    columns=optional(parse_columns),
    quasi=optional(names),
    sensitive=optional(names),
    hierarchy=optional(mapping),
    missing=null_values,
    promises=validation.promises,
    population=optional(path_or_table),
    judges=names,
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
    judges: Iterable[str] = (),
) -> Audit:
    """Recount a release folder (or an opened release), or a table that another tool made, and judge its promises.

    `expect_digest` refuses a release that was changed; without it the result's `identity` states what, if anything,
    shows that it was not. `source` (a path, a frame or a `Source`) checks the rows against where they came from, and
    that nothing else of it leaked. A plain CSV or Parquet file or frame needs the roles of its columns: a `job`,
    `columns`, or `quasi`, `sensitive` and `hierarchy`. `missing` lists texts that mean null; `promises` are judged too.
    With a release folder, a `job` defines how the source is read, and what the manifest must repeat of it; without one
    the source is read as the owner's job beside the release defines. `judges` names plugins (`["acme"]`) whose code judges
    promises of theirs; without that such a promise is not shown, unless `job` or `promises` name it.
    """
    roles = {"columns": columns, "quasi": quasi, "sensitive": sensitive, "hierarchy": hierarchy}
    if _is_plain_table(release):
        if expect_digest is not None:
            raise JobError(
                "A digest is that of a release folder; this is a plain table.", attempt="leaving expect_digest out."
            )
        subject = _read_plain_table(release, job, roles, promises, missing)
        table_lines = list_broken_lines(resolve_plain_table(_find_folder(release), job, missing=missing))
    else:
        _require_no_roles(roles)
        subject = read_folder_subject(_find_folder(release), expect_digest, promises)
        table_lines = []
    rows = None
    reading_options = ""
    source_lines: list[BrokenLines] = []
    if source is not None:
        rows, reading_options, source_lines = _read_source_rows(release, source, job, missing)
    naming = () if rows is None else find_person_columns(release, None if job is None else job.columns)
    context = AuditContext(
        _read_population(release, population, job, missing),
        naming=naming,
        promises=() if job is None else tuple(job.promises),
        judges=_find_judges(promises, job, judges),
    )
    result = _audit_subject(infer_withheld_rows(subject, rows), rows, context, missing)
    if rows is not None and is_made_without_known_people(release):
        note = "The source was read without the people whom the ledger knew when it was published (--only-new)."
        result = replace(result, notes=(*result.notes, note))
    if reading_options:
        note = f"The source was read as it was published: {reading_options}."
        result = replace(result, notes=(*result.notes, note))
    result = _add_set_aside(result, table_lines, source_lines)
    if job is not None and not subject.foreign:
        result = replace(result, disagreements=find_disagreements(subject, job))
    if subject.manifest is None or subject.path is None:
        return result
    return replace(
        result,
        identity=identify_folder(subject.path, expect_digest),
        page=check_page(subject.path),
        withdrawal=find_withdrawal(subject.path),
    )


def audit_staged(subject: Subject, context: AuditContext) -> Audit:
    """Audit a release before `publish` commits it: the promises, from the files and what `publish` hands over."""
    return _audit_subject(subject, None, context, (), staged=True)


def list_notes(recount: RecomputedRelease, provenance: Provenance | None = None) -> tuple[str, ...]:
    """List the kind's notes, notes on a table of another tool, and values that are spelled alike."""
    notes = [*recount.notes, *list_third_party_notes(recount)]
    if provenance is not None and recount.labelled and provenance.uncovered:
        notes.append("entropy is not known: it needs a source row of its own for every published one.")
    return (*notes, *_list_similar_spellings(recount))


def _is_plain_table(release: Any) -> bool:
    """Whether this is a table that another tool made, not a release folder."""
    folder = _find_folder(release)
    return not isinstance(folder, str | Path) or Path(folder).is_file()


def _read_plain_table(
    release: Any, job: Any, roles: Mapping[str, Any], promises: Iterable[Any], missing: Sequence[str]
) -> Subject:
    """Read a table of another tool: its promises are the caller's and the job's, its columns those with a role."""
    table = resolve_plain_table(_find_folder(release), job, missing=missing)
    declared = _resolve_declared_columns(job, roles)
    if job is None:
        return read_table_subject(table, declared, promises, missing=tuple(missing))
    return read_table_subject(
        table,
        declared,
        [*promises, *job.promises],
        missing=tuple(missing) or job.source.missing,
        jointly=bool(getattr(job, "jointly", False)),
    )


def _require_no_roles(roles: Mapping[str, Any]) -> None:
    """Refuse roles for a release folder, which describes its own columns."""
    named = [name for name, value in roles.items() if value]
    if named:
        raise JobError(
            f"{' and '.join(named)} describe{'s' if len(named) == 1 else ''} a plain table; a release folder describes itself.",
            attempt="leaving them out.",
        )


def _find_folder(release: Any) -> Any:
    """Return the folder of an opened release, and anything else as it is."""
    return getattr(release, "folder", release)


def _add_set_aside(result: Audit, table_lines: list[BrokenLines], source_lines: list[BrokenLines]) -> Audit:
    """Add how many broken lines of a plain table and of the source were set aside, and what that leaves open."""
    sentences = [
        *describe_set_aside(table_lines, "whoever stands there was not judged"),
        *describe_set_aside(source_lines, "whoever stands there was not compared"),
    ]
    return replace(
        result,
        notes=(*result.notes, *sentences),
        set_aside=sum(broken.count for broken in table_lines),
        source_set_aside=sum(broken.count for broken in source_lines),
    )


def _read_source_rows(
    release: Any, source: Any, job: Any, missing: Sequence[str]
) -> tuple[SourceTable, str, list[BrokenLines]]:
    """Read the source as `publish` read it, lazily where it is large; also return its reading options and broken lines."""
    declared_source, frame = resolve_source(release, source, job, missing=missing)
    is_small = _is_plain_table(release) or is_small_source(declared_source, frame)
    lazy = scan_source(declared_source, frame, by_pieces=not is_small)
    rows = collect_frame(lazy, "Reading the source") if is_small else lazy
    return rows, describe_source_options(declared_source), list_broken_lines(declared_source)


def _read_population(release: Any, population: Any, job: Any, missing: Sequence[str]) -> Any:
    """Read the population as the source is read."""
    if population is None:
        return None
    declared_source, frame = resolve_table(release, population, job, missing=missing)
    return collect_frame(scan_source(declared_source, frame), "Reading the population")


def _audit_subject(
    subject: Subject, source: SourceTable | None, context: AuditContext, missing: Sequence[str], *, staged: bool = False
) -> Audit:
    """Recount a subject, compare it with its source where there is one, and judge its promises."""
    auditor = auditor_for(subject.kind)
    with translate_read_errors(subject, staged=staged):
        each_row = isinstance(source, pl.DataFrame)
        recount = auditor.recount(subject, each_row=each_row, thorough=not staged)
        if not staged:
            require_described_columns(recount, bytes=source is None)
    people = None
    if context.population is not None:
        people = count_population(recount, context.population, missing)
    evidence = _collect_evidence(recount, people, context)
    utility = dict(recount.utility)
    provenance = None
    if source is not None:
        all_rows = compare_with_source(recount, source)
        comparison = all_rows
        complete_rows, planned_rows = _select_planned_rows(source, subject)
        if planned_rows is not source:
            comparison = compare_with_source(recount, planned_rows)
        set_aside = all_rows.rows - comparison.rows
        if subject.foreign:
            recount = cast("Any", auditor).measure_by_source(recount, comparison)
            utility = dict(recount.utility)
        matching = auditor.match(recount, comparison)
        findings = (
            *matching.findings,
            *check_stated_withholding(recount, comparison),
            *check_missing_rows(recount, set_aside),
            *check_row_limits(recount, complete_rows, context.naming),
        )
        matching = replace(
            matching,
            findings=findings,
            missing=None if matching.missing is None else matching.missing + set_aside,
        )
        provenance = trace_provenance(recount, matching, all_rows)
        evidence = _add_source_evidence(evidence, subject, matching, comparison)
        if recount.labelled:
            utility["entropy"] = None
            if not provenance.uncovered:
                utility["entropy"] = compute_source_entropy(recount, matching.axes or (), all_rows.rows)
    with translate_read_errors(subject, staged=staged):
        verdicts = _judge_promises(subject, evidence, context.judges)
    risk = None
    if recount.labelled or not staged:
        risk = compute_group_risk(
            list(recount.labels),
            recount.groups.labels,
            recount.groups.sizes,
            people,
            rows_per_person=subject.rows_per_person,
        )
    return Audit(
        kind=subject.kind,
        rows=recount.rows,
        groups=len(recount.sizes),
        withheld=None if subject.foreign and source is None else subject.withheld,
        promises=verdicts,
        exact=recount.measures,
        utility=utility,
        risk=risk,
        by_column=recount.by_column,
        source=provenance,
        notes=list_notes(recount, provenance),
        carried=measure_passthrough(recount),
        about=subject.about,
        withheld_before={} if subject.manifest is None else subject.manifest.withheld_before,
    )


def _select_planned_rows(source: SourceTable, subject: Subject) -> tuple[SourceTable, SourceTable]:
    """Return the source's rows that lack no value where that withholds a row, and the same with values as published."""
    if isinstance(source, pl.DataFrame):
        complete_frame = select_complete_rows(source, subject.complete)
        return complete_frame, recode_as_stated(complete_frame, subject.columns)
    complete_rows = select_complete_rows(source, subject.complete)
    return complete_rows, recode_as_stated(complete_rows, subject.columns)


def _list_similar_spellings(recount: RecomputedRelease) -> list[str]:
    """List notes on values that are equal up to case, spaces or Unicode form.

    They count as different values, so that diversity may be only spelling.
    """
    sensitive = [entry.name for entry in recount.subject.find_columns_with_role(Role.SENSITIVE)]
    sentences = [describe_variants(name, recount.column(name).unique()) for name in sensitive]
    return [sentence for sentence in sentences if sentence]


def _resolve_declared_columns(job: Any, roles: Mapping[str, Any]) -> dict[str, Column]:
    """Resolve the roles of a plain table's columns: a job's, or those named."""
    declared = dict(roles["columns"] or (job.columns if job is not None else {}))
    declared |= {name: Column(Role.QUASI) for name in roles["quasi"] or () if name not in declared}
    declared |= {
        name: Column(Role.SENSITIVE, missing="category") for name in roles["sensitive"] or () if name not in declared
    }
    for name, tree in (roles["hierarchy"] or {}).items():
        if name not in declared:
            raise JobError(
                f"A hierarchy is given for {name!r}, which has no role.",
                attempt="quasi=[...] or sensitive=[...] with it.",
            )
        declared[name] = replace(declared[name], hierarchy=tree)
    return declared


def _collect_evidence(recount: RecomputedRelease, people: np.ndarray | None, context: AuditContext) -> Evidence:
    """Collect what judges may look at: the recount, the population, and what `publish` handed over."""
    subject = recount.subject
    source_rows = None
    if context.source is not None:
        counted_source = (recode_as_stated(context.source, subject.columns), context.times)
        source_rows = SourceRows(lambda: counted_source)
    return Evidence(
        class_sizes=recount.class_sizes,
        sizes=recount.sizes,
        sensitive=recount.sensitive,
        withheld=subject.withheld_later,
        stages=subject.stages,
        rows_per_person=subject.rows_per_person,
        population=people,
        perturbation=_find_perturbation(recount, context),
        columns=subject.columns,
        published=recount,
        source=source_rows,
        sampling=recount.sampling,
        targeted=recount.targeted,
        target_files=read_target_files(context.promises) if recount.targeted is not None else {},
        grouped=recount.grouped,
    )


def _add_source_evidence(
    evidence: Evidence, subject: Subject, matching: SourceMatching, comparison: SourceComparison
) -> Evidence:
    """Add the source's rows, and the parameters that matching them proved or disproved."""
    names = [entry.name for entry in subject.columns if entry.role != Role.INSENSITIVE]
    return replace(
        evidence,
        perturbation=matching.perturbation or evidence.perturbation,
        sampling=matching.sampling or evidence.sampling,
        source=SourceRows(lambda: comparison.count_rows(names).pair),
    )


def _find_judges(promises: Iterable[Any], job: Any, judges: Iterable[str]) -> tuple[str, ...]:
    """List the plugins that may judge: those that are named, which must be there, and those of the caller's promises."""
    require_judging_plugins(judges)
    named = [describe_promise(promise).name for promise in (*promises, *(() if job is None else job.promises))]
    return (*judges, *list_namespaces(named))


def _judge_promises(subject: Subject, evidence: Evidence, judges: Sequence[str]) -> tuple[Verdict, ...]:
    """Judge the promises: ours by our own judges, and only then those of plugins, by the plugins that are named.

    A release whose own promise cannot be judged is damaged; a promise that the caller added is a wrong request.
    """
    stated = () if subject.manifest is None else subject.manifest.promises
    versions = {} if subject.manifest is None else subject.manifest.plugins
    verdicts: dict[int, Verdict] = {}
    for number, promise in enumerate(subject.promises):
        if is_plugin_name(promise.name):
            continue
        try:
            verdicts[number] = judge_promise(promise, evidence)
        except BundleDamaged as error:
            if number < len(stated):
                raise
            raise JobError(error.what, why=error.why, attempt=error.attempt or evidence.suggest_promise()) from None
    for number, promise in enumerate(subject.promises):
        if not is_plugin_name(promise.name):
            continue
        if get_namespace(promise.name) in judges:
            verdicts[number] = judge_plugin_promise(promise, evidence, versions)
        else:
            verdicts[number] = leave_unjudged(promise, versions)
    return tuple(verdicts[number] for number in range(len(subject.promises)))


def _find_perturbation(recount: RecomputedRelease, context: AuditContext) -> Perturbation | None:
    """Find the perturbation with its distribution: with withheld rows no file has it, and `publish` hands it over."""
    perturbation = recount.perturbation
    if perturbation is None or perturbation.distribution is not None or context.published is None:
        return perturbation
    counts = context.published(recount.subject.find_columns_with_role(Role.SENSITIVE)[0].name)
    return perturbation.with_distribution_of([counts.get(value, 0) for value in perturbation.values])
