"""Information loss, from published labels and group sizes, as Fractions.

AIL (= NCP, GCP)  Cao & Karras 2012, equations 2-5.  A label's loss in a column is
                  numeric, date, ordinal (by rank): (u - l) / (U - L), with [L, U] the column's domain      (2)
                  categorical: 0 for one leaf, else leaves(a) / leaves(root), a the lowest common ancestor  (3)
                  a group's is the weighted mean over columns (weights sum to 1, 1/d by default)            (4)
                  the table's is sum |G| IL(G) / |DB|; a withheld row counts 1                              (5)
DM                Bayardo & Agrawal 2005: sum |G|^2, and |DB| for each withheld row
DM*               El Emam et al. 2009: sum |G|^2 over all groups, no penalty
C_avg             LeFevre et al. 2006: (|DB| / number of groups) / k
precision         Sweeney 2002: 1 - sum over cells of height(label) / height(hierarchy), over all cells; a column
                  without a hierarchy is a tree of height 1
entropy           non-uniform (Gionis & Tassa 2009): sum over cells of -log2 Pr(value | label), Pr from the source
                  column's frequencies; needs to know the source rows behind each group

A null label loses nothing; a label that covers the null and more loses 1.  The null counts as a leaf of a categorical
column that has nulls.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction

from tests.oracle.labels import CATEGORICAL, DATE, NUMERIC, ORDINAL, Column, covered, leaf_of, parse

Labels = tuple[str | None, ...]
Sizes = Mapping[Labels, int]


def label_loss(label: str | None, column: Column) -> Fraction:
    """Equations 2 and 3."""
    form, parts = parse(label, column)
    if form in ("null", "value"):
        return Fraction(0)
    if form == "all":
        return Fraction(1) if len(column.leaves) + column.has_null > 1 else Fraction(0)
    if column.kind == CATEGORICAL:
        return leaves_loss(covered(label, column), column)
    return range_loss(parts, column)


def range_loss(ends: Sequence, column: Column) -> Fraction:
    positions = [position(end, column) for end in ends]
    domain = [position(leaf, column) for leaf in column.leaves]
    width = max(domain) - min(domain)
    return (max(positions) - min(positions)) / width if width else Fraction(0)


def position(leaf: object, column: Column) -> Fraction:
    """Where a leaf stands on its column's line."""
    if column.kind == NUMERIC:
        return leaf
    if column.kind == DATE:
        start = datetime.min if isinstance(leaf, datetime) else date.min
        return Fraction((leaf - start) // timedelta(microseconds=1))
    if column.kind == ORDINAL:
        return Fraction(column.leaves.index(leaf))
    raise ValueError("a categorical column has no line")


def leaves_loss(leaves: frozenset, column: Column) -> Fraction:
    """Equation 3: by the lowest common ancestor of a set of leaves."""
    if len(leaves) == 1:
        return Fraction(0)
    under = ancestor(leaves, column)[1]
    return Fraction(len(under), len(column.leaves) + column.has_null) if len(under) > 1 else Fraction(0)


def ancestor(leaves: frozenset, column: Column) -> tuple[int, frozenset]:
    """(height, leaves) of the lowest common ancestor.  The null stands under the root alone."""
    whole = frozenset(column.leaves) | ({None} if column.has_null else frozenset())
    if len(leaves) == 1:
        return 0, leaves
    tree = column.tree or tuple((leaf, "*") for leaf in column.leaves)
    top = len(tree[0]) - 1
    if None in leaves:
        return top, whole
    for level in range(top):
        for node in {row[level:] for row in tree}:
            under = frozenset(row[0] for row in tree if row[level:] == node)
            if leaves <= under:
                return level, under
    return top, whole


def group_loss(labels: Labels, columns: Sequence[Column], weights: Sequence[Fraction] | None = None) -> Fraction:
    """Equation 4."""
    weights = weights or [Fraction(1, len(columns))] * len(columns)
    assert sum(weights) == 1
    losses = [label_loss(label, column) for label, column in zip(labels, columns, strict=True)]
    return sum((w * loss for w, loss in zip(weights, losses, strict=True)), Fraction(0))


def ail(
    sizes: Sizes, columns: Sequence[Column], weights: Sequence[Fraction] | None = None, withheld: int = 0
) -> Fraction:
    """Equation 5."""
    lost = sum((size * group_loss(labels, columns, weights) for labels, size in sizes.items()), Fraction(withheld))
    return lost / (sum(sizes.values()) + withheld)


def discernibility(sizes: Sizes, withheld: int = 0) -> int:
    return sum(size**2 for size in sizes.values()) + withheld * (sum(sizes.values()) + withheld)


def discernibility_star(sizes: Sizes) -> int:
    return sum(size**2 for size in sizes.values())


def c_avg(sizes: Sizes, k: int = 1) -> Fraction:
    return Fraction(sum(sizes.values()), len(sizes) * k)


def precision(sizes: Sizes, columns: Sequence[Column]) -> Fraction:
    lost = sum(
        (
            size * label_height(label, column)
            for labels, size in sizes.items()
            for label, column in zip(labels, columns, strict=True)
        ),
        Fraction(0),
    )
    return 1 - lost / (sum(sizes.values()) * len(columns))


def label_height(label: str | None, column: Column) -> Fraction:
    """The label's height over the hierarchy's."""
    form, parts = parse(label, column)
    if form in ("null", "value"):
        return Fraction(0)
    if column.tree is None:
        return Fraction(int(form == "all" or len(set(parts)) > 1))
    return Fraction(ancestor(covered(label, column), column)[0], len(column.tree[0]) - 1)


def non_uniform_entropy(rows: Sequence[tuple[Labels, tuple]], columns: Sequence[Column]) -> float:
    """Bits, over all rows `(labels, source cells)`."""
    bits = []
    for j, column in enumerate(columns):
        cells = [leaf_of(source[j], column.kind) for _, source in rows]
        frequency = Counter(cells)
        for (labels, _), cell in zip(rows, cells, strict=True):
            together = sum(frequency[leaf] for leaf in covered(labels[j], column))
            bits.append(math.log2(together) - math.log2(frequency[cell]))
    return math.fsum(bits)
