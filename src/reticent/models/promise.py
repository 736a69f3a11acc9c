"""Promises: their three shapes, candidate groups, and a conjunction of promises bound to the cells they hold on.

A promise has one of three shapes, and each offers a method something else:

    CountCappedPromise    integer caps on each value's count by the group's size: k, l, beta, (alpha,k), ...
    GroupCheckedPromise   `bind(cells, totals)` gives a batched check over `CandidateGroups`: t-closeness, entropy,
                          (B,t), k-map, ...
    MechanismPromise      a property of parameters, not of groups: rho, Delta, perturbation matrices

`Promises` is what one release promises, a conjunction.  `Promises.bind` makes it `BoundPromises`: caps as integers for
kernels, and checks that judge whole groups.

`Caps` are what a group of a given size may hold, as integers that a kernel compares.  A group with `count[v]` rows of
value v among `size` rows is allowed iff

    size >= least_size,  the number of values v != null with count[v] > 0 is >= least_distinct,
    count[v] * upper[v, 1] <= upper[v, 0] * size    and    count[v] * lower[v, 1] >= lower[v, 0] * size   for every v,

where the rows and the count of value `without` are left out of `size` first (null rows: caps must hold with and without
them; a group of nulls alone is then empty, and `least_size` 0 means that an empty group breaks nothing).
`present_only` applies the lower caps only where the count is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from reticent.data.cells import Cells
from reticent.errors import InternalError, JobError, quote_list, suggest
from reticent.kernels.group_order import order_by_group

Totals = Sequence[np.ndarray]
"""How many rows of the whole table hold each value, for each sensitive column: the reference distribution."""
Model = TypeVar("Model")
MAX_PROMISES = 100  # promises of one release
MAX_CAPPED_ROWS = isqrt((1 << 63) - 1)  # counts times the denominators of caps, which are at most the rows, fit 64 bits
NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class CandidateGroups:
    """Candidate groups over cells: group g holds `quota[i]` rows of `cell[i]` for i in offsets[g] .. offsets[g + 1]."""

    cells: Cells
    cell: np.ndarray
    quota: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def group(self) -> np.ndarray:
        """The group of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.bincount(self.group, weights=self.quota, minlength=len(self)).astype(np.int64)

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """The combinations of quasi-identifiers in each group, as (offsets, point), numbered as `cells.point` does."""
        point_count = int(self.cells.point[-1]) + 1 if len(self.cells) else 1
        group_points = np.unique(self.group * point_count + self.cells.point[self.cell])
        offsets = np.searchsorted(group_points, np.arange(len(self) + 1) * point_count)
        return offsets.astype(np.int64), (group_points % point_count).astype(np.int32)

    def histogram(self, column: int) -> np.ndarray:
        """Count the values of a sensitive column: (groups, values)."""
        size = self.cells.sensitive[column].size
        flat = self.group * size + self.cells.values[self.cell, column]
        return np.bincount(flat, weights=self.quota, minlength=len(self) * size).astype(np.int64).reshape(-1, size)


GroupCheck = Callable[[CandidateGroups], np.ndarray]


def order_rows_by_group(group: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """List the rows of each group, one group after another, and where each group begins and the last ends."""
    offsets = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))
    order = np.empty(len(group), np.int64)
    order_by_group(np.arange(len(group)), np.ascontiguousarray(group, np.int64), offsets.copy(), order)
    return order, offsets


def resolve_totals(cells: Cells, totals: Totals | None) -> Totals:
    """Return the reference distribution: the totals passed, or those of the cells, which are then the whole table's."""
    return [cells.totals(column) for column in range(len(cells.sensitive))] if totals is None else totals


class Promise(Protocol):
    """Base of every promise; what a method needs of it beyond this depends on its shape."""

    name: ClassVar[str]
    needs_sensitive: ClassVar[bool]  # whether it is about the values of a sensitive column


@runtime_checkable
class CountCappedPromise(Protocol):
    """A promise that caps what a group may hold.

    `totals` are the table's counts of each value, the null's last where there is one.
    """

    name: ClassVar[str]

    def caps(self, totals: np.ndarray, null: int) -> list[Caps]: ...


@runtime_checkable
class GroupCheckedPromise(Protocol):
    """A promise that judges whole groups; `union_closed` tells whether it is closed under union."""

    name: ClassVar[str]

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        """Return the check over groups of these cells; `totals` are the whole table's where the cells are a part of it."""


@runtime_checkable
class MechanismPromise(Protocol):
    """A promise that holds by construction of a random mechanism.

    The method or stage that runs the mechanism calls `verify` with the parameters it runs with. `verify` raises if they
    do not give the promise.
    """

    name: ClassVar[str]

    def verify(self, parameters: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class Promises:
    """The promises of one release, a conjunction."""

    all: tuple[Promise, ...]
    reference: Totals | None = field(default=None, compare=False, repr=False)
    """The whole table's totals, where what is planned is a part of it."""

    @classmethod
    def from_iterable(cls, promises: Iterable[Promise]) -> Promises:
        all_promises = tuple(promises)
        if not all_promises:
            raise JobError("The job promises nothing.", attempt='a [[promise]] such as model = "k-anonymity", k = 5.')
        if len(all_promises) > MAX_PROMISES:
            raise JobError(
                f"The job has {len(all_promises):,} promises; {MAX_PROMISES} are the most.",
                attempt="the strictest of each model.",
            )
        return cls(all_promises)

    def __iter__(self) -> Iterator[Promise]:
        return iter(self.all)

    def select_shape(self, shape: type) -> list[Any]:
        """Return the promises of one shape: `CountCappedPromise`, `GroupCheckedPromise` or `MechanismPromise`."""
        return [promise for promise in self.all if isinstance(promise, shape)]

    def require_models(self, *models: type[Model]) -> list[Model]:
        """Return all of the promises, for a method that can keep only these models; refuse others."""
        for promise in self.all:
            if not isinstance(promise, models):
                raise InternalError(f"{promise.name} was handed to a method that cannot keep it.")
        return [promise for promise in self.all if isinstance(promise, models)]

    def check_columns(self, sensitive: list[str], *, jointly: bool = False) -> None:
        """Check that each promise about sensitive values names a sensitive column.

        The column may be left out where there is one, and where several are taken `jointly`: then the promise is about
        the combined values.
        """
        for promise in self.all:
            if not getattr(promise, "needs_sensitive", False):
                continue
            if not sensitive:
                raise JobError(
                    f"{promise.name} needs a sensitive column, and the job declares none.",
                    attempt='role = "sensitive" for the column to protect.',
                )
            column = getattr(promise, "column", None)
            if column is None and len(sensitive) > 1 and not jointly:
                raise JobError(
                    f"{promise.name} must say which sensitive column it protects: there are {len(sensitive)}.",
                    attempt=f"column = {suggest('', sensitive)[:-1]}, or jointly = true at the top of the job, above every "
                    "[table], for the combined values.",
                )
            if column is not None and column not in sensitive:
                raise JobError(
                    f"{promise.name}: {quote_list([column])} is not a sensitive column.",
                    attempt=suggest(column, sensitive),
                )

    @property
    def labels(self) -> str | None:
        """The labels that these promises need; None: any will do.  With "sets" no two groups' labels cover one person."""
        needed: dict[str, str] = {}
        for promise in self.all:
            kind = getattr(promise, "labels", None)
            if kind:
                needed[kind] = promise.name
        if len(needed) > 1:
            sentence = " and ".join(f"{name} needs labels = {kind!r}" for kind, name in needed.items())
            raise JobError(
                f"{sentence}: a release has labels of one kind.", attempt="leaving one of these promises out."
            )
        return next(iter(needed), None)

    def check_labels(self, labels: str | None) -> None:
        """Check that labels are those that a promise about what labels cover needs; None: the method decides later."""
        needed = self.labels
        if labels is not None and needed not in (None, labels):
            name = next(promise.name for promise in self.all if getattr(promise, "labels", None))
            raise JobError(
                f"{name} cannot be kept with labels = {labels!r}.",
                why=f"It is about what labels cover, and needs labels = {needed!r}.",
                attempt=f'labels = {needed!r} with method = "mondrian".',
            )

    def bind(self, cells: Cells, totals: Totals | None = None) -> BoundPromises:
        """Bind the promises to cells: caps by sensitive column, and checks over groups.

        `totals` are the reference distribution: how many rows of the whole table hold each value of each sensitive
        column. Without them the cells are the whole table's. A promise of a number of people in a group needs that
        number times the rows that one person may have.
        """
        if totals is None:
            totals = self.reference
        reference = resolve_totals(cells, totals)
        self._require_countable_rows(max([cells.rows, *(int(column_totals.sum()) for column_totals in reference)]))
        least_size = 1
        by_column: dict[int, list[Caps]] = {}
        for promise in self.select_shape(CountCappedPromise):
            rows_per_person = cells.rows_per_person if getattr(promise, "counts_persons", False) else 1
            if not promise.needs_sensitive:
                cap = promise.caps(np.zeros(0, np.int64), NO_VALUE)[0]
                least_size = max(least_size, rows_per_person * cap.least_size)
                continue
            column = cells.find_sensitive(promise.column)
            column_caps = promise.caps(reference[column], cells.sensitive[column].null_code)
            by_column.setdefault(column, []).extend(
                replace(cap, least_size=rows_per_person * cap.least_size) for cap in column_caps
            )
        caps = tuple((column, cap) for column, column_caps in by_column.items() for cap in merge_caps(column_caps))
        # Caps without the null rows ask no more of the whole table.
        least_size = max([least_size, *(cap.least_size for _, cap in caps)])
        checks = tuple(promise.bind(cells, totals) for promise in self.select_shape(GroupCheckedPromise))
        return BoundPromises(cells, least_size, caps, checks)

    def _require_countable_rows(self, rows: int) -> None:
        """Refuse a table of so many rows that caps times counts would wrap."""
        if rows > MAX_CAPPED_ROWS and self.select_shape(CountCappedPromise):
            raise JobError(
                f"The table has {rows:,} rows; caps on values are exact up to {MAX_CAPPED_ROWS:,}.",
                attempt="publishing in batches.",
            )

    @property
    def union_closed(self) -> bool:
        """Whether a union of groups that keep every promise keeps them too."""
        about_groups = [promise for promise in self.all if not isinstance(promise, MechanismPromise)]
        return all(getattr(promise, "union_closed", False) for promise in about_groups)


@dataclass(frozen=True, eq=False)
class BoundPromises:
    """Promises bound to cells.

    `least_size` and `caps` (with their sensitive column) are integers for kernels; `checks` judge whole groups.
    """

    cells: Cells
    least_size: int
    caps: tuple[tuple[int, Caps], ...]
    checks: tuple[GroupCheck, ...]

    def allow(self, groups: CandidateGroups) -> np.ndarray:
        """Tell which groups keep every promise."""
        fine = groups.sizes >= self.least_size
        for column, cap in self.caps:
            fine &= cap.allows(groups.histogram(column))
        for check in self.checks:
            fine &= check(groups)
        return fine

    def allow_all(self) -> bool:
        """Tell whether the whole table as one group keeps every promise: if not, no strict partition can be reached from it."""
        n = len(self.cells)
        one_group = CandidateGroups(self.cells, np.arange(n), self.cells.counts, np.array([0, n]))
        return bool(self.allow(one_group)[0])


@dataclass(frozen=True, eq=False)
class Caps:
    values: int
    least_size: int = 1
    least_distinct: int = 0
    upper: np.ndarray | None = None  # (values, 2) int64: numerator, denominator
    lower: np.ndarray | None = None
    present_only: bool = False
    null: int = NO_VALUE  # never counts as a distinct value
    without: int = NO_VALUE  # left out before anything is compared
    family: np.ndarray | None = None  # where sets of values are counted as one: the number of each value's set

    def allows(self, counts: np.ndarray) -> np.ndarray:
        """Tell which of the groups (rows of a (groups, values) array) are allowed: the kernel's meaning, in NumPy."""
        counts = exclude_value(np.asarray(counts, np.int64), self.without)
        size = counts.sum(axis=1)
        fine = size >= self.least_size
        if self.least_distinct:
            present = counts > 0
            if self.null >= 0:
                present[:, self.null] = False
            fine &= present.sum(axis=1) >= self.least_distinct
        if self.upper is not None:
            fine &= (counts * self.upper[:, 1] <= self.upper[:, 0] * size[:, None]).all(axis=1)
        if self.lower is not None:
            enough = counts * self.lower[:, 1] >= self.lower[:, 0] * size[:, None]
            fine &= (enough | (counts == 0) if self.present_only else enough).all(axis=1)
        return fine


def to_integer_pairs(caps: list[Fraction]) -> np.ndarray:
    """Convert fractions to the integer pairs a kernel takes."""
    return np.array([(cap.numerator, cap.denominator) for cap in caps], np.int64).reshape(-1, 2)


def make_upper_caps(caps: list[Fraction], excluded: int) -> np.ndarray:
    """Convert upper caps to pairs; the value left out is not bound by them."""
    pairs = to_integer_pairs(caps)
    if excluded >= 0:
        pairs[excluded] = 1
    return pairs


def list_excluded_values(totals: np.ndarray, null: int) -> list[int]:
    """List what to leave out, one after the other: nothing, and the null rows where there are any."""
    return [NO_VALUE, null] if null >= 0 and totals[null] else [NO_VALUE]


def exclude_value(counts: np.ndarray, excluded: int) -> np.ndarray:
    """Return the counts, or groups of counts, with those of one value set to 0."""
    if excluded < 0:
        return counts
    counts = counts.copy()
    counts[..., excluded] = 0
    return counts


def merge_caps(caps: list[Caps]) -> list[Caps]:
    """Merge caps into one set for each way of counting: the strictest of each."""
    joined: list[Caps] = []
    for cap in caps:
        index = next((i for i, other in enumerate(joined) if _count_the_same_way(cap, other)), None)
        if index is None:
            joined.append(cap)
        else:
            joined[index] = _merge_two_caps(joined[index], cap)
    return joined


def _count_the_same_way(caps: Caps, other: Caps) -> bool:
    """Tell whether both sets of caps count the same way; fields that a set does not use are ignored."""
    same_null = caps.null == other.null or not (caps.least_distinct and other.least_distinct)
    same_lower = caps.present_only == other.present_only or caps.lower is None or other.lower is None
    return caps.without == other.without and same_null and same_lower


def _merge_two_caps(caps: Caps, other: Caps) -> Caps:
    return replace(
        caps,
        least_size=max(caps.least_size, other.least_size),
        least_distinct=max(caps.least_distinct, other.least_distinct),
        upper=_pick_stricter_bounds(caps.upper, other.upper, upper=True),
        lower=_pick_stricter_bounds(caps.lower, other.lower, upper=False),
        present_only=(other if caps.lower is None else caps).present_only,
        null=(caps if caps.least_distinct else other).null,
    )


def _pick_stricter_bounds(bounds: np.ndarray | None, other: np.ndarray | None, *, upper: bool) -> np.ndarray | None:
    if bounds is None or other is None:
        return other if bounds is None else bounds
    smaller = bounds[:, 0] * other[:, 1] <= other[:, 0] * bounds[:, 1]
    return np.where((smaller if upper else ~smaller)[:, None], bounds, other)
