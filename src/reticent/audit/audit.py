"""The audit: recount a release from its published files, by formulas of its own, and judge every promise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reticent.audit.anatomized import audit_anatomized
from reticent.audit.carried import carried
from reticent.audit.dichotomy import judged
from reticent.audit.grouping import Groups, Numbered, group, number
from reticent.audit.judge import Recount, measures, worst
from reticent.audit.measure import anonymity
from reticent.audit.perturbed import audit_perturbed
from reticent.audit.population import population_sizes, source_entropy
from reticent.audit.provenance import trace
from reticent.audit.published import Published, open_folder, open_table
from reticent.audit.result import Audit
from reticent.audit.risk import of_groups
from reticent.audit.sensitive import Sensitive, jointly, recount
from reticent.errors import BundleDamaged, JobError
from reticent.release import bundle
from reticent.release.reading.scale import Unreadable, scale
from reticent.table.roles import Column, Role
from reticent.utility import loss


def audit(release: Any, *, source: Any = None, expect_digest: str | None = None, job: Any = None,
          columns: Mapping[str, Column] | None = None, quasi: Iterable[str] | None = None, sensitive: Iterable[str] | None = None,
          hierarchy: Mapping[str, Any] | None = None, missing: Sequence[str] = (), promises: Iterable[Any] = (),
          population: Any = None) -> Audit:  # fmt: skip
    """Recount a release folder (or an opened release), or a table that another tool made, and judge its promises.

    `expect_digest` refuses a release that was changed.  `source` (a path, a frame or a `Source`) checks the rows against where
    they came from, and that nothing else of it leaked.  A plain CSV or Parquet file or frame needs the roles of its columns: a
    `job`, `columns`, or `quasi`, `sensitive` and `hierarchy`; `missing` lists texts that mean null; `promises` are judged too.
    """
    kind = None if _plain(release) else bundle.read_manifest(_folder(release))["kind"]
    if kind == "perturbed":
        return audit_perturbed(_folder(release), expect_digest, _source(source, job), missing)
    if kind == "anatomized":
        return audit_anatomized(_folder(release), expect_digest, source)
    if kind is None:
        published = _table(release, expect_digest, job, columns, quasi, sensitive, hierarchy, missing, promises)
    else:
        published = open_folder(
            _folder(release), expect_digest, each_row=source is not None or _carries(_folder(release))
        )
    numbered = {column["name"]: number(published.frame[column["name"]]) for column in published.named(Role.QUASI)}
    groups = group(list(numbered.values()), len(published.frame), published.times)
    found = _sensitive(published, groups)
    people = None if population is None else population_sizes(published, numbered, groups, population, missing)
    table = Recount(groups.sizes, found, people, published.rows_per_person)
    verdicts = judged(published.promises, table, published.withheld, (published.manifest or {}).get("prepare", []))
    each = {column.name: measures(column) for column in found}
    achieved = {"k-anonymity": anonymity.k(groups.sizes, published.rows_per_person), **worst(list(each.values()))}
    notes: list[str] = []
    utility = _utility(published, numbered, groups, notes)
    proven = None
    if source is not None:
        proven, rows = trace(published, numbered, _source(source, job), missing)
        utility["entropy"] = source_entropy(published, numbered, rows)
    return Audit(published.kind, published.rows, len(groups), published.withheld, verdicts, achieved, utility,
                 of_groups(list(numbered), groups.labels, groups.sizes, people), each if len(each) > 1 else {}, proven, tuple(notes),
                 carried(published))  # fmt: skip


def _source(source: Any, job: Any) -> Any:
    """A path is read as the job reads its source: the same delimiter, encoding and texts that mean missing."""
    if isinstance(source, str | Path) and job is not None:
        return replace(job.source, path=str(source))
    return source


def _carries(folder: Any) -> bool:
    """Whether the release carries columns, whose values are measured row by row."""
    return any(column.get("role") == Role.INSENSITIVE for column in bundle.read_manifest(folder)["columns"])


def _table(release: Any, expect_digest: str | None, job: Any, columns: Mapping[str, Column] | None, quasi: Iterable[str] | None,
           sensitive: Iterable[str] | None, hierarchy: Mapping[str, Any] | None, missing: Sequence[str],
           promises: Iterable[Any]) -> Published:  # fmt: skip
    """A table that another tool made, with the roles of its columns."""
    if expect_digest is not None:
        raise JobError(
            "A digest is that of a release folder; this is a plain table.", attempt="leaving expect_digest out."
        )
    declared = dict(columns or (job.columns if job is not None else {}))
    declared |= {name: Column(Role.QUASI) for name in quasi or () if name not in declared}
    declared |= {name: Column(Role.SENSITIVE, missing="category") for name in sensitive or () if name not in declared}
    for name, tree in (hierarchy or {}).items():
        if name not in declared:
            raise JobError(
                f"A hierarchy is given for {name!r}, which has no role.",
                attempt="quasi=[...] or sensitive=[...] with it.",
            )
        declared[name] = replace(declared[name], hierarchy=tree)
    asked = [*promises, *(job.promises if job is not None else ())]
    marks = tuple(missing) or (job.source.missing if job is not None else ())
    return open_table(_folder(release), declared, asked, missing=marks, jointly=bool(getattr(job, "jointly", False)))


def _folder(release: Any) -> Any:
    return getattr(release, "folder", release)


def _plain(release: Any) -> bool:
    """Whether this is a table that another tool made, not a release folder."""
    folder = _folder(release)
    return not isinstance(folder, str | Path) or Path(folder).is_file()


def _sensitive(published: Published, groups: Groups) -> list[Sensitive]:
    entries = published.named(Role.SENSITIVE)
    if published.jointly and len(entries) > 1:
        named = {
            promise.get("column") for promise in published.promises
        }  # promised of one column beside the combination
        alone = [recount(entry, published.frame[entry["name"]], groups) for entry in entries if entry["name"] in named]
        return [jointly(entries, published.frame, groups), *alone]
    return [recount(entry, published.frame[entry["name"]], groups) for entry in entries]


def _utility(
    published: Published, numbered: Mapping[str, Numbered], groups: Groups, notes: list[str]
) -> dict[str, Any]:
    """Information loss from the labels.  A release whose labels cannot be read is damaged; of a foreign table that much is not known."""
    columns = []
    for entry in published.named(Role.QUASI):
        values = numbered[entry["name"]]
        labels = values.distinct.to_list()
        try:
            lines = scale(entry, labels, foreign=published.foreign)
            columns.append(loss.Labelled(entry["name"], lines, lines.read(labels), values.times(groups.times)))
        except Unreadable:
            if not published.foreign:
                raise BundleDamaged(
                    f"Column {entry['name']!r} holds labels that its schema does not explain."
                ) from None
            notes.append(f"the labels of {entry['name']!r} are not understood: no information loss")
    k = max((int(promise["k"]) for promise in published.promises if "k" in promise), default=1)
    found = loss.measures(columns, groups.sizes, withheld=published.withheld, k=k, weights=published.weights)
    if len(columns) < len(numbered):
        found |= {"ail": None, "precision": None}
    return found
