"""A table that another tool made, as an adversary sees it: its labels laid over the data it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from reticent.attacks.seen import Seen, cells_with_persons, lay_over_others, of_cells
from reticent.errors import RequestError, listed, some
from reticent.owner.reading import person_columns
from reticent.release.manifest import ColumnEntry
from reticent.release.reading.boxes import Boxes, boxes
from reticent.table.cells import Cells
from reticent.table.domain import Domain, TreeDomain
from reticent.table.hierarchy import Hierarchy
from reticent.table.roles import Column, Role
from reticent.table.source import Source, collect, scan
from reticent.table.supported import refuse_nested


def is_plain(release: Any) -> bool:
    """Whether this is a table, not a release folder."""
    given = getattr(release, "folder", release)
    return not isinstance(given, str | Path) or Path(given).is_file()


def plain(
    table: Any,
    source: Any,
    *,
    missing: tuple[str, ...] = (),
    job: Any = None,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    hierarchy: Mapping[str, Any] | None = None,
) -> Seen:
    """The people of the source under the labels of a plain table."""
    declared = roles(job, quasi, sensitive, hierarchy)
    marks = tuple(missing) or (tuple(job.source.missing) if job is not None else ())
    frame = _read(table, declared, marks)
    cells, persons = cells_with_persons(
        declared, source, marks, person_columns(None, None if job is None else job.columns)
    )
    found = of_cells(cells, _over(frame, cells))
    most = max((column.rows_per_person or 1 for column in job.columns.values()), default=1) if job is not None else 1
    return replace(found, rows_per_person=most if persons is None else persons.most, persons=persons)


def plain_outside(
    people: Seen,
    others: Any,
    *,
    missing: tuple[str, ...] = (),
    job: Any = None,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    hierarchy: Mapping[str, Any] | None = None,
) -> Seen:
    """Lay the labels of a plain table, as its `people` see them, over people who are not in it."""
    kinds = {domain.name: domain.kind for domain in (*people.quasi, people.sensitive)}
    declared = {
        name: replace(column, type=kinds[name]) if column.type is None and column.order is None else column
        for name, column in roles(job, quasi, sensitive, hierarchy).items()
    }
    marks = tuple(missing) or (tuple(job.source.missing) if job is not None else ())
    naming = person_columns(None, None if job is None else job.columns)
    cells, persons = cells_with_persons(declared, others, marks, naming)
    return lay_over_others(people, [_entry(domain) for domain in cells.quasi], cells, persons, foreign=True)


def laid_over(table: Any, cells: Cells, job: Any) -> Boxes:
    """The labels of a plain table over people who are counted already, by the same job."""
    return _over(_read(table, roles(job, None, None, None), tuple(job.source.missing)), cells)


def _read(table: Any, declared: Mapping[str, Column], marks: tuple[str, ...]) -> pl.DataFrame:
    given = isinstance(table, str | Path)
    lazy = scan(Source(path=str(table) if given else None, missing=marks), None if given else table)
    lacking = [name for name in declared if name not in lazy.collect_schema().names()]
    if lacking:
        raise RequestError(f"The table lacks {some(len(lacking), 'column')}: {listed(lacking)}.")
    refuse_nested(lazy.collect_schema(), declared)
    frame = collect(lazy.select(list(declared)), "Reading the table")
    return frame.with_columns(pl.col(name).cast(pl.String) for name in declared)


def _over(frame: pl.DataFrame, cells: Cells) -> Boxes:
    unknown = frame[cells.sensitive[0].name].unique().drop_nulls().is_in(list(cells.sensitive[0].texts))
    if not unknown.all():
        raise RequestError(
            f"The table's {cells.sensitive[0].name!r} has {some(int((~unknown).sum()), 'value')} that the source does not have.",
            attempt="the data that it was made from.",
        )
    return boxes([_entry(domain) for domain in cells.quasi], frame, cells, foreign=True)


def roles(
    job: Any, quasi: Iterable[str] | None, sensitive: Iterable[str] | None, hierarchy: Mapping[str, Any] | None
) -> dict[str, Column]:
    """The quasi-identifiers, then the sensitive column: a job's, or those named."""
    found = dict(job.columns) if job is not None else {}
    found |= {name: Column(Role.QUASI) for name in quasi or () if name not in found}
    found |= {name: Column(Role.SENSITIVE) for name in sensitive or () if name not in found}
    for name, tree in (hierarchy or {}).items():
        if name not in found:
            raise RequestError(
                f"A hierarchy is given for {name!r}, which has no role.", attempt="--quasi or --sensitive."
            )
        found[name] = replace(found[name], hierarchy=Hierarchy.of(tree, name), type=found[name].type or "categorical")
    used = {
        role: [name for name, column in found.items() if column.role is role] for role in (Role.QUASI, Role.SENSITIVE)
    }
    if not used[Role.QUASI] or len(used[Role.SENSITIVE]) != 1:
        raise RequestError(
            "An attack on a plain table needs its quasi-identifiers and its one sensitive column.",
            attempt="--quasi A,B and --sensitive C, or --job JOB.",
        )
    return {name: replace(found[name], missing="category") for name in (*used[Role.QUASI], *used[Role.SENSITIVE])}


def _entry(domain: Domain) -> ColumnEntry:
    """What a manifest would say of a column."""
    tree = domain.hierarchy.rows() if isinstance(domain, TreeDomain) and domain.given else None
    values = list(domain.texts) if isinstance(domain, TreeDomain) and tree is None else None
    order = list(domain.texts) if domain.kind == "ordinal" else None
    kind = domain.kind
    return ColumnEntry(name=domain.name, role=Role.QUASI, type=kind, dtype=domain.dtype, null=domain.null, hierarchy=tree,
                       values=values, order=order)  # fmt: skip
