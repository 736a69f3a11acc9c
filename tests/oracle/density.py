"""Where people lie within their labels, from the text of docs/queries.md alone: groups are enumerated, and places counted one by one.

A label of ranges is (first, last, rows of a group, groups of this kind); of sets (values, rows).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log, prod

Label = tuple[int, int, int, int]


def share_out(label: Label, mass: dict[int, Fraction], known_ends: bool) -> tuple[dict[int, Fraction], Fraction]:
    """The share of a group's rows at each place, given what the label says; and the probability of what it says."""
    first, last, rows, _ = label
    places = range(first, last + 1)
    chance = Fraction(0)
    expected = dict.fromkeys(places, Fraction(0))
    for drawn in product(places, repeat=rows):
        if known_ends and rows > 1 and first < last and not {first, last} <= set(drawn):
            continue
        probability = prod((mass[place] for place in drawn), start=Fraction(1))
        chance += probability
        for place in drawn:
            expected[place] += probability / rows
    return {place: share / chance for place, share in expected.items()}, chance


def spread_evenly(labels: list[Label], known_ends: bool) -> dict[int, Fraction]:
    """The prior: every row evenly within its label, one at each known end."""
    mass: dict[int, Fraction] = {}
    for first, last, rows, times in labels:
        ends = known_ends and rows > 1 and first < last
        rest = rows - 2 if ends else rows
        for place in range(first, last + 1):
            at_place = Fraction(rest, last - first + 1) + (1 if ends and place in (first, last) else 0)
            mass[place] = mass.get(place, Fraction(0)) + times * at_place
    total = sum(mass.values())
    return {place: part / total for place, part in mass.items()}


def step(
    labels: list[Label], mass: dict[int, Fraction], prior: dict[int, Fraction], known_ends: bool
) -> dict[int, Fraction]:
    """Half of the mass is what the rows have when shared out by the density, half is the prior."""
    people = sum(rows * times for _, _, rows, times in labels)
    better = {place: part / 2 for place, part in prior.items()}
    for label in labels:
        for place, share in share_out(label, mass, known_ends)[0].items():
            better[place] += share * label[2] * label[3] / people / 2
    return better


def score(labels: list[Label], mass: dict[int, Fraction], prior: dict[int, Fraction], known_ends: bool) -> float:
    """What no step lowers: the logarithm of the probability of all labels, and of the prior, which counts as much."""
    people = sum(rows * times for _, _, rows, times in labels)
    likelihood = sum(label[3] * log(share_out(label, mass, known_ends)[1]) for label in labels)
    return likelihood + people * sum(float(part) * log(mass[place]) for place, part in prior.items() if part)


def weigh_values(labels: list[tuple[list[str], int]], steps: int) -> list[dict[str, float]]:
    """The shares of values in each set: half by Turnbull's estimate over all sets, half evenly."""
    values = sorted({value for members, _ in labels for value in members})
    people = sum(rows for _, rows in labels)
    mass = dict.fromkeys(values, 1 / len(values))
    for _ in range(steps):
        better = dict.fromkeys(values, 0.0)
        for members, rows in labels:
            total = sum(mass[value] for value in members)
            for value in members:
                better[value] += rows * mass[value] / total / people
        mass = better
    return [
        {value: 0.5 / len(members) + 0.5 * mass[value] / sum(mass[each] for each in members) for value in members}
        for members, _ in labels
    ]
