"""Attack targets: what a release shows, laid over the people of its source.

`observe` makes an `AttackTarget` from a release and its source; `observe_plain_table` from a table that another tool
made, its labels laid over the data it was made from; `observe_outsiders` and `lay_over_others` lay the same release
over people who are not in it.  `make_silent_target` makes an uninformative release, for the control of an attack.

People with equal quasi-identifiers are one point: an adversary has the same belief about each of them.  The true values
are stored with the points for the scorer; no attack reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.attacks.scoring import TrueValues
from reticent.data.cells import COUNT_COLUMN, Cells, encode_cells, find_distinct_rows
from reticent.data.columns import Column, Role, apply_source_types, has_types, require_no_nested
from reticent.data.declared_withholding import has_values, list_complete_columns
from reticent.data.domain import Domain, RangeDomain, TreeDomain
from reticent.data.hierarchy import Hierarchy
from reticent.data.hierarchy_builders import BuiltHierarchy
from reticent.data.source import Source, collect_frame, is_text, scan_source
from reticent.data.text_formats import parse_declared
from reticent.errors import RequestError, pluralize, quote_list
from reticent.format.manifest import ColumnEntry, ComponentEntry
from reticent.labels.adversary_view import Boxes, GroupMembers, build_boxes, restore_hierarchy
from reticent.labels.cover import rebuild_hierarchy
from reticent.ledger.source_options import find_person_columns, resolve_plain_table
from reticent.release.kind import AdversaryView

_SHARED_OBSERVATIONS: ContextVar[dict[Any, AttackTarget] | None] = ContextVar("sightings", default=None)


@dataclass(frozen=True, eq=False)
class PointPersons:
    """Persons at each point: the first and the last person there, by number; `count` persons have at most `most` rows."""

    first: np.ndarray
    last: np.ndarray
    count: int
    most: int

    @classmethod
    def from_combinations(cls, person: pl.Series, rows: np.ndarray, point: np.ndarray, points: int) -> PointPersons:
        """Make it from combinations, each of one person: how many rows it has, and its point.

        Rows without a person count as one person's.
        """
        codes = (person.rank("dense").fill_null(0).cast(pl.Int64)).to_numpy()
        first = np.full(points, np.iinfo(np.int64).max)
        last = np.full(points, -1)
        np.minimum.at(first, point, codes)
        np.maximum.at(last, point, codes)
        rows_by_person = np.bincount(codes, weights=rows)
        return cls(first, last, int((rows_by_person > 0).sum()), int(rows_by_person.max(initial=1)))

    def select_points(self, points: np.ndarray) -> PointPersons:
        return replace(self, first=self.first[points], last=self.last[points])


@dataclass(frozen=True, eq=False)
class AttackTarget:
    """The people an adversary attacks, and what the release shows of them.

    `points` are (points, quasi) codes with `people` at each; `sight` is what the release shows of them.
    """

    points: np.ndarray
    people: np.ndarray
    quasi: tuple[Domain, ...]
    sensitive: Domain
    sight: AdversaryView
    truth: TrueValues  # for the scorer alone
    promises: tuple[ComponentEntry, ...] = ()
    cells: Cells | None = None
    made_by: ComponentEntry | None = None  # the method, where it grouped rows of one person each
    rows_per_person: int = 1
    persons: PointPersons | None = None  # where a column names them, and they may have several rows
    cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # what several attacks compute alike

    @property
    def counts(self) -> np.ndarray:
        """(groups, values): the rows that each group publishes of each value."""
        return self.sight.counts

    @cached_property
    def prior(self) -> np.ndarray:
        """The overall distribution of the release: what everyone who has it knows."""
        total = self.counts.sum(axis=0)
        return total / total.sum()

    @property
    def promised(self) -> float | None:
        """The greatest belief that the promises allow in any group; None where they bound none."""
        known = [promise for promise in self.promises if promise.name in catalogue.PROMISES]  # no plugin's
        rows = [(promise, catalogue.PROMISES[promise.name].belief_bound) for promise in known]
        caps = [
            catalogue.load_object(bound_name)(promise.parameters, self.prior)
            for promise, bound_name in rows
            if bound_name
        ]
        return min(caps, default=None)


def sample_points(people: AttackTarget, max_points: int) -> AttackTarget:
    """Sample points, and the people there, where labels are to be read; keep everybody if the release reveals who is where."""
    if len(people.points) <= max_points or not isinstance(people.sight, Boxes):
        return people
    sampled = np.sort(np.random.default_rng(0).choice(len(people.points), max_points, replace=False))
    persons = None if people.persons is None else people.persons.select_points(sampled)
    return replace(
        people,
        points=people.points[sampled],
        people=people.people[sampled],
        truth=people.truth.take(sampled),
        persons=persons,
    )


def observe(release: Any, source: Any, *, missing: tuple[str, ...] = (), naming: Sequence[str] = ()) -> AttackTarget:
    """Lay a release (folder or opened) over the table it was made from (a path, a `Source` or a frame).

    `naming` are the columns of the table that identify the person of a row, where it has them.
    """
    from reticent.release.release import Release

    shared = _SHARED_OBSERVATIONS.get()
    key = (str(getattr(release, "folder", None) or release), id(source), tuple(missing), tuple(naming))
    if shared is not None and key in shared:
        return shared[key]
    release = release if isinstance(release, Release) else Release(release)
    cells, persons = _count_with_persons(release.columns, source, missing, naming)
    manifest = release.manifest
    target = make_target(cells, release.sight(cells), manifest.promises)
    made_by = manifest.method if manifest.rows_per_person == 1 else None
    rows_per_person = max(manifest.rows_per_person, 1 if persons is None else persons.most)
    target = replace(target, made_by=made_by, rows_per_person=rows_per_person, persons=persons)
    if shared is not None:
        shared[key] = target
    return target


@contextmanager
def share_observations() -> Iterator[None]:
    """Context within which a release is laid over a source once: consecutive attacks share the target."""
    token = _SHARED_OBSERVATIONS.set({})
    try:
        yield
    finally:
        _SHARED_OBSERVATIONS.reset(token)


def observe_outsiders(
    release: Any, people: AttackTarget, others: Any, *, missing: tuple[str, ...] = (), naming: Sequence[str] = ()
) -> AttackTarget:
    """Lay the same release over people who are not in it, for the baseline of an attack; `people` are those who are."""
    from reticent.release.release import Release

    release = release if isinstance(release, Release) else Release(release)
    cells, persons = _count_with_persons(release.columns, others, missing, naming)
    entries = [entry for entry in release.columns if entry.role == Role.QUASI]
    return lay_over_others(people, entries, cells, persons)


def lay_over_others(
    people: AttackTarget,
    entries: Sequence[ColumnEntry],
    cells: Cells,
    persons: PointPersons | None,
    *,
    foreign: bool = False,
) -> AttackTarget:
    """Lay what a release shows of its people over the cells of others: the same adversary, who guesses the same values.

    Sensitive values have the codes of the release's people; values that none of these has get further codes, which
    nobody guesses.
    """
    value = _translate_codes(cells.sensitive[0], people.sensitive)[cells.values[:, 0]]
    quasi = cells.quasi
    codes = cells.codes
    sight = people.sight
    if isinstance(sight, Boxes):
        sight = sight.lay_over(_restore_for_others(entries, people, quasi), cells, foreign)
    else:
        quasi = people.quasi
        columns = zip(cells.quasi, people.quasi, codes.T, strict=True)
        codes = np.column_stack(
            [_translate_codes(domain, release_domain)[column] for domain, release_domain, column in columns]
        )
    points, point = find_distinct_rows(codes)
    values = max(people.sensitive.size, int(value.max(initial=0)) + 1)
    truth = TrueValues.count(point, value, cells.counts, points=len(points), values=values)
    if isinstance(sight, GroupMembers):
        sight = sight.keep_members_at(points)
    return AttackTarget(points, truth.by_point, quasi, people.sensitive, sight, truth, people.promises, persons=persons)


def _restore_for_others(
    entries: Sequence[ColumnEntry], people: AttackTarget, other_domains: Sequence[Domain]
) -> list[ColumnEntry]:
    """Return the columns with the hierarchies that were built from the release's people, and not from the others.

    A builder that follows values alone, as that of prefixes does, places the others' values too. Only the nodes of a
    balanced tree depend on who is in the release: it says nothing of a value that none of them has.
    """
    restored = []
    for axis, (entry, other_domain) in enumerate(zip(entries, other_domains, strict=True)):
        domain = people.quasi[axis]
        if entry.built is None or entry.built.get("build") == "balanced":
            rows = np.bincount(people.points[:, axis], weights=people.people, minlength=domain.size)
            restored.append(restore_hierarchy(entry, domain, rows.astype(np.int64)))
        else:
            texts = sorted({*domain.texts, *other_domain.texts})
            restored.append(rebuild_hierarchy(entry, pl.Series(entry.name, texts, dtype=pl.String)))
    return restored


def count_cells_with_persons(
    declared: Mapping[str, Column], source: Any, missing: tuple[str, ...], naming: Sequence[str]
) -> tuple[Cells, PointPersons | None]:
    """Count the source's cells, its columns as declared, and whose rows they are if a column identifies persons."""
    present = list_present_columns(source, naming, missing) if naming else []
    if not present:
        return count_cells(declared, source, missing), None
    require_one_sensitive(declared)
    names = [*declared, *(name for name in present if name not in declared)]
    lazy = drop_withheld_rows(select_source_columns(source, names, missing), declared)
    if has_types(*_resolve_source(source, missing)):
        declared = apply_source_types(declared, lazy.collect_schema())
    rows = lazy.group_by(names).len(name=COUNT_COLUMN)
    texts = [name for name, dtype in rows.collect_schema().items() if is_text(dtype) and dtype != pl.String]
    combined = collect_frame(rows.with_columns(pl.col(texts).cast(pl.String)), "Counting the rows")
    parsed = parse_declared(combined.select(*declared, COUNT_COLUMN).lazy(), declared)
    cells, cell = encode_cells(collect_frame(parsed, "Reading the values"), declared)
    multiplicity = combined[COUNT_COLUMN].to_numpy()
    point = cells.point[cell]
    persons_by_column = [
        PointPersons.from_combinations(combined[name], multiplicity, point, int(cells.point[-1]) + 1)
        for name in present
    ]
    return cells, min(persons_by_column, key=lambda persons: persons.count)


def list_present_columns(source: Any, names: Sequence[str], missing: tuple[str, ...] = ()) -> list[str]:
    """List those of the names that are columns of the source."""
    source_names = _scan_source(source, missing).collect_schema().names()
    return [name for name in names if name in source_names]


def count_persons(source: Any, naming: Sequence[str], missing: tuple[str, ...] = ()) -> int | None:
    """Count the persons of the source's rows; None if no column of it identifies them."""
    present = list_present_columns(source, naming, missing) if naming else []
    if not present:
        return None
    counted = collect_frame(
        select_source_columns(source, present, missing).select(pl.all().n_unique()), "Counting the people"
    )
    return min(counted.row(0))


def make_target(cells: Cells, sight: AdversaryView, promises: tuple[ComponentEntry, ...] = ()) -> AttackTarget:
    points, point_of_cell = find_distinct_rows(cells.codes)
    truth = TrueValues.count(
        point_of_cell, cells.values[:, 0], cells.counts, points=len(points), values=cells.sensitive[0].size
    )
    return AttackTarget(points, truth.by_point, cells.quasi, cells.sensitive[0], sight, truth, promises, cells)


def count_source_cells(columns: Sequence[ColumnEntry], source: Any, missing: tuple[str, ...] = ()) -> Cells:
    """Count the source's cells, its columns read as the manifest describes them."""
    return widen_spans(count_cells(declare_columns(columns), source, missing), columns)


def declare_columns(columns: Sequence[ColumnEntry]) -> dict[str, Column]:
    """Declare the columns that an attack reads, as the manifest describes them."""
    return {entry.name: _declare_column(entry) for entry in columns if entry.role in (Role.QUASI, Role.SENSITIVE)}


def encode_combinations(
    combinations: pl.LazyFrame, declared: Mapping[str, Column], columns: Sequence[ColumnEntry]
) -> tuple[Cells, np.ndarray]:
    """Encode combinations that were counted already (with a COUNT column) as cells, and return the cell of each of them."""
    cells, cell = encode_cells(collect_frame(parse_declared(combinations, declared), "Reading the values"), declared)
    return widen_spans(cells, columns), cell


def widen_spans(cells: Cells, columns: Sequence[ColumnEntry]) -> Cells:
    entries = {entry.name: entry for entry in columns}
    return replace(cells, quasi=tuple(_widen_span(domain, entries[domain.name]) for domain in cells.quasi))


def count_cells(declared: Mapping[str, Column], source: Any, missing: tuple[str, ...] = ()) -> Cells:
    """Count the source's cells, its columns as declared."""
    from reticent import registry

    require_one_sensitive(declared)
    lazy = drop_withheld_rows(select_source_columns(source, list(declared), missing), declared)
    if has_types(*_resolve_source(source, missing)):
        declared = apply_source_types(declared, lazy.collect_schema())
    return registry.load_engine(catalogue.DEFAULT_ENGINE).count(parse_declared(lazy, declared), declared).cells


def drop_withheld_rows(lazy: pl.LazyFrame, declared: Mapping[str, Column]) -> pl.LazyFrame:
    """Drop rows that lack a value where that withholds them: the release says so, and nobody looks for them in it."""
    names = list_complete_columns(declared)
    return lazy.filter(has_values(lazy.collect_schema(), names)) if names else lazy


def require_one_sensitive(declared: Mapping[str, Column]) -> None:
    if sum(column.role == "sensitive" for column in declared.values()) != 1:
        raise RequestError("An attack needs a release with one sensitive column.")


def select_source_columns(source: Any, names: Sequence[str], missing: tuple[str, ...] = ()) -> pl.LazyFrame:
    """Select these columns of the source, as they are."""
    lazy = _scan_source(source, missing)
    lacking = [name for name in names if name not in lazy.collect_schema().names()]
    if lacking:
        raise RequestError(
            f"The source lacks {pluralize(len(lacking), 'column')} of the release: {quote_list(lacking)}.",
            attempt="the data that the release was made from.",
        )
    return lazy.select(list(names))


def make_silent_target(target: AttackTarget, rng: np.random.Generator) -> AttackTarget:
    """Make a target of the same people under the same groups, with uninformative values."""
    sight = target.sight
    counts = shuffle_counts(target.counts, rng)
    if isinstance(sight, Boxes):
        return replace(target, sight=replace(sight, until=np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))))
    assert isinstance(sight, GroupMembers)
    return replace(target, sight=replace(sight, counts=counts))


def shuffle_counts(counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Deal the values to the rows of groups of the same sizes at random."""
    if not np.array_equal(counts, np.round(counts)):  # shares of a target: rows have no values to deal
        return counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    whole_counts = counts.astype(np.int64)
    values = rng.permutation(np.repeat(np.arange(whole_counts.shape[1]), whole_counts.sum(axis=0)))
    group = np.repeat(np.arange(len(whole_counts)), whole_counts.sum(axis=1))
    shuffled = np.zeros(whole_counts.shape)
    np.add.at(shuffled, (group, values), 1)
    return shuffled


def is_plain_table(release: Any) -> bool:
    """Tell whether this is a table, not a release folder."""
    location = getattr(release, "folder", release)
    return not isinstance(location, str | Path) or Path(location).is_file()


def observe_plain_table(
    table: Any,
    source: Any,
    *,
    missing: tuple[str, ...] = (),
    job: Any = None,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    hierarchy: Mapping[str, Any] | None = None,
) -> AttackTarget:
    """Lay the labels of a plain table over the people of the source."""
    declared = resolve_roles(job, quasi, sensitive, hierarchy)
    null_values = tuple(missing) or (tuple(job.source.missing) if job is not None else ())
    frame = _read_plain_table(table, declared, null_values, job)
    cells, persons = count_cells_with_persons(
        declared, source, null_values, find_person_columns(None, None if job is None else job.columns)
    )
    target = make_target(cells, _make_boxes(frame, cells))
    rows_per_person = (
        max((column.rows_per_person or 1 for column in job.columns.values()), default=1) if job is not None else 1
    )
    return replace(target, rows_per_person=rows_per_person if persons is None else persons.most, persons=persons)


def plain_outside(
    people: AttackTarget,
    others: Any,
    *,
    missing: tuple[str, ...] = (),
    job: Any = None,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    hierarchy: Mapping[str, Any] | None = None,
) -> AttackTarget:
    """Lay the labels of a plain table, as its `people` see them, over people who are not in it."""
    kinds = {domain.name: domain.kind for domain in (*people.quasi, people.sensitive)}
    declared = {
        name: replace(column, type=kinds[name]) if column.type is None and column.order is None else column
        for name, column in resolve_roles(job, quasi, sensitive, hierarchy).items()
    }
    null_values = tuple(missing) or (tuple(job.source.missing) if job is not None else ())
    naming = find_person_columns(None, None if job is None else job.columns)
    cells, persons = count_cells_with_persons(declared, others, null_values, naming)
    return lay_over_others(people, [_make_column_entry(domain) for domain in cells.quasi], cells, persons, foreign=True)


def locate_plain_labels(table: Any, cells: Cells, job: Any) -> Boxes:
    """Lay the labels of a plain table over people who are counted already, by the same job."""
    declared = resolve_roles(job, None, None, None)
    return _make_boxes(_read_plain_table(table, declared, tuple(job.source.missing), job), cells)


def resolve_roles(
    job: Any, quasi: Iterable[str] | None, sensitive: Iterable[str] | None, hierarchy: Mapping[str, Any] | None
) -> dict[str, Column]:
    """Return the quasi-identifiers, then the sensitive column: a job's, or those named."""
    columns = dict(job.columns) if job is not None else {}
    columns |= {name: Column(Role.QUASI) for name in quasi or () if name not in columns}
    columns |= {name: Column(Role.SENSITIVE) for name in sensitive or () if name not in columns}
    for name, tree in (hierarchy or {}).items():
        if name not in columns:
            raise RequestError(
                f"A hierarchy is given for {name!r}, which has no role.", attempt="--quasi or --sensitive."
            )
        columns[name] = replace(
            columns[name], hierarchy=Hierarchy.of(tree, name), type=columns[name].type or "categorical"
        )
    names_by_role = {
        role: [name for name, column in columns.items() if column.role is role] for role in (Role.QUASI, Role.SENSITIVE)
    }
    if not names_by_role[Role.QUASI] or len(names_by_role[Role.SENSITIVE]) != 1:
        raise RequestError(
            "An attack on a plain table needs its quasi-identifiers and its one sensitive column.",
            attempt="--quasi A,B and --sensitive C, or --job JOB.",
        )
    return {
        name: replace(columns[name], missing="category")
        for name in (*names_by_role[Role.QUASI], *names_by_role[Role.SENSITIVE])
    }


def _count_with_persons(
    columns: Sequence[ColumnEntry], source: Any, missing: tuple[str, ...], naming: Sequence[str]
) -> tuple[Cells, PointPersons | None]:
    """Count the source's cells as the manifest describes them, and whose rows they are if a column identifies persons."""
    cells, persons = count_cells_with_persons(declare_columns(columns), source, missing, naming)
    return widen_spans(cells, columns), persons


def _translate_codes(domain: Domain, known_domain: Domain) -> np.ndarray:
    """Return the code in `known` of each code of a domain; values that are unknown there have codes beyond its size."""
    code_of: dict[str | Fraction | None, int] = {
        _comparable(known_domain, text): code for code, text in enumerate(known_domain.texts)
    }
    if known_domain.null:
        code_of[None] = known_domain.null_code
    texts = [*domain.texts, *([None] if domain.null else [])]
    keys = [None if text is None else _comparable(domain, text) for text in texts]
    return np.array([code_of.get(key, known_domain.size + code) for code, key in enumerate(keys)], np.int64)


def _resolve_source(source: Any, missing: tuple[str, ...]) -> tuple[Source, Any]:
    """Return how a source (a path, a `Source` or a frame) is read, and the frame."""
    if isinstance(source, Source):
        return source, None
    if _is_path(source):
        return Source(path=str(source), missing=tuple(missing)), None
    return Source(missing=tuple(missing)), source


def _scan_source(source: Any, missing: tuple[str, ...]) -> pl.LazyFrame:
    return scan_source(*_resolve_source(source, missing))


def _declare_column(entry: ColumnEntry) -> Column:
    """Declare a column as its manifest entry describes it; a hierarchy that was built is built again from the source's values."""
    order = tuple(entry.order) if entry.order else None
    hierarchy = dict(entry.built) if entry.built is not None else entry.hierarchy
    recoding: dict[str, Any] = {"top": entry.top, "bottom": entry.bottom, "round_to": entry.round_to}
    reading: dict[str, Any] = {"format": entry.format, "rates": entry.rates}
    if isinstance(entry.format, list):
        reading["ambiguous"] = "first"  # the publisher was asked, and the source is read as it was published
    missing = "withhold" if entry.missing == "withhold" else "category"
    return Column(entry.role, None if order else entry.type, hierarchy, order, missing=missing, **reading, **recoding)


def _widen_span(domain: Domain, entry: ColumnEntry) -> Domain:
    """Widen a line of numbers to the range in the manifest, if the source lies within it."""
    if not isinstance(domain, RangeDomain) or domain.kind != "numeric" or not entry.domain or not domain.texts:
        return domain
    low, high = (float(Fraction(str(end)) - domain.origin) for end in (entry.domain[0], entry.domain[-1]))
    is_inside = low <= domain.positions[0] and domain.positions[-1] <= high
    return replace(domain, span=(low, high)) if is_inside else domain


def _read_plain_table(
    table: Any, declared: Mapping[str, Column], null_values: tuple[str, ...], job: Any
) -> pl.DataFrame:
    lazy = scan_source(*_resolve_source(resolve_plain_table(table, job, missing=null_values), null_values))
    lacking = [name for name in declared if name not in lazy.collect_schema().names()]
    if lacking:
        raise RequestError(f"The table lacks {pluralize(len(lacking), 'column')}: {quote_list(lacking)}.")
    require_no_nested(lazy.collect_schema(), declared)
    frame = collect_frame(lazy.select(list(declared)), "Reading the table")
    return frame.with_columns(pl.col(name).cast(pl.String) for name in declared)


def _make_boxes(frame: pl.DataFrame, cells: Cells) -> Boxes:
    unknown = frame[cells.sensitive[0].name].unique().drop_nulls().is_in(list(cells.sensitive[0].texts))
    if not unknown.all():
        raise RequestError(
            f"The table's {cells.sensitive[0].name!r} has {pluralize(int((~unknown).sum()), 'value')} that the source does not have.",
            attempt="the data that it was made from.",
        )
    return build_boxes([_make_column_entry(domain) for domain in cells.quasi], frame, cells, foreign=True)


def _make_column_entry(domain: Domain) -> ColumnEntry:
    """Make the entry that a manifest would have of a column, with the whole of a hierarchy that was built from the source."""
    tree = None
    if isinstance(domain, TreeDomain) and (domain.is_from_steward or isinstance(domain.hierarchy, BuiltHierarchy)):
        tree = domain.hierarchy.rows()
    values = list(domain.texts) if isinstance(domain, TreeDomain) and tree is None else None
    order = list(domain.texts) if domain.kind == "ordinal" else None
    kind = domain.kind
    return ColumnEntry(
        name=domain.name,
        role=Role.QUASI,
        type=kind,
        dtype=domain.dtype,
        null=domain.null,
        hierarchy=tree,
        values=values,
        order=order,
    )


def _comparable(domain: Domain, text: str) -> str | Fraction:
    """Convert a value of a domain to a comparable one, whatever type it was read in: 25 and 25.0 are one number."""
    return Fraction(text) if domain.kind == "numeric" else text


def _is_path(source: Any) -> bool:
    from pathlib import Path

    return isinstance(source, str | Path)
