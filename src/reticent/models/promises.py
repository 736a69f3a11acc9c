"""A conjunction of promises, bound to the cells they are to hold on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import isqrt
from typing import Any, TypeVar

import numpy as np

from reticent.errors import InternalError, JobError, listed, suggest
from reticent.models.caps import NEVER, Caps, join
from reticent.models.shapes import Bound, Check, CountCapped, Groups, Mechanism, Promise, Totals, totals_of
from reticent.table.cells import Cells

Model = TypeVar("Model")
MOST = 100  # promises of one release
MAX_CAPPED_ROWS = isqrt((1 << 63) - 1)  # counts times the denominators of caps, which are at most the rows, fit 64 bits


@dataclass(frozen=True, slots=True)
class Promises:
    """What one release promises: every one of these."""

    all: tuple[Promise, ...]
    reference: Totals | None = field(default=None, compare=False, repr=False)
    """The whole table's totals, where what is planned is a part of it."""

    @classmethod
    def of(cls, promises: Iterable[Promise]) -> Promises:
        found = tuple(promises)
        if not found:
            raise JobError("The job promises nothing.", attempt='a [[promise]] such as model = "k-anonymity", k = 5.')
        if len(found) > MOST:
            raise JobError(
                f"The job has {len(found):,} promises; {MOST} are the most.", attempt="the strictest of each model."
            )
        return cls(found)

    def __iter__(self) -> Iterator[Promise]:
        return iter(self.all)

    def shaped(self, shape: type) -> list[Any]:
        """The promises of one shape: CountCapped, Bound or Mechanism."""
        return [promise for promise in self.all if isinstance(promise, shape)]

    def only(self, *models: type[Model]) -> list[Model]:
        """All of the promises, for a method that can keep no others than these models."""
        for promise in self.all:
            if not isinstance(promise, models):
                raise InternalError(f"{promise.name} was handed to a method that cannot keep it.")
        return [promise for promise in self.all if isinstance(promise, models)]

    def check_columns(self, sensitive: list[str], *, jointly: bool = False) -> None:
        """Each promise about sensitive values names a column that is sensitive.

        It may be left out where there is one, and where several are taken `jointly`: then it speaks of the combined values.
        """
        for promise in self.all:
            if not getattr(promise, "needs_sensitive", False):
                continue
            if not sensitive:
                raise JobError(f"{promise.name} needs a sensitive column, and the job declares none.",
                               attempt='role = "sensitive" for the column to protect.')  # fmt: skip
            column = getattr(promise, "column", None)
            if column is None and len(sensitive) > 1 and not jointly:
                raise JobError(f"{promise.name} must say which sensitive column it protects: there are {len(sensitive)}.",
                               attempt=f"column = {suggest('', sensitive)[:-1]}, or jointly = true for the combined values.")  # fmt: skip
            if column is not None and column not in sensitive:
                raise JobError(
                    f"{promise.name}: {listed([column])} is not a sensitive column.",
                    attempt=suggest(column, sensitive),
                )

    @property
    def labels(self) -> str | None:
        """The labels that these promises need; None: any will do.  With "sets" no two groups' labels cover one person."""
        needed = {found: promise.name for promise in self.all if (found := getattr(promise, "labels", None))}
        if len(needed) > 1:
            said = " and ".join(f"{name} needs labels = {found!r}" for found, name in needed.items())
            raise JobError(f"{said}: a release has labels of one kind.", attempt="leaving one of these promises out.")
        return next(iter(needed), None)

    def check_labels(self, labels: str | None) -> None:
        """A promise about what labels cover holds for the labels it was checked on; None: the method decides later."""
        needed = self.labels
        if labels is not None and needed not in (None, labels):
            name = next(promise.name for promise in self.all if getattr(promise, "labels", None))
            raise JobError(
                f"{name} cannot be kept with labels = {labels!r}.",
                why=f"It is about what labels cover, and needs labels = {needed!r}.",
                attempt=f'labels = {needed!r} with method = "mondrian".',
            )

    def bind(self, cells: Cells, totals: Totals | None = None) -> BoundPromises:
        """Caps by sensitive column and checks over groups, for these cells.

        `totals` are the reference distribution: how many rows of the whole table hold each value of each sensitive column.
        Without them the cells are the whole table's.
        A promise of so many people in a group needs as many times the rows that one of them may have.
        """
        totals = self.reference if totals is None else totals
        least, reference = 1, totals_of(cells, totals)
        self._refuse_too_many_rows(max([cells.rows, *(int(one.sum()) for one in reference)]))
        by_column: dict[int, list[Caps]] = {}
        for promise in self.shaped(CountCapped):
            each = cells.rows_per_person if getattr(promise, "counts_persons", False) else 1
            if not promise.needs_sensitive:
                least = max(least, each * promise.caps(np.zeros(0, np.int64), NEVER)[0].least_size)
                continue
            at = cells.sensitive_at(promise.column)
            caps = promise.caps(reference[at], cells.sensitive[at].null_code)
            by_column.setdefault(at, []).extend(replace(cap, least_size=each * cap.least_size) for cap in caps)
        caps = tuple((column, cap) for column, found in by_column.items() for cap in join(found))
        least = max(
            [least, *(cap.least_size for _, cap in caps)]
        )  # caps without the null rows ask no more of the whole
        return BoundPromises(cells, least, caps, tuple(promise.bind(cells, totals) for promise in self.shaped(Bound)))

    def _refuse_too_many_rows(self, rows: int) -> None:
        """Refuse a table of so many rows that caps times counts would wrap."""
        if rows > MAX_CAPPED_ROWS and self.shaped(CountCapped):
            raise JobError(
                f"The table has {rows:,} rows; caps on values are exact up to {MAX_CAPPED_ROWS:,}.",
                attempt="publishing in batches.",
            )

    @property
    def union_closed(self) -> bool:
        return all(
            getattr(promise, "union_closed", False) for promise in self.all if not isinstance(promise, Mechanism)
        )


@dataclass(frozen=True, eq=False)
class BoundPromises:
    """`least_size` and `caps` (with their sensitive column) are integers for kernels; `checks` judge whole groups."""

    cells: Cells
    least_size: int
    caps: tuple[tuple[int, Caps], ...]
    checks: tuple[Check, ...]

    def allow(self, groups: Groups) -> np.ndarray:
        """Which groups keep every promise."""
        fine = groups.sizes >= self.least_size
        for column, cap in self.caps:
            fine &= cap.allows(groups.histogram(column))
        for check in self.checks:
            fine &= check(groups)
        return fine

    def allow_all(self) -> bool:
        """Whether the whole table as one group keeps every promise: if not, no strict partition can be reached from it."""
        n = len(self.cells)
        return bool(self.allow(Groups(self.cells, np.arange(n), self.cells.counts, np.array([0, n])))[0])
