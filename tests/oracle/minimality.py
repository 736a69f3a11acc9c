"""What somebody knows who knows the method, by enumeration: slow, obvious, in fractions.  Imports nothing of ours.

`posterior` takes the method as a function of (values, key).  `cut` is a method of this file's own: people on a line, cut in two as long
as in both parts no value is held by more than one in l; the key says from which side places are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations

Table = tuple[int, ...]


def keeps(values: Sequence[int], l: int) -> bool:  # noqa: E741 - the field's own letter
    return bool(values) and max(Counter(values).values()) * l <= len(values)


def places(points: Sequence[int], values: Sequence[int], l: int) -> list[int]:  # noqa: E741
    """Where these people, in the order of their points, can be cut."""
    return [
        at
        for at in range(1, len(points))
        if points[at - 1] < points[at] and keeps(values[:at], l) and keeps(values[at:], l)
    ]


def cut(points: Sequence[int], values: Sequence[int], l: int, key: int) -> list[tuple]:  # noqa: E741
    """(least, greatest, counts of the values 0, 1, 2) of each group."""
    able = places(points, values, l)
    if not able:
        held = Counter(values)
        return [(points[0], points[-1], *(held[value] for value in range(3)))]
    at = able[-1] if key % 2 else able[0]
    return cut(points[:at], values[:at], l, key) + cut(points[at:], values[at:], l, key)


@cache
def orders(values: Table) -> list[Table]:
    """Every different order of these values."""
    return sorted(set(permutations(values)))


def posterior(
    values: Sequence[int], publish: Callable[[Table, int], object], keys: Sequence[int], shown: object
) -> list[list[Fraction]] | None:
    """Each person's distribution over 0, 1, 2, over all orders of these values; None where nothing leads to what is shown."""
    weight: Counter[Table] = Counter()
    for table in orders(tuple(sorted(values))):
        weight[table] = sum(publish(table, key) == shown for key in keys)
    total = sum(weight.values())
    if not total:
        return None
    return [
        [Fraction(sum(n for table, n in weight.items() if table[person] == value), total) for value in range(3)]
        for person in range(len(values))
    ]


def left_whole(points: Sequence[int], values: Sequence[int], l: int) -> list[list[Fraction]]:  # noqa: E741
    """The same for people of one group of whom it is known that they could not be cut."""
    fit = [table for table in set(permutations(values)) if not places(points, table, l)]
    return [
        [Fraction(sum(table[person] == value for table in fit), len(fit)) for value in range(3)]
        for person in range(len(values))
    ]
