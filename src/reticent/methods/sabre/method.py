"""SABRE: t-closeness by bucketization and redistribution (Cao, Karras, Kalnis & Tan, VLDB Journal 2011).

Sensitive values are put in buckets such that a class which draws from each in proportion to its size is within t of the table
whatever values it draws; the ECTree of `ectree` then halves the table while the worst case of both halves stays within t; and
classes are filled with near rows (`retrieve`), as BUREL does after it.

Departs from it: the worst case is exact instead of an upper bound (`worst_closeness`), in whole numbers; `share` of t is what the
buckets may use, the rest is left for halves that are not quite in proportion; classes of at least k rows where k-anonymity is
promised too.  The bucket that is worst is split: where its two parts cost least (ordered), or its heaviest child goes (others).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.errors import JobError, PromiseUnreachable, some
from reticent.exact import shares_at_most
from reticent.methods.classes.ectree import bi_split
from reticent.methods.classes.options import refuse_single_value
from reticent.methods.classes.retrieve import retrieve
from reticent.methods.many_values import refuse_many_values
from reticent.methods.protocols import Method
from reticent.methods.sabre.worst_closeness import Buckets, Ground, ground
from reticent.models.caps import left_out, ways
from reticent.models.exact import Number
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promises import Promises
from reticent.models.t_closeness import TCloseness
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells

MOST_VALUES = 1_000  # different sensitive values
MOST_ORDERED = 5_000  # of them where the distance is that of ranks, which costs less


@dataclass(frozen=True, slots=True, kw_only=True)
class Sabre(Method):
    """`share` of t is for the buckets; `fill` and `axes` as in BUREL."""

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

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        promise = only_closeness(promises)
        least = promises.bind(cells).least_size
        if least > cells.rows:
            raise PromiseUnreachable(f"k = {least} cannot be met: the table has {some(cells.rows, 'row')}.")
        column = cells.sensitive_at(promise.column)
        refuse_many_values(self.name, cells, column, MOST_ORDERED if promise.distance == "ordered" else MOST_VALUES)
        totals, domain = cells.totals(column), cells.sensitive[column]
        refuse_single_value(self.name, domain.name, totals)
        buckets = bucketize(promise, domain, totals, self.share * promise.t)
        views = [View(promise, domain, totals, buckets, without) for without in ways(totals, domain.null_code)]
        of_value = np.full(len(totals), -1)
        for b, bucket in enumerate(buckets):
            of_value[bucket] = b

        def allow(nodes: np.ndarray) -> np.ndarray:
            fine = [view.within(nodes, promise.t) for view in views]
            return np.logical_and.reduce([*fine, nodes.sum(axis=1) >= least])

        sizes = bi_split(np.array([int(totals[bucket].sum()) for bucket in buckets]), allow)
        bucket = of_value[cells.values[:, column]]
        return retrieve(cells, bucket, sizes, rng.stream("sabre"), fill=self.fill, axes=self.axes)


def only_closeness(promises: Promises) -> TCloseness:
    found = [promise for promise in promises if isinstance(promise, TCloseness)]
    if len(found) != 1:
        raise JobError(
            f"sabre keeps one t-closeness promise; the job has {len(found)}.",
            attempt='method = "mondrian" for several.',
        )
    return found[0]


class View:
    """The table as published, or without its null rows: what classes are compared with."""

    def __init__(self, promise: TCloseness, domain, totals: np.ndarray, buckets: Buckets, without: int):
        self.totals = left_out(totals, without)
        self.ground: Ground = ground(promise.distance, domain, self.totals)
        self.kept = np.array([b for b, bucket in enumerate(buckets) if bucket != [without]])
        self.buckets = [buckets[b] for b in self.kept]

    def within(self, nodes: np.ndarray, t: Fraction) -> np.ndarray:
        """work / (scale * rows * size) <= t in the worst case; what is empty without its nulls breaks nothing."""
        drawn, rows = nodes[:, self.kept], int(self.totals.sum())
        size = drawn.sum(axis=1)
        if rows * int(size.max(initial=1)) * 4 * max(self.ground.scale, 1) * len(self.totals) >= 1 << 62:
            drawn, size = drawn.astype(object), size.astype(object)
        outer, inner = self.ground.work(self.buckets, drawn)
        return shares_at_most(outer + inner.sum(axis=1), t * self.ground.scale * rows, size)


def bucketize(promise: TCloseness, domain, totals: np.ndarray, aim: Fraction) -> Buckets:
    """Split the worst bucket until a class drawn in proportion is within `aim`; the null, where there is one, is alone."""
    null = domain.null_code
    occurring = [v for v in np.flatnonzero(totals).tolist() if v != null]
    alone = [[null]] if null >= 0 and totals[null] else []
    if not occurring:
        return alone
    buckets: Buckets = [occurring]
    while True:
        views = [View(promise, domain, totals, buckets + alone, without) for without in ways(totals, null)]
        parts = buckets + alone
        starts = np.cumsum([0, *map(len, parts[:-1])])
        sizes = np.add.reduceat(totals[np.fromiter(chain.from_iterable(parts), np.int64)], starts)[None, :]
        if all(view.within(sizes, aim).all() for view in views) or all(len(bucket) == 1 for bucket in buckets):
            return buckets + alone
        small = int(sizes.sum()) ** 2 * 4 * len(totals) < 1 << 62  # what `work` adds up fits in 64 bits
        _, inner = views[0].ground.work(views[0].buckets, sizes if small else sizes.astype(object))
        worst = max((b for b in range(len(buckets)) if len(buckets[b]) > 1), key=lambda b: int(inner[0, b]))
        buckets[worst : worst + 1] = views[0].ground.split(buckets[worst])
