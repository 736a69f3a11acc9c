"""BUREL: beta-likeness by bucketing and redistribution (Cao & Karras, VLDB 2012, sections 4.3-4.5).

Cells and a promise that caps frequencies -> a recipe of equivalence classes, in three steps of the paper: DPpartition
(`bucket_values`), biSplit (`equivalence_classes.split_into_classes`), Retrieve
(`equivalence_classes.retrieve_classes`).  Which class a row joins depends on its quasi-identifiers and its bucket only;
the sizes of classes depend on the sensitive column only.

DPpartition (section 4.3): values in ascending order of frequency are cut into as few runs as possible such that a class
which draws from each bucket in proportion to its size keeps every value within its cap, even if all it draws from a
bucket is one value (lemma 2).  Of several least partitions the one that the printed recursion finds is taken.  Lower
caps (two-sided) and the null hold only where a bucket is one value.

Departs from the paper: cells with quotas instead of rows; the corrections of the errata: the least frequent value of
v_b .. v_e is v_b (1.1), `Combinable` is `<=` as in lemma 2 (1.2), frequencies are compared as integers (1.3), and
halves may not be empty (1.4); two-sided beta-likeness, where every value is a bucket of its own, since a lower bound
cannot be kept for values that share one; classes of at least k rows where k-anonymity is promised too; families of
values (a level of the sensitive hierarchy) in place of values; tighter buckets where the printed ones leave a single
class; a table that cannot be halved even with a bucket for each value is refused; `share = "auto"` plans with each of
ten shares of the caps and takes the plan that loses least, so that it never loses more than the printed one; and
`refine` hands the finished classes to the sweeps of mosaic, which cut them further where the values that they do hold
allow it (lemma 2 reckons with any values of their buckets), cut near ones anew together, and let rows of one value
change places, so that the classes filled last, with what was left, are filled by what is near.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.errors import JobError, PromiseUnreachable, pluralize
from reticent.exact_arithmetic import as_ratio
from reticent.methods.base import Method
from reticent.methods.equivalence_classes import require_several_values, retrieve_classes, split_into_classes
from reticent.methods.mosaic.method import improve_groups
from reticent.models.beta_likeness import BetaLikeness, SemanticLikeness, require_uncombined_values
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promise import Caps, Promises, merge_caps
from reticent.models.rational_bounds import Number
from reticent.randomness import Random
from reticent.recipe.group_labels import compute_total_loss
from reticent.recipe.recipe import Recipe
from reticent.validation import check_parameters, document_parameters

WHOLE_SHARE = Fraction(1)
TIGHTER_SHARES = (
    Fraction(9, 10),
    Fraction(3, 4),
    Fraction(1, 2),
    Fraction(0),
)  # shares tried where one class is left; 0: a value each
AUTO_SHARE = "auto"
AUTO_SHARES = tuple(Fraction(tenths, 10) for tenths in range(10, 0, -1))


@dataclass(frozen=True, eq=False)
class ValueBuckets:
    """Buckets of sensitive values.

    `of_value[v]` is the bucket of value v (-1: does not occur); `sizes` are rows; `alone` is the null's own bucket or
    -1. `upper[w, b]` and `lower[w, b]` are the strictest caps of bucket b's values under the w-th way of counting.
    """

    of_value: np.ndarray
    sizes: np.ndarray
    alone: int
    upper: np.ndarray  # (ways, buckets, 2)
    lower: np.ndarray
    leaves_out: tuple[bool, ...]  # which ways leave the null rows out

    def allow(self, nodes: np.ndarray) -> np.ndarray:
        """Tell which classes with these rows of each bucket keep their caps whatever values the rows have (theorem 1)."""
        fine = nodes.sum(axis=1) > 0
        for way, leaves_null_out in enumerate(self.leaves_out):
            size = nodes.sum(axis=1) - (nodes[:, self.alone] if leaves_null_out else 0)
            bucket_rows = nodes.copy()
            if leaves_null_out:
                bucket_rows[:, self.alone] = 0
            fine &= (bucket_rows * self.upper[way, :, 1] <= self.upper[way, :, 0] * size[:, None]).all(axis=1)
            fine &= (bucket_rows * self.lower[way, :, 1] >= self.lower[way, :, 0] * size[:, None]).all(axis=1)
        return fine


def bucket_values(
    totals: np.ndarray, caps: Sequence[Caps], null: int = -1, share: Fraction = WHOLE_SHARE
) -> ValueBuckets:
    """Find the fewest buckets that use at most `share` of these caps; each value is alone where some have lower caps."""
    occurring = np.flatnonzero(totals)
    ascending = occurring[np.argsort(totals[occurring], kind="stable")].tolist()
    alone = null if null >= 0 and totals[null] else -1
    single = any(cap.lower is not None for cap in caps)
    runs = [[v] for v in ascending if single or v == alone]
    if not single:
        runs += partition_values([v for v in ascending if v != alone], totals, caps, share)
    of_value = np.full(len(totals), -1)
    for b, run in enumerate(runs):
        of_value[run] = b
    sizes = np.array([int(totals[run].sum()) for run in runs], np.int64)
    upper = np.array([[_find_strictest_cap(cap.upper, run, (1, 1)) for run in runs] for cap in caps], np.int64)
    lower = np.array([[_find_strictest_cap(cap.lower, run, (0, 1)) for run in runs] for cap in caps], np.int64)
    return ValueBuckets(
        of_value,
        sizes,
        int(of_value[alone]) if alone >= 0 else -1,
        upper.reshape(len(caps), len(runs), 2),
        lower.reshape(len(caps), len(runs), 2),
        tuple(cap.without >= 0 for cap in caps),
    )


def partition_values(
    ascending: Sequence[int], totals: np.ndarray, caps: Sequence[Caps], share: Fraction = WHOLE_SHARE
) -> list[list[int]]:
    """Find the fewest runs of consecutive values, each combinable (equation 6)."""
    counts = [int(totals[v]) for v in ascending]
    bounds = [
        ([_to_pair(cap.upper[v]) for v in ascending], _count_capped_rows(totals, cap))
        for cap in caps
        if cap.upper is not None
    ]
    share_numerator, share_denominator = as_ratio(share)
    fewest = [0]
    start = [0]
    for e in range(1, len(ascending) + 1):
        best = fewest[e - 1] + 1
        first = e
        run_rows = counts[e - 1]
        strictest = [pairs[e - 1] for pairs, _ in bounds]
        for b in range(e - 1, 0, -1):
            run_rows += counts[b - 1]
            strictest = [_choose_smaller(pairs[b - 1], cap) for (pairs, _), cap in zip(bounds, strictest, strict=True)]
            if any(
                run_rows * d * share_denominator > n * rows * share_numerator
                for (n, d), (_, rows) in zip(strictest, bounds, strict=True)
            ):
                break  # more values and a rarer one: no longer run is combinable
            if fewest[b - 1] + 1 < best:
                best = fewest[b - 1] + 1
                first = b
        fewest.append(best)
        start.append(first)
    runs = []
    e = len(ascending)
    while e > 0:
        runs.append(list(ascending[start[e] - 1 : e]))
        e = start[e] - 1
    return runs[::-1]


@document_parameters(METHODS["burel"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Burel(Method):
    """Buckets of sensitive values, and classes of neighbours that draw from each (BUREL)."""

    fill: str = "curve"
    axes: str = "stretched"
    share: Fraction | str = Fraction(1)
    refine: int | None = None
    name: ClassVar[str] = "burel"
    kind: ClassVar[str] = "generalized"
    labels: ClassVar[str] = "nodes"
    keeps: ClassVar[tuple[type, ...]] = (BetaLikeness, SemanticLikeness, KAnonymity)

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            *,
            fill: str = "curve",
            axes: str = "stretched",
            share: Number | Literal["auto"] = 1,
            refine: int | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def refuse(self, promises: Promises) -> None:
        """Refuse a job without a promise about sensitive values, before any data is read."""
        require_value_promise(promises)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        column, family, least_size = find_protected_column(promises, cells)
        name = cells.sensitive[column].name
        totals = np.bincount(family, weights=cells.totals(column)).astype(np.int64)
        require_several_values(self.name, name, totals)
        null = int(family[-1]) if cells.sensitive[column].null else -1
        caps = merge_caps(
            [
                cap
                for promise in select_value_promises(promises)
                for cap in to_family_likeness(promise).caps(totals, null)
            ]
        )

        def split(share: Fraction) -> BucketClasses:
            buckets = bucket_values(totals, caps, null, share)
            return BucketClasses(
                buckets, split_into_classes(buckets.sizes, partial(are_allowed_classes, buckets, least_size))
            )

        def retrieve(classes: BucketClasses) -> Recipe:
            bucket = classes.buckets.of_value[family[cells.values[:, column]]]
            return retrieve_classes(cells, bucket, classes.sizes, rng.stream("burel"), fill=self.fill, axes=self.axes)

        share = _choose_share(split, retrieve) if isinstance(self.share, str) else self.share
        classes = _find_several_classes(split, share)
        if len(classes.sizes) == 1:
            others = [promise for promise in promises if not isinstance(promise, BetaLikeness)]
            is_redrawable = not others and len(cells.sensitive) == 1 and null < 0
            require_several_classes(name, totals, classes.buckets, is_redrawable=is_redrawable)
        recipe = replace(retrieve(classes), chosen={} if share == self.share else {"share": share})
        if self.refine is None:
            return recipe
        return improve_groups(recipe, promises, self.refine, rng.stream("burel-refine"))


class BucketClasses(NamedTuple):
    """Buckets, and how many rows of each every class draws: (classes, buckets)."""

    buckets: ValueBuckets
    sizes: np.ndarray


def find_protected_column(promises: Promises, cells: Cells) -> tuple[int, np.ndarray, int]:
    """Find the one sensitive column that the promises are about, the family of each of its values, and the least class size."""
    about = require_value_promise(promises)
    columns = {cells.find_sensitive(promise.column) for promise in about}
    levels = {getattr(promise, "level", 0) for promise in about}
    if len(columns) != 1 or len(levels) != 1:
        raise JobError(
            f"burel protects one sensitive column at one level; the promises speak of {len(columns)} and {len(levels)}.",
            attempt='method = "mondrian".',
        )
    for promise in about:
        if isinstance(promise, SemanticLikeness):
            require_uncombined_values(cells, next(iter(columns)), promise.name)
    persons = max((promise.k for promise in promises if isinstance(promise, KAnonymity)), default=0)
    least_size = max(persons * cells.rows_per_person, 1)
    if least_size > cells.rows:
        raise PromiseUnreachable(
            f"k = {persons} cannot be met: a class needs {pluralize(least_size, 'row')}, the table has {pluralize(cells.rows, 'row')}.",
            attempt=f"k = {cells.rows // cells.rows_per_person} or less, or more rows.",
        )
    column = columns.pop()
    domain = cells.sensitive[column]
    first = about[0]
    family = first.families(domain) if isinstance(first, SemanticLikeness) else np.arange(domain.size)
    return column, family, least_size


def require_value_promise(promises: Promises) -> list[BetaLikeness | SemanticLikeness]:
    """Return the promises about sensitive values; refuse a job that has none."""
    about = select_value_promises(promises)
    if not about:
        raise JobError(
            "burel makes its classes for a promise about sensitive values, and the job has none.",
            attempt='a further [[promise]] with model = "beta-likeness" and beta = 4, or method = "mondrian".',
        )
    return about


def select_value_promises(promises: Promises) -> list[BetaLikeness | SemanticLikeness]:
    """Select the promises except those about the number of people in a class."""
    all_promises: list[BetaLikeness | SemanticLikeness | KAnonymity] = promises.require_models(*Burel.keeps)
    return [promise for promise in all_promises if not isinstance(promise, KAnonymity)]


def are_allowed_classes(buckets: ValueBuckets, least_size: int, nodes: np.ndarray) -> np.ndarray:
    """Tell which nodes, by the rows they draw from each bucket, may be classes."""
    return buckets.allow(nodes) & (nodes.sum(axis=1) >= least_size)


def to_family_likeness(promise: BetaLikeness | SemanticLikeness) -> BetaLikeness:
    """Return the promise that caps families: beta-likeness of them as if each were a value."""
    return promise.likeness if isinstance(promise, SemanticLikeness) else promise


def require_several_classes(name: str, totals: np.ndarray, buckets: ValueBuckets, *, is_redrawable: bool) -> None:
    """Refuse a single class: it would show only the overall distribution.

    Where a rare value is the reason, another kind of release serves better, if its values may be redrawn
    (`is_redrawable`): beta-perturbation takes one column, without gaps, and keeps nothing but beta-likeness.
    """
    half = buckets.sizes // 2
    halves = np.stack([half, buckets.sizes - half])
    if half.sum() and buckets.allow(halves).all():
        return  # k asks for a class this large
    cap = buckets.upper[0]
    size = np.maximum(halves.sum(axis=1), 1)[:, None]
    tightest = int((halves * cap[:, 1] / np.maximum(cap[:, 0] * size, 1)).max(axis=0).argmax())
    rows = int(totals.sum())
    fewest_rows = int(totals[buckets.of_value == tightest].min())
    numerator, denominator = (int(part) for part in cap[tightest])
    needed = -(-denominator // max(numerator, 1))
    raise PromiseUnreachable(
        f"beta-likeness on {name!r} leaves burel a single class: the whole table.",
        why=f"One value has {fewest_rows} of {rows} rows and may reach a frequency of {numerator / denominator:.4g} in a class, so a class "
        f"that holds it needs at least {needed} rows; half of the table cannot hold its share of it.",
        attempt='a larger beta, withholding so rare a value, or method = "beta-perturbation".'
        if is_redrawable
        else "a larger beta, or withholding so rare a value.",
    )


def _find_several_classes(split: Callable[[Fraction], BucketClasses], share: Fraction) -> BucketClasses:
    """Find buckets that leave more than one class: those of the share, else tighter ones; a single class if there are none."""
    classes = split(share)
    for tighter in TIGHTER_SHARES:
        if len(classes.sizes) > 1:
            break
        if tighter < share:
            classes = split(tighter)
    return classes


def _choose_share(split: Callable[[Fraction], BucketClasses], retrieve: Callable[[BucketClasses], Recipe]) -> Fraction:
    """Choose the share whose plan loses least, the largest of equals."""
    best_share = AUTO_SHARES[0]
    least_loss = float("inf")
    known_buckets: list[np.ndarray] = []
    for share in AUTO_SHARES:
        classes = _find_several_classes(split, share)
        of_value = classes.buckets.of_value
        if any(np.array_equal(of_value, known) for known in known_buckets):
            continue
        known_buckets.append(of_value)
        loss = compute_total_loss(retrieve(classes))
        if loss < least_loss:
            best_share = share
            least_loss = loss
    return best_share


def _find_strictest_cap(pairs: np.ndarray | None, run: list[int], otherwise: tuple[int, int]) -> tuple[int, int]:
    """Find the strictest cap of a run; lower caps are only looked up for runs of one value."""
    if pairs is None:
        return otherwise
    strictest = _to_pair(pairs[run[0]])
    for v in run[1:]:
        strictest = _choose_smaller(_to_pair(pairs[v]), strictest)
    return strictest


def _to_pair(cap: np.ndarray) -> tuple[int, int]:
    return int(cap[0]), int(cap[1])


def _count_capped_rows(totals: np.ndarray, cap: Caps) -> int:
    return int(totals.sum() - (totals[cap.without] if cap.without >= 0 else 0))


def _choose_smaller(ratio: tuple[int, int], other_ratio: tuple[int, int]) -> tuple[int, int]:
    return ratio if ratio[0] * other_ratio[1] <= other_ratio[0] * ratio[1] else other_ratio
