"""The audit: recount a release from its published files, by formulas of its own, and judge every promise.

One trunk for every kind: what only a kind knows, its `Eyes` say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.carried import carried
from reticent.audit.compared import Compared
from reticent.audit.declared import disagreements
from reticent.audit.described import refuse_undescribed
from reticent.audit.evidence import Evidence, Redrawing, SourceRows
from reticent.audit.foreign import sentences, with_withheld
from reticent.audit.forged import counting
from reticent.audit.identity import identified
from reticent.audit.judge import Verdict, judge
from reticent.audit.kind import Recounted, eyes
from reticent.audit.population import population_sizes, source_entropy
from reticent.audit.provenance import Provenance, trace
from reticent.audit.reading import is_little
from reticent.audit.report_page import check_page
from reticent.audit.result import Audit
from reticent.audit.risk import of_groups
from reticent.audit.streamed import compared_with
from reticent.audit.subject import Subject, of_folder, of_table
from reticent.audit.withholding import withheld_as_stated
from reticent.door import a_job, door, marks, names, optional, place, table, text
from reticent.door import promises as promises_of
from reticent.errors import BundleDamaged, JobError
from reticent.owner.reading import reading_of, told
from reticent.table.declaring import columns as columns_of
from reticent.table.roles import Column, Role
from reticent.table.source import collect, scan
from reticent.table.spelling import notice

Table = pl.DataFrame | pl.LazyFrame


@dataclass(frozen=True, eq=False)
class Handed:
    """What publish gives the audit beside the files: a population, the source as it was counted, and true values.

    `source` holds distinct rows with how many `times` each occurs; `published` counts, for a sensitive column, the people
    published who have each value.
    """

    population: Any = None
    source: pl.DataFrame | None = None
    times: np.ndarray | None = None
    published: Callable[[str], Mapping[str, int]] | None = None


@door(release=place, source=optional(place), expect_digest=optional(text), job=optional(a_job), columns=optional(columns_of),
      quasi=optional(names), sensitive=optional(names), hierarchy=optional(table), missing=marks, promises=promises_of,
      population=optional(place))  # fmt: skip
def audit(release: Any, *, source: Any = None, expect_digest: str | None = None, job: Any = None,
          columns: Mapping[str, Column] | None = None, quasi: Iterable[str] | None = None, sensitive: Iterable[str] | None = None,
          hierarchy: Mapping[str, Any] | None = None, missing: Sequence[str] = (), promises: Iterable[Any] = (),
          population: Any = None) -> Audit:  # fmt: skip
    """Recount a release folder (or an opened release), or a table that another tool made, and judge its promises.

    `expect_digest` refuses a release that was changed; without it the result's `identity` says what, if anything, shows that it
    was not.  `source` (a path, a frame or a `Source`) checks the rows against where they came from, and that
    nothing else of it leaked.  A plain CSV or Parquet file or frame needs the roles of its columns: a `job`, `columns`, or `quasi`, `sensitive` and `hierarchy`.  `missing` lists texts that mean null; `promises` are judged too.
    With a release folder, a `job` says how the source is read, and what the manifest must repeat of it; without one the
    source is read as the owner's job beside the release says.
    """
    given = {"columns": columns, "quasi": quasi, "sensitive": sensitive, "hierarchy": hierarchy}
    if is_plain(release):
        if expect_digest is not None:
            raise JobError(
                "A digest is that of a release folder; this is a plain table.", attempt="leaving expect_digest out."
            )
        asked = [*promises, *(job.promises if job is not None else ())]
        subject = of_table(folder_of(release), declared_columns(job, given), asked, missing=_marks(job, missing),
                           jointly=bool(getattr(job, "jointly", False)))  # fmt: skip
    else:
        refuse_roles(given)
        subject = of_folder(folder_of(release), expect_digest, promises)
    rows, read_as = (None, "") if source is None else _source_rows(release, source, job, missing)
    found = _audited(with_withheld(subject, rows), rows, Handed(_people(release, population, job, missing)), missing)
    if read_as:
        found = replace(found, notes=(*found.notes, f"The source was read as it was published: {read_as}."))
    notes = () if job is None or subject.foreign else disagreements(subject, job)
    identity = identified(subject.path, expect_digest) if subject.manifest is not None and subject.path else None
    page = check_page(subject.path) if identity is not None and subject.path else None
    return replace(found, disagreements=notes, identity=identity, page=page)


def _source_rows(release: Any, source: Any, job: Any, missing: Sequence[str]) -> tuple[Table, str]:
    """The source read as `publish` read it, and how that differs from reading it plainly; lazily where it is large."""
    given, frame = reading_of(release, source, job, missing=missing)
    little = is_plain(release) or is_little(given, frame)
    rows = scan(given, frame, by_pieces=not little)
    return (collect(rows, "Reading the source") if little else rows), told(given)


def _people(release: Any, population: Any, job: Any, missing: Sequence[str]) -> Any:
    """The population, read as the source is."""
    if population is None:
        return None
    given, frame = reading_of(release, population, job, missing=missing)
    return collect(scan(given, frame), "Reading the population")


def audit_staged(folder: Path, handed: Handed) -> Audit:
    """What `publish` asks before it keeps a release: the promises, from the files and what it hands over."""
    return _audited(of_folder(folder), None, handed, (), staged=True)


def _audited(
    subject: Subject, source: Table | None, handed: Handed, missing: Sequence[str], *, staged: bool = False
) -> Audit:
    with counting(subject, staged=staged):
        each_row = isinstance(source, pl.DataFrame)
        found = eyes(subject.kind).recount(subject, each_row=each_row, thorough=not staged)
        if not staged:
            refuse_undescribed(found, bytes=source is None)
    people = None if handed.population is None else population_sizes(found, handed.population, missing)
    proven, redrawing, utility = None, _redrawing(found, handed), dict(found.utility)
    sampling, compared = found.sampling, None
    if source is not None:
        compared = compared_with(found, source)
        matching = eyes(subject.kind).match(found, compared)
        redrawing, sampling = matching.redrawing or redrawing, matching.sampling or sampling
        matching = replace(matching, findings=(*matching.findings, *withheld_as_stated(found, compared)))
        proven = trace(found, matching, compared)
        if found.labelled:
            axes = matching.axes or ()
            utility["entropy"] = None if proven.uncovered else source_entropy(found, axes, compared.rows)
    evidence = replace(_evidence(found, people, redrawing, compared, handed), sampling=sampling)
    with counting(subject, staged=staged):
        verdicts = _verdicts(subject, evidence)
    shown = found.labelled or not staged
    risk = None
    if shown:
        risk = of_groups(
            list(found.labels), found.groups.labels, found.groups.sizes, people, rows_per_person=subject.rows_per_person
        )
    withheld = None if subject.foreign and source is None else subject.withheld
    return Audit(subject.kind, found.rows, len(found.sizes), withheld, verdicts, found.measures, utility, risk,
                 found.by_column, proven, notes_of(found, proven), carried(found))  # fmt: skip


def notes_of(found: Recounted, proven: Provenance | None = None) -> tuple[str, ...]:
    """What the kind notes, what a table of another tool lets be said, and values that are spelled alike."""
    lost = [] if proven is None or not (found.labelled and proven.uncovered) else [
        "entropy is not known: it needs a source row of its own for every published one."]  # fmt: skip
    return (*found.notes, *sentences(found), *lost, *_spellings(found))


def _verdicts(subject: Subject, evidence: Evidence) -> tuple[Verdict, ...]:
    """A release whose own promise cannot be judged is damaged; one that the caller asks of it is a wrong question."""
    stated, found = () if subject.manifest is None else subject.manifest.promises, []
    for number, promise in enumerate(subject.promises):
        try:
            found.append(judge(promise, evidence))
        except BundleDamaged as error:
            if number < len(stated):
                raise
            attempt = error.attempt or "a promise that fits the column."
            raise JobError(error.what, why=error.why, attempt=attempt) from None
    return tuple(found)


def _evidence(
    found: Recounted,
    people: np.ndarray | None,
    redrawing: Redrawing | None,
    source: Compared | None,
    handed: Handed,
) -> Evidence:
    subject, rows = found.subject, None
    if source is not None:
        names = [column.name for column in subject.columns if column.role != Role.INSENSITIVE]
        rows = SourceRows(lambda: source.counted(names).pair)
    elif (given := handed.source) is not None:
        rows = SourceRows(lambda: (given, handed.times))
    return Evidence(found.alike, found.sizes, found.sensitive, subject.withheld, subject.stages, subject.rows_per_person, people,
                    redrawing, subject.columns, found, rows, targeted=found.targeted)  # fmt: skip


def _redrawing(found: Recounted, handed: Handed) -> Redrawing | None:
    """With withheld rows no file says the distribution that values were redrawn for: publish hands it over."""
    redrawing = found.redrawing
    if redrawing is None or redrawing.distribution is not None or handed.published is None:
        return redrawing
    counts = handed.published(found.subject.named(Role.SENSITIVE)[0].name)
    return redrawing.of_counts([counts.get(value, 0) for value in redrawing.values])


def _spellings(found: Recounted) -> list[str]:
    """Values that are equal up to case, spaces or Unicode form count as different: said, because diversity may be only spelling."""
    said = [notice(c.name, found.column(c.name).unique()) for c in found.subject.named(Role.SENSITIVE)]
    return [sentence for sentence in said if sentence]


def declared_columns(job: Any, given: Mapping[str, Any]) -> dict[str, Column]:
    """The roles of a plain table's columns: a job's, or those named."""
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


def refuse_roles(given: Mapping[str, Any]) -> None:
    """A release folder describes its own columns."""
    named = [name for name, value in given.items() if value]
    if named:
        raise JobError(
            f"{' and '.join(named)} describe{'s' if len(named) == 1 else ''} a plain table; a release folder describes itself.",
            attempt="leaving them out.",
        )


def folder_of(release: Any) -> Any:
    return getattr(release, "folder", release)


def is_plain(release: Any) -> bool:
    """Whether this is a table that another tool made, not a release folder."""
    folder = folder_of(release)
    return not isinstance(folder, str | Path) or Path(folder).is_file()


def _marks(job: Any, missing: Sequence[str]) -> tuple[str, ...]:
    return tuple(missing) or (job.source.missing if job is not None else ())
