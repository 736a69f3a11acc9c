"""What an adversary holds: what a release shows, and the quasi-identifiers of the people in it.

People with equal quasi-identifiers are one point: an adversary can say the same of each of them only.  The true values stand
beside the points for the scorer; no attack reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.attacks.true_values import TrueValues
from reticent.errors import RequestError, listed, some
from reticent.release.kind import Sight
from reticent.release.manifest import ColumnEntry, Described
from reticent.release.reading.boxes import Boxes
from reticent.release.reading.members import Members
from reticent.table.cells import Cells, distinct_rows
from reticent.table.codec import COUNT, encode_cells
from reticent.table.domain import Domain, RangeDomain
from reticent.table.roles import Column, Role
from reticent.table.source import Source, collect, is_text, scan
from reticent.table.source_types import has_types, keep_types
from reticent.table.written import as_declared

_SHARED: ContextVar[dict[Any, Seen] | None] = ContextVar("sightings", default=None)


@dataclass(frozen=True, eq=False)
class PointPersons:
    """Whose rows stand at each point: the first and the last person there, by number; `count` persons have `most` rows at most."""

    first: np.ndarray
    last: np.ndarray
    count: int
    most: int

    @classmethod
    def of(cls, person: pl.Series, rows: np.ndarray, point: np.ndarray, points: int) -> PointPersons:
        """From combinations, each of one person: how many rows it has, and its point.  Rows without a person are taken for one's."""
        codes = (person.rank("dense").fill_null(0).cast(pl.Int64)).to_numpy()
        first = np.full(points, np.iinfo(np.int64).max)
        last = np.full(points, -1)
        np.minimum.at(first, point, codes)
        np.maximum.at(last, point, codes)
        each = np.bincount(codes, weights=rows)
        return cls(first, last, int((each > 0).sum()), int(each.max(initial=1)))

    def at(self, points: np.ndarray) -> PointPersons:
        return replace(self, first=self.first[points], last=self.last[points])


@dataclass(frozen=True, eq=False)
class Seen:
    """`points` are (points, quasi) codes with `people` at each; `sight` is what the release shows of them."""

    points: np.ndarray
    people: np.ndarray
    quasi: tuple[Domain, ...]
    sensitive: Domain
    sight: Sight
    truth: TrueValues  # for the scorer alone
    promises: tuple[Described, ...] = ()
    cells: Cells | None = None
    made_by: Described | None = None  # the method, where it grouped rows of one person each
    rows_per_person: int = 1
    persons: PointPersons | None = None  # where a column names them, and they may have several rows
    cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # what several attacks compute alike

    @property
    def counts(self) -> np.ndarray:
        """(groups, values): the rows that each group publishes of each value."""
        return self.sight.counts

    @cached_property
    def prior(self) -> np.ndarray:
        """The overall distribution of the release: what anyone knows who has it."""
        total = self.counts.sum(axis=0)
        return total / total.sum()

    @property
    def promised(self) -> float | None:
        """The greatest belief that the promises allow in any group; None where they bound none."""
        rows = [(promise, catalogue.PROMISES[promise.name].believed) for promise in self.promises]
        caps = [catalogue.load(believed)(promise.parameters, self.prior) for promise, believed in rows if believed]
        return min(caps, default=None)


def part_of(people: Seen, most: int) -> Seen:
    """A random part of the points, and the people there, where labels are to be read; everybody where the release says who is where."""
    if len(people.points) <= most or not isinstance(people.sight, Boxes):
        return people
    at = np.sort(np.random.default_rng(0).choice(len(people.points), most, replace=False))
    persons = None if people.persons is None else people.persons.at(at)
    return replace(
        people, points=people.points[at], people=people.people[at], truth=people.truth.take(at), persons=persons
    )


def seen(release: Any, source: Any, *, missing: tuple[str, ...] = (), naming: Sequence[str] = ()) -> Seen:
    """A release (folder or opened) and the table it was made from (a path, a `Source` or a frame).

    `naming` are the columns of the table that say whose a row is, where it has them.
    """
    from reticent.opened import Release

    shared = _SHARED.get()
    key = (str(getattr(release, "folder", None) or release), id(source), tuple(missing), tuple(naming))
    if shared is not None and key in shared:
        return shared[key]
    release = release if isinstance(release, Release) else Release(release)
    cells, persons = _counted_with_persons(release.columns, source, missing, naming)
    manifest = release.manifest
    found = of_cells(cells, release.sight(cells), manifest.promises)
    made_by = manifest.method if manifest.rows_per_person == 1 else None
    most = max(manifest.rows_per_person, 1 if persons is None else persons.most)
    found = replace(found, made_by=made_by, rows_per_person=most, persons=persons)
    if shared is not None:
        shared[key] = found
    return found


@contextmanager
def share_sightings() -> Iterator[None]:
    """Within it, a release is laid over a source once: attacks that follow each other see the same."""
    token = _SHARED.set({})
    try:
        yield
    finally:
        _SHARED.reset(token)


def outside(
    release: Any, people: Seen, others: Any, *, missing: tuple[str, ...] = (), naming: Sequence[str] = ()
) -> Seen:
    """The same release laid over people who are not in it, for the baseline of an attack; `people` are those who are."""
    from reticent.opened import Release

    release = release if isinstance(release, Release) else Release(release)
    cells, persons = _counted_with_persons(release.columns, others, missing, naming)
    entries = [entry for entry in release.columns if entry.role == Role.QUASI]
    return lay_over_others(people, entries, cells, persons)


def lay_over_others(
    people: Seen,
    entries: Sequence[ColumnEntry],
    cells: Cells,
    persons: PointPersons | None,
    *,
    foreign: bool = False,
) -> Seen:
    """Lay what a release shows of its people over the cells of others: the same adversary, who guesses the same values.

    Sensitive values have the codes of the release's people, and those that none of these has further codes: nobody guesses them.
    """
    value = _translate_codes(cells.sensitive[0], people.sensitive)[cells.values[:, 0]]
    quasi, codes = cells.quasi, cells.codes
    sight = people.sight
    if isinstance(sight, Boxes):
        sight = sight.lay_over(entries, cells, foreign)
    else:
        quasi = people.quasi
        columns = zip(cells.quasi, people.quasi, codes.T, strict=True)
        codes = np.column_stack([_translate_codes(domain, known)[column] for domain, known, column in columns])
    points, point = distinct_rows(codes)
    values = max(people.sensitive.size, int(value.max(initial=0)) + 1)
    truth = TrueValues.count(point, value, cells.counts, points=len(points), values=values)
    if isinstance(sight, Members):
        sight = sight.keep_members_at(points)
    return Seen(points, truth.by_point, quasi, people.sensitive, sight, truth, people.promises, persons=persons)


def _translate_codes(domain: Domain, known: Domain) -> np.ndarray:
    """The code in `known` of each code of a domain; values that are unknown there have codes beyond its size."""
    code_of: dict[str | Fraction | None, int] = {
        _comparable(known, text): code for code, text in enumerate(known.texts)
    }
    if known.null:
        code_of[None] = known.null_code
    texts = [*domain.texts, *([None] if domain.null else [])]
    keys = [None if text is None else _comparable(domain, text) for text in texts]
    return np.array([code_of.get(key, known.size + code) for code, key in enumerate(keys)], np.int64)


def _comparable(domain: Domain, text: str) -> str | Fraction:
    """A value of a domain, whatever type it was read in: 25 and 25.0 are one number."""
    return Fraction(text) if domain.kind == "numeric" else text


def _counted_with_persons(
    columns: Sequence[ColumnEntry], source: Any, missing: tuple[str, ...], naming: Sequence[str]
) -> tuple[Cells, PointPersons | None]:
    """The source's cells as the manifest describes them, and whose rows they are where it has a column that says so."""
    cells, persons = cells_with_persons(declared_of(columns), source, missing, naming)
    return spanned(cells, columns), persons


def cells_with_persons(
    declared: Mapping[str, Column], source: Any, missing: tuple[str, ...], naming: Sequence[str]
) -> tuple[Cells, PointPersons | None]:
    """The source's cells, its columns as declared, and whose rows they are where it has a column that says so."""
    present = present_columns(source, naming, missing) if naming else []
    if not present:
        return cells_of(declared, source, missing), None
    refuse_several_sensitive(declared)
    names = [*declared, *(name for name in present if name not in declared)]
    lazy = raw(source, names, missing)
    if has_types(*_read_as(source, missing)):
        declared = keep_types(declared, lazy.collect_schema())
    rows = lazy.group_by(names).len(name=COUNT)
    texts = [name for name, dtype in rows.collect_schema().items() if is_text(dtype) and dtype != pl.String]
    combined = collect(rows.with_columns(pl.col(texts).cast(pl.String)), "Counting the rows")
    read = as_declared(combined.select(*declared, COUNT).lazy(), declared)
    cells, cell = encode_cells(collect(read, "Reading the values"), declared)
    times, point = combined[COUNT].to_numpy(), cells.point[cell]
    found = [PointPersons.of(combined[name], times, point, int(cells.point[-1]) + 1) for name in present]
    return cells, min(found, key=lambda one: one.count)


def present_columns(source: Any, names: Sequence[str], missing: tuple[str, ...] = ()) -> list[str]:
    """Those of the names that are columns of the source."""
    there = _scanned(source, missing).collect_schema().names()
    return [name for name in names if name in there]


def count_persons(source: Any, naming: Sequence[str], missing: tuple[str, ...] = ()) -> int | None:
    """How many persons the rows of the source are of; None where no column of it says so."""
    present = present_columns(source, naming, missing) if naming else []
    if not present:
        return None
    counted = collect(raw(source, present, missing).select(pl.all().n_unique()), "Counting the people")
    return min(counted.row(0))


def of_cells(cells: Cells, sight: Sight, promises: tuple[Described, ...] = ()) -> Seen:
    points, at = distinct_rows(cells.codes)
    truth = TrueValues.count(at, cells.values[:, 0], cells.counts, points=len(points), values=cells.sensitive[0].size)
    return Seen(points, truth.by_point, cells.quasi, cells.sensitive[0], sight, truth, promises, cells)


def counted(columns: Sequence[ColumnEntry], source: Any, missing: tuple[str, ...] = ()) -> Cells:
    """The source's cells, its columns read as the manifest describes them."""
    return spanned(cells_of(declared_of(columns), source, missing), columns)


def declared_of(columns: Sequence[ColumnEntry]) -> dict[str, Column]:
    """The columns that an attack reads, as the manifest describes them."""
    return {entry.name: _declared(entry) for entry in columns if entry.role in (Role.QUASI, Role.SENSITIVE)}


def coded(
    combinations: pl.LazyFrame, declared: Mapping[str, Column], columns: Sequence[ColumnEntry]
) -> tuple[Cells, np.ndarray]:
    """Combinations that were counted already (with a COUNT column) as cells, and the cell of each of them."""
    cells, cell = encode_cells(collect(as_declared(combinations, declared), "Reading the values"), declared)
    return spanned(cells, columns), cell


def spanned(cells: Cells, columns: Sequence[ColumnEntry]) -> Cells:
    entries = {entry.name: entry for entry in columns}
    return replace(cells, quasi=tuple(_spanned(domain, entries[domain.name]) for domain in cells.quasi))


def _spanned(domain: Domain, entry: ColumnEntry) -> Domain:
    """A line of numbers with the range that the manifest says, where the source lies within it."""
    if not isinstance(domain, RangeDomain) or domain.kind != "numeric" or not entry.domain or not domain.texts:
        return domain
    low, high = (float(Fraction(str(end)) - domain.origin) for end in (entry.domain[0], entry.domain[-1]))
    within = low <= domain.positions[0] and domain.positions[-1] <= high
    return replace(domain, span=(low, high)) if within else domain


def cells_of(declared: Mapping[str, Column], source: Any, missing: tuple[str, ...] = ()) -> Cells:
    """The source's cells, its columns as declared."""
    from reticent import registry

    refuse_several_sensitive(declared)
    lazy = raw(source, list(declared), missing)
    if has_types(*_read_as(source, missing)):
        declared = keep_types(declared, lazy.collect_schema())
    return registry.engine(catalogue.ENGINE).count(as_declared(lazy, declared), declared).cells


def refuse_several_sensitive(declared: Mapping[str, Column]) -> None:
    if sum(column.role == "sensitive" for column in declared.values()) != 1:
        raise RequestError("An attack needs a release with one sensitive column.")


def raw(source: Any, names: Sequence[str], missing: tuple[str, ...] = ()) -> pl.LazyFrame:
    """These columns of the source, as they are."""
    lazy = _scanned(source, missing)
    lacking = [name for name in names if name not in lazy.collect_schema().names()]
    if lacking:
        raise RequestError(f"The source lacks {some(len(lacking), 'column')} of the release: {listed(lacking)}.",
                           attempt="the data that the release was made from.")  # fmt: skip
    return lazy.select(list(names))


def _scanned(source: Any, missing: tuple[str, ...]) -> pl.LazyFrame:
    return scan(*_read_as(source, missing))


def _read_as(source: Any, missing: tuple[str, ...]) -> tuple[Source, Any]:
    """How a source is read that is a path, a `Source` or a frame, and the frame."""
    if isinstance(source, Source):
        return source, None
    if _is_path(source):
        return Source(path=str(source), missing=tuple(missing)), None
    return Source(missing=tuple(missing)), source


def _is_path(source: Any) -> bool:
    from pathlib import Path

    return isinstance(source, str | Path)


def _declared(entry: ColumnEntry) -> Column:
    """A column as its manifest entry describes it; a hierarchy that was built is built again from the source's values."""
    order = tuple(entry.order) if entry.order else None
    hierarchy = dict(entry.built) if entry.built is not None else entry.hierarchy
    ends = {"top": entry.top, "bottom": entry.bottom} if entry.role == Role.QUASI else {}
    return Column(
        entry.role, None if order else entry.type, hierarchy, order, missing="category", format=entry.format, **ends
    )
