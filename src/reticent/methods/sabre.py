"""SABRE: t-closeness by bucketization and redistribution (Cao, Karras, Kalnis & Tan, VLDB Journal 2011).

Sensitive values are put in buckets such that a class which draws from each in proportion to its size is within t of the
table whatever values it draws (`bucketize`); the ECTree of `equivalence_classes` then halves the table while the worst
case of both halves stays within t; and classes are filled with near rows (`retrieve_classes`), as BUREL does after it.

The worst case (`GroundDistance`) is the greatest earth mover's distance that a class can have, given how many rows it
draws from each bucket.  Each ground distance is a sum over sets of values of weight * |rows * size * (q(S) - p(S))|:
single values (equal), subtrees (hierarchical), prefixes of the order (ordered).  That is convex in q, so the worst case
has all that is drawn from a bucket on one of its values; and where buckets are runs of the order, or children of one
node, a set is cut by one bucket at most, so that the worst value of each bucket is found alone.  The result is exact:
no class that draws so is further from the table, and one is as far.  All in whole numbers: EMD = work / (scale * rows *
size).

Departs from the paper: the worst case is exact instead of an upper bound, in whole numbers; `share` of t is what the
buckets may use, the rest is left for halves that are not quite in proportion; classes of at least k rows where
k-anonymity is promised too.  The bucket that is worst is split: where its two parts cost least (ordered), or its
heaviest child goes (others).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.data.domain import Domain, TreeDomain
from reticent.errors import JobError, PromiseUnreachable, pluralize
from reticent.exact_arithmetic import shares_at_most
from reticent.methods.base import Method, require_few_values
from reticent.methods.equivalence_classes import require_several_values, retrieve_classes, split_into_classes
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promise import Promises, exclude_value, list_excluded_values
from reticent.models.rational_bounds import Number
from reticent.models.t_closeness import TCloseness
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.validation import check_parameters, document_parameters

BucketValues = list[list[int]]
MAX_SENSITIVE_VALUES = 1_000  # different sensitive values
MAX_ORDERED_VALUES = 5_000  # of them where the distance is that of ranks, which costs less


class GroundDistance(Protocol):
    """A ground distance over the values that occur."""

    @property
    def scale(self) -> int: ...

    def work(self, buckets: BucketValues, bucket_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute for (classes, buckets) rows drawn: what the draws themselves cost, and the worst inside each bucket."""
        ...

    def split(self, bucket: list[int]) -> BucketValues:
        """Split the bucket in two."""
        ...


def make_ground_distance(distance: str, domain: Domain, totals: np.ndarray) -> GroundDistance:
    if distance == "ordered":
        return LineDistance(totals)
    if distance == "equal":
        return TreeDistance(totals, [np.arange(len(totals))], 1)
    if not isinstance(domain, TreeDomain) or not domain.is_from_steward:
        raise JobError(
            f"Hierarchical t-closeness needs a hierarchy over {domain.name!r}.",
            attempt='hierarchy = "file.csv" on that column.',
        )
    return TreeDistance(totals, _list_levels(domain), domain.hierarchy.height)


@dataclass(frozen=True, eq=False)
class TreeDistance:
    """EMD = 1/(2 H) * the sum over nodes below the root of |excess|; one level and H = 1 is the equal distance."""

    totals: np.ndarray
    levels: list[np.ndarray]
    height: int

    @property
    def scale(self) -> int:
        return 2 * self.height

    def work(self, buckets: BucketValues, bucket_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = int(self.totals.sum())
        size = bucket_rows.sum(axis=1)
        outer = np.zeros_like(size)
        inner = np.zeros_like(bucket_rows)
        bucket_of = np.full(len(self.totals), -1)
        lengths = np.array([len(bucket) for bucket in buckets])
        bucket_of[np.fromiter(chain.from_iterable(buckets), np.int64)] = np.repeat(np.arange(len(buckets)), lengths)
        occurring = np.flatnonzero(self.totals > 0)
        for level in self.levels:
            outer += self._compute_work_between(level[occurring], occurring, bucket_of[occurring], lengths, bucket_rows)
        for b, bucket in enumerate(buckets):
            if len(bucket) > 1:
                inner[:, b] = self._compute_work_inside(bucket, rows, bucket_rows[:, b], size)
        return outer, inner

    def _compute_work_between(
        self, nodes: np.ndarray, values: np.ndarray, of: np.ndarray, lengths: np.ndarray, bucket_rows: np.ndarray
    ) -> np.ndarray:
        """Compute the cost of nodes that hold whole buckets; those inside a bucket are left for `_compute_work_inside`."""
        rows = int(self.totals.sum())
        size = bucket_rows.sum(axis=1)
        _, node = np.unique(nodes, return_inverse=True)
        value_counts = np.bincount(node)
        total = np.zeros(node.max() + 1, np.int64)
        np.add.at(total, node, self.totals[values])
        pairs = np.unique(node * len(lengths) + of)  # the buckets of each node
        node_of = pairs // len(lengths)
        part = pairs % len(lengths)
        starts = np.flatnonzero(np.diff(node_of, prepend=-1))
        alone = np.diff(np.append(starts, len(pairs))) == 1
        holds_buckets = ~(alone & (value_counts < lengths[part[starts]]))
        node_rows = np.add.reduceat(bucket_rows[:, part], starts, axis=1)[:, holds_buckets]
        return np.abs(rows * node_rows - total[holds_buckets].astype(bucket_rows.dtype) * size[:, None]).sum(axis=1)

    def _compute_work_inside(
        self, bucket: list[int], rows: int, bucket_rows: np.ndarray, size: np.ndarray
    ) -> np.ndarray:
        """All drawn rows on one value: its nodes have too many, every other node of the bucket has none."""
        values = np.array(bucket)
        lacking = np.zeros_like(size)
        change = np.zeros((len(size), len(bucket)), size.dtype)
        for level in self.levels:
            _, first, member = np.unique(level[values], return_index=True, return_inverse=True)
            if len(first) == 1:
                continue  # the node holds the whole bucket: above
            node_total = np.zeros(len(first), np.int64)
            np.add.at(node_total, member, self.totals[values])
            none = node_total.astype(size.dtype) * size[:, None]
            lacking = lacking + none.sum(axis=1)
            change = change + (np.abs(rows * bucket_rows[:, None] - none) - none)[:, member]
        return lacking + change.max(axis=1)

    def split(self, bucket: list[int]) -> BucketValues:
        """Split off the heaviest child of the lowest node that holds the bucket."""
        values = np.array(bucket)
        for level in reversed(self.levels):
            nodes = level[values]
            if (nodes == nodes[0]).all():
                continue
            different, first, member = np.unique(nodes, return_index=True, return_inverse=True)
            weight = np.zeros(len(different), np.int64)
            np.add.at(weight, member, self.totals[values])
            heaviest = different[np.lexsort((first, -weight))[0]]
            return [values[nodes != heaviest].tolist(), values[nodes == heaviest].tolist()]
        raise AssertionError("a bucket of one value is not split")


@dataclass(frozen=True, eq=False)
class LineDistance:
    """EMD = 1/(m - 1) * the sum over prefixes of |excess|; buckets are runs of the order."""

    totals: np.ndarray

    @property
    def scale(self) -> int:
        return max(int((self.totals > 0).sum()) - 1, 1)

    def work(self, buckets: BucketValues, bucket_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = int(self.totals.sum())
        size = bucket_rows.sum(axis=1)
        until = np.cumsum(bucket_rows, axis=1) * rows
        outer = np.zeros_like(size)
        inner = np.zeros_like(bucket_rows)
        below = 0
        for b, bucket in enumerate(buckets):
            prefix = below + np.cumsum(self.totals[bucket])
            below = int(prefix[-1])
            outer += np.abs(until[:, b] - below * size)
            if len(bucket) == 1:
                continue
            wanted = prefix[:-1] * size[:, None]
            before = np.abs((until[:, b] - bucket_rows[:, b] * rows)[:, None] - wanted)
            after = np.abs(until[:, [b]] - wanted)
            # rows arrive at the a-th value: prefixes before it lack them, those from it on have them
            arrive = np.cumsum(np.concatenate([after.sum(axis=1)[:, None], before - after], axis=1), axis=1)
            inner[:, b] = arrive.max(axis=1)
        return outer, inner

    def split(self, bucket: list[int]) -> BucketValues:
        """Split where the two parts cost least in the worst case, drawn in proportion: the first of such places."""
        totals = self.totals[bucket].astype(np.int64)
        cost = _compute_worst_inside(totals)[:-1] + _compute_worst_inside(totals[::-1])[-2::-1]
        place = int(np.argmin(cost)) + 1
        return [bucket[:place], bucket[place:]]


@document_parameters(METHODS["sabre"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Sabre(Method):
    """Buckets of sensitive values within a share of t, and classes of neighbours that draw from each (SABRE)."""

    share: Fraction = Fraction(3, 4)
    fill: str = "curve"
    axes: str = "stretched"
    name: ClassVar[str] = "sabre"
    kind: ClassVar[str] = "generalized"
    labels: ClassVar[str] = "nodes"
    keeps: ClassVar[tuple[type, ...]] = (TCloseness, KAnonymity)

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, *, share: Number = Fraction(3, 4), fill: str = "curve", axes: str = "stretched") -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def refuse(self, promises: Promises) -> None:
        """Refuse a job that has not just one promise of t-closeness, before any data is read."""
        require_closeness(promises)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        promise = require_closeness(promises)
        least_size = promises.bind(cells).least_size
        if least_size > cells.rows:
            raise PromiseUnreachable(
                f"k = {least_size // cells.rows_per_person} cannot be met: a class needs {pluralize(least_size, 'row')}, the "
                f"table has {pluralize(cells.rows, 'row')}.",
                attempt=f"k = {cells.rows // cells.rows_per_person} or less, or more rows.",
            )
        column = cells.find_sensitive(promise.column)
        require_few_values(
            self.name, cells, column, MAX_ORDERED_VALUES if promise.distance == "ordered" else MAX_SENSITIVE_VALUES
        )
        totals = cells.totals(column)
        domain = cells.sensitive[column]
        require_several_values(self.name, domain.name, totals)
        buckets = bucketize(promise, domain, totals, self.share * promise.t)
        views = [
            ClosenessView(promise, domain, totals, buckets, excluded)
            for excluded in list_excluded_values(totals, domain.null_code)
        ]
        of_value = np.full(len(totals), -1)
        for b, bucket in enumerate(buckets):
            of_value[bucket] = b

        def allow(nodes: np.ndarray) -> np.ndarray:
            fine = [view.is_within(nodes, promise.t) for view in views]
            return np.logical_and.reduce([*fine, nodes.sum(axis=1) >= least_size])

        sizes = split_into_classes(np.array([int(totals[bucket].sum()) for bucket in buckets]), allow)
        bucket = of_value[cells.values[:, column]]
        return retrieve_classes(cells, bucket, sizes, rng.stream("sabre"), fill=self.fill, axes=self.axes)


def require_closeness(promises: Promises) -> TCloseness:
    closeness = [promise for promise in promises if isinstance(promise, TCloseness)]
    if len(closeness) != 1:
        further = 'a further [[promise]] with model = "t-closeness" and t = 0.2, or ' if not closeness else ""
        raise JobError(
            f"sabre keeps one t-closeness promise; the job has {len(closeness)}.",
            attempt=f'{further}method = "mondrian".',
        )
    return closeness[0]


class ClosenessView:
    """The reference that classes are compared with: the table as published, or without its null rows."""

    def __init__(self, promise: TCloseness, domain, totals: np.ndarray, buckets: BucketValues, excluded: int):
        self.totals = exclude_value(totals, excluded)
        self.ground: GroundDistance = make_ground_distance(promise.distance, domain, self.totals)
        self.kept = np.array([b for b, bucket in enumerate(buckets) if bucket != [excluded]])
        self.buckets = [buckets[b] for b in self.kept]

    def is_within(self, nodes: np.ndarray, t: Fraction) -> np.ndarray:
        """Tell whether work / (scale * rows * size) <= t in the worst case; what is empty without its nulls breaks nothing."""
        bucket_rows = nodes[:, self.kept]
        rows = int(self.totals.sum())
        size = bucket_rows.sum(axis=1)
        if rows * int(size.max(initial=1)) * 4 * max(self.ground.scale, 1) * len(self.totals) >= 1 << 62:
            bucket_rows = bucket_rows.astype(object)
            size = size.astype(object)
        outer, inner = self.ground.work(self.buckets, bucket_rows)
        return shares_at_most(outer + inner.sum(axis=1), t * self.ground.scale * rows, size)


def bucketize(promise: TCloseness, domain, totals: np.ndarray, aim: Fraction) -> BucketValues:
    """Split the worst bucket until a class drawn in proportion is within `aim`; the null, where there is one, is alone."""
    null = domain.null_code
    occurring = [v for v in np.flatnonzero(totals).tolist() if v != null]
    alone = [[null]] if null >= 0 and totals[null] else []
    if not occurring:
        return alone
    buckets: BucketValues = [occurring]
    while True:
        views = [
            ClosenessView(promise, domain, totals, buckets + alone, excluded)
            for excluded in list_excluded_values(totals, null)
        ]
        parts = buckets + alone
        starts = np.cumsum([0, *map(len, parts[:-1])])
        sizes = np.add.reduceat(totals[np.fromiter(chain.from_iterable(parts), np.int64)], starts)[None, :]
        if all(view.is_within(sizes, aim).all() for view in views) or all(len(bucket) == 1 for bucket in buckets):
            return buckets + alone
        small = int(sizes.sum()) ** 2 * 4 * len(totals) < 1 << 62  # what `work` adds up fits in 64 bits
        _, inner = views[0].ground.work(views[0].buckets, sizes if small else sizes.astype(object))
        worst = max((b for b in range(len(buckets)) if len(buckets[b]) > 1), key=lambda b: int(inner[0, b]))
        buckets[worst : worst + 1] = views[0].ground.split(buckets[worst])


def _list_levels(domain: TreeDomain) -> list[np.ndarray]:
    """List the node above each value at every level below the root; a null is a node of its own on all of them."""
    paths = domain.hierarchy.paths
    return [np.append(paths[:, level], [-1] * domain.null).astype(np.int64) for level in range(paths.shape[1] - 1)]


def _compute_worst_inside(totals: np.ndarray) -> np.ndarray:
    """Compute the worst inside each beginning of a run, drawn in proportion: everything at its first, or at its last value."""
    until = np.cumsum(totals)
    prefixes = np.cumsum(until) - until  # the sum of all prefixes but the whole
    return np.maximum(np.arange(len(totals)) * until - prefixes, prefixes)
