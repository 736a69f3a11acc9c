"""What an adversary who knows how anatomy groups rows learns, by enumeration; imports nothing of the project.

People stand in the order of the curve, which is known, as are all quasi-identifiers.  Beforehand every assignment of the
values to the people is as likely as another.  Anatomy with grouping "hilbert" cuts the people in pieces where both sides
are l-eligible, and deals each piece at random; with grouping "random" there is one piece.  The release says who is in
which group, and which values each group has.  The posterior of a person's value is its share among the assignments that
lead to the release, each weighed by the probability with which it does.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import prod

CUT_SHARES = ((1, 2), (3, 8), (5, 8))
Assignment = tuple[int, ...]  # the value of each person, in the order of the curve
Groups = frozenset[tuple[tuple[int, ...], tuple[int, ...]]]  # (people, values) of each group


@dataclass(frozen=True)
class Learnt:
    """What is learnt over all releases: the surest belief, and the probability of a release with one above 1/l."""

    worst: Fraction
    exceeding: Fraction
    releases: int


def is_eligible(values: Sequence[int], l: int) -> bool:
    return l * max(Counter(values).values()) <= len(values)


def cut_pieces(values: Assignment, l: int) -> list[tuple[int, int]]:
    """Cut the curve in halves, or at 3/8 or 5/8, as long as both sides are l-eligible."""
    uncut = [(0, len(values))]
    pieces = []
    while uncut:
        first, end = uncut.pop()
        size = end - first
        places = [first + size * part // parts for part, parts in CUT_SHARES] if size >= 2 * l else []
        for place in places:
            if first < place and is_eligible(values[first:place], l) and is_eligible(values[place:end], l):
                uncut += [(first, place), (place, end)]
                break
        else:
            pieces.append((first, end))
    return sorted(pieces)


def list_deals(values: Assignment, first: int, end: int, l: int) -> dict[Groups, Fraction]:
    """List the groups that a piece may be dealt to, with probabilities: sorted by value, in every order within a value."""
    holders: dict[int, list[int]] = defaultdict(list)
    for person in range(first, end):
        holders[values[person]].append(person)
    number = (end - first) // l
    deals: Counter[Groups] = Counter()
    for orders in product(*(permutations(holders[value]) for value in sorted(holders))):
        dealt = [person for order in orders for person in order]
        groups = [dealt[group::number] for group in range(number)]
        deals[
            frozenset((tuple(sorted(people)), tuple(sorted(values[person] for person in people))) for people in groups)
        ] += 1
    return {groups: Fraction(count, deals.total()) for groups, count in deals.items()}


def learn(counts: Sequence[int], l: int, grouping: str) -> Learnt:
    """Enumerate all assignments of values that are held so often, and all that each may publish."""
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    behind: dict[Groups, dict[Assignment, Fraction]] = defaultdict(dict)
    for table in sorted(set(permutations(values))):
        pieces = cut_pieces(table, l) if grouping == "hilbert" else [(0, len(table))]
        deals = [list_deals(table, first, end, l) for first, end in pieces]
        for chosen in product(*(deal.items() for deal in deals)):
            release: Groups = frozenset().union(*(groups for groups, _ in chosen))
            probability = prod((chance for _, chance in chosen), start=Fraction(1))
            behind[release][table] = behind[release].get(table, Fraction(0)) + probability
    worst = exceeding = total = Fraction(0)
    for weights in behind.values():
        weight = sum(weights.values(), Fraction(0))
        surest = find_surest_belief(weights, len(values)) / weight
        worst = max(worst, surest)
        total += weight
        exceeding += weight if surest > Fraction(1, l) else 0
    return Learnt(worst, exceeding / total, len(behind))


def find_surest_belief(weights: dict[Assignment, Fraction], people: int) -> Fraction:
    """Find the greatest weight of one value of one person."""
    surest = Fraction(0)
    for person in range(people):
        by_value: dict[int, Fraction] = defaultdict(Fraction)
        for table, weight in weights.items():
            by_value[table[person]] += weight
        surest = max(surest, *by_value.values())
    return surest
