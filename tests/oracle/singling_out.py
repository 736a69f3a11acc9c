"""Singling out by ends of ranges, by enumeration: for every published group, column and end every person is looked at.

A group is a tuple of labels: a pair (least, greatest) of numbers, or a set of categories.  A person is a tuple of values.
"""

from collections.abc import Sequence
from fractions import Fraction

Label = tuple[int, int] | frozenset[str]


def covers(label: Label, value: object) -> bool:
    if isinstance(label, frozenset):
        return value in label
    return label[0] <= value <= label[1]


def true_of(group: Sequence[Label], column: int, value: object, people: Sequence[tuple]) -> int:
    """How many people the predicate "these labels, and this value in that column" is true of."""
    return sum(
        all(covers(label, person[at]) for at, label in enumerate(group)) and person[column] == value
        for person in people
    )


def ranged(group: Sequence[Label], column: int) -> bool:
    label = group[column]
    return isinstance(label, tuple) and label[0] < label[1]


def ends(groups: Sequence[Sequence[Label]], column: int, people: Sequence[tuple]) -> list[int]:
    """For each group with a range there and each of its two ends, how many people the predicate is true of."""
    return [true_of(group, column, end, people) for group in groups if ranged(group, column) for end in group[column]]


def control(groups: Sequence[Sequence[Label]], column: int, people: Sequence[tuple]) -> Fraction | None:
    """The chance that a random value of the table inside a random group's range isolates somebody."""
    known = sorted({person[column] for person in people})
    found = []
    for group in groups:
        if ranged(group, column):
            inside = [value for value in known if covers(group[column], value)]
            alone = sum(true_of(group, column, value, people) == 1 for value in inside)
            found.append(Fraction(alone, len(inside)))
    return sum(found) / len(found) if found else None


def certain(groups: Sequence[Sequence[Label]], sizes: Sequence[int], column: int) -> Fraction | None:
    """Of the rows with a range, how many values a tight end tells."""
    here = [size for group, size in zip(groups, sizes, strict=True) if ranged(group, column)]
    return Fraction(2 * len(here), sum(here)) if here else None
