"""Brute force over every grouping of a tiny table: can a promise be met, and at what least loss?

A source row is `(cells, sensitive)`.  Bell(8) = 4140 groupings are tried for eight rows; more than nine are refused.
Blocks that would be published under one label are one group, as a reader of the release cannot tell them apart.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction

from tests.oracle.labels import CATEGORICAL, Column, leaf_of
from tests.oracle.loss import ancestor, leaves_loss, range_loss

SourceRow = tuple[tuple, Hashable]
Promise = Callable[[list[Counter]], bool]


def partitions(items: Sequence) -> Iterator[list[list]]:
    """Every way to divide items into blocks that are not empty."""
    if not items:
        yield []
        return
    first = items[0]
    rest = items[1:]
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [first, *block], *blocks[i + 1 :]]


def box(rows: Sequence[SourceRow], columns: Sequence[Column]) -> tuple:
    """The smallest label of a block: a range, the leaves of the lowest common ancestor, or "all" where nulls mix in."""
    return tuple(_side({leaf_of(row[0][j], column.kind) for row in rows}, column) for j, column in enumerate(columns))


def _side(leaves: set, column: Column) -> object:
    if len(leaves) == 1:
        return frozenset(leaves)
    if None in leaves:
        return "all"
    if column.kind == CATEGORICAL:
        under = ancestor(frozenset(leaves), column)[1]
        return "all" if under >= frozenset(column.leaves) else under
    by_rank = sorted(leaves, key=column.leaves.index)
    return (by_rank[0], by_rank[-1])


def box_loss(sides: tuple, columns: Sequence[Column]) -> Fraction:
    """Equation 4 of Cao & Karras with equal weights."""
    total = Fraction(0)
    for side, column in zip(sides, columns, strict=True):
        if side == "all":
            total += 1
        elif isinstance(side, tuple):
            total += range_loss(side, column)
        else:
            total += leaves_loss(side, column)
    return total / len(columns)


def groupings(rows: Sequence[SourceRow], columns: Sequence[Column]) -> Iterator[dict[tuple, Counter]]:
    """Every grouping as published: label -> histogram, equal labels made one."""
    if len(rows) > 9:
        raise ValueError("brute force is for at most nine rows")
    for blocks in partitions(rows):
        groups: dict[tuple, Counter] = {}
        for block in blocks:
            groups.setdefault(box(block, columns), Counter()).update(row[1] for row in block)
        yield groups


def is_feasible(rows: Sequence[SourceRow], columns: Sequence[Column], promise: Promise) -> bool:
    """Whether some grouping of all rows keeps the promise."""
    return any(promise(list(groups.values())) for groups in groupings(rows, columns))


def least_loss(rows: Sequence[SourceRow], columns: Sequence[Column], promise: Promise) -> Fraction | None:
    """The least average information loss of a grouping that keeps the promise; None where none does."""
    losses = [
        sum((sum(h.values()) * box_loss(sides, columns) for sides, h in groups.items()), Fraction(0)) / len(rows)
        for groups in groupings(rows, columns)
        if promise(list(groups.values()))
    ]
    return min(losses, default=None)
