"""What an adversary holds: what a release shows, and the quasi-identifiers of the people in it.

People with equal quasi-identifiers are one point: an adversary can say the same of each of them only.  The true values stand
beside the points for the scorer; no attack reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.errors import RequestError, listed, some
from reticent.release.kind import Sight
from reticent.release.manifest import ColumnEntry, Described
from reticent.release.reading.boxes import Boxes, boxes
from reticent.table.cells import Cells, distinct_rows
from reticent.table.codec import encode_cells
from reticent.table.domain import Domain, RangeDomain
from reticent.table.roles import Column, Role
from reticent.table.source import Source, collect, scan
from reticent.table.written import as_declared


@dataclass(frozen=True, eq=False)
class Seen:
    """`points` are (points, quasi) codes with `people` at each; `sight` is what the release shows of them."""

    points: np.ndarray
    people: np.ndarray
    quasi: tuple[Domain, ...]
    sensitive: Domain
    sight: Sight
    truth: np.ndarray  # (points, values): for the scorer alone
    promises: tuple[Described, ...] = ()
    cells: Cells | None = None
    made_by: Described | None = None  # the method, where it grouped rows of one person each

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
    return replace(people, points=people.points[at], people=people.people[at], truth=people.truth[at])


def seen(release: Any, source: Any, *, missing: tuple[str, ...] = ()) -> Seen:
    """A release (folder or opened) and the table it was made from (a path, a `Source` or a frame)."""
    from reticent.opened import Release

    release = release if isinstance(release, Release) else Release(release)
    cells = counted(release.columns, source, missing)
    manifest = release.manifest
    found = of_cells(cells, release.sight(cells), manifest.promises)
    return replace(found, made_by=manifest.method if manifest.rows_per_person == 1 else None)


def outside(release: Any, others: Any, *, missing: tuple[str, ...] = ()) -> Seen:
    """The same release laid over people who are not in it: for the baseline of an attack."""
    from reticent.opened import Release

    release = release if isinstance(release, Release) else Release(release)
    cells = counted(release.columns, others, missing)
    entries = [entry for entry in release.columns if entry.role == Role.QUASI]
    return of_cells(cells, boxes(entries, release.frame(), cells, others=True), release.manifest.promises)


def of_cells(cells: Cells, sight: Sight, promises: tuple[Described, ...] = ()) -> Seen:
    points, at = distinct_rows(cells.codes)
    truth = np.zeros((len(points), cells.sensitive[0].size), np.int64)
    np.add.at(truth, (at, cells.values[:, 0]), cells.counts)
    return Seen(points, truth.sum(axis=1), cells.quasi, cells.sensitive[0], sight, truth, promises, cells)


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
    low, high = float(entry.domain[0]), float(entry.domain[-1])
    within = low <= domain.positions[0] and domain.positions[-1] <= high
    return replace(domain, span=(low, high)) if within else domain


def cells_of(declared: Mapping[str, Column], source: Any, missing: tuple[str, ...] = ()) -> Cells:
    """The source's cells, its columns as declared."""
    from reticent import registry

    if sum(column.role == "sensitive" for column in declared.values()) != 1:
        raise RequestError("An attack needs a release with one sensitive column.")
    rows = as_declared(raw(source, list(declared), missing), declared)
    return registry.engine(catalogue.ENGINE).count(rows, declared).cells


def raw(source: Any, names: Sequence[str], missing: tuple[str, ...] = ()) -> pl.LazyFrame:
    """These columns of the source, as they are."""
    given = isinstance(source, Source)
    path = (
        source
        if given
        else Source(path=str(source), missing=tuple(missing))
        if _is_path(source)
        else Source(missing=tuple(missing))
    )
    lazy = scan(path, None if given or _is_path(source) else source)
    lacking = [name for name in names if name not in lazy.collect_schema().names()]
    if lacking:
        raise RequestError(f"The source lacks {some(len(lacking), 'column')} of the release: {listed(lacking)}.",
                           attempt="the data that the release was made from.")  # fmt: skip
    return lazy.select(list(names))


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
