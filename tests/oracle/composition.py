"""What several releases say of each person together, and what overlapping boxes do, by enumeration of all tables.

A table gives each person a value.  A release is a list of groups; a group is (the set of persons whom its label covers, the counts of
its values).  Where labels are disjoint, everybody is in the one group that covers them.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product

Group = tuple[frozenset[int], tuple[int, ...]]


def tables(people: int, values: int) -> Iterator[tuple[int, ...]]:
    return product(range(values), repeat=people)


def holds(table: Sequence[int], release: Sequence[Group]) -> bool:
    """Whether each group's persons have just the values that it publishes; labels disjoint."""
    for members, counts in release:
        held = [0] * len(counts)
        for person in members:
            held[table[person]] += 1
        if tuple(held) != tuple(counts):
            return False
    return True


def share(possible: Sequence[Sequence[int]], person: int, values: int) -> list[Fraction]:
    return [Fraction(sum(table[person] == value for table in possible), len(possible)) for value in range(values)]


def joined(people: int, values: int, releases: Sequence[Sequence[Group]]) -> list[list[Fraction]]:
    """Each person's posterior: among all tables that every release fits."""
    possible = [table for table in tables(people, values) if all(holds(table, release) for release in releases)]
    return [share(possible, person, values) for person in range(people)]


def rows(release: Sequence[Group]) -> list[tuple[frozenset[int], int, int]]:
    """Published rows: (who may it be, its group, its value)."""
    return [
        (members, group, value)
        for group, (members, counts) in enumerate(release)
        for value, count in enumerate(counts)
        for _ in range(count)
    ]


def assignments(people: int, release: Sequence[Group]) -> Iterator[tuple[tuple[int, int], ...]]:
    """(group, value) of each person, for every assignment of persons to published rows that labels allow."""
    published = rows(release)
    for order in permutations(range(people)):
        if all(person in published[row][0] for person, row in enumerate(order)):
            yield tuple(published[row][1:] for row in order)


def by_assignment(people: int, values: int, release: Sequence[Group]) -> list[list[Fraction]]:
    """Each person's posterior, every assignment of persons to rows being equally likely."""
    possible = [[value for _, value in one] for one in assignments(people, release)]
    return [share(possible, person, values) for person in range(people)]


def by_table(people: int, values: int, release: Sequence[Group]) -> list[list[Fraction]]:
    """Each person's posterior, every table that some assignment explains being equally likely."""
    possible = sorted({tuple(value for _, value in one) for one in assignments(people, release)})
    return [share(possible, person, values) for person in range(people)]


def membership(people: int, release: Sequence[Group]) -> list[list[Fraction]]:
    """(persons, groups): how likely each person is in each group, every assignment being equally likely."""
    possible = [[group for group, _ in one] for one in assignments(people, release)]
    return [share(possible, person, len(release)) for person in range(people)]
