"""Distribution-based anonymization by its definitions (Koudas et al., VLDB 2009), in fractions and by brute force.

A tree is a list of nodes, each (first leaf, last leaf, weight, parent), the root first with parent None; leaves are 0 .. n - 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from math import lcm

Node = tuple[int, int, int, "int | None"]


def probabilities(tree: list[Node]) -> list[Fraction]:
    """Of each leaf: the product of the shares of the edges above it."""
    share = []
    for _, _, weight, parent in tree:
        siblings = sum(other[2] for other in tree if other[3] == parent)
        share.append(Fraction(1) if parent is None else share[parent] * Fraction(weight, siblings))
    leaves = tree[0][1] + 1
    return [
        next(s for s, node in zip(share, tree, strict=True) if node[0] == node[1] == leaf) for leaf in range(leaves)
    ]


def is_private(nodes: list[int], tree: list[Node]) -> bool:
    """Definition 3.2, word for word."""
    p = probabilities(tree)
    for leaf, wanted in enumerate(p):
        total = Fraction(0)
        for node in nodes:
            first, last = tree[node][:2]
            mass = sum(p[first : last + 1])
            if mass == 0:
                return False
            total += p[leaf] / mass if first <= leaf <= last else 0
        if total != wanted * len(nodes):
            return False
    return True


def generalizes(nodes: list[int], values: list[int], tree: list[Node]) -> bool:
    """Definition 3.1: each value has a node of its own that holds it; nodes may be left over (fakes)."""
    taken: dict[int, int] = {}

    def placed(value: int, seen: set[int]) -> bool:
        for at, node in enumerate(nodes):
            if at not in seen and tree[node][0] <= values[value] <= tree[node][1]:
                seen.add(at)
                if at not in taken or placed(taken[at], seen):
                    taken[at] = value
                    return True
        return False

    return all(placed(value, set()) for value in range(len(values)))


class Families:
    """Every P-private multiset of nodes of each size, found once for a tree."""

    def __init__(self, tree: list[Node]):
        self.tree = tree
        self.known = {}
        p = probabilities(tree)
        masses = [sum(p[first : last + 1]) for first, last, _, _ in tree]
        shares = [
            [p[leaf] / mass if mass and first <= leaf <= last else Fraction(0) for leaf in range(len(p))]
            for (first, last, _, _), mass in zip(tree, masses, strict=True)
        ]
        unit = lcm(*(share.denominator for row in [*shares, p] for share in row))
        self.p = [int(share * unit) for share in p]
        self.shares = [[int(share * unit) for share in row] for row in shares]
        self.usable = [node for node, mass in enumerate(masses) if mass]

    def of(self, size: int) -> list[tuple[int, ...]]:
        if size not in self.known:
            leaves = range(len(self.p))
            self.known[size] = [
                nodes
                for nodes in combinations_with_replacement(self.usable, size)
                if all(sum(self.shares[node][leaf] for node in nodes) == size * self.p[leaf] for leaf in leaves)
            ]
        return self.known[size]

    def least(self, values: list[int], ranges: list[float]) -> float:
        """Problem 4.1 over nodes of the hierarchy."""
        return min(
            sum(ranges[node] for node in nodes)
            for nodes in self.of(len(values))
            if generalizes(list(nodes), values, self.tree)
        )

    def least_with_fakes(self, values: list[int], ranges: list[float], most: int) -> list[float]:
        """Problem 5.1: for each number of fakes the least sum of ranges over all multisets of so many."""
        leaves = [leaf for leaf, share in enumerate(self.p) if share]
        return [
            min(self.least([*values, *fakes], ranges) for fakes in combinations_with_replacement(leaves, fake))
            for fake in range(most + 1)
        ]


def bounds(entries: list[tuple[int, int]], domain: list[int], selected: int) -> dict[str, tuple[int, int]]:
    """The least and greatest SUM, MIN and MAX of `selected` rows, by every choice of nodes and of values in them."""
    sums = set()
    least = set()
    most = set()
    for chosen in combinations(entries, selected):
        for values in product(*([value for value in domain if low <= value <= high] for low, high in chosen)):
            sums.add(sum(values))
            least.add(min(values))
            most.add(max(values))
    return {name: (min(found), max(found)) for name, found in (("sum", sums), ("min", least), ("max", most))}


def count_bounds(entries: list[tuple[int, int]], domain: list[int], selected: int, wanted: set[int]) -> tuple[int, int]:
    """The least and greatest number of selected rows with a value in `wanted`."""
    found = set()
    for chosen in combinations(entries, selected):
        for values in product(*([value for value in domain if low <= value <= high] for low, high in chosen)):
            found.add(sum(value in wanted for value in values))
    return min(found), max(found)


def posterior(published: Counter, rows: int, p: list[Fraction], run) -> list[Fraction]:
    """The belief in each value of somebody who knows the algorithm `run`: each person's value drawn from p beforehand."""
    leaves = [leaf for leaf, share in enumerate(p) if share]
    held = [Fraction(0)] * len(p)
    whole = Fraction(0)
    for values in product(leaves, repeat=rows):
        if run(sorted(values)) == published:
            chance = Fraction(1)
            for value in values:
                chance *= p[value]
            whole += chance
            for value in values:
                held[value] += chance / rows
    return [share / whole for share in held]


def possible_groups(rows: int, entries: list[tuple[int, int]]) -> set[tuple[int, ...]]:
    """The values of a group's rows, one after another: every choice of entries, of values in them, and of who has which."""
    found = set()
    for chosen in permutations(entries, rows):
        found.update(product(*(range(first, last + 1) for first, last in chosen)))
    return found


def possible_tables(
    groups: list[tuple[int, list[tuple[int, int]]]],
    blocks: list[int],
    targets: list[list[Fraction]],
    distance: Fraction,
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every table behind groups (rows, entries) in which each block's values are within a total variation of its target."""
    for table in product(*(possible_groups(rows, entries) for rows, entries in groups)):
        for block, target in enumerate(targets):
            values = [value for number, group in enumerate(table) if blocks[number] == block for value in group]
            shares = [Fraction(values.count(place), len(values)) for place in range(len(target))] if values else target
            if sum((abs(p - q) for p, q in zip(shares, target, strict=True)), Fraction(0)) / 2 > distance:
                break
        else:
            yield table


def reached(tables: Iterable[tuple[tuple[int, ...], ...]], selected: list[int], answer) -> tuple[int, int]:
    """The least and greatest answer about the first `selected` rows of each group, over tables."""
    answers = {
        answer([value for group, number in zip(table, selected, strict=True) for value in group[:number]])
        for table in tables
    }
    return min(answers), max(answers)
