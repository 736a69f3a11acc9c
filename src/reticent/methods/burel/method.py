"""BUREL: beta-likeness by bucketing and redistribution (Cao & Karras, VLDB 2012, sections 4.3-4.5).

Cells and a promise that caps frequencies -> a recipe of equivalence classes, in three steps named after the paper's:
DPpartition (`buckets`), biSplit (`ectree`), Retrieve (`retrieve`).  Which class a row joins depends on its quasi-identifiers and
its bucket only; the sizes of classes depend on the sensitive column only.

Departs from it: cells with quotas instead of rows; the corrections of the errata, 1.1 to 1.4; two-sided beta-likeness, where
every value is a bucket of its own, since a lower bound says nothing of values that share one; classes of at least k rows where
k-anonymity is promised too; families of values (a level of the sensitive hierarchy) in place of values; tighter buckets
where the printed ones leave a single class; and a table that cannot be halved even with a bucket for each value is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.errors import JobError, PromiseUnreachable, some
from reticent.methods.burel.buckets import Buckets, bucket_values
from reticent.methods.classes.ectree import bi_split
from reticent.methods.classes.options import refuse_single_value
from reticent.methods.classes.retrieve import retrieve
from reticent.methods.protocols import Method
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.caps import join
from reticent.models.exact import Number
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promises import Promises
from reticent.models.semantic_likeness import SemanticLikeness
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.table.cells import Cells

TIGHTER = (
    Fraction(9, 10),
    Fraction(3, 4),
    Fraction(1, 2),
    Fraction(0),
)  # shares tried where one class is left; 0: a value each


@dataclass(frozen=True, slots=True, kw_only=True)
class Burel(Method):
    """`fill`: neighbours along the Hilbert curve, or by exact distance.  `axes`: stretched to one length, or one step per value.

    `share` of its cap is what a bucket may use: all of it as printed; less leaves room for halves that are not quite in proportion.
    """

    fill: str = "curve"
    axes: str = "stretched"
    share: Fraction = Fraction(1)
    name: ClassVar[str] = "burel"
    kind: ClassVar[str] = "generalized"
    labels: ClassVar[str] = "nodes"
    keeps: ClassVar[tuple[type, ...]] = (BetaLikeness, SemanticLikeness, KAnonymity)

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, *, fill: str = "curve", axes: str = "stretched", share: Number = 1) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        column, family, least = protected(promises, cells)
        name = cells.sensitive[column].name
        totals = np.bincount(family, weights=cells.totals(column)).astype(np.int64)
        refuse_single_value(self.name, name, totals)
        null = int(family[-1]) if cells.sensitive[column].null else -1
        caps = join([cap for promise in about_values(promises) for cap in capped(promise).caps(totals, null)])
        for share in (self.share, *(less for less in TIGHTER if less < self.share)):
            buckets = bucket_values(totals, caps, null, share)
            sizes = bi_split(buckets.sizes, partial(allowed, buckets, least))
            if len(sizes) > 1:
                break
        else:
            refuse_whole_table(name, totals, buckets)
        bucket = buckets.of_value[family[cells.values[:, column]]]
        return retrieve(cells, bucket, sizes, rng.stream("burel"), fill=self.fill, axes=self.axes)


def protected(promises: Promises, cells: Cells) -> tuple[int, np.ndarray, int]:
    """The one sensitive column that the promises speak of, the family of each of its values, and the least class size."""
    about = about_values(promises)
    columns = {cells.sensitive_at(promise.column) for promise in about}
    levels = {getattr(promise, "level", 0) for promise in about}
    if len(columns) != 1 or len(levels) != 1:
        raise JobError(
            f"burel protects one sensitive column at one level; the promises speak of {len(columns)} and {len(levels)}.",
            attempt='method = "mondrian" for several.',
        )
    persons = max((promise.k for promise in promises if isinstance(promise, KAnonymity)), default=0)
    least = max(persons * cells.rows_per_person, 1)
    if least > cells.rows:
        raise PromiseUnreachable(
            f"k = {persons} cannot be met: a class needs {some(least, 'row')}, the table has {some(cells.rows, 'row')}."
        )
    column = columns.pop()
    domain = cells.sensitive[column]
    first = about[0]
    family = first.families(domain) if isinstance(first, SemanticLikeness) else np.arange(domain.size)
    return column, family, least


def about_values(promises: Promises) -> list[BetaLikeness | SemanticLikeness]:
    """The promises but those of so many people in a class."""
    given: list[BetaLikeness | SemanticLikeness | KAnonymity] = promises.only(*Burel.keeps)
    return [promise for promise in given if not isinstance(promise, KAnonymity)]


def allowed(buckets: Buckets, least: int, nodes: np.ndarray) -> np.ndarray:
    """Which nodes, by the rows they draw from each bucket, may be classes."""
    return buckets.allow(nodes) & (nodes.sum(axis=1) >= least)


def capped(promise: BetaLikeness | SemanticLikeness) -> BetaLikeness:
    """What caps families: beta-likeness of them as if each were a value."""
    return promise.likeness if isinstance(promise, SemanticLikeness) else promise


def refuse_whole_table(name: str, totals: np.ndarray, buckets: Buckets) -> None:
    """One class says only the overall distribution; where a rare value is the reason, another kind of release serves better."""
    left = buckets.sizes // 2
    halves = np.stack([left, buckets.sizes - left])
    if left.sum() and buckets.allow(halves).all():
        return  # k asks for a class this large
    cap = buckets.upper[0]
    size = np.maximum(halves.sum(axis=1), 1)[:, None]
    tightest = int((halves * cap[:, 1] / np.maximum(cap[:, 0] * size, 1)).max(axis=0).argmax())
    rows, held = int(totals.sum()), int(totals[buckets.of_value == tightest].min())
    numerator, denominator = (int(part) for part in cap[tightest])
    needed = -(-denominator // max(numerator, 1))
    raise PromiseUnreachable(
        f"beta-likeness on {name!r} leaves burel a single class: the whole table.",
        why=f"One value has {held} of {rows} rows and may reach a frequency of {numerator / denominator:.4g} in a class, so a class "
        f"that holds it needs at least {needed} rows; half of the table cannot hold its share of it.",
        attempt='a larger beta, withholding so rare a value, or method = "beta-perturbation".',
    )
