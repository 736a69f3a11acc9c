"""What an adversary holds: the groups of a release, and the quasi-identifiers of the people in it.

In a generalized release a person may belong to any group whose box covers them; an anatomized one says to which.

People with equal quasi-identifiers are one point: an adversary can say the same of each of them only.  The true values stand
beside the points for the scorer; no attack reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.release.boxes import Boxes
from reticent.table.cells import Cells
from reticent.table.domain import Domain
from reticent.table.roles import Column

CHUNK = 256  # points looked at together


@dataclass(frozen=True, eq=False)
class Seen:
    """`points` are (points, quasi) codes with `people` at each; `counts` the (groups, values) published in each box."""

    points: np.ndarray
    people: np.ndarray
    quasi: tuple[Domain, ...]
    sensitive: Domain
    boxes: Boxes
    truth: np.ndarray  # (points, values): for the scorer alone
    promises: tuple[Mapping[str, Any], ...] = ()
    members: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # (point, group, people) where the release says it

    @cached_property
    def counts(self) -> np.ndarray:
        return np.diff(self.boxes.until, axis=1)

    @cached_property
    def shares(self) -> np.ndarray:
        """(groups, values): each group's own distribution."""
        return self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)

    @cached_property
    def prior(self) -> np.ndarray:
        """The overall distribution of the release: what anyone knows who has it."""
        total = self.counts.sum(axis=0)
        return total / total.sum()

    @cached_property
    def room(self) -> np.ndarray:
        """How many combinations of values each box covers."""
        return np.prod((self.boxes.last - self.boxes.first + 1).astype(np.float64), axis=0)

    def covering(self) -> Iterator[tuple[slice, np.ndarray]]:
        """(points, groups): which boxes cover each point, a chunk of points at a time."""
        for start in range(0, len(self.points), CHUNK):
            here = slice(start, min(start + CHUNK, len(self.points)))
            inside = np.ones((here.stop - here.start, self.boxes.first.shape[1]), bool)
            for axis in range(self.points.shape[1]):
                code = self.points[here, axis, None]
                inside &= (self.boxes.first[axis] <= code) & (code <= self.boxes.last[axis])
            yield here, inside

    @property
    def promised(self) -> float | None:
        """The greatest belief that the promises allow in any group; None where they bound none."""
        return min(
            (cap for cap in (_cap(promise, self.prior) for promise in self.promises) if cap is not None), default=None
        )


def _cap(promise: Mapping[str, Any], prior: np.ndarray) -> float | None:
    model = promise["model"]
    if model in ("probabilistic-l-diversity",):
        return 1 / float(promise["l"])
    if model == "alpha-k-anonymity":
        return float(promise["alpha"])
    if model != "beta-likeness":
        return None
    beta, enhanced = _number(promise["beta"]), promise.get("enhanced", True)
    return max(min(p * (1 + (min(beta, -log(p)) if enhanced else beta)), 1.0) for p in prior.tolist() if p > 0)


def _number(value: Any) -> float:
    top, _, bottom = str(value).partition("/")
    return float(top) / float(bottom or 1)


def seen(release: Any, source: Any, *, missing: tuple[str, ...] = ()) -> Seen:
    """A generalized or anatomized release (folder or opened) and the table it was made from (a path, a `Source` or a frame)."""
    from reticent.opened import Release
    from reticent.release.boxes import boxes

    release = release if hasattr(release, "frame") else Release(release)
    if release.kind not in ("generalized", "anatomized"):
        raise RequestError(
            f"These attacks are for generalized and anatomized releases; this one is {release.kind}.",
            attempt="reticent audit, which judges its matrix." if release.kind == "perturbed" else "",
        )
    cells = counted(release.columns, source, missing)
    promises = tuple(release.manifest["promises"])
    if release.kind == "anatomized":
        return of_anatomy(cells, release.tables["quasi"], release.tables["sensitive"], promises)
    return of_cells(cells, boxes(release, cells), promises)


def of_cells(cells: Cells, boxes: Boxes, promises: tuple[Mapping[str, Any], ...] = ()) -> Seen:
    points, at = np.unique(cells.codes, axis=0, return_inverse=True)
    truth = np.zeros((len(points), cells.sensitive[0].size), np.int64)
    np.add.at(truth, (at.reshape(-1), cells.values[:, 0]), cells.counts)
    return Seen(points, truth.sum(axis=1), cells.quasi, cells.sensitive[0], boxes, truth, promises)


def of_anatomy(
    cells: Cells, quasi: pl.DataFrame, sensitive: pl.DataFrame, promises: tuple[Mapping[str, Any], ...] = ()
) -> Seen:
    """Exact quasi-identifiers with a group: its box is that of its people, and who is in it is known."""
    column, groups = cells.sensitive[0], int(sensitive["group"].max() or 0) + 1  # type: ignore[operator]
    counts = np.zeros((groups, column.size + 1), np.int64)
    np.add.at(
        counts,
        (sensitive["group"].to_numpy(), _codes(column, sensitive[column.name]) + 1),
        sensitive["count"].to_numpy(),
    )
    codes = np.column_stack([_codes(domain, quasi[domain.name]) for domain in cells.quasi])
    group = quasi["group"].to_numpy()
    first = np.full((codes.shape[1], groups), np.iinfo(np.int32).max, np.int32)
    last = np.zeros_like(first)
    for axis in range(codes.shape[1]):
        np.minimum.at(first[axis], group, codes[:, axis].astype(np.int32))
        np.maximum.at(last[axis], group, codes[:, axis].astype(np.int32))
    view = of_cells(cells, Boxes(np.minimum(first, last), last, np.cumsum(counts, axis=1)), promises)
    known = {tuple(point): at for at, point in enumerate(view.points.tolist())}
    rows = np.array([known.get(tuple(row), -1) for row in codes.tolist()])
    if (rows < 0).any():
        raise RequestError(
            f"{int((rows < 0).sum())} published row(s) are not in the source.",
            attempt="the data that the release was made from.",
        )
    pair, people = np.unique(rows * groups + group, return_counts=True)
    return replace(view, members=(pair // groups, pair % groups, people.astype(np.float64)))


def _codes(domain: Domain, series: pl.Series) -> np.ndarray:
    """Codes of published values: those of the source's domain."""
    known = {text: code for code, text in enumerate(domain.texts)}
    texts = series.cast(pl.String)
    found = texts.replace_strict(known, default=-1, return_dtype=pl.Int64)
    coded = pl.select(pl.when(texts.is_null()).then(domain.null_code).otherwise(found)).to_series().to_numpy()
    if (coded < 0).any():
        raise RequestError(f"Column {domain.name!r} holds {int((coded < 0).sum())} value(s) that the source lacks.")
    return coded


def counted(columns: list[dict[str, Any]], source: Any, missing: tuple[str, ...] = ()) -> Cells:
    """The source's cells, its columns read as the manifest describes them."""
    from reticent.engines import local
    from reticent.table.source import Source, scan

    declared = {
        entry["name"]: _declared(entry) for entry in columns if entry["role"] in ("quasi-identifying", "sensitive")
    }
    if sum(column.role == "sensitive" for column in declared.values()) != 1:
        raise RequestError("An attack needs a release with one sensitive column.")
    given = isinstance(source, Source)
    path = (
        source
        if given
        else Source(path=str(source), missing=tuple(missing))
        if _is_path(source)
        else Source(missing=tuple(missing))
    )
    lazy = scan(path, None if given or _is_path(source) else source)
    lacking = [name for name in declared if name not in lazy.collect_schema().names()]
    if lacking:
        raise RequestError(f"The source lacks {len(lacking)} column(s) of the release: {', '.join(map(repr, lacking))}.",
                           attempt="the data that the release was made from.")  # fmt: skip
    return local.count(lazy.select(list(declared)), declared).cells


def _is_path(source: Any) -> bool:
    from pathlib import Path

    return isinstance(source, str | Path)


def _declared(entry: dict[str, Any]) -> Column:
    order = tuple(entry["order"]) if entry.get("order") else None
    return Column(entry["role"], None if order else entry["type"], entry.get("hierarchy"), order, missing="category")
